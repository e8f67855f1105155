"""A notebook's file as data: read whole or refused in one sentence, and bounded."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nika_nb.errors import UsageError
from nika_nb.files import plain_bytes

BOUND = 256 << 20  # bytes of a notebook that is read
FORMAT = 4  # the newest format of notebooks that is known here

_CONFLICT = re.compile(rb"^<{7} ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class BookFile:
    """A notebook as it was read.

    raw: its bytes. shape: its JSON, in format 4 whatever the file's own. major, minor: the file's.
    """

    path: Path
    raw: bytes
    shape: dict[str, Any]
    major: int
    minor: int

    @property
    def cells(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.shape["cells"]
        return found


def read_file(path: Path) -> BookFile:
    """Raises UsageError for a file that cannot be read and for one that is no notebook."""
    raw = _bytes(path)
    shape = _json(path, raw)
    major, minor = shape.get("nbformat"), shape.get("nbformat_minor", 0)
    if not isinstance(major, int) or not isinstance(minor, int):
        raise _no_notebook(path, "it names no `nbformat`")
    if major > FORMAT:
        raise _no_notebook(path, f"its format is {major}, and {FORMAT} is the newest that is known here")
    if major < FORMAT:
        shape = _upgraded(path, shape)
    _judge_cells(path, shape.get("cells"))
    return BookFile(path, raw, shape, major, minor)


def source_of(cell: dict[str, Any]) -> str:
    """A cell's text: a file holds it whole or as a list of lines."""
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)


def _bytes(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise UsageError(f"{path} is a folder, not a notebook")
        size = path.stat().st_size
        if size > BOUND:
            raise UsageError(
                f"{path} is {size} bytes, beyond the {BOUND} bytes of a notebook that is read: clear the "
                "outputs that you do not need"
            )
        return plain_bytes(path, BOUND)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:  # a NUL, or half of a surrogate pair
        raise UsageError(f"{path} cannot be a path: {error}") from None


def _json(path: Path, raw: bytes) -> dict[str, Any]:
    try:
        shape = json.loads(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise _no_notebook(path, f"the byte {raw[error.start]:#04x} does not belong to UTF-8 text") from None
    except json.JSONDecodeError as error:
        why = f"line {error.lineno}, column {error.colno}: {error.msg}"
        if not raw.strip():
            why = "it is empty"
        elif _CONFLICT.search(raw):
            why = "a merge conflict stands in it: resolve it first"
        raise _no_notebook(path, why) from None
    except RecursionError:
        raise _no_notebook(path, "it nests too deep") from None
    if not isinstance(shape, dict):
        raise _no_notebook(path, "it holds no object")
    return shape


def _upgraded(path: Path, shape: dict[str, Any]) -> dict[str, Any]:
    """An old notebook as one of today's, for reading."""
    import nbformat

    try:
        found: dict[str, Any] = nbformat.convert(nbformat.from_dict(shape), FORMAT)  # type: ignore[no-untyped-call]
    except Exception as error:  # noqa: BLE001 - a stranger's file, in a format of ten years ago
        raise _no_notebook(path, f"its old format cannot be read: {error}") from None
    return found


def _judge_cells(path: Path, cells: Any) -> None:
    if not isinstance(cells, list):
        raise _no_notebook(path, "it has no list of `cells`")
    for number, cell in enumerate(cells, 1):
        if not isinstance(cell, dict) or not isinstance(cell.get("cell_type"), str):
            raise _no_notebook(path, f"cell {number} says no `cell_type`")
        source = cell.get("source")
        lines = source if isinstance(source, list) else [source]
        if not all(isinstance(line, str) for line in lines):
            raise _no_notebook(path, f"cell {number} has no text as its `source`")


def _no_notebook(path: Path, why: str) -> UsageError:
    return UsageError(f"{path} cannot be read as a notebook: {why}")
