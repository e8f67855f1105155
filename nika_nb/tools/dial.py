"""The one way out to the network: what a host stands for is judged inside the dial, then dialed as judged."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

import httpcore2

from nika_nb.authority.floor import Address

Resolve = Callable[[str, int], Awaitable[Sequence[Address]]]
Admit = Callable[[str, int, Sequence[Address]], None]  # raises where one of them must not be reached

CONNECT_SECONDS = 10.0  # for one address


async def resolve(host: str, port: int) -> list[Address]:
    """Every address of a host, in the order in which the system would try them. Raises OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    texts = (str(place[0]).partition("%")[0] for *_, place in found)
    return [ipaddress.ip_address(text) for text in dict.fromkeys(texts)]


class JudgedNetwork(httpcore2.AsyncNetworkBackend):
    """Connects to addresses, never to names, so that no second look-up can lead elsewhere."""

    def __init__(self, admit: Admit, resolve: Resolve) -> None:
        self._admit = admit
        self._resolve = resolve
        self._network = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """The first address that answers. Raises what `admit` raises, and ConnectError."""
        addresses = await self._resolved(host, port)
        self._admit(host, port, addresses)
        trouble: Exception = httpcore2.ConnectError("the name stands for no address")
        for address in addresses:
            try:
                return await self._network.connect_tcp(
                    str(address), port, CONNECT_SECONDS, local_address, socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                trouble = error
        raise trouble

    async def _resolved(self, host: str, port: int) -> Sequence[Address]:
        try:
            return await self._resolve(host, port)
        except (OSError, UnicodeError) as error:
            raise httpcore2.ConnectError(error) from error

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def pool(network: JudgedNetwork) -> httpcore2.AsyncConnectionPool:
    """Connections through that network alone: no proxy, no socket file, nothing kept for later."""
    return httpcore2.AsyncConnectionPool(network_backend=network, max_keepalive_connections=0)
