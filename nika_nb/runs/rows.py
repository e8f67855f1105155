"""Inputs as Python has them → JSON; a DataFrame's rows remember its index. pandas is never imported here."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from datetime import date, time, timedelta
from typing import Any

from nika_nb.errors import UsageError
from nika_nb.values import Json, too_deep


class Rows(list[Json]):
    """The rows of a DataFrame, or the values of a Series, in order.

    labels: the pandas Index of what they were made from.
    """

    def __init__(self, rows: list[Json], labels: Any) -> None:
        super().__init__(rows)
        self.labels = labels


def variables_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Inputs as JSON holds them: pandas' tables and columns as Rows, anything else value by value.

    Bytes stay bytes, and what nests too deep stays as it is, for whoever binds the inputs. Raises
    UsageError naming the input, and the place in it of what has no JSON form.
    """
    return {name: _variable(name, value) for name, value in given.items()}


def _variable(name: str, value: Any) -> Any:
    if isinstance(value, (Rows, bytes, bytearray)) or too_deep(value):
        return value
    try:
        return rows_of(value) if is_tabular(value) else _cell(value)
    except (UsageError, ValueError) as error:
        raise UsageError(f"input `{name}`: {error}") from None


def labelled(values: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The values as they are recorded, with the labels of the same rows as they were given."""
    rows = {name: value for name, value in given.items() if isinstance(value, Rows)}
    return dict(values) | {name: value for name, value in rows.items() if values.get(name) == value}


def is_tabular(value: Any) -> bool:
    """Whether a value is pandas' own: a DataFrame, a Series, an Index, or what `.unique()` gives."""
    pandas = sys.modules.get("pandas")  # where it is not loaded, nothing can be of it
    return pandas is not None and isinstance(
        value, (pandas.DataFrame, pandas.Series, pandas.Index, pandas.api.extensions.ExtensionArray)
    )


def _is_numpy(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic))


def rows_of(value: Any) -> Rows:
    """A DataFrame as a list of objects, one a row; a Series, an Index or an array as the list of its values.

    What is missing (None, NaN, NaT, NA) becomes null, moments and spans ISO 8601 text; whole numbers
    stay whole. The index is no part of a row. Raises UsageError naming the column and the row of what
    has no JSON form, and a column whose name is no text or stands twice.
    """
    if not is_tabular(value):
        raise UsageError(f"{type(value).__name__} is neither a DataFrame nor a Series")
    if value.ndim == 1:
        series = _series(value)
        return Rows(_cells(series, "the series"), series.index)
    names = _names(list(value.columns))
    if not names:
        return Rows([{} for _ in range(len(value))], value.index)
    columns = [_cells(value.iloc[:, at], f"column `{name}`") for at, name in enumerate(names)]
    return Rows([dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)], value.index)


def _series(value: Any) -> Any:
    """An Index labels its own values; an array has no labels but numbers."""
    pandas = sys.modules["pandas"]
    if isinstance(value, pandas.Series):
        return value
    return pandas.Series(value, index=value if isinstance(value, pandas.Index) else None)


def _names(labels: list[Any]) -> list[str]:
    for at, label in enumerate(labels):
        if not isinstance(label, str):
            raise UsageError(f"column {label!r} is not named by a text: rename it (df.columns = […])")
        if label in labels[:at]:
            raise UsageError(f"two columns are named `{label}`: give each a name of its own")
    return labels


def _cells(series: Any, what: str) -> list[Json]:
    """One column's values. Never row by row: a row of pandas makes floats of whole numbers."""
    found: list[Json] = []
    for at, value in enumerate(series.tolist()):
        try:
            found.append(_cell(value))
        except ValueError as error:
            raise UsageError(f"{what}, row {at} (index {series.index[at]!r}): {error}") from None
    return found


def _cell(value: Any, at: str = "") -> Json:
    """at: where in the input or the cell it stands. Raises ValueError with what has no JSON form."""
    if isinstance(value, dict):
        return {_key(key): _cell(item, f"{at}.{key}" if at else str(key)) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_cell(item, f"{at}[{index}]") for index, item in enumerate(value)]
    try:
        return _scalar(value)
    except ValueError as error:
        raise ValueError(f"at `{at}`: {error}" if at else str(error)) from None


def _scalar(value: Any) -> Json:
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float):
        return _number(value)
    return _foreign(value)


def _text(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError("half of a surrogate pair is no character: replace it") from None
    return str.__str__(value)  # the text itself, whatever a member of an enumeration calls itself


def _number(value: float) -> float | None:
    if math.isinf(value):
        raise ValueError("infinity has no JSON form: put a number or None there")
    return None if math.isnan(value) else float(value)


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise ValueError(f"the key {key!r} of an object is no text: make it one")
    return _text(key)


def _foreign(value: Any) -> Json:
    """What is no JSON, and yet has a form in it: what is missing, moments and spans, and numpy's values."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and (value is pandas.NA or value is pandas.NaT):
        return None
    if isinstance(value, (date, time)):  # every moment is a date
        return value.isoformat()
    if isinstance(value, timedelta):
        return _span(value)
    if pandas is not None and isinstance(value, pandas.Period):
        return str(value)
    if _is_numpy(value) and type(plain := _python_of(value)) is not type(value):
        return _cell(plain)
    raise ValueError(f"{type(value).__name__} has no JSON form: make it a text, a number or a list first")


def _span(value: timedelta) -> str:
    if hasattr(value, "isoformat"):  # pandas counts nanoseconds
        return str(value.isoformat())
    minutes, seconds = divmod(value.seconds, 60)
    part = f"{value.microseconds / 10**6:.6f}".rstrip("0")[1:].rstrip(".")
    return f"P{value.days}DT{minutes // 60}H{minutes % 60}M{seconds}{part}S"


def _python_of(value: Any) -> Any:
    """numpy's value or array as Python's. Raises ValueError for a moment that would lose its nanoseconds.

    `tolist` alone makes whole numbers of moments and spans that can hold them.
    """
    if value.dtype.kind not in "mM":
        return value.tolist()
    coarse = value.astype(f"{value.dtype.kind}8[us]")
    if (coarse.astype(value.dtype).view("int64") != value.view("int64")).any():
        raise ValueError("a moment finer than a microsecond: make it a text, or give it as a Series")
    return coarse.tolist()
