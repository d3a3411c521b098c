"""TLS as the kubeconfig wants it, and one context object for as long as the certificates stay the same.

What is trusted, and how strictly, follows client-go rather than Python's defaults:

* A certificate in `certificate-authority` is trusted as it stands, also when it is an intermediate one.
* RFC 5280's finer points (an Authority Key Identifier in every certificate, say), on which Python insists since 3.13,
  are not asked for: the authorities of many a cluster lack them.
* A server's common name counts for nothing; only its alternative names do.
"""

from __future__ import annotations

import logging
import re
import ssl
import tempfile
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from bayplan.client.credentials.certificate import read_certificate
from bayplan.errors import CredentialsError

if TYPE_CHECKING:
    from collections.abc import Callable

    from bayplan.client.credentials.certificate import Certificate
    from bayplan.client.credentials.material import Material, Pair, Stamp

_log = logging.getLogger(__name__)

_ARMOUR = re.compile("-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)

#: Seconds between two looks at the files. A rotated certificate overlaps with its successor by minutes at least, and
#: three `stat` calls every five seconds cost nothing, however many requests are made.
CHECK_EVERY = 5.0


class TlsSettings:
    """A `TlsSource` over certificates that may be replaced at any time.

    When new files are there and cannot be used, being half written perhaps, the old context goes on serving and the
    log says so; they are tried again at the next look.
    """

    def __init__(
        self,
        *,
        authority: Material | None = None,
        insecure: bool = False,
        pair: Callable[[], Pair | None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        #: None trusts what this machine trusts.
        self._authority = authority
        self._insecure = insecure
        #: Asked every time, because an exec plugin brings new pairs.
        self._pair = pair
        self._clock = clock
        self._context: ssl.SSLContext | None = None
        #: The pair and the files' stamps that the context was made from.
        self._made_from: tuple[Pair | None, tuple[Stamp | None, ...]] = (None, ())
        self._look_at = 0.0
        #: The last trouble with new files, so that it is logged once.
        self._trouble = ""

    def context(self) -> ssl.SSLContext:
        """The context for the next connection: the same object until certificates change."""
        pair, now = self._pair(), self._clock()
        if self._context is not None and now < self._look_at and pair == self._made_from[0]:
            return self._context
        self._look_at = now + CHECK_EVERY
        try:
            self._renew(pair)
        except CredentialsError as error:
            # A new pair from a plugin must not be passed over in silence: the old one is what it replaces.
            if self._context is None or pair != self._made_from[0]:
                raise
            self._complain(str(error))
        assert self._context is not None
        return self._context

    def certificate(self) -> Certificate | None:
        """What the client certificate says of itself, if there is one now."""
        pair = self._pair()
        if pair is None:
            return None
        try:
            return read_certificate(pair.certificate.read())
        except ValueError as error:
            raise CredentialsError(
                f"{pair.certificate.label} cannot be used: {error}", remedy="put a certificate in PEM form there"
            ) from error

    def _renew(self, pair: Pair | None) -> None:
        materials = [self._authority, *((pair.certificate, pair.key) if pair else ())]
        # Taken before the files are read: if they change in between, the next look sees it.
        made_from = (pair, tuple(material.stamp() for material in materials if material))
        if self._context is None or made_from != self._made_from:
            self._context = _make(self._authority, pair, insecure=self._insecure)
            self._made_from = made_from
        self._trouble = ""

    def _complain(self, trouble: str) -> None:
        if trouble != self._trouble:
            _log.warning("the certificates read before stay in use: %s", trouble)
        self._trouble = trouble


def _make(authority: Material | None, pair: Pair | None, *, insecure: bool) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    if ssl.HAS_NEVER_CHECK_COMMON_NAME:
        context.hostname_checks_common_name = False
    if insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif authority is None:
        context.load_default_certs()
    else:
        _trust(context, authority)
    if pair is not None:
        _present(context, pair)
    return context


def _trust(context: ssl.SSLContext, authority: Material) -> None:
    # Only what is in PEM armour counts; anything may stand around it. As in client-go, one certificate that cannot be
    # used does not spoil a bundle of many.
    for block in _ARMOUR.findall(authority.read().decode("ascii", errors="ignore")):
        with suppress(ssl.SSLError):
            context.load_verify_locations(cadata=block)
    if not context.cert_store_stats()["x509"]:
        raise CredentialsError(
            f"{authority.label} holds no certificate that can be used", remedy="put the cluster's CA there, in PEM form"
        )


def _present(context: ssl.SSLContext, pair: Pair) -> None:
    certificate, key = pair.certificate.read(), pair.key.read()
    try:
        if pair.certificate.file and pair.key.file:
            context.load_cert_chain(pair.certificate.file, pair.key.file, _no_passphrase)
            return
        # OpenSSL reads keys from files only. This one is ours alone, mode 0600, and gone a moment later.
        with tempfile.NamedTemporaryFile(prefix="bayplan-") as file:
            file.write(certificate + b"\n" + key)
            file.flush()
            context.load_cert_chain(file.name, password=_no_passphrase)
    except ssl.SSLError as error:
        raise CredentialsError(
            f"{pair.certificate.label} cannot be used with {pair.key.label}: {_why(error)}",
            remedy="put a certificate and its own key there, both in PEM form",
        ) from error


def _why(error: ssl.SSLError) -> str:
    if error.reason == "KEY_VALUES_MISMATCH":
        return "the key is that of another certificate"
    return "they are not in PEM form" if error.reason in {None, "NO_START_LINE"} else error.reason


def _no_passphrase() -> str:
    # Without this, OpenSSL would ask on the terminal.
    raise CredentialsError(
        "the client key is encrypted with a passphrase",
        remedy="use a key without one, which only you can read, or an exec plugin",
    )
