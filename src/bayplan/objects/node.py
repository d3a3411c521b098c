"""Nodes and namespaces, as far as placement reads them."""

import msgspec

from bayplan.objects.meta import Condition, ObjectMeta
from bayplan.objects.quantity_text import WireQuantity
from bayplan.objects.resource import Resource
from bayplan.objects.taints import Taint
from bayplan.objects.wire import Int64, NullableStrings, NullableWire, Wire


class NodeSpec(Wire, frozen=True):
    """What was decided about a node."""

    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()


class ContainerImage(NullableWire, frozen=True):
    """An image that a node has; one without names is written with null."""

    names: NullableStrings = ()
    size_bytes: Int64 = 0


class NodeStatus(Wire, frozen=True):
    """What a node says of itself."""

    capacity: dict[str, WireQuantity] = msgspec.field(default_factory=dict)
    allocatable: dict[str, WireQuantity] = msgspec.field(default_factory=dict)
    conditions: tuple[Condition, ...] = ()
    images: tuple[ContainerImage, ...] = ()
    #: Features that not every node of this version has.
    declared_features: tuple[str, ...] = ()


class Node(Wire, frozen=True):
    """A node."""

    metadata: ObjectMeta = ObjectMeta()
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class Namespace(Wire, frozen=True):
    """A namespace, for its labels."""

    metadata: ObjectMeta = ObjectMeta()


NODES = Resource("", "v1", "nodes", "Node", namespaced=False, type=Node)
NAMESPACES = Resource("", "v1", "namespaces", "Namespace", namespaced=False, type=Namespace)
