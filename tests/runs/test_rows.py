"""A DataFrame as an input: its rows as JSON, nothing lost and nothing guessed."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import nika_nb
from nika_nb.errors import UsageError
from nika_nb.runs.inputs import Rows, rows_of
from nika_nb.runs.rows import variables_of
from nika_nb.trace.reader import read

FAN = """nika: rows
model: mock/echo
inputs:
  rows: { type: { array: { object: { name: string, n: integer } } } }
tasks:
  score:
    with: { rows: "${{ inputs.rows }}" }
    for_each: { items: "${{ with.rows }}" }
    infer: { prompt: "${{ item.name }}" }
"""


@dataclass(frozen=True)
class Cell:
    name: str
    column: Any
    expected: list[Any]


CELLS = [
    Cell("whole numbers stay whole", pd.Series([2**53 + 1, 1]), [2**53 + 1, 1]),
    Cell("also beside nothing", pd.array([2**63 - 1, None], dtype="Int64"), [2**63 - 1, None]),
    Cell("unsigned", np.array([2**64 - 1, 0], dtype="uint64"), [2**64 - 1, 0]),
    Cell("fractions", [0.1, -0.0], [0.1, -0.0]),
    Cell("no number is nothing", [1.5, float("nan")], [1.5, None]),
    Cell("truth", [True, False], [True, False]),
    Cell("truth or nothing", pd.array([True, None], dtype="boolean"), [True, None]),
    Cell("text", ["ä\n", ""], ["ä\n", ""]),
    Cell("text or nothing", pd.array(["a", None], dtype="string"), ["a", None]),
    Cell("moments", pd.to_datetime(["2026-11-30T04:05:06.000000007", None]),
         ["2026-11-30T04:05:06.000000007", None]),
    Cell("moments with a zone", pd.to_datetime(["2026-11-30T04:05:06", None]).tz_localize("UTC"),
         ["2026-11-30T04:05:06+00:00", None]),
    Cell("spans", pd.to_timedelta(["1h", None]), ["P0DT1H0M0S", None]),
    Cell("months", pd.period_range("2026-11", periods=2, freq="M"), ["2026-11", "2026-12"]),
    Cell("categories", pd.Categorical(["a", None]), ["a", None]),
    Cell("Python's own", pd.Series([date(2026, 1, 2), time(3, 4)], dtype=object), ["2026-01-02", "03:04:00"]),
    Cell("Python's moments", pd.Series([datetime(2026, 1, 2, 3), timedelta(seconds=1)], dtype=object),
         ["2026-01-02T03:00:00", "P0DT0H0M1S"]),
    Cell("numpy inside", pd.Series([np.int64(3), np.array([1.0, np.nan])], dtype=object), [3, [1.0, None]]),
    Cell("lists and objects", pd.Series([[1, None], {"a": np.bool_(True)}], dtype=object),
         [[1, None], {"a": True}]),
    Cell("every nothing", pd.Series([None, pd.NA], dtype=object), [None, None]),
]  # fmt: skip


@pytest.mark.parametrize("case", CELLS, ids=lambda case: case.name)
def test_a_column_becomes_json(case: Cell) -> None:
    """Each kind of column that pandas has, value by value, with Python's own types."""
    found = [row["x"] for row in rows_of(pd.DataFrame({"x": case.column}))]
    assert found == case.expected
    assert [type(value) for value in found] == [type(value) for value in case.expected]


def test_mixed_columns_do_not_change_each_other() -> None:
    """A fraction beside it makes no float of a whole number."""
    frame = pd.DataFrame({"id": [2**60 + 1, 2], "price": [0.5, None]}, index=["b", "a"])
    rows = rows_of(frame)
    assert rows == [{"id": 2**60 + 1, "price": 0.5}, {"id": 2, "price": None}]
    assert list(rows.labels) == ["b", "a"]


def test_a_series_is_the_list_of_its_values() -> None:
    series = pd.Series([1.0, None], index=[7, 8])
    assert rows_of(series) == [1.0, None]
    assert list(rows_of(series).labels) == [7, 8]


def test_rows_without_columns_are_counted() -> None:
    assert rows_of(pd.DataFrame(index=[1, 2])) == [{}, {}]
    assert rows_of(pd.DataFrame({"a": []})) == []


def test_an_index_labels_its_own_values() -> None:
    """An answer per label stands beside it; what `.unique()` gives has no labels."""
    days = pd.DatetimeIndex(["2026-01-02", "2026-01-03"], name="day")
    assert rows_of(days) == ["2026-01-02T00:00:00", "2026-01-03T00:00:00"]
    pd.testing.assert_index_equal(rows_of(days).labels, days)
    found = rows_of(pd.Series(["b", "a", "b"], dtype="string").unique())
    assert found == ["b", "a"]
    assert list(found.labels) == [0, 1]


class Size(str, Enum):  # noqa: UP042 - what a text of its own kind calls itself is the point
    LARGE = "L"


class Count(IntEnum):
    TWO = 2


PLAIN = [
    ("records", [{"n": np.int64(3), "when": pd.Timestamp("2026-01-02")}, {"n": float("nan"), "when": pd.NaT}],
     [{"n": 3, "when": "2026-01-02T00:00:00"}, {"n": None, "when": None}]),
    ("an array beside nothing", np.array([1.5, np.nan]), [1.5, None]),
    ("moments of numpy", np.array(["2026-01-02T03:04:05", "NaT"], dtype="datetime64[ns]"),
     ["2026-01-02T03:04:05", None]),
    ("spans of numpy", np.array([1500, 0], dtype="timedelta64[ms]"), ["P0DT0H0M1.5S", "P0DT0H0M0S"]),
    ("a day", date(2026, 1, 2), "2026-01-02"),
    ("a moment of numpy", np.datetime64("2026-01-02T03:04", "ns"), "2026-01-02T03:04:00"),
    ("a pair", (1, "a"), [1, "a"]),
    ("members of enumerations", {Size.LARGE: [Size.LARGE, Count.TWO]}, {"L": ["L", 2]}),
    ("nothing", pd.NA, None),
    ("bytes, for an input of that type", b"x", b"x"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "expected"), [case[1:] for case in PLAIN], ids=[case[0] for case in PLAIN])
def test_a_value_of_python_is_taken_as_a_cell_is(given: Any, expected: Any) -> None:
    """`df.to_dict("records")` is the same input as the DataFrame."""
    assert variables_of({"x": given}) == {"x": expected}


@pytest.mark.parametrize("span", [timedelta(0), timedelta(seconds=-1), timedelta(1, 4000, 250_010)])
def test_a_span_reads_as_pandas_writes_it(span: timedelta) -> None:
    assert variables_of({"x": span}) == {"x": pd.Timedelta(span).isoformat()}


NO_JSON = [
    ([{"a": [1, Decimal(1)]}], "input `x`: at `[0].a[1]`: Decimal has no JSON form: make it a text"),
    ({"a": {"b": float("inf")}}, "input `x`: at `a.b`: infinity has no JSON form"),
    ([{2026: 1}], "input `x`: the key 2026 of an object is no text"),
    (range(3), "input `x`: range has no JSON form"),
    (np.datetime64("2026-01-02T00:00:00.000000001", "ns"), "input `x`: a moment finer than a microsecond"),
]


@pytest.mark.parametrize(("given", "sentence"), NO_JSON, ids=[said for _, said in NO_JSON])
def test_what_python_alone_can_hold_is_refused_by_its_place(given: Any, sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        variables_of({"x": given})
    assert str(refused.value).startswith(sentence)


def test_moments_need_no_pandas(folder: Path) -> None:
    """An input is taken the same way where nobody has loaded it."""
    script = (
        "import sys, datetime as d; from nika_nb.runs.rows import variables_of as v; "
        "print(v({'x': [d.date(2026, 1, 2), d.timedelta(1), float('nan')]}), 'pandas' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout == "{'x': ['2026-01-02', 'P1DT0H0M0S', None]} False\n"


REFUSED = [
    (pd.DataFrame({"p": [1.0, float("inf")]}, index=["u", "v"]), "column `p`, row 1 (index 'v'): infinity"),
    (pd.DataFrame({"p": [Decimal("1.10")]}), "column `p`, row 0 (index 0): Decimal has no JSON form"),
    (pd.DataFrame({"p": [b"raw"]}), "bytes has no JSON form"),
    (pd.DataFrame({"p": [1 + 2j]}), "complex has no JSON form"),
    (pd.DataFrame({"p": pd.interval_range(0, 2)}), "Interval has no JSON form"),
    (pd.DataFrame({"p": pd.Series(["\ud800"], dtype=object)}), "half of a surrogate pair"),
    (pd.DataFrame({"p": [{1: "x"}]}), "the key 1 of an object"),
    (pd.DataFrame({"p": [[1, float("-inf")]]}), "infinity"),
    (pd.DataFrame([[1]]), "column 0 is not named by a text"),
    (pd.DataFrame([[1, 2]], columns=["a", "a"]), "two columns are named `a`"),
    (pd.Series([float("inf")]), "the series, row 0"),
    ([{"a": 1}], "list is neither a DataFrame nor a Series"),
]


@pytest.mark.parametrize(("value", "sentence"), REFUSED, ids=[said for _, said in REFUSED])
def test_what_has_no_json_form_is_refused_by_its_place(value: Any, sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        rows_of(value)
    assert sentence in str(refused.value)


def test_a_run_takes_a_frame_and_journals_its_rows(folder: Path) -> None:
    """`vars={"rows": df}` is as the list of its records, and the request keeps the index."""
    frame = pd.DataFrame({"name": ["Ann", "Bo"], "n": [2**53 + 1, 1]}, index=[30, 10])
    run = nika_nb.run(FAN, vars={"rows": frame})
    assert run.tasks["score"].output == ["mock(echo) · Ann", "mock(echo) · Bo"]
    assert run.trace is not None
    assert read(run.trace).input_values == {"rows": [{"name": "Ann", "n": 2**53 + 1}, {"name": "Bo", "n": 1}]}
    rows = run.request.variables["rows"]
    assert isinstance(rows, Rows)
    assert list(rows.labels) == [30, 10]


def test_a_frame_changed_afterwards_changes_no_run(folder: Path) -> None:
    """A column added to the frame is no edit of the run that was fed with it."""
    frame = pd.DataFrame({"name": ["Ann", "Bo"], "n": [1, 2]})
    run = nika_nb.run(FAN, vars={"rows": frame})
    frame["score"] = 1
    again = run.resume()
    assert again.tasks["score"].state == "cached"


def test_a_frame_that_does_not_fit_names_its_input(folder: Path) -> None:
    """Nothing runs, no trace."""
    with pytest.raises(UsageError, match="input `rows`: column `name`, row 0"):
        nika_nb.run(FAN, vars={"rows": pd.DataFrame({"name": [b"x"]})})
    assert not (folder / ".nika").exists()


def test_numbers_and_arrays_of_numpy_are_inputs(folder: Path) -> None:
    text = FAN.replace("{ array: { object: { name: string, n: integer } } }", "{ array: integer }").replace(
        "${{ item.name }}", "${{ item }}"
    )
    run = nika_nb.run(text, vars={"rows": np.array([3, 4])})
    assert run.tasks["score"].output == ["mock(echo) · 3", "mock(echo) · 4"]


def test_a_frame_with_more_columns_than_declared_is_told_which_to_keep() -> None:
    """The way out is written as it is typed; rows that are no DataFrame have no columns to drop."""
    frame = pd.DataFrame({"name": ["a"], "note": ["z"], "n": [1]})
    with pytest.raises(UsageError, match=r'keep the columns that `rows` declares: df\[\["name","n"\]\]'):
        nika_nb.run(FAN, vars={"rows": frame})
    with pytest.raises(UsageError) as caught:
        nika_nb.run(FAN, vars={"rows": frame.to_dict("records")})
    assert "`note` is no field" in str(caught.value)
    assert "DataFrame" not in str(caught.value)
