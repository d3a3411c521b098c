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
from bayplan.errors import NotFound, ProtocolError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bayplan.client.api import Client

_API_VERSION = "coordination.k8s.io/v1"


class LeaseSpec(msgspec.Struct, frozen=True, rename="camel"):
    """Who holds the lease, and for how long after the last change that one has seen of it."""

    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None

    @property
    def holder(self) -> str:
        """The holder's identity; empty when nobody holds the lease."""
        return self.holder_identity or ""


class _Readable(msgspec.Struct):
    metadata: dict[str, Any]
    spec: LeaseSpec = LeaseSpec()


_read = msgspec.json.Decoder(_Readable).decode
_whole = msgspec.json.Decoder(dict[str, Any]).decode


@dataclass(frozen=True, slots=True)
class Lease:
    """One version of the lease."""

    document: Mapping[str, Any]
    spec: LeaseSpec

    @classmethod
    def decode(cls, body: bytes) -> Lease:
        """From the API server's JSON."""
        try:
            return cls(_whole(body), _read(body).spec)
        except msgspec.MsgspecError as error:
            raise ProtocolError(f"the lease cannot be read: {error}") from error

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
        self._collection = f"/apis/{_API_VERSION}/namespaces/{namespace}/leases"
        self._path = f"{self._collection}/{name}"

    def __str__(self) -> str:
        return f"{self._namespace}/{self._name}"

    async def get(self, *, timeout: float) -> Lease | None:
        """The lease as it is; None when there is none."""
        try:
            return Lease.decode(await self._client.raw("GET", self._path, timeout=timeout, patience=NO_PATIENCE))
        except NotFound:
            return None

    async def create(self, spec: LeaseSpec, *, timeout: float) -> Lease:
        """Make it; `AlreadyExists` when another was faster."""
        metadata = {"name": self._name, "namespace": self._namespace}
        document = {"apiVersion": _API_VERSION, "kind": "Lease", "metadata": metadata, "spec": spec}
        return await self._write("POST", self._collection, msgspec.json.encode(document), timeout)

    async def update(self, lease: Lease, spec: LeaseSpec, *, timeout: float) -> Lease:
        """Replace this version of it; `Conflict` when it has moved on."""
        return await self._write("PUT", self._path, lease.encode_with(spec), timeout)

    async def _write(self, method: str, path: str, body: bytes, timeout: float) -> Lease:
        return Lease.decode(await self._client.raw(method, path, body, timeout=timeout, patience=NO_PATIENCE))


def micro_time(seconds: float) -> str:
    """A Kubernetes MicroTime: UTC, always with six digits."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
