"""A web address is read once, and judged the same for the check and the run."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from nika_nb.authority.hosts import Site, judge, judge_addresses, read_site, refusal_code
from tests.verbs.calls import permits

GRANTED = permits(http=["api.example.com", "localhost", "127.0.0.1"])

READ = [
    ("https://API.example.com", "https", "api.example.com", 443, "/"),
    ("http://api.example.com:8080/a?b=1#c", "http", "api.example.com", 8080, "/a?b=1"),
    ("HTTPS://api.example.com./x", "https", "api.example.com", 443, "/x"),
    ("https://straße.example/ä b", "https", "strasse.example", 443, "/%C3%A4%20b"),
    ("https://bücher.example/", "https", "xn--bcher-kva.example", 443, "/"),
    ("http://１２７．０．０．１/", "http", "127.0.0.1", 80, "/"),
    ("http://127。0。0。1/", "http", "127.0.0.1", 80, "/"),
    ("http://[0:0:0:0:0:0:0:1]:80/", "http", "::1", 80, "/"),
    (" https://api.example.com/\n", "https", "api.example.com", 443, "/"),
    ("https://u:p@api.example.com/", "https", "api.example.com", 443, "/"),
    ("http://good.example@127.0.0.1/", "http", "127.0.0.1", 80, "/"),
    ("https://api.example.com/%2e%2e/a%20b", "https", "api.example.com", 443, "/%2e%2e/a%20b"),
]


@pytest.mark.parametrize(("url", "scheme", "host", "port", "target"), READ, ids=[case[0] for case in READ])
def test_an_address_is_read(url: str, scheme: str, host: str, port: int, target: str) -> None:
    """The host in canonical form, the port spelled out, the path and query as they go over the wire."""
    site = read_site(url)
    assert (site.scheme, site.host, site.port, site.target) == (scheme, host, port, target)
    assert site.credentials is ("@" in url)


UNREADABLE = [
    ("ftp://api.example.com/x", "not an address of the web"),
    ("file:///etc/passwd", "not an address of the web"),
    ("javascript:alert(1)", "not an address of the web"),
    ("//api.example.com/x", "not an address of the web"),
    ("api.example.com", "not an address of the web"),
    ("", "not an address of the web"),
    ("https://", "names no host"),
    ("https:///x", "names no host"),
    ("https://:443/", "names no host"),
    ("https://api.example.com:70000/", "cannot be read"),
    ("https://api.example.com:port/", "cannot be read"),
    ("https://[::1/", "cannot be read"),
    ("https://good.example\\@evil.example/", "a character that no host has"),
    ("https://good.example evil.example/", "a character that no host has"),
    ("https://good.example\0.evil.example/", "a character that no host has"),
    ("https://%31%32%37.0.0.1/", "is not the name of a host"),
    ("https://a..b/", "is not the name of a host"),
    ("https://[fe80::1%25eth0]/", "is not the name of a host"),
    ("https://-/", "is not the name of a host"),
    ("https://a'b/", "is not the name of a host"),
]


@pytest.mark.parametrize(("url", "sentence"), UNREADABLE, ids=[repr(case[0]) for case in UNREADABLE])
def test_what_is_no_address_is_refused(url: str, sentence: str) -> None:
    """A text that two programs could read as two hosts is read as none."""
    with pytest.raises(ValueError, match=sentence):
        read_site(url)


ONWARD = [
    ("/b?c", "https://api.example.com:8443/b?c"),
    ("b", "https://api.example.com:8443/a/b"),
    ("?q=2", "https://api.example.com:8443/a/x?q=2"),
    ("//other.example/y", "https://other.example/y"),
    ("http://other.example/y", "http://other.example/y"),
]


@pytest.mark.parametrize(("location", "expected"), ONWARD)
def test_a_redirect_counts_from_where_it_came(location: str, expected: str) -> None:
    """A relative location keeps host and port; an absolute one does not."""
    onward = read_site(location, read_site("https://api.example.com:8443/a/x?q=1"))
    assert f"{onward.scheme}://{onward.authority}{onward.target}" == expected


def test_the_address_for_people_has_no_query() -> None:
    """A query may hold a key; the port is shown where it is not the usual one."""
    assert str(read_site("https://u:p@api.example.com/a?key=hunter22")) == "https://api.example.com/a"
    assert read_site("http://[::1]:8080/").authority == "[::1]:8080"
    assert read_site("https://api.example.com:443/").authority == "api.example.com"
    assert read_site("http://api.example.com:443/").authority == "api.example.com:443"


JUDGED = [
    ("api.example.com", 443, True, ""),
    ("api.example.com", 8080, True, ""),
    ("localhost", 8888, True, ""),
    ("127.0.0.1", 80, True, ""),
    ("other.example.com", 443, False, "NIKA-SEC-004"),
    ("example.com", 443, False, "NIKA-SEC-004"),
    ("api.example.com.evil.net", 443, False, "NIKA-SEC-004"),
    ("127.0.0.2", 80, False, "NIKA-SEC-005"),
    ("::1", 80, False, "NIKA-SEC-005"),
    ("a.localhost", 80, False, "NIKA-SEC-005"),
    ("2130706433", 80, False, "NIKA-SEC-005"),
    ("10.0.0.1", 80, False, "NIKA-SEC-005"),
    ("169.254.169.254", 80, False, "NIKA-SEC-005"),
    ("metadata.google.internal", 80, False, "NIKA-SEC-005"),
    ("api.example.com", 22, False, "NIKA-SEC-005"),
    ("localhost", 5432, False, "NIKA-SEC-005"),
    ("localhost", 2375, False, "NIKA-SEC-005"),
    ("localhost", 0, False, "NIKA-SEC-005"),
]


@pytest.mark.parametrize(("host", "port", "allowed", "code"), JUDGED)
def test_a_host_and_its_port_are_judged(host: str, port: int, allowed: bool, code: str) -> None:
    """Below the permits lie the floor and the closed ports, which no grant opens."""
    verdict = judge(GRANTED, host, port)
    assert verdict.allowed is allowed
    if not allowed:
        assert refusal_code(verdict) == code


def test_nothing_is_reached_without_a_grant() -> None:
    """No block grants nothing; a bare `*` grants every host above the floor, and opens nothing of it."""
    assert refusal_code(judge(None, "api.example.com", 443)) == "NIKA-SEC-004"
    assert refusal_code(judge(permits(), "api.example.com", 443)) == "NIKA-SEC-004"
    every = permits(http=["*"])
    assert judge(every, "anything.example", 443).allowed
    assert not judge(every, "localhost", 80).allowed
    assert not judge(every, "anything.example", 25).allowed


ADDRESSES = [
    ("api.example.com", ["93.184.216.34"], True),
    ("api.example.com", ["2606:2800:220:1::1", "93.184.216.34"], True),
    ("api.example.com", ["93.184.216.34", "10.0.0.7"], False),
    ("api.example.com", ["127.0.0.1"], False),
    ("api.example.com", ["::1"], False),
    ("api.example.com", ["::ffff:192.168.0.1"], False),
    ("api.example.com", ["169.254.169.254"], False),
    ("api.example.com", ["100.64.0.1"], False),
    ("localhost", ["127.0.0.1", "::1"], True),
    ("localhost", ["127.0.0.1", "192.168.0.1"], False),
    ("localhost", ["93.184.216.34"], False),
    ("localhost", ["::ffff:127.0.0.1"], False),
    ("127.0.0.1", ["127.0.0.1"], True),
    ("127.0.0.2", ["127.0.0.2"], False),
]


@pytest.mark.parametrize(("host", "addresses", "allowed"), ADDRESSES, ids=lambda part: str(part))
def test_every_address_of_a_host_is_judged(host: str, addresses: list[str], allowed: bool) -> None:
    """One inner address refuses a public name; an opened loopback name leads to this machine only."""
    verdict = judge_addresses(GRANTED, host, [ip_address(text) for text in addresses])
    assert verdict.allowed is allowed
    if not allowed:
        assert refusal_code(verdict) == "NIKA-SEC-005"


def test_a_refusal_says_what_to_do() -> None:
    """What, why, and the way out, in one sentence."""
    assert judge(GRANTED, "other.example", 443).sentence == (
        "host `other.example` is refused: permits.net.http does not list it; "
        'add "other.example" to permits.net.http'
    )
    assert "behind port 5432 stands a database" in judge(GRANTED, "localhost", 5432).sentence
    assert 'name exactly this host: `permits: { net: { http: ["127.0.0.2"] } }`' in (
        judge(GRANTED, "127.0.0.2", 80).sentence
    )
    inner = judge_addresses(GRANTED, "api.example.com", [ip_address("10.0.0.7")]).sentence
    assert "it stands for 10.0.0.7: it lies in a private or reserved network" in inner


def test_a_site_is_a_value() -> None:
    """Two readings of one address are equal, so an origin can be compared."""
    assert read_site("http://API.example.com") == Site("http", "api.example.com", 80, "/")
    assert read_site("http://api.example.com/a").origin == read_site("http://api.example.com:80/b").origin
