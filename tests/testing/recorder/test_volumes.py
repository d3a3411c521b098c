"""The driver that the recorder plays, on a store that is a dictionary."""

from __future__ import annotations

from typing import Any

from bayplan.testing.recorder.volumes import Provisioner, as_created, claim_names, settled_volumes

SELECTED = {"volume.kubernetes.io/selected-node": "n1"}


def claim(name: str = "data", *, annotations: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}"}
    wanted = {
        "storageClassName": "made",
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
    }
    return {
        "kind": "PersistentVolumeClaim",
        "metadata": metadata | ({"annotations": annotations} if annotations else {}),
        "spec": wanted | spec,
        "status": {"phase": "Pending"},
    }


def pod(*claims: str) -> dict[str, Any]:
    volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]
    return {"kind": "Pod", "metadata": {"name": "web", "namespace": "default"}, "spec": {"volumes": volumes}}


class Store:
    """As much of an ObjectStore as the driver asks for."""

    def __init__(self, *contents: dict[str, Any], provisioner: str = "driver") -> None:
        labels = {"topology.kubernetes.io/zone": "east", "kubernetes.io/hostname": "n1"}
        self.contents = [
            *contents,
            {"kind": "Node", "metadata": {"name": "n1", "labels": labels}},
            {"kind": "StorageClass", "metadata": {"name": "made"}, "provisioner": provisioner},
        ]

    def get(self, kind: str, _namespace: str, name: str) -> dict[str, Any] | None:
        return next((each for each in self.list(kind) if each["metadata"]["name"] == name), None)

    def list(self, kind: str) -> list[dict[str, Any]]:
        return [each for each in self.contents if each["kind"] == kind]

    def create(self, content: dict[str, Any]) -> None:
        self.contents.append(content)


def serve(store: Store, *claims: str) -> list[dict[str, Any]]:
    driver = Provisioner(store)  # type: ignore[arg-type]
    driver.serve(pod(*claims))
    driver.serve(pod(*claims))
    return store.list("PersistentVolume")


def test_a_claim_with_a_node_gets_one_volume_that_this_node_can_reach() -> None:
    (volume,) = serve(Store(claim(annotations=SELECTED)), "data")
    assert volume["spec"]["claimRef"]["uid"] == "uid-data"
    assert volume["spec"]["csi"]["driver"] == "driver"
    (term,) = volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
    assert term == {"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["east"]}]}


def test_a_claim_that_waits_for_a_node_or_has_a_volume_is_left_alone() -> None:
    assert serve(Store(claim()), "data") == []
    assert serve(Store(claim(annotations=SELECTED, volumeName="there")), "data") == []
    assert serve(Store(), "nowhere") == []


def test_nobody_makes_local_disks() -> None:
    assert serve(Store(claim(annotations=SELECTED), provisioner="kubernetes.io/no-provisioner"), "data") == []


def test_a_pods_claims_are_those_it_names_and_those_made_for_it() -> None:
    made = pod("data")
    made["spec"]["volumes"] += [{"name": "scratch", "ephemeral": {}}, {"name": "tmp", "emptyDir": {}}]
    assert list(claim_names(made)) == ["data", "web-scratch"]


def test_a_claim_as_it_was_created_has_no_trace_of_its_binding() -> None:
    bound = claim(annotations=SELECTED | {"own": "kept"}, volumeName="v") | {"status": {"phase": "Bound"}}
    assert as_created(bound) == claim(annotations={"own": "kept"})
    assert as_created(claim(annotations=SELECTED)) == claim()


def test_volumes_are_settled_when_each_was_judged() -> None:
    volume = {"kind": "PersistentVolume", "metadata": {"name": "v"}, "status": {"phase": "Pending"}}
    store = Store(volume, claim(volumeName="v"), claim("other"))
    assert not settled_volumes(store)  # type: ignore[arg-type]
    volume["status"] = {"phase": "Bound"}
    assert not settled_volumes(store)  # type: ignore[arg-type]
    store.contents[1]["status"] = {"phase": "Bound"}
    assert settled_volumes(store)  # type: ignore[arg-type]
