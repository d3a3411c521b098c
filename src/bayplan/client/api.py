"""Requests to one API server, in terms of resources.

What is sent again, and what is not:

* a read, after anything that may pass: no answer, 429, 5xx;
* a write, only when it certainly had no effect: no connection, 429, or a 503 with Retry-After. When it was sent and
  no answer came, or the answer is a 500, 502 or 504, or a 503 that is not the API server's own, `OutcomeUnknown` says
  so, and the caller looks it up;
* anything, once, after a 401 that made the credentials be read anew.

An eviction that a disruption budget holds back is a 429 too. That is an answer and not a shortage: it is not sent
again.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

import msgspec

from bayplan import __version__
from bayplan.client.backoff import Backoff
from bayplan.client.codec import Page, PartialObject, decode_object, decode_page, encode, query_pairs
from bayplan.client.patches import ApplyPatch
from bayplan.client.status import error_from
from bayplan.client.transport import Request
from bayplan.errors import (
    ApiError,
    ClientError,
    Expired,
    OutcomeUnknown,
    ProtocolError,
    ServerError,
    TooManyRequests,
    Unauthorized,
    Unreachable,
)
from bayplan.objects.resource import Resource

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping
    from types import TracebackType

    from bayplan.client.access import ClusterAccess
    from bayplan.client.codec import KubernetesObject
    from bayplan.client.patches import Patch
    from bayplan.client.transport import Response, Transport
    from bayplan.objects.meta import ResourceVersion, Uid

    T = TypeVar("T", bound=KubernetesObject)

_log = logging.getLogger(__name__)

JSON = "application/json"

#: Pods, of which only the path is wanted.
_PODS = Resource("", "v1", "pods", "Pod", namespaced=True, type=PartialObject)

#: Objects a page: large enough that 10,000 pods take 20 requests, small enough that a page is a few hundred kB.
PAGE = 500

Propagation = Literal["Orphan", "Background", "Foreground"]


@dataclass(frozen=True, slots=True)
class Patience:
    """How often a request that may safely be repeated is, and for how long."""

    #: Times in all; 1 never repeats.
    tries: int = 5
    #: Seconds to the second try; they double.
    base: float = 0.1
    #: A server that asks for a longer wait than this gets none: the caller is told.
    longest_wait: float = 30.0


#: For callers that have a rhythm of their own.
NO_PATIENCE = Patience(tries=1)


class Client:
    """Requests to one API server. Close it, or use it as `async with Client.connect(access) as client`."""

    def __init__(
        self,
        transport: Transport,
        *,
        namespace: str = "default",
        user_agent: str = f"bayplan/{__version__}",
        patience: Patience = Patience(),
        timeout: float = 30.0,
    ) -> None:
        self._transport = transport
        #: What a namespaced request means that names none.
        self.namespace = namespace
        self._head = {"Accept": JSON, "User-Agent": user_agent}
        self._patience = patience
        self._timeout = timeout
        #: Warnings that the server has sent, so that each is logged once.
        self._warned: set[str] = set()

    @classmethod
    def connect(cls, access: ClusterAccess, **options: Any) -> Self:
        """A client for the server and the credentials of this access. It connects at the first request."""
        from bayplan.client.sockets import AiohttpTransport

        return cls(AiohttpTransport(access), namespace=access.namespace, **options)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close every connection."""
        await self._transport.aclose()

    # ── objects ──

    async def get(self, resource: Resource[T], name: str, *, namespace: str | None = None) -> T:
        """One object."""
        path = self._path(resource, namespace, name)
        return decode_object(resource.type, await self.raw("GET", path), f"GET {path}")

    async def list(
        self, resource: Resource[T], *, namespace: str | None = None, labels: str = "", fields: str = ""
    ) -> Page[T]:
        """All objects of a collection, as they were at one moment; without a namespace, of all namespaces."""
        ask = partial(self.pages, resource, namespace=namespace, labels=labels, fields=fields)
        async with aclosing(ask()) as pages:
            first = await anext(pages)
            try:
                return await _joined(first, pages)
            except Expired:
                pass  # The moment was forgotten before its last page was read. In one piece it cannot be.
        async with aclosing(ask(limit=0)) as pages:
            return await _joined(await anext(pages), pages)

    async def pages(
        self,
        resource: Resource[T],
        *,
        namespace: str | None = None,
        labels: str = "",
        fields: str = "",
        limit: int = PAGE,
        timeout: float | None = None,
        patience: Patience | None = None,
    ) -> AsyncGenerator[Page[T], None]:
        """A collection page by page; every page is of the same moment, whatever changes meanwhile.

        Raises `Expired` when the server has forgotten that moment before the last page was read.
        """
        path = resource.path(namespace=namespace)
        more: str | None = None
        while more is None or more:
            query = {"labelSelector": labels, "fieldSelector": fields, "limit": limit or None, "continue": more}
            body = await self.raw("GET", path, query=query, timeout=timeout, patience=patience)
            page = decode_page(resource.type, body, f"GET {path}")
            yield page
            more = page.metadata.continue_

    async def create(
        self,
        resource: Resource[T],
        body: object,
        *,
        namespace: str | None = None,
        dry_run: bool = False,
        field_manager: str = "",
    ) -> T:
        """Create an object from a struct, a mapping or JSON bytes, and return what the server made of it."""
        path = self._collection(resource, namespace)
        query = {"dryRun": "All" if dry_run else None, "fieldManager": field_manager}
        answer = await self.raw("POST", path, encode(resource, body), query=query)
        return _made(resource, answer, f"POST {path}")

    async def replace(
        self,
        resource: Resource[T],
        name: str,
        body: object,
        *,
        namespace: str | None = None,
        subresource: str | None = None,
        dry_run: bool = False,
        field_manager: str = "",
        timeout: float | None = None,
    ) -> T:
        """Replace an object. With a resourceVersion in it, only if it is still that one: else `Conflict`.

        Fields that the struct does not name are lost. Read an object through a struct that is whole before you
        replace it; patch it otherwise.
        """
        path = self._path(resource, namespace, name, subresource)
        query = {"dryRun": "All" if dry_run else None, "fieldManager": field_manager}
        answer = await self.raw("PUT", path, encode(resource, body), query=query, timeout=timeout)
        return _made(resource, answer, f"PUT {path}")

    async def patch(
        self,
        resource: Resource[T],
        name: str,
        patch: Patch,
        *,
        namespace: str | None = None,
        subresource: str | None = None,
        dry_run: bool = False,
        field_manager: str = "",
    ) -> T:
        """Change a part of an object. See `bayplan.client.patches` for the kinds there are."""
        path = self._path(resource, namespace, name, subresource)
        query: dict[str, object | None] = {"dryRun": "All" if dry_run else None, "fieldManager": field_manager}
        if isinstance(patch, ApplyPatch):
            body = encode(resource, patch.intent)
            query |= {"fieldManager": patch.manager, "force": patch.force or None}
        else:
            body = msgspec.json.encode(patch.body)
        answer = await self.raw("PATCH", path, body, query=query, media_type=patch.media_type)
        return _made(resource, answer, f"PATCH {path}")

    async def delete(
        self,
        resource: Resource[Any],
        name: str,
        *,
        namespace: str | None = None,
        uid: Uid | None = None,
        resource_version: ResourceVersion | None = None,
        grace_seconds: int | None = None,
        propagation: Propagation | None = None,
        dry_run: bool = False,
    ) -> None:
        """Delete an object; with a uid or version, only if it is that one: else `Conflict`."""
        path = self._path(resource, namespace, name)
        options = _delete_options(uid, resource_version, grace_seconds, propagation, dry_run)
        await self.raw("DELETE", path, msgspec.json.encode(options))

    # ── subresources ──

    async def bind(self, namespace: str, name: str, node: str, *, uid: Uid) -> None:
        """Bind a pod to a node. A pod of the same name but another uid, or bound already, is a `Conflict`."""
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": name, "namespace": namespace, "uid": uid},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node},
        }
        path = self._path(_PODS, namespace, name, "binding")
        await self.raw("POST", path, msgspec.json.encode(body))

    async def evict(
        self, namespace: str, name: str, *, uid: Uid | None = None, grace_seconds: int | None = None
    ) -> None:
        """Delete a pod if its disruption budgets allow it now; `TooManyRequests` when they do not."""
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": name, "namespace": namespace},
            "deleteOptions": _delete_options(uid, None, grace_seconds, None, dry_run=False),
        }
        path = self._path(_PODS, namespace, name, "eviction")
        await self.raw("POST", path, msgspec.json.encode(body))

    async def scale(self, resource: Resource[Any], name: str, replicas: int, *, namespace: str | None = None) -> None:
        """Set how many replicas a Deployment, a ReplicaSet, or any resource with a scale wants."""
        path = self._path(resource, namespace, name, "scale")
        body = msgspec.json.encode({"spec": {"replicas": replicas}})
        await self.raw("PATCH", path, body, media_type="application/merge-patch+json")

    # ── requests ──

    async def raw(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        *,
        query: Mapping[str, object | None] | None = None,
        media_type: str = JSON,
        accept: str = JSON,
        timeout: float | None = None,
        patience: Patience | None = None,
    ) -> bytes:
        """One request, sent again where that is safe; the body of a success, or an error."""
        headers = self._head if accept == JSON else self._head | {"Accept": accept}
        if body:
            headers = headers | {"Content-Type": media_type}
        pairs = query_pairs(query or {})
        request = Request(method, path, pairs, headers, body, self._timeout if timeout is None else timeout)
        return await self._insist(request, patience or self._patience)

    async def open(self, path: str, query: Mapping[str, object | None], *, timeout: float) -> Response:
        """Start a GET whose answer is read as it comes, such as a watch. Never sent again; the caller closes it."""
        request = Request("GET", path, query_pairs(query), self._head, timeout=timeout, stream=True)
        response = await self._transport.send(request)
        if response.status == 200:
            return response
        try:
            async with asyncio.timeout(timeout):
                body = await response.read()
        except TimeoutError:
            body = b""
        finally:
            response.close()
        raise error_from(response.status, response.headers, body)

    async def _insist(self, request: Request, patience: Patience) -> bytes:
        backoff = Backoff(patience.base, patience.longest_wait)
        fresh_credentials = False
        while True:
            try:
                return await self._ask(request)
            except Unauthorized:
                if fresh_credentials:
                    raise
                fresh_credentials = True
                continue
            except ClientError as error:
                asked = error.retry_after if isinstance(error, ApiError) else None
                last = backoff.failures + 1 >= patience.tries or (asked or 0.0) > patience.longest_wait
                if last or not _may_repeat(request, error):
                    raise
            await asyncio.sleep(backoff.next(at_least=asked))

    async def _ask(self, request: Request) -> bytes:
        response = await self._transport.send(request)
        body = await response.read()
        if "Warning" in response.headers:
            self._warn(response.headers["Warning"])
        if 200 <= response.status < 300:
            return body
        error = error_from(response.status, response.headers, body)
        if isinstance(error, ServerError) and not request.reads and _may_have_happened(error):
            raise OutcomeUnknown(
                f"{request.method} {request.path} may or may not have happened: {error}",
                remedy="look at the object before you send the request again",
            ) from error
        raise error

    def _warn(self, header: str) -> None:
        if header not in self._warned and len(self._warned) < 1000:
            self._warned.add(header)
            _log.warning("the API server warns: %s", header)

    def _path(self, resource: Resource[Any], namespace: str | None, name: str, subresource: str | None = None) -> str:
        return resource.path(namespace=namespace or self.namespace, name=name, subresource=subresource)

    def _collection(self, resource: Resource[Any], namespace: str | None) -> str:
        return resource.path(namespace=namespace or self.namespace)


async def _joined(first: Page[T], others: AsyncGenerator[Page[T], None]) -> Page[T]:
    async for page in others:
        first.items += page.items
        first.unreadable += page.unreadable
    return first


def _made(resource: Resource[T], answer: bytes, what: str) -> T:
    """The object that a write left behind, as the server has answered."""
    try:
        return decode_object(resource.type, answer, what)
    except ProtocolError as error:
        raise ProtocolError(
            f"{error.problem} (the server has answered with success)",
            remedy="take the write for done, and read the object through a struct that fits it",
        ) from error


def _may_repeat(request: Request, error: ClientError) -> bool:
    if isinstance(error, Unreachable):
        return True
    if isinstance(error, TooManyRequests):
        return "DisruptionBudget" not in error.causes
    if isinstance(error, ServerError):
        return request.reads or error.retry_after is not None
    return request.reads and isinstance(error, ProtocolError)


def _may_have_happened(error: ServerError) -> bool:
    """Whether a write that was answered so may have had its effect.

    A 503 of the API server's own says that it has not begun. Proxies, and the aggregator in front of an extension
    server, send a bare one when the connection broke behind them.
    """
    if error.code == 503:
        return error.retry_after is None and not error.reason
    return error.code != 501


def _delete_options(
    uid: Uid | None,
    resource_version: ResourceVersion | None,
    grace_seconds: int | None,
    propagation: Propagation | None,
    dry_run: bool,
) -> dict[str, Any]:
    preconditions = {"uid": uid, "resourceVersion": resource_version}
    options = {
        "preconditions": {name: value for name, value in preconditions.items() if value is not None} or None,
        "gracePeriodSeconds": grace_seconds,
        "propagationPolicy": propagation,
        "dryRun": ["All"] if dry_run else None,
    }
    given = {name: value for name, value in options.items() if value is not None}
    return {"apiVersion": "v1", "kind": "DeleteOptions", **given}
