"""Certificates that strict verifiers accept."""

from __future__ import annotations

import ssl
from ipaddress import ip_address
from typing import TYPE_CHECKING

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from bayplan.testing.controlplane.certificates import Authority, write_service_account_keys

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


def read(path: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate(path.read_bytes())


def test_all_are_version_3(authority: Authority) -> None:
    server, client = authority.issue_server("s", ["127.0.0.1"]), authority.issue_client("c", "ann")
    versions = {read(path).version for path in (authority.file, server.certificate, client.certificate)}
    assert versions == {x509.Version.v3}


def test_the_authority_may_sign_certificates_and_nothing_below_it_may(authority: Authority) -> None:
    leaf = read(authority.issue_client("c", "ann").certificate)
    root = read(authority.file)
    constraints = [it.extensions.get_extension_for_class(x509.BasicConstraints) for it in (root, leaf)]
    assert [(it.critical, it.value.ca) for it in constraints] == [(True, True), (True, False)]
    usages = [it.extensions.get_extension_for_class(x509.KeyUsage).value for it in (root, leaf)]
    assert [it.key_cert_sign for it in usages] == [True, False]


def test_a_serving_certificate_names_hosts_and_addresses_each_in_its_kind(authority: Authority) -> None:
    certificate = read(authority.issue_server("s", ["127.0.0.1", "localhost"]).certificate)
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.IPAddress) == [ip_address("127.0.0.1")]
    assert names.get_values_for_type(x509.DNSName) == ["localhost"]
    usage = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(usage) == [ExtendedKeyUsageOID.SERVER_AUTH]


def test_a_client_certificate_carries_the_user_and_the_groups(authority: Authority) -> None:
    certificate = read(authority.issue_client("c", "ann", ["dev", "ops"]).certificate)
    subject = certificate.subject
    assert [it.value for it in subject.get_attributes_for_oid(NameOID.COMMON_NAME)] == ["ann"]
    assert [it.value for it in subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)] == ["dev", "ops"]
    usage = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(usage) == [ExtendedKeyUsageOID.CLIENT_AUTH]


def test_key_identifiers_link_a_leaf_to_its_authority(authority: Authority) -> None:
    leaf, root = read(authority.issue_client("c", "ann").certificate), read(authority.file)
    issuer = leaf.extensions.get_extension_for_class(x509.AuthorityKeyIdentifier).value.key_identifier
    assert issuer == root.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value.digest
    leaf.verify_directly_issued_by(root)


def test_a_verifier_in_strict_mode_shakes_hands(authority: Authority) -> None:
    serving, ann = authority.issue_server("s", ["127.0.0.1"]), authority.issue_client("c", "ann", ["dev"])
    server, client = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    for context, pair in ((server, serving), (client, ann)):
        context.load_cert_chain(pair.certificate, pair.key)
        context.load_verify_locations(authority.file)
        context.verify_flags |= ssl.VERIFY_X509_STRICT
    server.verify_mode = ssl.CERT_REQUIRED
    peer = shake_hands(server, client, "127.0.0.1")
    assert peer is not None
    assert peer["subject"] == ((("organizationName", "dev"),), (("commonName", "ann"),))


def test_another_authority_is_not_believed(authority: Authority, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    server, client = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    serving = authority.issue_server("s", ["127.0.0.1"])
    server.load_cert_chain(serving.certificate, serving.key)
    client.load_verify_locations(Authority(tmp_path / "other").file)
    with pytest.raises(ssl.SSLCertVerificationError):
        shake_hands(server, client, "127.0.0.1")


def test_keys_are_for_nobody_else_to_read(authority: Authority, tmp_path: Path) -> None:
    keys = [
        authority.issue_server("s", ["localhost"]).key,
        authority.issue_client("c", "ann").key,
        write_service_account_keys(tmp_path).key,
    ]
    assert [oct(key.stat().st_mode & 0o777) for key in keys] == ["0o600"] * 3


def test_the_pair_for_service_accounts_belongs_together(tmp_path: Path) -> None:
    pair = write_service_account_keys(tmp_path)
    private = serialization.load_pem_private_key(pair.key.read_bytes(), None)
    assert private.public_key() == serialization.load_pem_public_key(pair.certificate.read_bytes())


def shake_hands(server: ssl.SSLContext, client: ssl.SSLContext, host: str) -> dict[str, object] | None:
    """A handshake in memory; gives what the server knows of its peer."""
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        client.wrap_bio(down, up, server_hostname=host),
        server.wrap_bio(up, down, server_side=True),
    ]
    for _ in range(3):
        for end in ends:
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
    return dict(ends[1].getpeercert() or {}) or None
