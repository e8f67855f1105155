"""Puts JSON into a notebook's text in place of other JSON: not a byte beside it changes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Piece:
    """A value in a JSON text: where it starts and ends. key: of a member of an object."""

    start: int
    end: int
    key: str = ""


def put_source(text: str, cell: int, lines: list[str]) -> str:
    """The notebook's text with other lines as the source of the cell at an index."""
    piece = _member(text, _elements(text, _cells(text).start)[cell].start, "source")
    return text[: piece.start] + _written(lines, text, piece.start) + text[piece.end :]


def append_cell(text: str, cell: dict[str, Any]) -> str:
    """The notebook's text with one more cell behind its last one."""
    cells = _cells(text)
    elements = _elements(text, cells.start)
    if not elements:
        return text[: cells.start] + _written([cell], text, cells.start) + text[cells.end :]
    last = elements[-1]
    lead = text[_gap(text, last.start) : last.start]
    return f"{text[: last.end]},{lead}{_written(cell, text, last.start)}{text[last.end :]}"


def _gap(text: str, at: int) -> int:
    """Where the blanks before a place begin."""
    while at > 0 and text[at - 1] in " \t\r\n":
        at -= 1
    return at


# -- reading -----------------------------------------------------------------------------------


def _cells(text: str) -> Piece:
    return _member(text, _skip(text, 0), "cells")


def _member(text: str, at: int, key: str) -> Piece:
    """The last one of that name, as readers of JSON take it."""
    return [piece for piece in _members(text, at) if piece.key == key][-1]


def _members(text: str, at: int) -> Iterator[Piece]:
    """The members of the object that begins at a place."""
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, at = scanstring(text, at + 1)
        start = _skip(text, _skip(text, at) + 1)
        end = _end(text, start)
        yield Piece(start, end, key)
        at = _next(text, end)


def _elements(text: str, at: int) -> list[Piece]:
    """The elements of the list that begins at a place."""
    found: list[Piece] = []
    at = _skip(text, at + 1)
    while text[at] != "]":
        end = _end(text, at)
        found.append(Piece(at, end))
        at = _next(text, end)
    return found


def _end(text: str, at: int) -> int:
    return _DECODER.raw_decode(text, at)[1]


def _next(text: str, at: int) -> int:
    """Where the next piece begins, or the bracket that closes them all stands."""
    at = _skip(text, at)
    return _skip(text, at + 1) if text[at] == "," else at


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


# -- writing -----------------------------------------------------------------------------------


def _written(value: Any, text: str, at: int) -> str:
    """A value as this text writes its JSON, to stand at a place in it."""
    ascii_only = text.isascii() and "\\u" in text
    if _compact(text):
        separators = (", ", ": ") if '": ' in text[:200] else (",", ":")
        return json.dumps(value, ensure_ascii=ascii_only, separators=separators)
    line = text[text.rfind("\n", 0, at) + 1 : at]
    indent = line[: len(line) - len(line.lstrip(" \t"))]
    newline = "\r\n" if "\r\n" in text[:200] else "\n"
    written = json.dumps(value, ensure_ascii=ascii_only, indent=_unit(text))
    return written.replace("\n", newline + indent)


def _compact(text: str) -> bool:
    return "\n" not in text.strip()


def _unit(text: str) -> str:
    """What one level is indented by."""
    match = re.search(r"[{\[]\r?\n([ \t]+)", text)
    return match[1] if match else " "
