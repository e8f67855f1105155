"""The keys of a half-written document with their places, and where in it a cursor stands.

No parser: what is being typed parses as nothing yet. Lines are read by their indentation, flows by their
brackets, and whatever cannot be read is passed over.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Path = tuple[str, ...]

_KEY = re.compile(
    r"""(?:"([^"\n]*)"|'([^'\n]*)'|"""
    r"""([^\s"'{}\[\],#&*!|>%@`](?:[^:{}\[\],#\n]*[^\s:{}\[\],#])?))\s*:(?=\s|$)"""
)
_QUOTED = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\n]|'')*'")
_PLAIN = re.compile(r"[^\s,{}\[\]\"'#$:]+")
_DASH = re.compile(r"-(?:\s+|$)")


@dataclass(frozen=True, slots=True)
class Entry:
    """A key that is written. path: the keys above it and itself; value: what stands behind it on its line."""

    path: Path
    start: int
    value: str


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a cursor stands.

    path: the keys above it; of a value, its own key last. kind: at a key, a value, an element of a list,
    or inside a text that is no place for words of the language. fragment: what was begun of the word
    there. flow: within brackets.
    """

    path: Path
    kind: Literal["key", "value", "item", "text"]
    fragment: str = ""
    flow: bool = False


def outline(text: str) -> tuple[Entry, ...]:
    """Every key of a document, in order."""
    return tuple(_Scan(text).entries)


def spot(text: str, offset: int) -> Spot:
    """Where the cursor stands, told by what is written before it."""
    return _Scan(text[:offset]).spot


class _Scan:
    """One pass over a text. `spot` is of its very end."""

    def __init__(self, text: str) -> None:
        self.entries: list[Entry] = []
        self.spot = Spot((), "key")
        self._blocks: list[tuple[int, str | None]] = []  # (indent, key); a dash has no key
        self._flows: list[tuple[str, str | None]] = []  # (opening bracket, the key at hand)
        self._scalar: int | None = None  # the indent of the key whose block of text goes on
        offset = 0
        for line in text.splitlines(keepends=True) or [""]:
            self._line(line, offset)
            offset += len(line)
        if text.endswith("\n"):
            self._line("", offset)

    @property
    def _path(self) -> Path:
        blocks = [key for _, key in self._blocks if key is not None]
        return (*blocks, *(key for _, key in self._flows if key is not None))

    def _line(self, line: str, offset: int) -> None:
        if self._flows:
            self._flow(line, 0, offset)
            return
        content = line.lstrip(" ")
        indent = len(line) - len(content)
        if self._scalar is not None:
            if not content.strip() or indent > self._scalar:
                self.spot = Spot(self._path, "text")
                return
            self._scalar = None
        if content.startswith("#"):
            self.spot = Spot((), "text")
            return
        if not content.strip():
            above = [key for at, key in self._blocks if key is not None and (at < indent or not line)]
            self.spot = Spot(tuple(above) if line else (), "key")
            return
        self._content(line, indent, offset)

    def _content(self, line: str, indent: int, offset: int) -> None:
        dash = _DASH.match(line, indent)
        self._leave(indent, dash=dash is not None)
        while dash is not None:
            self._blocks.append((indent, None))
            indent = dash.end()
            dash = _DASH.match(line, indent)
        found = _KEY.match(line, indent)
        if found is None:
            in_list = bool(self._blocks) and self._blocks[-1][1] is None
            self._value(line, indent, offset, "item" if in_list else "key")
            return
        self._blocks.append((indent, _name(found)))
        value = line[found.end() :]
        self.entries.append(Entry(self._path, offset + indent, value.strip()))
        if value.lstrip().startswith(("|", ">")):
            self._scalar = indent
            self.spot = Spot(self._path, "text")
        elif not value:
            self.spot = Spot(self._path, "text")  # right behind the colon: a blank has to follow
        else:
            self._value(line, found.end(), offset, "value")

    def _leave(self, indent: int, *, dash: bool) -> None:
        """Steps out of what a line of this indent does not belong to; a list may stand below its key."""
        while self._blocks:
            at, key = self._blocks[-1]
            if at < indent or (dash and at == indent and key is not None):
                return
            self._blocks.pop()

    def _value(self, line: str, at: int, offset: int, kind: Literal["key", "value", "item"]) -> None:
        rest = line[at:]
        begun = rest.lstrip()
        if begun[:1] in ("{", "["):
            self._flow(line, len(line) - len(begun), offset)
            return
        if begun.rstrip() in ("|", ">"):
            self._scalar = self._blocks[-1][0] if self._blocks else 0
        comment = re.search(r"(?:^|\s)#", rest)
        self.spot = Spot((), "text") if comment else Spot(self._path, kind, _bare(begun))

    # -- brackets ----------------------------------------------------------------------------------

    def _flow(self, line: str, at: int, offset: int) -> None:
        """Reads on within brackets, to the end of the line or to where the last of them closes."""
        since = at
        while at < len(line):
            sign = line[at]
            if sign in "{[":
                self._flows.append((sign, None))
                since = at + 1
            elif sign in "}]":
                self._flows.pop()
                since = at + 1
                if not self._flows:
                    self.spot = Spot(self._path, "text")
                    return
            elif sign == ",":
                self._flows[-1] = (self._flows[-1][0], None)
                since = at + 1
            elif sign == "#" and (at == 0 or line[at - 1].isspace()):
                self.spot = Spot((), "text")
                return
            else:
                at, key_taken = self._word(line, at, offset)
                since = at if key_taken else since
                continue
            at += 1
        self._end_of_flow(line[since:])

    def _word(self, line: str, at: int, offset: int) -> tuple[int, bool]:
        """(where the word at a place ends, whether it is a key, which is noted then)."""
        opener, key = self._flows[-1]
        found = _KEY.match(line, at) if opener == "{" and key is None else None
        if found is not None:
            self._flows[-1] = (opener, _name(found))
            self.entries.append(Entry(self._path, offset + at, _rest(line, found.end())))
            return found.end(), True
        if line.startswith("${{", at):
            end = line.find("}}", at)
            return (len(line) if end < 0 else end + 2), False
        quoted = _QUOTED.match(line, at)
        if quoted is not None:
            return quoted.end(), False
        if line[at] in "\"'":
            return len(line), False  # a quote that is not closed yet
        plain = _PLAIN.match(line, at)
        return (plain.end() if plain is not None else at + 1), False

    def _end_of_flow(self, begun: str) -> None:
        opener, key = self._flows[-1]
        kind: Literal["key", "value", "item"] = "item" if opener == "[" else "key" if key is None else "value"
        self.spot = Spot(self._path, kind, _bare(begun.lstrip()), flow=True)


def _name(found: re.Match[str]) -> str:
    return next(part for part in found.groups() if part is not None).strip()


def _rest(line: str, at: int) -> str:
    """What stands behind a key in brackets, up to the end of its value as far as one look tells."""
    return re.split(r"[,}\]](?![^\"]*\"[^\"]*$)", line[at:], maxsplit=1)[0].strip()


def _bare(begun: str) -> str:
    """A word that is being typed, without the quote in front of it."""
    text = begun.rstrip("\n")
    return text[1:] if text[:1] in ("'", '"') else text
