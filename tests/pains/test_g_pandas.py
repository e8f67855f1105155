"""What people run into with DataFrames: types that move, numbers that shrink, labels that mix."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

import nika_nb

TEXT = """nika: pains
model: mock/echo
inputs: { rows: { type: { array: { object: { id: integer, name: string } } }, default: [] } }
tasks:
  each: { for_each: { items: "${{ inputs.rows }}" }, infer: { prompt: "${{ item.id }}" } }
  never: { when: false, infer: { prompt: "x" } }
  list: { invoke: { tool: "nika:log", args: { message: m } }, on_error: { recover: [[1, 2], [3, 4]] } }
"""
BIG = 2**53 + 1


@pytest.fixture(autouse=True)
def loud() -> Iterator[None]:
    """What pandas warns of today is an error tomorrow."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.fixture
def run(folder: Path) -> nika_nb.Run:
    return nika_nb.run(TEXT, vars={"rows": pd.DataFrame({"id": [BIG, 1], "name": ["a", None]}).fillna("")})


def kinds(frame: pd.DataFrame) -> list[str]:
    return [str(kind) for kind in frame.dtypes]


def test_missing_figures_make_no_floats_of_the_others(run: nika_nb.Run) -> None:
    """Attempts of a task that never ran are missing, and those of the others stay whole numbers."""
    attempts = nika_nb.read_trace(run).tasks.set_index("task")["attempts"]
    assert pd.isna(attempts["never"])
    assert attempts["each"] == 1
    assert str(attempts.dtype) == "Int64"


def test_large_ids_come_back_as_they_went_in(run: nika_nb.Run) -> None:
    """Through JSON, a prompt and a column: not rounded to a float on the way."""
    assert run.table("each")["output"].tolist() == [f"mock(echo) · {BIG}", "mock(echo) · 1"]


def test_tables_of_different_runs_put_together_keep_their_types(run: nika_nb.Run, folder: Path) -> None:
    """Also an empty one with a full one, which is where columns used to turn into objects."""
    empty = nika_nb.run(TEXT)
    for name in ("tasks", "items", "attempts", "permits", "prompts", "events", "runs"):
        both = [getattr(nika_nb.read_trace(each), name) for each in (run, empty)]
        assert kinds(pd.concat(both)) == kinds(both[0]) == kinds(both[1])


def test_moments_have_a_zone_and_all_of_their_digits(run: nika_nb.Run) -> None:
    """They compare with each other and with UTC, and subtract to spans."""
    tables = nika_nb.read_trace(run)
    moment = tables.events["time"].iloc[0]
    assert moment.tz is not None
    assert moment <= pd.Timestamp.now(tz="UTC")
    took = tables.runs["ended"] - tables.runs["started"]
    assert (took >= tables.runs["duration"]).all()


def test_sums_and_groups_skip_what_is_missing(run: nika_nb.Run) -> None:
    """Nothing has to be filled in first."""
    tasks = nika_nb.read_trace(run).tasks
    assert tasks["tokens"].sum() > 0
    grouped = tasks.groupby("verb")[["tokens", "cost_usd"]].sum(min_count=1)
    assert pd.isna(grouped.loc["infer", "cost_usd"])  # a mock has no price, and no price is not zero


def test_a_cell_may_hold_a_list(run: nika_nb.Run) -> None:
    """Lists of equal length in one column do not become a matrix."""
    rows = nika_nb.read_trace(run).tasks.set_index("task")
    assert rows.loc["each", "output"] == [f"mock(echo) · {BIG}", "mock(echo) · 1"]


def test_truth_that_is_missing_is_not_false(run: nika_nb.Run) -> None:
    """A mask over a nullable column still selects."""
    tasks = nika_nb.read_trace(run).tasks
    assert list(tasks[~tasks["cached"]]["task"]) == ["each", "never", "list"]


def test_tables_go_to_other_processes_and_to_text(run: nika_nb.Run) -> None:
    """Pickled they are the same; as CSV every column is there."""
    tasks = nika_nb.read_trace(run).tasks
    assert pickle.loads(pickle.dumps(tasks)).equals(tasks)
    assert tasks.to_csv().count("\n") >= len(tasks)


def test_the_frame_that_was_given_is_not_touched(folder: Path) -> None:
    """Neither its values, nor its labels, nor its types; a slice of another frame warns of nothing."""
    whole = pd.DataFrame({"id": [1, 2, 3], "name": ["a", "b", "c"]}, index=[9, 8, 7])
    part = whole[whole["id"] > 1]
    before = part.copy(deep=True)
    run = nika_nb.run(TEXT, vars={"rows": part})
    assert part.equals(before)
    assert run.table("each").index.equals(part.index)
    joined = whole.join(run.table("each"))
    assert pd.isna(joined.loc[9, "state"])
