"""Which cluster a command talks to: kubectl's three options, and a way to run what talks to it.

Nothing heavy is imported until a command asks for it.
"""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import TypeVar

    from bayplan.client.access import ClusterAccess

    T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Connection:
    """What the person said about the cluster; the rest is read from the kubeconfig, or from the pod we run in."""

    kubeconfig: str | None
    context: str | None
    namespace: str | None

    def load(self) -> ClusterAccess:
        """Read the kubeconfig. Raises `CredentialsError`, or `UsageError` for a file that is none."""
        from bayplan.client.credentials import load_access

        return load_access(kubeconfig=self.kubeconfig, context=self.context, namespace=self.namespace)


def connection_options(command: Callable[..., T]) -> Callable[..., T]:
    """Give a command kubectl's `--kubeconfig`, `--context` and `--namespace`, as the argument `connection`."""

    @click.option(
        "--kubeconfig",
        type=click.Path(),
        metavar="FILE",
        help="The kubeconfig to use, instead of $KUBECONFIG and ~/.kube/config.",
    )
    @click.option(
        "--context",
        metavar="NAME",
        shell_complete=_complete_contexts,
        help="The context to use, instead of the kubeconfig's current one.",
    )
    @click.option(
        "-n", "--namespace", metavar="NAME", help="The namespace that is meant, instead of the context's own."
    )
    @functools.wraps(command)
    def connected(kubeconfig: str | None, context: str | None, namespace: str | None, **rest: Any) -> T:
        return command(connection=Connection(kubeconfig, context, namespace), **rest)

    return connected


def run_async(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a command's coroutine to its end.

    Ctrl-C cancels it, so that it closes what it has opened; the process then exits with 130.
    """
    import asyncio

    return asyncio.run(coroutine)


def _complete_contexts(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """The contexts there are. Whatever is wrong with the kubeconfig is said when the command runs, not here."""
    from bayplan.client.credentials.kubeconfig import read_kubeconfig
    from bayplan.errors import BayplanError

    try:
        names = read_kubeconfig(context.params.get("kubeconfig"), os.environ).contexts
    except BayplanError:
        return []
    return sorted(name for name in names if name.startswith(incomplete))
