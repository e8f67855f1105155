"""The floor: addresses that no grant opens, however they are spelled."""

from __future__ import annotations

import pytest

from nika_nb.authority.floor import blocked, is_loopback


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST.",
        "dev.localhost",
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "0.0.0.0",
        "[::1]",
        "::",
        "::ffff:127.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "100.64.0.1",
        "169.254.1.1",
        "169.254.169.254",
        "metadata.google.internal",
        "fe80::1",
        "fd00::1",
        "224.0.0.1",
        "255.255.255.255",
        "192.0.0.192",
        "192.88.99.1",
        "168.63.129.16",
        "::127.0.0.1",
        "::ffff:0:127.0.0.1",
        "64:ff9b:1::1",
        "fec0::1",
        "fd00:ec2::254",
        "2001:0:1::1",
        "3fff::1",
    ],
)
def test_an_inner_address_is_blocked(host: str) -> None:
    """This machine, private networks and metadata services are blocked in every spelling."""
    assert blocked(host)
    assert blocked(host, ["*"])


@pytest.mark.parametrize(
    "host",
    [
        "example.com",
        "8.8.8.8",
        "2001:4860:4860::8888",
        "64:ff9b::8.8.8.8",
        "::ffff:8.8.8.8",
        "localhost.example.com",
        "10",
    ],
)
def test_an_outer_address_is_not(host: str) -> None:
    """Public names and addresses are left to the permits; a bare number is an address too."""
    assert bool(blocked(host)) is (host == "10")


@pytest.mark.parametrize(
    ("host", "grants", "opened"),
    [
        ("localhost", ["localhost"], True),
        ("localhost:8080", ["localhost"], True),
        ("::1", ["[::1]"], True),
        ("127.0.0.1", ["127.0.0.1"], True),
        ("127.0.0.1", ["localhost"], False),
        ("127.0.0.2", ["127.0.0.1"], False),
        ("::ffff:127.0.0.1", ["::ffff:127.0.0.1"], False),
        ("127.1", ["127.1"], False),
        ("dev.localhost", ["dev.localhost"], False),
        ("10.0.0.1", ["10.0.0.1"], False),
        ("169.254.169.254", ["169.254.169.254"], False),
    ],
)
def test_only_an_exact_loopback_grant_opens_its_host(host: str, grants: list[str], opened: bool) -> None:
    """A grant opens the loopback name that it spells, and no other address of the floor."""
    assert (blocked(host, grants) is None) is opened


def test_loopback_literals_are_three_forms() -> None:
    """`localhost`, an IPv4 loopback and `::1` can be opened; other spellings of them cannot."""
    assert [
        name for name in ("localhost", "127.9.9.9", "::1", "127.1", "a.localhost") if is_loopback(name)
    ] == [
        "localhost",
        "127.9.9.9",
        "::1",
    ]
