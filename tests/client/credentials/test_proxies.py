"""Which proxy leads to a server, by the environment."""

from __future__ import annotations

from ipaddress import ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayplan.client.credentials.proxies import proxy_from_environment
from bayplan.errors import CredentialsError

PROXY = "http://proxy:3128"


def proxied(server: str, exceptions: str) -> bool:
    return proxy_from_environment(server, {"HTTPS_PROXY": PROXY, "NO_PROXY": exceptions}) == PROXY


@pytest.mark.parametrize(
    ("environ", "server", "proxy"),
    [
        ({}, "https://sea", None),
        ({"HTTPS_PROXY": PROXY}, "https://sea", PROXY),
        ({"HTTPS_PROXY": PROXY}, "http://sea", None),
        ({"HTTP_PROXY": PROXY}, "http://sea", PROXY),
        ({"HTTP_PROXY": PROXY}, "https://sea", None),
        ({"https_proxy": PROXY}, "https://sea", PROXY),
        ({"HTTPS_PROXY": "", "https_proxy": PROXY}, "https://sea", PROXY),
        ({"HTTPS_PROXY": PROXY, "https_proxy": "http://other"}, "https://sea", PROXY),
        ({"HTTPS_PROXY": "proxy:3128"}, "https://sea", PROXY),
        ({"ALL_PROXY": PROXY}, "https://sea", None),
        ({"HTTPS_PROXY": PROXY, "no_proxy": "sea"}, "https://sea", None),
        ({"HTTPS_PROXY": PROXY, "NO_PROXY": "lake", "no_proxy": "sea"}, "https://sea", PROXY),
    ],
)
def test_the_variable_goes_by_the_scheme_and_capitals_come_first(
    environ: dict[str, str], server: str, proxy: str | None
) -> None:
    assert proxy_from_environment(server, environ) == proxy


@pytest.mark.parametrize(
    "written",
    [
        "http://ann:s3cret@proxy:port",
        "ann:s3cret@proxy:port",
        "ftp://ann:s3cret@proxy",
        "http://ann:s3cret@",
        "//s3cret",
    ],
)
def test_what_is_no_proxy_is_refused_and_not_quoted(written: str) -> None:
    with pytest.raises(CredentialsError, match="HTTPS_PROXY in the environment is not the URL of a proxy") as refused:
        proxy_from_environment("https://sea", {"https_proxy": written})
    assert "s3cret" not in str(refused.value)
    assert refused.value.remedy
    # It is nobody's trouble who does not go through it.
    assert proxy_from_environment("https://localhost", {"https_proxy": written}) is None
    assert proxy_from_environment("https://sea", {"https_proxy": written, "NO_PROXY": "sea"}) is None


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.9.9.9", "[::1]", "[::ffff:127.0.0.1]"])
def test_a_loopback_address_is_never_proxied(host: str) -> None:
    assert not proxied(f"https://{host}:6443", "")


@pytest.mark.parametrize(
    ("exceptions", "server", "expected"),
    [
        ("*", "https://sea", False),
        ("lake, *", "https://sea", False),
        ("*sea", "https://sea", True),
        (" , ,sea ", "https://sea", False),
        ("SEA.example", "https://Sea.Example", False),
        # Domains: without a dot the domain and all below it, with one only what is below it.
        ("sea.example", "https://sea.example:6443", False),
        ("sea.example", "https://api.sea.example", False),
        ("sea.example", "https://oversea.example", True),
        (".sea.example", "https://sea.example", True),
        (".sea.example", "https://api.sea.example", False),
        ("*.sea.example", "https://sea.example", True),
        ("*.sea.example", "https://api.sea.example", False),
        # Ports.
        ("sea.example:6443", "https://sea.example:6443", False),
        ("sea.example:6443", "https://sea.example", True),
        ("sea.example:443", "https://sea.example", False),
        (".sea.example:443", "https://api.sea.example", False),
        (":443", "https://sea.example", True),
        ("10.1.2.3:6443", "https://10.1.2.3:6443", False),
        ("10.1.2.3:6443", "https://10.1.2.3:7443", True),
        ("[fd00::1]:6443", "https://[fd00::1]:6443", False),
        ("[fd00::1]:6443", "https://[fd00::1]", True),
        # Addresses and networks.
        ("10.1.2.3", "https://10.1.2.3:6443", False),
        ("10.1.2", "https://10.1.2.3", True),
        ("fd00:0::1", "https://[fd00::1]", False),
        ("10.1.0.0/16", "https://10.1.2.3", False),
        ("10.1.9.9/16", "https://10.1.2.3", False),
        ("10.1.0.0/16", "https://10.2.2.3", True),
        ("10.1.0.0/16", "https://[::ffff:10.1.2.3]", False),
        ("::ffff:10.1.0.0/112", "https://10.1.2.3", False),
        ("::ffff:10.1.0.0/112", "https://10.2.2.3", True),
        ("::/0", "https://10.1.2.3", True),
        ("10.1.0.0/255.255.0.0", "https://10.1.2.3", True),
        ("10.1.0.0/99", "https://10.1.2.3", True),
        ("fd00::/8", "https://[fd12::1]", False),
        ("fd00::/8", "https://10.1.2.3", True),
        ("10.1.0.0/16", "https://sea.example", True),
        # The tail of an address is no domain.
        ("2.3", "https://10.1.2.3", True),
        ("bücher.example", "https://xn--bcher-kva.example", False),
        ("bücher.example", "https://www.bücher.example", False),
    ],
)
def test_exceptions_are_read_as_go_reads_them(exceptions: str, server: str, expected: bool) -> None:
    assert proxied(server, exceptions) is expected


labels = st.text("abc", min_size=1, max_size=3)
domains = st.lists(labels, min_size=2, max_size=4).map(".".join)


@given(domains, domains, st.booleans())
def test_a_domain_means_itself_and_what_is_below_it_label_by_label(host: str, domain: str, dotted: bool) -> None:
    parts, tail = host.split("."), domain.split(".")
    below = len(parts) > len(tail) and parts[-len(tail) :] == tail
    excepted = below or (parts == tail and not dotted)
    assert proxied(f"https://{host}", ("." if dotted else "") + domain) is not excepted


@given(st.ip_addresses(v=4), st.ip_addresses(v=4), st.integers(0, 32))
def test_a_network_means_the_addresses_in_it(host: object, base: object, length: int) -> None:
    address, network = ip_address(str(host)), ip_network(f"{base}/{length}", strict=False)
    excepted = address.is_loopback or address in network
    assert proxied(f"https://{host}", f"{base}/{length}") is not excepted


@given(st.text(max_size=30), st.sampled_from(["sea.example", "10.1.2.3", "[fd00::1]"]))
def test_nonsense_in_the_list_is_passed_over(nonsense: str, host: str) -> None:
    proxied(f"https://{host}", nonsense)
    assert not proxied(f"https://{host}", f"{nonsense},{host.strip('[]')}")
