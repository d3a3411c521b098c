"""A Lease (coordination.k8s.io/v1) as a lock: read it, and write it only if nobody else has.

The whole object is kept as it came, and goes back with four fields changed. So what others have put into it
(`strategy` and `preferredHolder` of the coordinated leader election, finalizers, annotations) stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from bayplan.client.api import NO_PATIENCE
from bayplan.client.codec import decode_object, encode
from bayplan.errors import NotFound
from bayplan.objects.housekeeping import LEASES, Lease

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bayplan.client.api import Client
    from bayplan.objects.housekeeping import LeaseSpec

_whole = msgspec.json.Decoder(dict[str, Any]).decode


@dataclass(frozen=True, slots=True)
class LeaseVersion:
    """One version of the lease."""

    document: Mapping[str, Any]
    spec: LeaseSpec

    @classmethod
    def decode(cls, body: bytes) -> LeaseVersion:
        """From the API server's JSON."""
        lease = decode_object(Lease, body, "the lease")
        return cls(_whole(body), lease.spec)

    def encode_with(self, spec: LeaseSpec) -> bytes:
        """The object with another spec in it; the server refuses it unless this version is still the newest."""
        merged = (self.document.get("spec") or {}) | msgspec.to_builtins(spec)
        return msgspec.json.encode({**self.document, "spec": merged})


class LeaseLock:
    """One lease by name. Each method is one request, sent once; every failure is the caller's to judge."""

    def __init__(self, client: Client, namespace: str, name: str) -> None:
        self._client = client
        self._namespace = namespace
        self._name = name
        self._collection = LEASES.path(namespace=namespace)
        self._path = LEASES.path(namespace=namespace, name=name)

    def __str__(self) -> str:
        return f"{self._namespace}/{self._name}"

    async def get(self, *, timeout: float) -> LeaseVersion | None:
        """The lease as it is; None when there is none."""
        try:
            return LeaseVersion.decode(await self._client.raw("GET", self._path, timeout=timeout, patience=NO_PATIENCE))
        except NotFound:
            return None

    async def create(self, spec: LeaseSpec, *, timeout: float) -> LeaseVersion:
        """Make it; `AlreadyExists` when another was faster."""
        metadata = {"name": self._name, "namespace": self._namespace}
        body = encode(LEASES, {"metadata": metadata, "spec": spec})
        return await self._write("POST", self._collection, body, timeout)

    async def update(self, lease: LeaseVersion, spec: LeaseSpec, *, timeout: float) -> LeaseVersion:
        """Replace this version of it; `Conflict` when it has moved on."""
        return await self._write("PUT", self._path, lease.encode_with(spec), timeout)

    async def _write(self, method: str, path: str, body: bytes, timeout: float) -> LeaseVersion:
        return LeaseVersion.decode(await self._client.raw(method, path, body, timeout=timeout, patience=NO_PATIENCE))


def micro_time(seconds: float) -> str:
    """A Kubernetes MicroTime: UTC, always with six digits."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
