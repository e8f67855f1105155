"""The pipes of a child process, read and written whenever the loop finds them ready."""

from __future__ import annotations

import asyncio
import codecs
import os
from collections.abc import Callable

CAPTURE_BOUND = 64 << 20  # bytes of one stream; a command that says more belongs into a file
_CHUNK = 1 << 18
_LONGEST_LINE = 1 << 18  # characters of a line that is shown live

Show = Callable[[str, str], None]


class Pipes:
    """The three pipes of a child: (read end, write end) each.

    fed: it gets input. merge: its errors go where its output goes. Raises OSError where there is no room
    for them.
    """

    def __init__(self, *, fed: bool, merge: bool) -> None:
        self.inp = self.out = self.err = (-1, -1)
        try:
            self.inp = os.pipe() if fed else (os.open(os.devnull, os.O_RDONLY), -1)
            self.out = os.pipe()
            self.err = self.out if merge else os.pipe()
        except OSError:
            self.close_all()
            raise

    def close_childs(self) -> None:
        _close({self.inp[0], self.out[1], self.err[1]})

    def close_all(self) -> None:
        _close({*self.inp, *self.out, *self.err})


def _close(descriptors: set[int]) -> None:
    for descriptor in descriptors - {-1}:
        os.close(descriptor)


class Stream:
    """One output pipe, read whenever it has something."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        name: str,
        descriptor: int,
        show: Show,
        on_data: Callable[[Stream], None],
    ) -> None:
        self.name = name
        self.size = 0
        self.open = True
        self.error: Exception | None = None  # why it could not be read to its end
        self._loop = loop
        self._descriptor = descriptor
        self._chunks: list[bytes] = []
        self._lines = _Lines(lambda text: show(name, text))
        self._on_data = on_data
        os.set_blocking(descriptor, False)
        loop.add_reader(descriptor, self._read)

    def _read(self) -> None:
        try:
            self._take()
        except BlockingIOError:
            return
        except Exception as error:  # noqa: BLE001 - out of memory or worse: what was read is not all
            self._break(error)
        self._on_data(self)

    def _take(self) -> None:
        chunk = os.read(self._descriptor, _CHUNK)
        if not chunk:
            self.close()
        elif not self.full:
            self.size += len(chunk)
            self._chunks.append(chunk)
            self._lines.feed(chunk)

    def _break(self, error: Exception) -> None:
        """Half of an output is none."""
        self.error = self.error or error
        self._chunks.clear()
        self._lines.drop()
        self.close()

    @property
    def full(self) -> bool:
        """Whether it said more than is kept."""
        return self.size > CAPTURE_BOUND

    def data(self) -> bytes:
        return b"".join(self._chunks)

    def close(self) -> None:
        if self.open:
            self.open = False
            self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._lines.finish()


class _Lines:
    """Live text for people: handed on in whole lines, so that it reads well and masks well.

    What is too long for a line to be read is left out: cut anywhere, it might be cut in a secret.
    """

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self._endless = False  # inside a line that is left out

    def feed(self, chunk: bytes) -> None:
        text = self._rest + self._decoder.decode(chunk)
        cut = max(text.rfind("\n"), text.rfind("\r")) + 1
        self._rest = text[cut:]
        if cut:
            self._told(text[:cut])
        if len(self._rest) > _LONGEST_LINE:
            self._rest, self._endless = "", True

    def drop(self) -> None:
        """Nothing that was not handed on yet is."""
        self._rest = ""
        self._decoder.reset()

    def finish(self) -> None:
        text = self._rest + self._decoder.decode(b"", final=True)
        self._rest = ""
        if text:
            self._told(text)

    def _told(self, text: str) -> None:
        if self._endless:
            self._endless = False
            text = "".join(text.splitlines(keepends=True)[1:])
        if text:
            self._show(text)


class Feed:
    """The child's input, written as the pipe takes it; a child that does not read is left alone."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, descriptor: int, data: bytes, on_error: Callable[[], None]
    ) -> None:
        self._loop = loop
        self._descriptor = descriptor
        self._left = memoryview(data)
        self._open = True
        self.error: Exception | None = None  # why not all of it could be handed over
        self._on_error = on_error
        os.set_blocking(descriptor, False)
        loop.add_writer(descriptor, self._write)

    def _write(self) -> None:
        try:
            if self._left:
                self._left = self._left[os.write(self._descriptor, self._left[:_CHUNK]) :]
        except BlockingIOError:
            return
        except (BrokenPipeError, ConnectionResetError):
            self._left = self._left[:0]
        except Exception as error:  # noqa: BLE001 - the child would take half of its input for all
            self.error = error
            self.close()
            self._on_error()
            return
        if not self._left:
            self.close()

    def close(self) -> None:
        if self._open:
            self._open = False
            self._loop.remove_writer(self._descriptor)
            os.close(self._descriptor)
