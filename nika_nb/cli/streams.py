"""The streams of a terminal: JSON that any encoding can carry, and readers that go away."""

from __future__ import annotations

import json
import os
import select
import sys
from contextlib import suppress
from io import TextIOWrapper
from typing import Any

from nika_nb.errors import UNSHOWN, visible


def print_json(value: Any, indent: int | None = None) -> None:
    """The value on standard output, as JSON also where the terminal's encoding knows few letters."""
    text = json_text(value, indent)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value, indent=indent)
    print(text)


def print_lines(*lines: str) -> None:
    """Lines on standard output, with a sign for each character that steers a terminal."""
    print(visible("\n".join(lines)), flush=True)


def json_text(value: Any, indent: int | None = None) -> str:
    """The value as JSON in which every character can be seen: those that steer a terminal are escaped."""
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    return UNSHOWN.sub(lambda found: json.dumps(found.group())[1:-1], text)


def open_all() -> None:
    """Streams that the caller closed lead nowhere, so that no journal gets their number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this one
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "w" if number else "r", closefd=False))  # noqa: SIM115


def tolerate() -> None:
    """What an encoding lacks is written as an escape instead of ending the command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def unread() -> bool:
    """Whether nobody reads standard output any more, known before anything more is written to it."""
    poll = select.poll()
    with suppress(OSError, ValueError):  # what is no file has no reader to lose
        poll.register(sys.stdout.fileno(), 0)  # what is asked for is nothing: errors are told unasked
    return any(told & (select.POLLERR | select.POLLHUP) for _, told in poll.poll(0))


def hush() -> None:
    """Nobody reads any more: what is still said goes nowhere, also at the interpreter's end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
