"""What a certificate says of itself."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from hypothesis import given
from hypothesis import strategies as st

from bayplan.client.credentials.certificate import Certificate, read_certificate

if TYPE_CHECKING:
    from bayplan.testing.controlplane.certificates import Authority

KEY = ec.generate_private_key(ec.SECP256R1())

#: Years on both sides of 2050, where X.509 changes from two digits to four.
times = st.integers(-599_000_000, 5_680_000_000).map(lambda seconds: datetime.fromtimestamp(seconds, UTC))
names = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=16)


def encode(subject: list[tuple[x509.ObjectIdentifier, str]], times: tuple[datetime, datetime]) -> bytes:
    name = x509.Name([x509.NameAttribute(kind, value) for kind, value in subject])
    builder = x509.CertificateBuilder(name, name, KEY.public_key(), x509.random_serial_number(), *times)
    return builder.sign(KEY, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


@given(names, st.lists(names, max_size=3), times, times)
def test_name_groups_and_dates_are_those_that_were_put_in(
    name: str, groups: list[str], one: datetime, other: datetime
) -> None:
    before, after = sorted((one, other))
    subject = [(NameOID.ORGANIZATION_NAME, group) for group in groups]
    pem = encode([(NameOID.COUNTRY_NAME, "NL"), *subject, (NameOID.COMMON_NAME, name)], (before, after))
    assert read_certificate(pem) == Certificate(name, tuple(groups), before, after)


def test_the_subject_is_written_as_openssl_does(authority: Authority) -> None:
    pair = authority.issue_client("ann", "ann", ["captains", "cooks"])
    assert read_certificate(pair.certificate.read_bytes()).subject == "CN=ann, O=captains, O=cooks"


def test_the_first_of_a_chain_counts_and_anything_may_stand_before_it(authority: Authority) -> None:
    pem = authority.issue_client("ann", "ann").certificate.read_bytes()
    assert read_certificate("Zertifikat für Ann\n".encode() + pem + authority.file.read_bytes()).common_name == "ann"


@pytest.mark.parametrize("pem", [b"", b"nonsense", b"-----END CERTIFICATE-----\n-----BEGIN CERTIFICATE-----"])
def test_a_file_without_a_certificate_is_refused(pem: bytes) -> None:
    with pytest.raises(ValueError, match="no certificate"):
        read_certificate(pem)


@given(st.data())
def test_a_damaged_certificate_is_refused_or_read_and_nothing_else_happens(data: st.DataObject) -> None:
    pem = bytearray(
        encode([(NameOID.COMMON_NAME, "ann")], (datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)))
    )
    body = pem.index(b"\n") + 1
    for _ in range(data.draw(st.integers(1, 5))):
        pem[data.draw(st.integers(body, body + 200))] = data.draw(st.sampled_from(b"ABCxyz019+/\n"))
    with suppress(ValueError):
        read_certificate(bytes(pem))
