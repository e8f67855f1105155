"""What a look at a journal found: everything that is wrong with it, told line by line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nika_nb.trace.trace import State

Kind = Literal[
    "torn",
    "zeros",
    "fused",
    "blanks",
    "unreadable",
    "too-long",
    "writers",
    "broken",
    "unchained",
    "repeated",
    "settled-twice",
    "behind-end",
    "unsealed",
    "version",
    "process",
]

_TOLD = 20  # findings of one journal that are told one by one
_SHOWN = 400  # characters of a sentence


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong. line: where, None where it is about the whole journal."""

    kind: Kind
    what: str
    line: int | None = None

    @property
    def sentence(self) -> str:
        return f"line {self.line} · {plain(self.what)}" if self.line is not None else plain(self.what)


@dataclass(frozen=True, slots=True)
class Examination:
    """A journal as the doctor found it.

    notes: what is worth saying and no fault. unreadable: why the file is no journal at all.
    """

    path: Path
    state: State = "incomplete"
    events: int = 0
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    unreadable: str = ""

    @property
    def exit_code(self) -> int:
        return 3 if self.unreadable else 1 if self.findings else 0

    def report(self) -> Iterator[str]:
        """The journal in a line, then a line for everything that is wrong or worth saying."""
        if self.unreadable:
            yield f"{self.path.name} · unreadable: {self.unreadable}"
            return
        count = len(self.findings)
        health = counted(count, "finding") if count else "sound"
        yield f"{self.path.name} · {health} · {self.state} · {counted(self.events, 'event')}"
        yield from (f"  {finding.sentence}" for finding in self.findings[:_TOLD])
        if count > _TOLD:
            yield f"  … and {count - _TOLD} more"
        yield from (f"  {note}" for note in self.notes)


def plain(text: str) -> str:
    """Text out of a journal, on one line and without anything that steers a terminal."""
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in text[:_SHOWN])


def counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
