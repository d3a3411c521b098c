"""One TLS context for as long as the certificates stay the same."""

from __future__ import annotations

import logging
import os
import ssl
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from cryptography.hazmat.primitives import serialization

from bayplan.client.credentials.material import Material, Pair
from bayplan.client.credentials.tls import CHECK_EVERY, TlsSettings
from bayplan.errors import CredentialsError

if TYPE_CHECKING:
    from bayplan.testing.controlplane.certificates import Authority, KeyPair


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def by_file(pair: KeyPair) -> Pair:
    return Pair(Material("the certificate", file=pair.certificate), Material("the key", file=pair.key))


def by_data(pair: KeyPair) -> Pair:
    certificate, key = pair.certificate.read_bytes(), pair.key.read_bytes()
    return Pair(Material("the certificate", inline=certificate), Material("the key", inline=key))


def settings(authority: Authority, pair: Pair | None, clock: Clock) -> TlsSettings:
    return TlsSettings(authority=Material("the CA", file=authority.file), pair=lambda: pair, clock=clock)


def test_the_context_stays_the_same_while_nothing_changes(authority: Authority) -> None:
    clock = Clock()
    tls = settings(authority, by_file(authority.issue_client("ann", "ann")), clock)
    first = tls.context()
    clock.now = 10 * CHECK_EVERY
    assert tls.context() is first


def test_a_rotated_certificate_makes_a_new_context_at_the_next_look(authority: Authority) -> None:
    clock = Clock()
    tls = settings(authority, by_file(authority.issue_client("ann", "ann")), clock)
    first = tls.context()
    authority.issue_client("ann", "ann")
    clock.now = CHECK_EVERY - 0.1
    assert tls.context() is first
    clock.now = CHECK_EVERY
    assert tls.context() is not first


def test_a_symbolic_link_that_is_swapped_counts_as_a_change(authority: Authority, tmp_path: Path) -> None:
    """So kubelet renews mounted secrets; the new file may be as old and as long as the former one."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "ca.crt").write_bytes(authority.file.read_bytes())
        os.utime(tmp_path / name / "ca.crt", ns=(0, 0))
    link = tmp_path / "current"
    link.symlink_to("one")
    clock = Clock()
    tls = TlsSettings(authority=Material("the CA", file=link / "ca.crt"), clock=clock)
    first = tls.context()
    (tmp_path / "next").symlink_to("two")
    (tmp_path / "next").rename(link)
    clock.now = CHECK_EVERY
    assert tls.context() is not first


@pytest.mark.parametrize("damage", ["gone", "half", "mismatch"])
def test_files_that_cannot_be_used_leave_the_old_context_and_are_tried_again(
    authority: Authority, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    clock, pair = Clock(), authority.issue_client("ann", "ann")
    tls = settings(authority, by_file(pair), clock)
    first = tls.context()
    whole = pair.key.read_bytes()
    if damage == "gone":
        pair.key.unlink()
    else:
        other = authority.issue_client("other", "ann").key.read_bytes()
        pair.key.write_bytes(other if damage == "mismatch" else whole[: len(whole) // 2])
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            clock.now += CHECK_EVERY
            assert tls.context() is first
    assert len(caplog.records) == 1
    authority.issue_client("ann", "ann")
    clock.now += CHECK_EVERY
    assert tls.context() is not first


def test_a_new_pair_of_a_plugin_counts_at_once(authority: Authority) -> None:
    pairs = [by_data(authority.issue_client("ann", "ann"))]
    tls = TlsSettings(authority=Material("the CA", file=authority.file), pair=lambda: pairs[-1], clock=Clock())
    first = tls.context()
    pairs.append(by_data(authority.issue_client("ann", "ann")))
    second = tls.context()
    assert second is not first
    pairs.append(Pair(pairs[-1].certificate, pairs[-1].key))
    assert tls.context() is second


def test_a_new_pair_that_cannot_be_used_is_not_passed_over(authority: Authority) -> None:
    pairs: list[Pair | None] = [None]
    tls = TlsSettings(authority=Material("the CA", file=authority.file), pair=lambda: pairs[-1], clock=Clock())
    tls.context()
    pairs.append(Pair(Material("the certificate from x", inline=b"x"), Material("the key from x", inline=b"y")))
    for _ in range(2):
        with pytest.raises(CredentialsError, match="the certificate from x cannot be used with the key from x"):
            tls.context()


def test_an_inline_key_lives_in_a_private_file_and_only_for_a_moment(
    authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    load = ssl.SSLContext.load_cert_chain

    def spy(context: ssl.SSLContext, certfile: str, *arguments: object, **options: object) -> None:
        seen.append(Path(certfile).stat().st_mode & 0o777)
        load(context, certfile, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(ssl.SSLContext, "load_cert_chain", spy)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    settings(authority, by_data(authority.issue_client("ann", "ann")), Clock()).context()
    assert seen == [0o600]
    assert list((tmp_path / "temporary").iterdir()) == []


def test_certificate_and_key_may_come_from_a_file_and_from_data(authority: Authority) -> None:
    files, data = by_file(pair := authority.issue_client("ann", "ann")), by_data(pair)
    settings(authority, Pair(files.certificate, data.key), Clock()).context()
    settings(authority, Pair(data.certificate, files.key), Clock()).context()


@pytest.mark.parametrize("kind", [by_file, by_data])
def test_the_key_of_another_certificate_is_named_as_such(authority: Authority, kind: object) -> None:
    assert callable(kind)
    ann, bob = kind(authority.issue_client("ann", "ann")), kind(authority.issue_client("bob", "bob"))
    with pytest.raises(CredentialsError, match="the key is that of another certificate"):
        settings(authority, Pair(ann.certificate, bob.key), Clock()).context()


def test_an_encrypted_key_is_refused_instead_of_asking_on_the_terminal(authority: Authority) -> None:
    pair = authority.issue_client("ann", "ann")
    key = serialization.load_pem_private_key(pair.key.read_bytes(), None)
    locked = serialization.BestAvailableEncryption(b"s3cret")
    pair.key.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, locked))
    with pytest.raises(CredentialsError, match="the client key is encrypted"):
        settings(authority, by_file(pair), Clock()).context()


def test_a_file_that_is_missing_from_the_start_is_an_error_with_its_name(tmp_path: Path) -> None:
    tls = TlsSettings(authority=Material(f"the CA in {tmp_path / 'ca.crt'}", file=tmp_path / "ca.crt"))
    with pytest.raises(CredentialsError, match=r"the CA in .*ca\.crt cannot be read: No such file"):
        tls.context()


@pytest.mark.parametrize("content", [b"", b"nonsense", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"])
def test_a_ca_file_without_a_certificate_does_not_fall_back_to_what_the_machine_trusts(content: bytes) -> None:
    with pytest.raises(CredentialsError, match="the CA holds no certificate"):
        TlsSettings(authority=Material("the CA", inline=content or b"\n")).context()


def test_a_bundle_is_trusted_whole_and_what_is_broken_in_it_is_passed_over(
    authority: Authority, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    one, other = authority.file.read_bytes(), type(authority)(tmp_path / "other").file.read_bytes()
    broken = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    for bundle in (one + other, broken + one + b"# \xc3\xa9\n" + broken + other + one, one + other + one[:100]):
        context = TlsSettings(authority=Material("the CA", inline=bundle)).context()
        assert context.cert_store_stats()["x509"] == 2


def test_only_the_given_authority_is_trusted_and_without_pedantry(authority: Authority) -> None:
    context = TlsSettings(authority=Material("the CA", file=authority.file)).context()
    assert len(context.get_ca_certs()) == 1
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname
    assert not context.verify_flags & ssl.VERIFY_X509_STRICT
    assert context.minimum_version is ssl.TLSVersion.TLSv1_2


def test_without_an_authority_the_machines_own_are_trusted(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    assert {str(ca["subject"]) for ca in TlsSettings().context().get_ca_certs()} >= {
        str(ca["subject"]) for ca in TlsSettings(authority=Material("", file=authority.file)).context().get_ca_certs()
    }


def test_what_the_client_certificate_says_follows_the_file(authority: Authority) -> None:
    tls = settings(authority, by_file(authority.issue_client("me", "ann", ["cooks"])), Clock())
    assert (told := tls.certificate()) is not None
    assert told.subject == "CN=ann, O=cooks"
    authority.issue_client("me", "bob")
    assert (told := tls.certificate()) is not None
    assert told.common_name == "bob"
    assert TlsSettings().certificate() is None


def test_no_key_is_in_any_repr(authority: Authority) -> None:
    pair = by_data(authority.issue_client("ann", "ann"))
    assert "PRIVATE" not in repr(pair) + repr(settings(authority, pair, Clock()))
