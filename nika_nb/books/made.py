"""The traces that a saved notebook knows of: what the stills in its outputs say, and what they carry."""

from __future__ import annotations

import re
import zlib
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nika_nb.books.book import read_book
from nika_nb.errors import UsageError
from nika_nb.openers import Carried
from nika_nb.values import plural

MOST = 256 << 20  # bytes of a journal

# As `board` writes them: the last line of a still, and the link that carries a small journal.
_LINE = re.compile(
    r"^ {4}trace: (?P<path>.+?\.ndjson)(?: · (?P<events>[\d,]+) events?)?"
    r"(?: · chain (?P<head>[0-9a-f]{64}))?$",
    re.MULTILINE,
)
_LINK = re.compile(
    r'download="(?P<name>[^"]+?)(?:\.gz)?" href="data:(?P<kind>[^;"]+);base64,(?P<data>[^"]+)"',
)


@dataclass(frozen=True, slots=True, repr=False)
class MadeTrace:
    """A trace that a cell's output tells of.

    cell: the number of the cell, from 1. path: of the trace, as the output shows it. events, head: of
    the journal when the output was drawn, None where it had no end. carried: the output holds the
    journal itself, which `restored` gives.
    """

    cell: int
    path: str
    events: int | None
    head: str | None
    carried: str = ""

    @property
    def name(self) -> str:
        return Path(self.path).name

    def __repr__(self) -> str:
        """`cell 3 · .nika/traces/….ndjson · 24 events · carried`: what it carries is no text to read."""
        events = [] if self.events is None else [plural(self.events, "event")]
        carried = ["carried"] if self.carried else []
        return " · ".join([f"cell {self.cell}", self.path, *events, *carried])


def traces(book: str | Path) -> tuple[MadeTrace, ...]:
    """Every trace that the saved outputs of a notebook tell of, by cell. Raises UsageError."""
    cells = read_book(book).file.cells
    found = (made for number, cell in enumerate(cells, 1) for made in _of_cell(number, cell))
    return tuple(dict.fromkeys(found))


def carried(path: Path, cell_id: str | None, text: str) -> Carried:
    """The newest journal that the saved output of a cell carries.

    cell_id: of the cell; where none has it, the one that holds this text is taken. Raises UsageError
    where there is none.
    """
    cells = read_book(path).workflows
    same = [cell for cell in cells if cell.id == cell_id] if cell_id is not None else []
    same = same or [cell for cell in cells if cell.text.strip() == text.strip()]
    for made in reversed(traces(path)) if same else ():
        if made.cell == same[0].number and made.carried:
            return Carried(restored(made), made.head)
    raise UsageError(f"{path.name} carries no journal of this cell")


def restored(made: MadeTrace) -> bytes:
    """The journal that an output carries. Raises UsageError where it carries none, or no sound one."""
    kind, _, data = made.carried.partition(",")
    try:
        raw = b64decode(data, validate=True)
        found = _unpacked(raw) if kind == "application/gzip" else raw
    except (ValueError, zlib.error):
        found = b""
    if not found:
        raise UsageError(f"cell {made.cell} carries no journal of {made.name}")
    return found


def _unpacked(raw: bytes) -> bytes:
    """Never more than a journal may be: what unpacks to more is none."""
    unpacking = zlib.decompressobj(wbits=31)
    found = unpacking.decompress(raw, MOST)
    return found if unpacking.eof else b""


def _of_cell(number: int, cell: dict[str, Any]) -> Iterator[MadeTrace]:
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else ():
        if isinstance(output, dict):
            links = {match["name"]: f"{match['kind']},{match['data']}" for match in _links(output)}
            for line in _LINE.finditer(_text(output)):
                name = Path(line["path"]).name
                events = int(line["events"].replace(",", "")) if line["events"] else None
                yield MadeTrace(number, line["path"], events, line["head"], links.get(name, ""))


def _links(output: dict[str, Any]) -> Iterator[re.Match[str]]:
    return _LINK.finditer(_data(output, "text/html"))


def _text(output: dict[str, Any]) -> str:
    return _joined(output.get("text")) or _data(output, "text/plain")


def _data(output: dict[str, Any], kind: str) -> str:
    data = output.get("data")
    return _joined(data.get(kind)) if isinstance(data, dict) else ""


def _joined(text: Any) -> str:
    if isinstance(text, list):
        return "".join(part for part in text if isinstance(part, str))
    return text if isinstance(text, str) else ""
