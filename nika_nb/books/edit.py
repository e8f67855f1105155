"""Workflows out of a notebook into files, and files into a notebook's cells."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nika_nb.books.book import Book, read_book
from nika_nb.books.cells import MAGIC, BookCell, name_of
from nika_nb.books.file import BOUND, FORMAT, BookFile, source_of
from nika_nb.books.splice import append_cell, put_source
from nika_nb.errors import CheckRefused, Source, UsageError
from nika_nb.files import plain_bytes
from nika_nb.language import load, load_bytes
from nika_nb.language.encoding import DOCUMENT_CAP

SUFFIX = ".nika.yaml"


@dataclass(frozen=True, slots=True)
class Extracted:
    """A workflow in a file of its own. options: of the cell's first line, which no file can hold.

    written: false where the file held exactly this already.
    """

    name: str
    path: Path
    options: str
    written: bool


@dataclass(frozen=True, slots=True)
class Embedded:
    """A workflow in a cell. replaced: a cell of that name was there. number: of the cell, from 1.

    changed: false where the cell held exactly this already. loads: a cell loads the extension.
    """

    name: str
    path: Path
    number: int
    replaced: bool
    changed: bool
    loads: bool


# -- out ---------------------------------------------------------------------------------------


def extract(
    book: str | Path, names: Sequence[str] = (), to: str | Path | None = None, *, force: bool = False
) -> tuple[Extracted, ...]:
    """Writes workflows of a notebook into `NAME.nika.yaml` files, all of them where none is named.

    to: the folder; None for the notebook's, where paths and called workflows mean what they meant in
    the cell. A file that holds something else is replaced only under `force`. Raises UsageError, and
    then nothing was written.
    """
    shelf = read_book(book)
    cells = [shelf.find(name) for name in names] if names else _all(shelf)
    folder = shelf.file.path.parent if to is None else Path(to)
    targets = [(cell, folder / f"{_file_name(shelf, cell)}{SUFFIX}") for cell in cells]
    changed = {path for cell, path in targets if _held(path) != cell.text.encode("utf-8")}
    for path in changed if not force else ():
        if path.exists():
            raise UsageError(f"{path} holds something else: nothing was written. --force replaces it")
    for cell, path in targets:
        if path in changed:
            folder.mkdir(parents=True, exist_ok=True)
            replace_file(path, cell.text.encode("utf-8"))
    return tuple(Extracted(cell.name, path, cell.options, path in changed) for cell, path in targets)


def _all(book: Book) -> list[BookCell]:
    """Every workflow. Raises UsageError where two have one name, or there is none."""
    if not book.workflows:
        book.find()
    for cell in book.workflows:
        if cell.name:
            book.find(cell.name)
    return list(book.workflows)


def _file_name(book: Book, cell: BookCell) -> str:
    if not cell.name.isprintable() or not cell.name or os.sep in cell.name or cell.name.startswith("."):
        raise UsageError(f"{cell.shown} of {book.name} names no workflow, so there is no name for its file")
    return cell.name


def _held(path: Path) -> bytes | None:
    try:
        return plain_bytes(path, BOUND)
    except OSError:
        return None


# -- in ----------------------------------------------------------------------------------------


def embed(
    book: str | Path, workflow: str | Path, *, cell: str | None = None, options: str | None = None
) -> Embedded:
    """Puts a workflow into a notebook: into the cell of its name, or a new one behind all others.

    workflow: a file, or a text. cell: the cell that is replaced, by name, id or number, where another
    one is meant. options: the cell's first line behind the magic; None keeps what stands there. A
    notebook that does not exist is made. Everything else in the file keeps its bytes.

    Raises CheckRefused for a text that is no workflow, UsageError for what is no notebook; then
    nothing was written.
    """
    path = Path(book)
    source = _given(workflow)
    name = name_of(source.text)
    if not path.exists():
        _write_new(path)
    shelf = read_book(path)
    old = shelf.find(cell) if cell is not None else _of_name(shelf, name)
    line = options if options is not None else old.options if old else ""
    lines = _lines(f"{MAGIC} {line.strip()}".rstrip() + f"\n{source.text}")
    number = old.number if old else len(shelf.file.cells) + 1
    changed = rewrite(shelf.file, number - 1 if old else None, lines)
    return Embedded(name, path, number, old is not None, changed, loads_extension(shelf.file))


def set_options(book: Book, cell: BookCell, options: str) -> bool:
    """Writes another first line into a cell; whether that changed anything."""
    source = source_of(book.file.cells[cell.number - 1]).splitlines(keepends=True)
    at = cell.line - 2
    indent = source[at][: len(source[at]) - len(source[at].lstrip())]
    source[at] = f"{indent}{MAGIC} {options}".rstrip() + "\n"
    return rewrite(book.file, cell.number - 1, source)


def rewrite(file: BookFile, cell: int | None, lines: list[str]) -> bool:
    """Writes other lines into the cell at an index, or into a new one; whether anything changed.

    Raises UsageError, and then the file is what it was.
    """
    if file.major != FORMAT:
        raise UsageError(
            f"{file.path} is saved in format {file.major}: open and save it in Jupyter once, then it can be "
            "written to"
        )
    text = file.raw.decode("utf-8")
    if cell is None:
        text = append_cell(text, _new_cell(file, lines))
    elif source_of(file.cells[cell]) == "".join(lines):
        return False
    else:
        text = put_source(text, cell, lines)
    _judge(file, text)
    if _held(file.path) != file.raw:
        raise UsageError(f"{file.path} was changed by somebody else in the meantime: nothing was written")
    replace_file(file.path, text.encode("utf-8"))
    return True


def _given(workflow: str | Path) -> Source:
    """The text to put in. Raises CheckRefused for one that is no workflow."""
    if isinstance(workflow, str) and "\n" in workflow:
        source, loaded = Source(workflow), load(Source(workflow))
    else:
        path = Path(workflow)
        try:
            raw = plain_bytes(path, DOCUMENT_CAP, passed=True)
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror}") from None
        source, loaded = load_bytes(raw, path.name)
    if loaded.workflow is None or not loaded.workflow.id:
        raise CheckRefused(loaded.diagnostics, source)
    return Source(source.text.replace("\r\n", "\n").rstrip("\n"), source.name)


def _of_name(book: Book, name: str) -> BookCell | None:
    """The cell of that name. Raises UsageError where there are several."""
    return book.find(name) if any(cell.name == name for cell in book.workflows) else None


def _lines(source: str) -> list[str]:
    return source.splitlines(keepends=True)


def _new_cell(file: BookFile, lines: list[str]) -> dict[str, Any]:
    """A code cell as this notebook's format has them, with an id that is not taken."""
    from nbformat.v4 import new_code_cell

    taken = {cell.get("id") for cell in file.cells}
    while True:
        cell: dict[str, Any] = {**new_code_cell(), "source": lines}  # type: ignore[no-untyped-call]
        if file.minor < 5:
            cell.pop("id", None)
        if cell.get("id") is None or cell["id"] not in taken:
            return dict(sorted(cell.items()))


def _write_new(path: Path) -> None:
    import nbformat
    from nbformat.v4 import new_code_cell, new_notebook

    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    cell = new_code_cell("%load_ext nika_nb")  # type: ignore[no-untyped-call]
    made = new_notebook(cells=[cell], metadata={"kernelspec": kernel})  # type: ignore[no-untyped-call]
    text: str = nbformat.writes(made)  # type: ignore[no-untyped-call]
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, f"{text}\n".encode())


def loads_extension(file: BookFile) -> bool:
    """Whether a code cell loads the extension, without which no magic is one."""
    return any("nika_nb" in source_of(cell) and "load_ext" in source_of(cell) for cell in file.cells)


def _judge(file: BookFile, text: str) -> None:
    """Raises UsageError where what would be written is no valid notebook."""
    import nbformat

    try:
        nbformat.validate(json.loads(text))
    except nbformat.ValidationError as error:
        why = str(error).partition("\n")[0]
        raise UsageError(f"{file.path} is no valid notebook, so it is not written to: {why}") from None


def replace_file(path: Path, content: bytes, mode: int | None = None) -> None:
    """Whole or not at all, with the mode that the file had where none is given. Raises UsageError."""
    path = path.resolve()
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            os.fchmod(file.fileno(), _mode(path) if mode is None else mode)
        os.replace(temporary, path)
    except OSError as error:
        with suppress(OSError):
            os.unlink(temporary)
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode & 0o7777
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
