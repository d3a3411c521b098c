"""Structs from wire bytes: what is read, what is skipped, and nulls."""

from __future__ import annotations

import gc
import importlib
import pkgutil
from typing import Any

import msgspec
import pytest

import bayplan.objects
from bayplan.errors import ValidationError
from bayplan.objects.meta import ObjectMeta
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.resource import Resource
from bayplan.objects.storage import CSINode, PersistentVolume, StorageClass
from bayplan.objects.wire import NullableWire, Wire, decode


def structs() -> list[type[msgspec.Struct]]:
    found = {
        value
        for module in pkgutil.iter_modules(bayplan.objects.__path__)
        for value in vars(importlib.import_module(f"bayplan.objects.{module.name}")).values()
        if isinstance(value, type) and issubclass(value, msgspec.Struct)
    }
    return sorted(found, key=lambda struct: struct.__name__)


@pytest.mark.parametrize("struct", structs(), ids=lambda struct: struct.__name__)
def test_every_struct_is_frozen_and_untracked_and_skips_defaults(struct: type[msgspec.Struct]) -> None:
    assert issubclass(struct, Wire)
    config = struct.__struct_config__
    assert (config.frozen, config.gc, config.omit_defaults, config.forbid_unknown_fields) == (True, False, True, False)


@pytest.mark.parametrize("struct", structs(), ids=lambda struct: struct.__name__)
def test_every_struct_decodes_from_an_empty_object_and_writes_one(struct: type[msgspec.Struct]) -> None:
    assert msgspec.json.encode(msgspec.json.decode(b"{}", type=struct)) == b"{}"


def test_decoded_objects_are_not_tracked_by_the_garbage_collector() -> None:
    pod = decode(Pod, b'{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c"}]}}')
    assert not gc.is_tracked(pod)
    assert not gc.is_tracked(pod.spec.containers[0])


def test_what_is_not_named_is_skipped() -> None:
    pod = decode(
        Pod, b'{"metadata":{"name":"p","managedFields":[{"manager":"x"}]},"spec":{"dnsPolicy":"Default"},"x":1}'
    )
    assert pod == Pod(metadata=ObjectMeta(name="p"))


def test_names_on_the_wire_are_those_of_go() -> None:
    wire = b"""{"metadata":{"ownerReferences":[{"apiVersion":"v1","controller":true,"name":"o"}]},"spec":{
        "containers":[{"ports":[{"hostPort":80,"hostIP":"10.0.0.1"}],"resources":{"requests":{"cpu":"1","memory":2}}}],
        "volumes":[{"name":"v","awsElasticBlockStore":{"volumeID":"vol-1"},"gcePersistentDisk":{"pdName":"disk"}}],
        "topologySpreadConstraints":[{"maxSkew":1,"nodeTaintsPolicy":"Honor"}]}}"""
    pod = decode(Pod, wire)
    (port,) = pod.spec.containers[0].ports
    assert (port.host_port, port.host_ip) == (80, "10.0.0.1")
    (volume,) = pod.spec.volumes
    assert volume.aws_elastic_block_store is not None
    assert volume.aws_elastic_block_store.volume_id == "vol-1"
    assert volume.gce_persistent_disk is not None
    assert volume.gce_persistent_disk.pd_name == "disk"
    assert pod.spec.containers[0].resources.requests == {"cpu": "1", "memory": 2}
    assert pod.spec.topology_spread_constraints[0].node_taints_policy == "Honor"
    assert pod.metadata.controller == pod.metadata.owner_references[0]


def test_nulls_that_go_writes_are_absent() -> None:
    assert decode(Pod, b'{"metadata":{"creationTimestamp":null}}') == Pod()
    assert msgspec.json.decode(b'{"spec":{"drivers":null}}', type=CSINode).spec.drivers == ()
    drivers = b'{"spec":{"drivers":[{"name":"d","nodeID":"n","topologyKeys":null}]}}'
    (driver,) = msgspec.json.decode(drivers, type=CSINode).spec.drivers
    assert (driver.node_id, driver.topology_keys) == ("n", ())
    (image,) = msgspec.json.decode(b'{"status":{"images":[{"names":null,"sizeBytes":5}]}}', type=Node).status.images
    assert image.names == ()
    topologies = b'{"allowedTopologies":[{"matchLabelExpressions":[{"key":"zone","values":null}]}]}'
    (term,) = msgspec.json.decode(topologies, type=StorageClass).allowed_topologies
    assert term.match_label_expressions[0].values == ()


def test_nullable_parts_keep_what_is_there() -> None:
    class Part(NullableWire, frozen=True):
        names: tuple[str, ...] = ()
        size: int = 0

    assert msgspec.json.decode(b'{"names":["a"],"size":1}', type=Part) == Part(("a",), 1)


def test_nulls_anywhere_are_left_out_on_the_second_try() -> None:
    wire = (
        b'{"metadata":{"name":"p","labels":null},"spec":{"containers":[{"name":"c","ports":null}],"tolerations":null}}'
    )
    pod = decode(Pod, wire)
    assert (pod.metadata.name, pod.metadata.labels, pod.spec.tolerations) == ("p", {}, ())
    assert pod.spec.containers[0].ports == ()


@pytest.mark.parametrize("wire", [b"{", b"[]", b'{"spec":{"containers":"none"}}', b'{"spec":{"priority":"high"}}'])
def test_what_is_no_pod_is_told_with_a_remedy(wire: bytes) -> None:
    with pytest.raises(ValidationError, match=r"no Pod as Kubernetes writes it.*kubectl get -o json"):
        decode(Pod, wire)


@pytest.mark.parametrize(
    "spec",
    [
        {"priority": 10**30},
        {"priority": 2**31},
        {"terminationGracePeriodSeconds": 2**63},
        {"tolerations": [{"tolerationSeconds": -(2**63) - 1}]},
        {"containers": [{"ports": [{"hostPort": -(2**31) - 1}]}]},
    ],
    ids=str,
)
def test_integers_that_do_not_fit_in_gos_are_refused(spec: dict[str, Any]) -> None:
    """The API server would not take them; let in, they would end in columns and keys that hold 64 bits."""
    with pytest.raises(ValidationError, match="Expected `int`"):
        decode(Pod, msgspec.json.encode({"spec": spec}))


def test_pods_tell_their_state() -> None:
    assert Pod().priority == 0
    assert decode(Pod, b'{"spec":{"priority":-5}}').priority == -5
    assert decode(Pod, b'{"status":{"phase":"Failed"}}').is_finished
    assert not decode(Pod, b'{"status":{"phase":"Running"}}').is_finished
    assert decode(Pod, b'{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}}').is_terminating


def resources() -> list[Resource[Any]]:
    found: dict[str, Resource[Any]] = {}
    for module in pkgutil.iter_modules(bayplan.objects.__path__):
        for value in vars(importlib.import_module(f"bayplan.objects.{module.name}")).values():
            if isinstance(value, Resource):
                found[value.qualified_name] = value
    return list(found.values())


@pytest.mark.parametrize("resource", resources(), ids=lambda resource: resource.qualified_name)
def test_every_resource_decodes_its_objects(resource: Resource[Any]) -> None:
    assert resource.type.__name__ == resource.kind
    decoded = decode(resource.type, b'{"kind":"X","metadata":{"name":"n","namespace":"ns"}}')
    assert decoded.metadata.key == "ns/n"
    assert resource.plural == resource.plural.lower()


def test_a_volume_knows_its_driver() -> None:
    volume = decode(
        PersistentVolume, b'{"spec":{"csi":{"driver":"d","volumeHandle":"h"},"capacity":{"storage":"1Gi"}}}'
    )
    assert volume.spec.csi is not None
    assert (volume.spec.csi.driver, volume.spec.csi.volume_handle) == ("d", "h")
