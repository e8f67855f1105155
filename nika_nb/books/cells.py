"""The `%%nika` cells of a notebook, as IPython would see them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import dedent
from typing import Any

from nika_nb.books.file import source_of
from nika_nb.errors import Source
from nika_nb.language import load

MAGIC = "%%nika"

_NAMED = re.compile(r"^nika:[ \t]*([^\s#][^\n#]*)", re.MULTILINE)
_MISPLACED = re.compile(rf"^{MAGIC}(?=\s|$)", re.MULTILINE)


@dataclass(frozen=True, slots=True, repr=False)
class BookCell:
    """One `%%nika` cell.

    name: the workflow's, empty where the text gives none. number: of the cell, from 1, every kind
    counted. id: the cell's own, None in notebooks older than format 4.5. line: of the cell, on which
    the text begins. options: what the first line says behind the magic.
    """

    name: str
    number: int
    id: str | None
    line: int
    options: str
    text: str

    def __repr__(self) -> str:
        """`weekly · cell 3 (a1b2c3d4) · --resume`: all but the text, which may be long."""
        return " · ".join(filter(None, (self.name, self.shown, self.options)))

    @property
    def shown(self) -> str:
        """How people are told of it: `cell 3 (a1b2c3d4)`."""
        return f"cell {self.number} ({self.id})" if self.id else f"cell {self.number}"


def workflow_cells(cells: list[dict[str, Any]]) -> Iterator[BookCell]:
    """Every code cell that begins with the magic."""
    for number, cell in enumerate(cells, 1):
        if cell["cell_type"] == "code":
            found = _read(cell, number)
            if found is not None:
                yield found


def _read(cell: dict[str, Any], number: int) -> BookCell | None:
    source = source_of(cell)
    if MAGIC not in source:
        return None
    # What IPython does before it looks for a magic: blank lines above go, and a common indentation.
    lead = _blank_lines(source)
    first, _, text = dedent("".join(source.splitlines(keepends=True)[lead:])).partition("\n")
    magic, _, options = first.rstrip().partition(" ")
    if magic != MAGIC:
        return None
    text = text if text.endswith("\n") else f"{text}\n"  # as a kernel hands it on
    cell_id = cell.get("id") if isinstance(cell.get("id"), str) else None
    return BookCell(name_of(text), number, cell_id, lead + 2, options.strip(), text)


def _blank_lines(source: str) -> int:
    for count, line in enumerate(source.splitlines()):
        if line.strip():
            return count
    return 0


def name_of(text: str) -> str:
    """The name that a workflow's text gives it, also where other things are wrong with it."""
    workflow = load(Source(text)).workflow
    if workflow is not None and workflow.id:
        return workflow.id
    match = _NAMED.search(text)
    return match[1].strip().strip("\"'") if match else ""


def misplaced(cells: list[dict[str, Any]]) -> Iterator[tuple[int, int]]:
    """(cell, line) of every magic that is on a line of its own, but not on its cell's first one.

    What only stands in a text of a Python cell is none.
    """
    known = {cell.number for cell in workflow_cells(cells)}
    for number, cell in enumerate(cells, 1):
        source = source_of(cell)
        match = _MISPLACED.search(source) if cell["cell_type"] == "code" and number not in known else None
        if match and not _is_python(source):
            yield number, source.count("\n", 0, match.start()) + 1


def _is_python(source: str) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
