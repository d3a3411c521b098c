"""From what stands in files and in the environment to one `ClusterAccess`.

The order is kubectl's: the context that was asked for, or else the current one of the kubeconfig; where there is
neither, the pod that we run in. One thing differs on purpose: a context that names a cluster or a user which is not
there is an error here, where client-go would use the pod's credentials, or none.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from bayplan.client.access import ClusterAccess
from bayplan.client.credentials.cluster import read_cluster
from bayplan.client.credentials.document import Place
from bayplan.client.credentials.kubeconfig import read_kubeconfig
from bayplan.client.credentials.pod import SERVICE_ACCOUNT, this_pod
from bayplan.client.credentials.tls import TlsSettings
from bayplan.client.credentials.user import read_user
from bayplan.errors import CredentialsError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from bayplan.client.credentials.certificate import Certificate
    from bayplan.client.credentials.kubeconfig import Kubeconfig

#: Names that an error lists before it stops.
_LISTED = 12


def load_access(
    *,
    kubeconfig: str | Path | None = None,
    context: str | None = None,
    namespace: str | None = None,
    environ: Mapping[str, str] = os.environ,
    service_account: Path = SERVICE_ACCOUNT,
) -> ClusterAccess:
    """Find out how to reach a cluster and as whom; the arguments mean what kubectl's options of these names mean.

    Certificates and plugins are looked at when the first request needs them. Raises `CredentialsError`, or `UsageError`
    for a file that is no kubeconfig.
    """
    config = read_kubeconfig(kubeconfig, environ)
    pod = this_pod(environ, service_account)
    chosen = context or config.current_context
    if chosen:
        # In a pod, its namespace is the one that is meant when nothing says otherwise.
        fallback = pod.namespace if pod else "default"
        return _load_context(config, chosen, namespace, fallback, environ)
    if pod is None:
        raise _nothing_chosen(config, environ, service_account)
    return pod.access(namespace, environ)


def client_certificate(access: ClusterAccess) -> Certificate | None:
    """What the client certificate of this access says of itself, if there is one.

    One that an exec plugin brings is known after the first request.
    """
    return access.tls.certificate() if isinstance(access.tls, TlsSettings) else None


def _load_context(
    config: Kubeconfig, name: str, namespace: str | None, fallback: str, environ: Mapping[str, str]
) -> ClusterAccess:
    context = _find(
        name, config.contexts, "context", f" in {config.source}" if config.files else f", since {_missing(config)}"
    )
    cluster_name, user_name = context.get("cluster").text(), context.get("user").text()
    if not cluster_name:
        raise context.complain("the context names no cluster", remedy="add `cluster: NAME`")
    wanted_by = f", which context {name} wants"
    cluster = read_cluster(_find(cluster_name, config.clusters, "cluster", wanted_by), cluster_name)
    # A context without a user is nobody in particular.
    nobody = Place(context.file, context.path, None, context.line)
    user = _find(user_name, config.users, "user", wanted_by) if user_name else nobody
    identity = read_user(user, user_name, cluster, environ)
    tls = TlsSettings(authority=cluster.authority, insecure=cluster.insecure, pair=identity.pair)
    return ClusterAccess(
        cluster.server,
        tls=tls if cluster.uses_tls else None,
        tls_server_name=cluster.tls_server_name or None,
        proxy_url=cluster.proxy(environ),
        namespace=namespace or context.get("namespace").text() or fallback,
        context=name,
        source=config.source,
        disable_compression=cluster.disable_compression,
        credentials=identity.credentials,
        auth=identity.auth,
    )


def _find(name: str, among: Mapping[str, Place], kind: str, where: str) -> Place:
    if name not in among:
        raise CredentialsError(f"there is no {kind} {name}{where}", remedy=_choice(kind, among))
    return among[name]


def _choice(kind: str, names: Iterable[str]) -> str:
    known = sorted(names)
    if not known:
        return f"add a {kind} to the kubeconfig"
    more = f" and {len(known) - _LISTED} more" if len(known) > _LISTED else ""
    return f"choose one of: {', '.join(known[:_LISTED])}{more}"


def _nothing_chosen(config: Kubeconfig, environ: Mapping[str, str], service_account: Path) -> CredentialsError:
    if config.contexts:
        return CredentialsError(f"{config.source} has no current context", remedy=_choice("context", config.contexts))
    looked = f"{config.source} has no contexts" if config.files else _missing(config)
    pod = (
        f"{service_account / 'token'} is not there"
        if environ.get("KUBERNETES_SERVICE_HOST")
        else "KUBERNETES_SERVICE_HOST is not set"
    )
    return CredentialsError(
        f"there is no cluster to talk to, since {looked} and this is not a pod with a service account ({pod})",
        remedy="name a kubeconfig with --kubeconfig or KUBECONFIG",
    )


def _missing(config: Kubeconfig) -> str:
    if not config.missing:
        return "neither KUBECONFIG nor HOME is set"
    listed = " and ".join(map(str, config.missing))
    return f"{listed} {'do' if len(config.missing) > 1 else 'does'} not exist"
