"""Certificates for one throw-away cluster: its authority, and what it signs.

Everything is X.509 version 3 with the extensions that strict verifiers (rustls, Go) insist on. Keys are P-256,
because making one takes a fraction of a millisecond and every start of a control plane makes several.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

#: Longer than any test run and short enough that a forgotten key is soon worth nothing.
_LIFETIME = timedelta(days=7)

#: A clock that is set back by a little between two starts must not make a certificate "not yet valid".
_SLACK = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A certificate and its private key, as PEM files."""

    certificate: Path
    key: Path


class Authority:
    """The cluster's certificate authority. Its key lives in memory only: nobody else signs for this cluster."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _distinguished("bayplan-testing-ca")
        builder = _builder(self._name, self._name, self._key.public_key())
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        builder = builder.add_extension(_usage(sign_certificates=True), critical=True)
        self._certificate = builder.sign(self._key, hashes.SHA256())
        #: The file that clients trust.
        self.file = _write(directory / "ca.crt", self._certificate.public_bytes(serialization.Encoding.PEM))

    def issue_server(self, filename: str, hosts: Sequence[str]) -> KeyPair:
        """A serving certificate for these host names and IP addresses."""
        alternatives = x509.SubjectAlternativeName([_general_name(host) for host in hosts])
        return self._issue(filename, _distinguished(hosts[0]), ExtendedKeyUsageOID.SERVER_AUTH, alternatives)

    def issue_client(self, filename: str, user: str, groups: Sequence[str] = ()) -> KeyPair:
        """A client certificate: Kubernetes reads the user from its common name, the groups from its organizations."""
        return self._issue(filename, _distinguished(user, groups), ExtendedKeyUsageOID.CLIENT_AUTH)

    def _issue(
        self,
        filename: str,
        subject: x509.Name,
        purpose: x509.ObjectIdentifier,
        alternatives: x509.SubjectAlternativeName | None = None,
    ) -> KeyPair:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(subject, self._name, key.public_key())
        builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        builder = builder.add_extension(_usage(sign_certificates=False), critical=True)
        builder = builder.add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        builder = builder.add_extension(issuer, critical=False)
        if alternatives is not None:
            builder = builder.add_extension(alternatives, critical=False)
        certificate = builder.sign(self._key, hashes.SHA256())
        pem = certificate.public_bytes(serialization.Encoding.PEM)
        return KeyPair(
            _write(self._directory / f"{filename}.crt", pem), _write_key(self._directory / f"{filename}.key", key)
        )


def write_service_account_keys(directory: Path) -> KeyPair:
    """The pair that signs service account tokens; the ``certificate`` is the bare public key, as the flags want it."""
    key = ec.generate_private_key(ec.SECP256R1())
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    public = key.public_key().public_bytes(serialization.Encoding.PEM, form)
    return KeyPair(_write(directory / "sa.pub", public), _write_key(directory / "sa.key", key))


def _builder(subject: x509.Name, issuer: x509.Name, public: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(
        issuer_name=issuer,
        subject_name=subject,
        public_key=public,
        serial_number=x509.random_serial_number(),
        not_valid_before=now - _SLACK,
        not_valid_after=now + _LIFETIME,
    )
    return builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)


def _distinguished(common_name: str, organizations: Sequence[str] = ()) -> x509.Name:
    groups = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in organizations]
    return x509.Name([*groups, x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _usage(*, sign_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=sign_certificates,
        crl_sign=sign_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def _write_key(path: Path, key: ec.EllipticCurvePrivateKey) -> Path:
    path.touch(mode=0o600)
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return _write(path, pem)
