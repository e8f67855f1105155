"""What a run was started with → a row per declared input."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nika_nb.tables.columns import INPUTS
from nika_nb.trace.fields import said, shape_of
from nika_nb.trace.trace import Trace


def input_rows(opening: Trace) -> Iterator[tuple[Any, ...]]:
    """In the order in which they are declared, those last that nobody gave and that have no default."""
    values = opening.input_values or {}
    origins = shape_of(opening.prologue.get("inputs"))
    for name in dict.fromkeys([*origins, *values, *opening.inputs_withheld]):
        row = {
            "input": name,
            "value": values.get(name),
            "origin": said(origins.get(name)),
            "withheld": name in opening.inputs_withheld,
        }
        yield tuple(row[column.name] for column in INPUTS)
