"""Names and the addresses they stand for: judged inside the dial, and dialed as judged."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from nika_nb.authority.floor import Address
from nika_nb.authority.hosts import read_site
from nika_nb.errors import Fault
from nika_nb.tools.base import Use
from nika_nb.tools.dial import resolve
from nika_nb.tools.web import Request, Web
from tests.tools.server import serving
from tests.verbs.calls import Recorder, permits

GRANTED = permits(tools=["nika:fetch"], http=["api.example.com", "localhost"])


class Names:
    """A resolver that answers what the test wrote, and counts how often it was asked."""

    def __init__(self, *addresses: str) -> None:
        self.addresses = [ipaddress.ip_address(text) for text in addresses]
        self.asked: list[tuple[str, int]] = []

    async def __call__(self, host: str, port: int) -> Sequence[Address]:
        self.asked.append((host, port))
        if not self.addresses:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return self.addresses


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    return Recorder(str(tmp_path))


def send(recorder: Recorder, url: str, names: Any) -> bytes:
    web = Web(Use(recorder.call("invoke", {}), GRANTED), names)
    site = read_site(url)
    web.enter(site)
    return asyncio.run(web.send(Request("GET", site, {})))


@pytest.fixture
def no_lookups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking up a name with the system fails; an address stays an address."""
    real = socket.getaddrinfo

    def only_addresses(host: Any, *args: Any, **kwargs: Any) -> Any:
        ipaddress.ip_address(host if isinstance(host, str) else host.decode())
        return real(host, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", only_addresses)


INNER = [
    ["127.0.0.1"],
    ["10.1.2.3"],
    ["169.254.169.254"],
    ["100.64.0.1"],
    ["::1"],
    ["fd00::1"],
    ["fe80::1"],
    ["::ffff:127.0.0.1"],
    ["64:ff9b::7f00:1"],
    ["0.0.0.0"],
    ["93.184.216.34", "127.0.0.1"],
]


@pytest.mark.parametrize("addresses", INNER, ids=lambda part: " ".join(part))
def test_a_public_name_for_an_inner_address(recorder: Recorder, addresses: list[str]) -> None:
    """A permitted name that stands for an inner address is refused, whatever else it stands for."""
    with serving() as server:
        server.answer("/", "secret")
        with pytest.raises(Fault) as caught:
            send(recorder, f"http://api.example.com:{server.port}/", Names(*addresses))
        assert server.seen == []
    assert caught.value.code == "NIKA-SEC-005"
    assert "it stands for" in caught.value.message
    assert (recorder.decisions[-1].gate, recorder.decisions[-1].allowed) == ("api.example.com", False)


@pytest.mark.usefixtures("no_lookups")
def test_what_was_judged_is_dialed(recorder: Recorder) -> None:
    """A name is looked up once per connection: there is no moment in which it could come to mean another."""
    with serving() as server:
        server.answer("/", "hello")
        names = Names("127.0.0.1")
        assert send(recorder, server.url("/", "localhost"), names) == b"hello"
        assert names.asked == [("localhost", server.port)]
        assert server.seen[0].headers["host"] == f"localhost:{server.port}"


def test_an_opened_loopback_name_leads_nowhere_else(recorder: Recorder) -> None:
    """`localhost` in a hosts file that points elsewhere is not what the author opened."""
    for address in ("192.168.0.1", "93.184.216.34", "::ffff:127.0.0.1"):
        with pytest.raises(Fault, match="leads away from it") as caught:
            send(recorder, "http://localhost:8000/", Names("127.0.0.1", address))
        assert caught.value.code == "NIKA-SEC-005"


def test_every_address_is_tried(recorder: Recorder) -> None:
    """Where one address does not answer, the next one may."""
    with serving() as server:
        server.answer("/", "hello")
        assert send(recorder, server.url("/", "localhost"), Names("127.0.0.9", "127.0.0.1")) == b"hello"


def test_an_unknown_name(recorder: Recorder) -> None:
    """A name that stands for nothing may stand for something later."""
    with pytest.raises(Fault) as caught:
        send(recorder, "https://api.example.com/", Names())
    assert (caught.value.code, caught.value.transient) == ("NIKA-BUILTIN-FETCH-001", True)
    assert caught.value.message == "`https://api.example.com/` cannot be reached: its name is not known"


@pytest.mark.parametrize("later", ["10.0.0.7", "127.0.0.1"])
def test_a_name_that_changes_between_two_hops(recorder: Recorder, later: str) -> None:
    """Each connection is judged anew: a redirect to the same name finds what the name stands for by then."""
    with serving() as server:

        async def changing(host: str, port: int) -> Sequence[Address]:
            first = host == "localhost"
            return [ipaddress.ip_address("127.0.0.1" if first else later)]

        url = server.move("/", f"http://api.example.com:{server.port}/next")
        with pytest.raises(Fault) as caught:
            send(recorder, url.replace("127.0.0.1", "localhost"), changing)
        assert [seen.path for seen in server.seen] == ["/"]
    assert caught.value.code == "NIKA-SEC-005"


def test_the_system_resolver() -> None:
    """Every address once, as addresses, without zones."""
    found = asyncio.run(resolve("localhost", 80))
    assert found
    assert all(address.is_loopback for address in found)
    assert len(set(found)) == len(found)
    assert asyncio.run(resolve("127.1", 80)) == [ipaddress.ip_address("127.0.0.1")]


def test_a_caller_that_forgets_to_enter(recorder: Recorder) -> None:
    """The dial judges host and port once more: nothing is reached by a mistake further up."""
    with serving() as server:
        use = Use(recorder.call("invoke", {}), GRANTED)
        for url, code in [
            (server.url("/"), "NIKA-SEC-005"),
            (server.url("/", "other.example"), "NIKA-SEC-004"),
            ("http://localhost:5432/", "NIKA-SEC-005"),
        ]:
            with pytest.raises(Fault) as caught:
                asyncio.run(Web(use, Names("127.0.0.1")).send(Request("GET", read_site(url), {})))
            assert caught.value.code == code
        assert server.seen == []
