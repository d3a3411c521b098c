"""Certificates and keys, wherever they are kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bayplan.errors import CredentialsError

if TYPE_CHECKING:
    from pathlib import Path

#: What tells one content of a file from the next without reading it: inode, modification time, size.
Stamp = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Material:
    """Some PEM: in a file, which may be replaced at any time, or written into the kubeconfig itself."""

    #: What messages call it: `client certificate /etc/x.crt`, `the client-key-data of user ann`.
    label: str
    file: Path | None = None
    #: A secret where it is a key, hence kept out of `repr`.
    inline: bytes = field(default=b"", repr=False)

    def read(self) -> bytes:
        """The content as it is now."""
        if self.file is None:
            return self.inline
        try:
            return self.file.read_bytes()
        except OSError as error:
            raise self.unreadable(error) from error

    def stamp(self) -> Stamp | None:
        """Changes whenever the file does; None for what cannot change."""
        if self.file is None:
            return None
        try:
            return stamp(self.file)
        except OSError as error:
            raise self.unreadable(error) from error

    def unreadable(self, error: OSError) -> CredentialsError:
        """The error for a file that cannot be read."""
        return CredentialsError(
            f"{self.label} cannot be read: {error.strerror}",
            remedy="put the file there, or correct its path in the kubeconfig",
        )


@dataclass(frozen=True, slots=True)
class Pair:
    """A client certificate and its private key."""

    certificate: Material
    key: Material


def stamp(file: Path) -> Stamp:
    """What tells this content of the file from the next. Symbolic links are followed, since kubelet swaps them."""
    status = file.stat()
    return status.st_ino, status.st_mtime_ns, status.st_size
