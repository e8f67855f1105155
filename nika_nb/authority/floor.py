"""The floor under every host grant: this machine and private networks are never reached (NIKA-SEC-005)."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Iterable

from nika_nb.authority.permits import canonical_host

BLOCKED_CODE = "NIKA-SEC-005"

_OF_A_CLOUD = "it is the metadata service of a cloud machine"
_METADATA = frozenset(
    {"metadata", "metadata.google.internal", "metadata.goog", "instance-data", "100.100.100.200"}
)
_NUMERIC = re.compile(r"(?:0x[0-9a-f]*|[0-9]+)(?:\.(?:0x[0-9a-f]*|[0-9]+)){0,3}")
_CARRIER = ipaddress.ip_network("64:ff9b::/96")  # IPv6 that stands for the IPv4 in its tail
_PUBLIC = ipaddress.ip_network("2000::/3")  # all that is handed out of IPv6
_METADATA_ADDRESSES = frozenset({"169.254.169.254", "168.63.129.16", "fd00:ec2::254"})
# Python's registry counts these as global; nobody is reached there.
_RESERVED = (
    ipaddress.ip_network("192.0.0.0/24"),
    ipaddress.ip_network("192.88.99.0/24"),
    ipaddress.ip_network("3fff::/20"),
)

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def blocked(host: str, permitted: Iterable[str] = ()) -> str | None:
    """Why a host is never reached, or None.

    `permitted` are the workflow's literal grants: the exact loopback name among them (`localhost`,
    `127.0.0.1`, `::1`) opens the floor for that host and for no other.
    """
    name = canonical_host(host)
    reason = _reason(name)
    if reason and is_loopback(name) and name in {canonical_host(grant) for grant in permitted}:
        return None
    return reason


def is_loopback(host: str) -> bool:
    """Whether a host is one of the literals that a grant may open: localhost, 127.x.y.z, ::1."""
    name = canonical_host(host)
    if name == "localhost":
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    return is_loopback_address(address)


def is_loopback_address(address: Address) -> bool:
    """127.x.y.z or ::1, and no IPv6 form of the former."""
    return address.is_loopback and (address.version == 4 or address == ipaddress.IPv6Address("::1"))


def _reason(name: str) -> str | None:
    if name == "localhost" or name.endswith(".localhost"):
        return "it is this machine itself"
    if name in _METADATA:
        return _OF_A_CLOUD
    address = address_of(name)
    return None if address is None else blocked_address(address)


def blocked_address(address: Address) -> str | None:
    """Why an address is never reached, or None; a name is judged again by every address it resolves to."""
    address = _embedded(address)
    if str(address) in _METADATA_ADDRESSES:
        return _OF_A_CLOUD
    if address.is_loopback or address.is_unspecified:
        return "it is this machine itself"
    if address.is_link_local:
        return "it is a link-local address"
    if address.is_multicast:
        return "it is a multicast address"
    return None if _is_public(address) else "it lies in a private or reserved network"


def _is_public(address: Address) -> bool:
    if address.version == 6 and address not in _PUBLIC:
        return False
    return address.is_global and not any(address in network for network in _RESERVED)


def address_of(name: str) -> Address | None:
    """The address that a host spells in any of the forms that resolvers take (`127.1`, `0x7f000001`)."""
    try:
        return ipaddress.ip_address(name.split("%")[0])
    except ValueError:
        pass
    if not _NUMERIC.fullmatch(name):
        return None
    try:
        return ipaddress.IPv4Address(socket.inet_aton(name))
    except (OSError, ValueError):
        return None


def _embedded(address: Address) -> Address:
    """The IPv4 address that an IPv6 address stands for."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    inner = address.ipv4_mapped or address.sixtofour
    if inner is None and address in _CARRIER:
        inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return inner or address
