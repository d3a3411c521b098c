"""`bayplan watch`: a reflector that people can look at."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NoReturn

import click

from bayplan.cli.connection import connection_options, run_async
from bayplan.cli.output import JSON, output_option, print_json_line, ready, styled

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bayplan.cli.connection import Connection
    from bayplan.client.api import Client
    from bayplan.client.changes import Change
    from bayplan.client.codec import PartialObject
    from bayplan.client.reflector import Reflector
    from bayplan.objects.resource import Resource

#: Seconds for the first watch to be accepted.
_PATIENCE = 30.0

_COLOURS = {"added": "green", "modified": "yellow", "deleted": "red"}


@click.command()
@click.argument("resource")
@click.option("-A", "--all-namespaces", is_flag=True, help="Follow the objects of every namespace.")
@click.option("-l", "--selector", default="", metavar="LABELS", help="Follow only objects with these labels.")
@click.option("--field-selector", default="", metavar="FIELDS", help="Follow only objects with these fields.")
@click.option("--once", is_flag=True, help="Print what is there and stop.")
@connection_options
@output_option
def command(
    connection: Connection,
    resource: str,
    all_namespaces: bool,
    selector: str,
    field_selector: str,
    once: bool,
    output: str,
) -> None:
    """Follow a resource and print every change, through any failure of the server.

    RESOURCE is what kubectl calls it: pods, po, leases.coordination.k8s.io. What is there comes first, as additions.
    Each change is told once, however often the connection breaks; with --output json it is a line of JSON.
    """
    logging.basicConfig(format="bayplan: %(message)s", level=logging.INFO)
    _check_selectors(selector, field_selector)
    run_async(_follow(connection, resource, all_namespaces, selector, field_selector, once, output))


async def _follow(
    connection: Connection, name: str, everywhere: bool, labels: str, fields: str, once: bool, output: str
) -> None:
    from bayplan.client.api import Client
    from bayplan.client.codec import PartialObject
    from bayplan.client.discovery import find_resource
    from bayplan.client.reflector import Reflector

    access = connection.load()
    async with Client.connect(access) as client:
        resource = await find_resource(client, name, PartialObject, verbs=["list"] if once else ["list", "watch"])
        namespace = None if everywhere or not resource.namespaced else client.namespace
        version = await _try_list(client, resource, namespace, labels, fields)
        if not once:
            await _try_watch(client, resource.path(namespace=namespace), version, labels, fields)
        show = _show_json if output == JSON else _show_line
        reflector = Reflector(client, resource, show, namespace=namespace, labels=labels, fields=fields)
        async with _running(reflector) as following:
            if once:
                return
            where = f" in namespace {namespace}" if namespace else ""
            ready(f"following {len(reflector.objects)} {resource.qualified_name}{where} of {access.server}")
            await following


def _check_selectors(labels: str, fields: str) -> None:
    """Refuse what the server would refuse, with a remedy that says how selectors are written."""
    from bayplan.errors import UsageError, ValidationError
    from bayplan.objects.fields import parse_field_selector
    from bayplan.objects.labels_text import parse_label_selector

    try:
        parse_label_selector(labels)
        parse_field_selector(fields)
    except ValidationError as error:
        raise UsageError(error.problem, remedy=error.remedy) from error


async def _try_list(
    client: Client, resource: Resource[PartialObject], namespace: str | None, labels: str, fields: str
) -> str:
    """Fail now for what patience does not help against: a right that is missing, fields that nobody can select by.

    Returns the version from which to watch.
    """
    from bayplan.errors import BadRequest, UsageError

    pages = client.pages(resource, namespace=namespace, labels=labels, fields=fields, limit=1)
    try:
        async with contextlib.aclosing(pages):
            return (await anext(pages)).metadata.resource_version
    except BadRequest as error:
        if not fields:
            raise
        # Which fields a resource can be selected by only the server knows.
        raise UsageError(
            f"{resource.qualified_name} cannot be selected by {fields!r}: {error.problem}",
            remedy="correct --field-selector: metadata.name always works",
        ) from error


async def _try_watch(client: Client, path: str, version: str, labels: str, fields: str) -> None:
    """Open a watch for a moment: who may list need not be allowed to watch, and a reflector would try for ever."""
    from bayplan.errors import ServerError, TooManyRequests, Unreachable

    query = {
        "watch": True,
        "resourceVersion": version,
        "timeoutSeconds": 1,
        "labelSelector": labels,
        "fieldSelector": fields,
    }
    try:
        answer = await client.open(path, query, timeout=_PATIENCE)
    except (ServerError, TooManyRequests, Unreachable):
        # That may pass, and waiting for it is the reflector's business.
        return
    answer.close()


@contextlib.asynccontextmanager
async def _running(reflector: Reflector[PartialObject]) -> AsyncIterator[asyncio.Task[NoReturn]]:
    """Run a reflector; the block begins once it is synced, or raises what its receiver raised."""
    following = asyncio.create_task(reflector.run())
    synced = asyncio.create_task(reflector.wait_synced())
    try:
        await asyncio.wait({following, synced}, return_when=asyncio.FIRST_COMPLETED)
        if following.done():
            await following
        yield following
    finally:
        following.cancel()
        synced.cancel()
        await asyncio.gather(following, synced, return_exceptions=True)


def _show_line(change: Change[PartialObject]) -> None:
    metadata = change.object.metadata
    kind = styled(change.kind.ljust(8), fg=_COLOURS[change.kind])
    click.echo(f"{_now():%H:%M:%S}  {kind}  {metadata.key}  {styled(metadata.resource_version, dim=True)}")


def _show_json(change: Change[PartialObject]) -> None:
    metadata = change.object.metadata
    print_json_line(
        {
            "time": f"{_now():%Y-%m-%dT%H:%M:%S.%fZ}",
            "change": change.kind,
            "namespace": metadata.namespace or None,
            "name": metadata.name,
            "uid": metadata.uid,
            "resourceVersion": metadata.resource_version,
            "labels": metadata.labels,
        }
    )


def _now() -> datetime:
    return datetime.now(UTC)
