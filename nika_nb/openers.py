"""Files that hold workflows among other things: which room opens them, chosen here once for every door."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from nika_nb.errors import Source, UsageError

SEPARATOR = "::"  # between a file and the name of a workflow in it

# The room `runs` may not know who opens what; it finds the module of these functions here.
HOMES = {".ipynb": "nika_nb.books"}


@dataclass(frozen=True, slots=True)
class Opened:
    """One workflow taken out of a file.

    source: its text, numbered and called as people find it there. path: the file. cell: the id of
    its cell. options: what the cell's first line says besides, as written.
    """

    source: Source
    path: Path
    cell: str | None = None
    options: str = ""


@dataclass(frozen=True, slots=True)
class Carried:
    """A journal that a file carries. head: what it says the hash of the last line is."""

    content: bytes
    head: str | None


class Opener(Protocol):
    """Takes out of a file a workflow, the one called `name` or the only one; and the journal of a cell.

    The cell is named by its id, or holds this text. Both raise UsageError.
    """

    def opened(self, path: Path, name: str | None) -> Opened: ...

    def carried(self, path: Path, cell_id: str | None, text: str) -> Carried: ...


def held(address: str | Path) -> tuple[Path, str | None] | None:
    """(file, name) of `book.ipynb::name` and of `book.ipynb`; None where no opener is needed."""
    text = str(address)
    for suffix in HOMES:
        file, _, name = text.rpartition(suffix + SEPARATOR)
        if file and "\n" not in text and not os.path.isfile(text):
            return Path(file + suffix), name
        if text.endswith(suffix) and "\n" not in text:
            return Path(text), None
    return None


def open_held(path: Path, name: str | None) -> Opened:
    """The workflow, by whoever opens files of this kind. Raises UsageError."""
    return _opener(path).opened(path, name)


def carried_by(path: Path, cell_id: str | None, text: str) -> Carried:
    """The journal that a cell's saved output carries. Raises UsageError."""
    return _opener(path).carried(path, cell_id, text)


def _opener(path: Path) -> Opener:
    if path.suffix not in HOMES:
        raise UsageError(f"{path} is none of the files that hold workflows: {', '.join(HOMES)}")
    return cast(Opener, import_module(HOMES[path.suffix]))
