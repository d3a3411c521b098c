"""What a certificate says of itself: whose it is and until when.

Python's `ssl` tells this only of a peer, and the `cryptography` package is far too heavy for two dates and a name.
X.509 in DER is a tree of (tag, length, content), and what is wanted stands at fixed places near its root.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_BEGIN, _END = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
_VERSION, _UTC_TIME, _BMP_STRING = 0xA0, 0x17, 0x1E
#: The encoded object identifiers of what Kubernetes reads from a subject: 2.5.4.3 and 2.5.4.10.
_COMMON_NAME, _ORGANIZATION = bytes([0x55, 0x04, 0x03]), bytes([0x55, 0x04, 0x0A])


@dataclass(frozen=True, slots=True)
class Certificate:
    """A client certificate, as Kubernetes understands it."""

    #: The user name.
    common_name: str
    #: The groups.
    organizations: tuple[str, ...]
    not_before: datetime
    not_after: datetime

    @property
    def subject(self) -> str:
        """`CN=admin, O=system:masters`."""
        parts = [f"CN={self.common_name}"] if self.common_name else []
        return ", ".join(parts + [f"O={name}" for name in self.organizations])


def read_certificate(pem: bytes) -> Certificate:
    """Read the first certificate of a PEM file, which is the client's own. Raises ValueError if there is none."""
    text = pem.decode("ascii", errors="ignore")
    begin, end = text.find(_BEGIN), text.find(_END)
    if begin < 0 or end < begin:
        raise ValueError("it holds no certificate in PEM form")
    try:
        return _decode(ssl.PEM_cert_to_DER_cert(text[begin : end + len(_END)]))
    except (ValueError, IndexError, StopIteration) as error:
        raise ValueError("it holds a certificate that cannot be decoded") from error


def _decode(der: bytes) -> Certificate:
    signed = next(_elements(next(_elements(der))[1]))[1]
    fields = [field for field in _elements(signed) if field[0] != _VERSION]
    _serial, _algorithm, _issuer, validity, subject = fields[:5]
    not_before, not_after = (_time(*field) for field in _elements(validity[1]))
    names = list(_names(subject[1]))
    return Certificate(
        next((name for kind, name in names if kind == _COMMON_NAME), ""),
        tuple(name for kind, name in names if kind == _ORGANIZATION),
        not_before,
        not_after,
    )


def _elements(content: bytes) -> Iterator[tuple[int, bytes]]:
    """The (tag, content) pairs that stand one after the other."""
    at = 0
    while at < len(content):
        tag, length, at = content[at], content[at + 1], at + 2
        if length & 0x80:
            size = length & 0x7F
            length, at = int.from_bytes(content[at : at + size], "big"), at + size
        if at + length > len(content):
            raise ValueError("cut off")
        yield tag, content[at : at + length]
        at += length


def _names(subject: bytes) -> Iterator[tuple[bytes, str]]:
    """The (kind, value) pairs of a subject: a sequence of sets of pairs."""
    for _, relative in _elements(subject):
        for _, pair in _elements(relative):
            (_, kind), (tag, value) = _elements(pair)
            yield kind, value.decode("utf-16-be" if tag == _BMP_STRING else "utf-8", errors="replace")


def _time(tag: int, content: bytes) -> datetime:
    text = content.decode("ascii")
    if tag == _UTC_TIME:
        # Two digits of the year: X.509 has them turn at 50.
        text = ("19" if int(text[:2]) >= 50 else "20") + text
    return datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)
