"""Who we are to which cluster: kubeconfigs, client certificates, tokens, exec plugins, service accounts, proxies.

::

    load_access ── kubeconfig (which files, merged) ── document (YAML with places)
        ├── cluster: server, CA, proxies
        ├── user: tokens, client certificates, plugin, impersonation
        └── pod: the service account instead
            ──▶ ClusterAccess, which the transport asks for headers and TLS before every request

All of it follows client-go; docs/decisions/0003-credentials.md says why it is our own.
"""

from bayplan.client.credentials.certificate import Certificate
from bayplan.client.credentials.loading import client_certificate, load_access

__all__ = ["Certificate", "client_certificate", "load_access"]
