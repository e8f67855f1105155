"""The one door from here to DataFrames: pandas is imported when somebody asks for one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nika_nb.tables.build import DataFrame as DataFrame


def fan_out(run: Any, task: str, like: Any, unpack: bool) -> DataFrame:
    """The items of a fan-out; run: a Run."""
    from nika_nb.tables import read_trace

    return read_trace(run).table(task, like, unpack=unpack)


def answer(table: str, rows: Iterable[Mapping[str, Any]]) -> DataFrame:
    """Rows by column as the table of this name."""
    from nika_nb.tables.build import Builder
    from nika_nb.tables.columns import TABLES

    builder = Builder(TABLES[table])
    builder.extend(tuple(row.get(column.name) for column in TABLES[table]) for row in rows)
    return builder.frame()
