"""A web address, read once: where it leads, and whether it may be reached. One judgment for check and run."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote, urljoin, urlsplit

from nika_nb.authority import floor
from nika_nb.authority.floor import BLOCKED_CODE, Address
from nika_nb.authority.permits import DENIED_CODE, Verdict, canonical_host, judge_host, shared
from nika_nb.catalog.ports import CLOSED_PORTS
from nika_nb.errors import hidden
from nika_nb.language.model import Permits

_USUAL_PORTS = {"http": 80, "https": 443}
_NAME = re.compile(r"[a-z0-9_](?:[a-z0-9_.-]{0,251}[a-z0-9_])?")
_NEVER = re.compile(r"[\x00-\x20\x7f\\]")


@dataclass(frozen=True, slots=True)
class Site:
    """One web address. What is judged, what is dialed and what the server is told are these fields.

    host: in canonical form, without brackets. target: path and query, percent-encoded.
    credentials: a name or password stood before the host.
    """

    scheme: str
    host: str
    port: int
    target: str
    credentials: bool = False

    @property
    def authority(self) -> str:
        """The host as the server is told it, with the port where it is not the usual one."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return name if self.port == _USUAL_PORTS[self.scheme] else f"{name}:{self.port}"

    @property
    def origin(self) -> tuple[str, str, int]:
        return (self.scheme, self.host, self.port)

    def __str__(self) -> str:
        """The address for people, without its query."""
        return f"{self.scheme}://{self.authority}{self.target.partition('?')[0]}"


def read_site(url: str, origin: Site | None = None) -> Site:
    """The site of a URL; a relative one counts from `origin`. Raises ValueError with a sentence."""
    url = url.strip(" \t\r\n")
    if origin is not None:
        url = urljoin(f"{origin.scheme}://{origin.authority}{origin.target}", url)
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ValueError("its host or its port cannot be read") from None
    if parts.scheme not in _USUAL_PORTS:
        raise ValueError("it is not an address of the web")
    if _NEVER.search(parts.netloc):
        raise ValueError("its host holds a character that no host has")
    if port is None:
        port = _USUAL_PORTS[parts.scheme]
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Site(parts.scheme, _host(parts.hostname or ""), port, _encoded(target), "@" in parts.netloc)


def _host(written: str) -> str:
    name = canonical_host(f"[{written}]" if ":" in written else written)
    if _NAME.fullmatch(name) and ".." not in name:
        return name
    try:
        return ipaddress.IPv6Address(name).compressed if "%" not in name else _no_host(written)
    except ValueError:
        return _no_host(written)


def _no_host(written: str) -> str:
    raise ValueError(f"`{hidden(written)[:60]}` is not the name of a host" if written else "it names no host")


def _encoded(target: str) -> str:
    return "".join(sign if "!" <= sign <= "~" else quote(sign, safe="") for sign in target)


def judge(permits: Permits | None, host: str, port: int) -> Verdict:
    """May this host be asked at this port? `code` is NIKA-SEC-005 for what no grant opens."""
    reason = floor.blocked(host, _granted(permits))
    if reason:
        return Verdict("net", host, False, reason, BLOCKED_CODE, opening(host))
    why = closed_port(port)
    if why:
        return Verdict("net", f"{host}:{port}", False, why, BLOCKED_CODE, "no permit opens this port")
    return judge_host(permits, host)


def closed_port(port: int) -> str | None:
    """Why a port is never asked, or None."""
    if port == 0:
        return "there is no port 0"
    return f"behind port {port} stands {CLOSED_PORTS[port]}" if port in CLOSED_PORTS else None


def judge_addresses(permits: Permits | None, host: str, addresses: Sequence[Address]) -> Verdict:
    """May all of the addresses that a permitted host stands for be connected to?

    One inner address among them refuses the whole name. A granted loopback name leads to this
    machine and nowhere else.
    """
    opened = bool(floor.blocked(host)) and not floor.blocked(host, _granted(permits))
    for address in addresses:
        if opened and not floor.is_loopback_address(address):
            reason: str | None = "it was opened as this machine itself, and leads away from it"
        else:
            reason = None if opened else floor.blocked_address(address)
        if reason:
            why = f"it stands for {address}: {reason}"
            return Verdict("net", host, False, why, BLOCKED_CODE, "no permit opens this")
    return Verdict("net", host, True, "no address of the host is an inner one")


def refusal_code(verdict: Verdict) -> str:
    """The wire code of a refusal at run time: the floor keeps its own, everything else is NIKA-SEC-004."""
    return BLOCKED_CODE if verdict.code == BLOCKED_CODE else DENIED_CODE


def opening(host: str) -> str:
    """What to do about a host of the floor."""
    if floor.is_loopback(host):
        return f'to mean it, name exactly this host: `permits: {{ net: {{ http: ["{host}"] }} }}`'
    return "fetch from a public host; no permit opens this one"


def _granted(permits: Permits | None) -> list[str]:
    return shared(permits, lambda boundary: boundary.http)
