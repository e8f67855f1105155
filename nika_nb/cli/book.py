"""`nika-nb book …`: the workflows in a notebook's file, from a terminal."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nika_nb import books
from nika_nb.board.clean import one_line
from nika_nb.books import BookCell, MadeTrace
from nika_nb.cli.console import say
from nika_nb.cli.streams import print_json, print_lines
from nika_nb.errors import UsageError
from nika_nb.openers import held
from nika_nb.trace.ends import ends
from nika_nb.trace.folder import TraceFolder


def list_command(options: argparse.Namespace) -> int:
    """A line a workflow; below it the traces that its cell's saved output tells of."""
    path = Path(options.book)
    cells, made = books.workflows(path), books.traces(path)
    if options.json:
        print_json([_shape(cell, path, made) for cell in cells], indent=2)
        return 0
    print_lines("\n".join(_listed(path, cells, made)) or f"no workflows in {path}")
    return 0


def _listed(path: Path, cells: tuple[BookCell, ...], made: tuple[MadeTrace, ...]) -> Iterator[str]:
    width = max((len(one_line(cell.name)) for cell in cells), default=0)
    for cell in cells:
        place = f"{one_line(cell.shown)}  {one_line(cell.options)}"
        yield f"{one_line(cell.name) or '-':<{width}}  {place}".rstrip()
        yield from _traces(path, made, cell.number)
    for number in dict.fromkeys(trace.cell for trace in made):
        if number not in {cell.number for cell in cells}:
            yield f"{'-':<{width}}  cell {number}"
            yield from _traces(path, made, number)


def _traces(path: Path, made: tuple[MadeTrace, ...], number: int) -> Iterator[str]:
    for trace in made:
        if trace.cell == number:
            events = f" · {trace.events} events" if trace.events else ""
            yield f"    {one_line(trace.path)}{events} · {where(path, trace)}"


def where(book: Path, made: MadeTrace) -> str:
    """Where a trace is to be had: `here`, `in the notebook`, or `gone`."""
    if found(book, made) is not None:
        return "here"
    return "in the notebook" if made.carried else "gone"


def found(book: Path, made: MadeTrace) -> Path | None:
    """The file of a trace, as the notebook's kernel saw it or among the traces beside it.

    Another journal that has its name is not it.
    """
    for path in (book.parent / made.path, TraceFolder(book.parent).path / made.name):
        here = ends(path)
        if here is not None and made.head in (None, here.head):
            return path
    return None


def _shape(cell: BookCell, path: Path, made: tuple[MadeTrace, ...]) -> dict[str, Any]:
    shown = [
        {"trace": trace.path, "events": trace.events, "head": trace.head, "where": where(path, trace)}
        for trace in made
        if trace.cell == cell.number
    ]
    return {
        "name": cell.name,
        "cell": cell.number,
        "id": cell.id,
        "line": cell.line,
        "options": cell.options,
        "traces": shown,
    }


def extract_command(options: argparse.Namespace) -> int:
    """A line a file; what its cell's first line said is told beside it."""
    path, name = address(options.book)
    for made in books.extract(path, [name] if name is not None else [], options.to, force=options.force):
        print_lines(f"{made.path}{'' if made.written else ' · unchanged'}")
        if made.options:
            say(f"nika-nb: a file holds no options; the cell of `{made.name}` says {made.options}")
    return 0


def embed_command(options: argparse.Namespace) -> int:
    """One line: what was put where."""
    path, cell = address(options.book)
    made = books.embed(path, Path(options.file), cell=cell, options=options.options)
    how = ("replaced" if made.replaced else "added") if made.changed else "unchanged"
    print_lines(f"{path}::{made.name} · cell {made.number} · {how}")
    if not made.loads:
        say(f"nika-nb: no cell of {path.name} loads the extension: put `%load_ext nika_nb` into one above")
    return 0


def address(text: str) -> tuple[Path, str | None]:
    """(notebook, name). Raises UsageError for what is no notebook's name."""
    given = held(text)
    if given is None:
        raise UsageError(f"{text} is no notebook: give book.ipynb, or book.ipynb::name")
    return given
