"""The bytes of an answer as they come in: unpacked and counted, so that none grows beyond a bound."""

from __future__ import annotations

import zlib

_GZIP = 31  # window bits: a gzip frame, nothing else


class TooLarge(Exception):
    """More came out than was allowed."""


class Body:
    """Collects at most `most` bytes. `coding` is the content coding that the server names."""

    def __init__(self, coding: str, most: int) -> None:
        """Raises ValueError for a coding that is not read here."""
        if coding not in ("", "identity", "gzip", "x-gzip"):
            raise ValueError(coding)
        self._packed = coding in ("gzip", "x-gzip")
        self._inflater = zlib.decompressobj(_GZIP)
        self._most = most
        self._parts: list[bytes] = []
        self._size = 0
        self._begun = False

    def feed(self, data: bytes) -> None:
        """Raises TooLarge, and ValueError where the data is not what the coding says."""
        self._begun = self._begun or bool(data)
        if not self._packed:
            self._keep(data)
            return
        try:
            while data:
                self._keep(self._inflater.decompress(data, self._most - self._size + 1))
                data = self._inflater.unconsumed_tail
                if self._inflater.eof:
                    data, self._inflater = self._next_member(data or self._inflater.unused_data)
        except zlib.error as error:
            raise ValueError(str(error)) from None

    def whole(self) -> bytes:
        """Everything. Raises ValueError where packed data broke off."""
        if self._packed and self._begun and not self._inflater.eof:
            raise ValueError("it breaks off")
        return b"".join(self._parts)

    def _next_member(self, rest: bytes) -> tuple[bytes, zlib._Decompress]:
        """A gzip stream may go on with another member; padding after the last one is not one."""
        return (rest, zlib.decompressobj(_GZIP)) if rest.strip(b"\0") else (b"", self._inflater)

    def _keep(self, data: bytes) -> None:
        self._size += len(data)
        if self._size > self._most:
            raise TooLarge
        self._parts.append(data)
