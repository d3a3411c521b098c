"""What a running scheduler writes beside placements: leases, events, and the odd ConfigMap.

Times of leases and events are RFC 3339 text with microseconds, as Go's MicroTime writes them; whoever counts with them
reads them.
"""

import msgspec

from bayplan.objects.meta import ObjectMeta, ObjectReference
from bayplan.objects.resource import Resource
from bayplan.objects.wire import Wire


class LeaseSpec(Wire, frozen=True):
    """Who holds a lease, since when and for how long."""

    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None
    strategy: str | None = None
    preferred_holder: str | None = None


class Lease(Wire, frozen=True):
    """A lock that runs out unless it is renewed."""

    metadata: ObjectMeta = ObjectMeta()
    spec: LeaseSpec = LeaseSpec()


class EventSeries(Wire, frozen=True):
    """How often the same thing has happened, and when last."""

    count: int = 0
    last_observed_time: str | None = None


class Event(Wire, frozen=True):
    """Something that happened to an object, told to its owner."""

    metadata: ObjectMeta = ObjectMeta()
    #: Null in events that were written through the older API.
    event_time: str | None = None
    series: EventSeries | None = None
    reporting_controller: str = ""
    reporting_instance: str = ""
    action: str = ""
    reason: str = ""
    regarding: ObjectReference = ObjectReference()
    related: ObjectReference | None = None
    note: str = ""
    type: str = ""


class ConfigMap(Wire, frozen=True):
    """A map of texts."""

    metadata: ObjectMeta = ObjectMeta()
    data: dict[str, str] = msgspec.field(default_factory=dict)


LEASES = Resource("coordination.k8s.io", "v1", "leases", "Lease", namespaced=True, type=Lease)
EVENTS = Resource("events.k8s.io", "v1", "events", "Event", namespaced=True, type=Event)
CONFIG_MAPS = Resource("", "v1", "configmaps", "ConfigMap", namespaced=True, type=ConfigMap)
