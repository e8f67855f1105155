"""CSV text ↔ rows. Every cell is text; what a spreadsheet would run can be defused on the way out."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from nika_nb.values import Json, to_text, type_name

_QUOTED = frozenset('",\r\n')
_FORMULA = frozenset("=+-@")


def read_csv(text: str, has_header: bool) -> list[Json]:
    """Objects keyed by the header, or lists without one. Raises ValueError with a sentence and a line."""
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))  # one cell may hold a whole document
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    rows: list[tuple[int, list[str]]] = []
    try:
        rows = [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}") from None
    if not rows:
        return []
    width = len(rows[0][1])
    for line, row in rows:
        if len(row) != width:
            raise ValueError(f"line {line} has {len(row)} cells where the first line has {width}")
    if not has_header:
        return [row for _, row in rows]
    header = rows[0][1]
    if twice := next((name for name in header if header.count(name) > 1), None):
        raise ValueError(f"two columns are called `{twice}`")
    return [dict(zip(header, row, strict=True)) for _, row in rows[1:]]


def write_csv(value: Json, has_header: bool, guard: bool) -> str:
    """Lines that end with a newline, the header first. Raises ValueError with a sentence."""
    if not isinstance(value, list):
        raise ValueError(f"CSV is written from a list of rows, not from {type_name(value)}")
    rows = _of_objects(value, has_header) if value and isinstance(value[0], dict) else _of_lists(value)
    return "".join(",".join(_line(row, guard)) + "\n" for row in rows)


def _of_objects(value: list[Json], has_header: bool) -> Iterable[Sequence[Json]]:
    """A column for every key, in the order in which they first come up; a key that a row lacks is empty."""
    for at, row in enumerate(value):
        if not isinstance(row, dict):
            raise ValueError(f"row {at} is {type_name(row)}, and the first row is an object")
    columns = list(dict.fromkeys(key for row in value for key in row))
    if has_header:
        yield columns
    for row in value:
        yield [row.get(column) for column in columns]


def _of_lists(value: list[Json]) -> Iterable[Sequence[Json]]:
    for at, row in enumerate(value):
        if not isinstance(row, list):
            raise ValueError(f"row {at} is {type_name(row)}: a row is an object or a list of cells")
        yield row


def _line(row: Sequence[Json], guard: bool) -> list[str]:
    cells = [_cell("" if cell is None else to_text(cell), guard) for cell in row]
    return ['""'] if cells == [""] else cells  # an empty line would be no row


def _cell(text: str, guard: bool) -> str:
    if guard and (text[:1] in ("\t", "\r") or text.lstrip()[:1] in _FORMULA):
        text = f"'{text}"
    return '"' + text.replace('"', '""') + '"' if not _QUOTED.isdisjoint(text) else text
