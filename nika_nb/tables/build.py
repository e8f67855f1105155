"""Rows → a DataFrame with typed columns. The rows are gone before the DataFrame stands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from nika_nb.tables.columns import MOMENT, MONEY, SPAN, TEXT, TRUTH, VALUE, WHOLE, Column

if TYPE_CHECKING:
    from pandas import DataFrame as DataFrame

_CENTURIES = 9 * 10**12  # milliseconds: what a nanosecond time span can hold
_EXACT = {int: (1 << 63) - 1, float: 1 << 53}  # the largest whole number of a column of these
_DTYPES = {bool: TRUTH, int: WHOLE, float: MONEY, str: TEXT}
_NOTHING = -(1 << 63)  # what stands for no moment and no span
_SHORT = 32  # characters of a text that is likely to come again: names, states, codes


class Builder:
    """Collects rows column by column; `frame()` makes the DataFrame, once."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = columns
        self._values: list[list[Any]] = [[] for _ in columns]
        self._texts: dict[str, str] = {}

    def extend(self, rows: Iterable[Sequence[Any]], key: Sequence[Any] = ()) -> None:
        """Takes rows in, each a value per column; `key` stands before every one of them."""
        for row in rows:
            for values, value in zip(self._values, (*key, *row), strict=True):
                short = isinstance(value, str) and len(value) <= _SHORT
                values.append(self._texts.setdefault(value, value) if short else value)

    def frame(self, index: Any = None) -> DataFrame:
        import pandas as pd

        made: dict[str, Any] = {}
        for at, column in enumerate(self._columns):
            values, self._values[at] = self._values[at], []
            made[column.name] = array_of(values, column.dtype)
        frame = pd.DataFrame(made, columns=[column.name for column in self._columns])
        return frame if index is None else frame.set_axis(index, axis="index")


def typed(values: list[Any]) -> Any:
    """One column of values whose type nobody has declared: whole numbers stay whole, also beside None."""
    kinds = {type(value) for value in values if value is not None}
    kind = float if kinds == {int, float} else kinds.pop() if len(kinds) == 1 else object
    most = _EXACT.get(kind)
    wide = most is not None and any(type(value) is int and abs(value) > most for value in values)
    return array_of(values, VALUE if wide else _DTYPES.get(kind, VALUE))


def array_of(values: list[Any], dtype: str) -> Any:
    """One column. Moments are unix nanoseconds, spans milliseconds; None is missing."""
    import numpy as np
    import pandas as pd

    if dtype == MOMENT:
        moments = np.array([_NOTHING if v is None else v for v in values], dtype="int64")
        return pd.DatetimeIndex(moments.view("datetime64[ns]"), tz="UTC").array
    if dtype == SPAN:
        return np.array([_nanoseconds(v) for v in values], dtype="int64").view("timedelta64[ns]")
    if dtype == VALUE:
        found = np.empty(len(values), dtype=object)
        for at, value in enumerate(values):  # numpy would make a second axis of lists
            found[at] = value
        return pd.Series(found, dtype=object)  # of a bare array pandas would guess
    if dtype == TEXT:
        values = [v if v is None or v.isascii() else v.encode("utf-8", "replace").decode() for v in values]
    return pd.array(values, dtype=dtype)  # type: ignore[call-overload]


def _nanoseconds(milliseconds: int | None) -> int:
    """No moment of a run is centuries away: such a figure is forged, and says nothing."""
    known = milliseconds is not None and abs(milliseconds) <= _CENTURIES
    return milliseconds * 10**6 if known and milliseconds is not None else _NOTHING
