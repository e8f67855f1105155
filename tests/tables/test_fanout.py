"""A model over a table: outputs come back on the index of the DataFrame, and each row is paid for once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import nika_nb
from nika_nb.errors import UsageError
from nika_nb.runs.feeding import fed_by
from nika_nb.runs.traced import workflow_of
from nika_nb.tables.build import typed
from nika_nb.tables.columns import FAN_OUT
from tests.doors import environment, of, program, traces, wait_for
from tests.priced import CENT, Priced
from tests.tables.test_read import PINNED, SPAN, dtypes

SCORE = """nika: scores
model: mock/echo
inputs:
  rows: { type: { array: { object: { name: string, n: integer } } } }
tasks:
  score:
    with: { rows: "${{ inputs.rows }}" }
    for_each: { items: "${{ with.rows }}", fail_fast: false }
    infer: { prompt: "${{ item.name }} ${{ item.n }}" }
  shout:
    with: { said: "${{ tasks.score.output }}" }
    for_each: { items: "${{ with.said }}" }
    infer: { prompt: "${{ item }}!" }
"""

COLUMNS = {
    "output": "object", "state": "string", "cached": "boolean", "attempts": "Int64", "duration": SPAN,
    "tokens": "Int64", "cost_usd": "Float64", "saved_usd": "Float64", "saved_tokens": "Int64", "saved": SPAN,
    "wasted_usd": "Float64", "unpriced": "string", "error_code": "string", "error_message": "string",
}  # fmt: skip


@pytest.fixture
def people() -> pd.DataFrame:
    """Rows whose labels are neither in order nor numbers from 0."""
    index = pd.Index(["c", "a", "b"], name="id")
    return pd.DataFrame({"name": ["Cy", "Ann", "Bo"], "n": [1, 2, 3]}, index=index)


def test_the_columns_and_their_types_are_pinned(folder: Path, people: pd.DataFrame) -> None:
    run = nika_nb.run(SCORE, vars={"rows": people})
    assert dtypes(run.table("score")) == COLUMNS
    assert [column.name for column in FAN_OUT] == list(COLUMNS)
    assert dtypes(run.table("score").iloc[:0]) == COLUMNS


def test_outputs_are_back_on_the_index(folder: Path, people: pd.DataFrame, priced: Priced) -> None:
    """`people.join(run.table("score"))` is the table with its answers, whatever its labels are."""
    run = nika_nb.run(SCORE, vars={"rows": people})
    table = run.table("score")
    assert table.index.equals(people.index)
    assert table.index.name == "id"
    joined = people.join(table)
    assert list(joined["output"]) == ["Cy 1", "Ann 2", "Bo 3"]
    assert list(joined["state"]) == ["success"] * 3
    assert list(joined["cost_usd"]) == [pytest.approx(CENT)] * 3


def test_an_output_of_one_fan_out_feeds_the_next(folder: Path, people: pd.DataFrame) -> None:
    """Item for item, so the labels are the same."""
    run = nika_nb.run(SCORE, vars={"rows": people})
    assert run.table("shout").index.equals(people.index)


def test_repeated_and_layered_labels_come_back_too(folder: Path) -> None:
    """Labels are taken, never looked up; levels stay levels, and the table joins on them."""
    frame = pd.DataFrame({"name": ["x", "y"], "n": [1, 2]})
    layered = pd.MultiIndex.from_tuples([("a", 1), ("a", 2)], names=["shop", "day"])
    for index in (pd.Index([7, 7]), layered, pd.CategoricalIndex(["v", "u"])):
        run = nika_nb.run(SCORE, vars={"rows": frame.set_axis(index)})
        pd.testing.assert_index_equal(run.table("score").index, index)
    table = nika_nb.run(SCORE, vars={"rows": frame}).table("score", like=layered)
    joined = frame.set_axis(layered).join(table)
    assert list(joined["output"]) == ["mock(echo) · x 1", "mock(echo) · y 2"]


def test_a_row_is_paid_for_once(folder: Path, people: pd.DataFrame, priced: Priced) -> None:
    """One changed row and one new one: two calls; the others are saved, and the table says which."""
    first = nika_nb.run(SCORE, vars={"rows": people}, resume=None)
    before = len(priced.calls)
    people.loc["a", "n"] = 20
    people.loc["d"] = ["Di", 4]
    run = nika_nb.run(SCORE, vars={"rows": people}, resume=first.trace)
    assert priced.calls[before:] == ["Ann 20", "Di 4", "Ann 20!", "Di 4!"]
    table = run.table("score")
    assert table["cached"].to_dict() == {"c": True, "a": False, "b": True, "d": False}
    assert table["cost_usd"].sum() == pytest.approx(2 * CENT)
    assert table["saved_usd"].sum() == pytest.approx(2 * CENT)
    assert not (table["cost_usd"].notna() & table["saved_usd"].notna()).any()


def test_a_failed_row_says_why_and_the_others_stand(folder: Path, priced: Priced) -> None:
    """What failed has its code and what it cost, and runs again on a resume; the rest is not paid twice."""
    frame = pd.DataFrame({"name": ["fails 1", "fine"], "n": [1, 2]}, index=["bad", "good"])
    run = nika_nb.run(SCORE, vars={"rows": frame})
    table = run.table("score")
    assert table["state"].to_dict() == {"bad": "failure", "good": "success"}
    assert table["error_code"].to_dict()["bad"] == "NIKA-INFER-004"
    assert table["wasted_usd"].dropna().to_dict() == {"bad": pytest.approx(CENT)}
    assert table["output"].to_dict() == {"bad": None, "good": "fine 2"}
    again = run.resume()
    assert again.table("score")["cached"].to_dict() == {"bad": False, "good": True}
    assert priced.calls.count("fine 2") == 1


SLOW = """nika: slow
inputs:
  rows: { type: { array: { object: { name: string } } } }
permits: { exec: ["./work"] }
tasks:
  each:
    for_each: { items: "${{ inputs.rows }}", max_parallel: 1 }
    exec: { command: ["./work", "${{ item.name }}"] }
"""

KILLED = """
import pandas as pd, nika_nb
frame = pd.DataFrame({"name": ["one", "two", "three", "four"]}, index=[40, 30, 20, 10])
nika_nb.run("slow.nika.yaml", vars={"rows": frame})
"""


def test_killed_half_way_and_resumed(folder: Path) -> None:
    """A process that died at its third row: the table shows how far it came, and a resume runs the rest."""
    program(
        folder, "work", 'echo "$1" >> marks; [ "$1" != three ] || [ -e go ] || sleep 60; printf "%s!" "$1"'
    )
    (folder / "slow.nika.yaml").write_text(SLOW, encoding="utf-8")
    victim = subprocess.Popen([sys.executable, "-c", KILLED], env=environment(), start_new_session=True)
    try:
        marks = folder / "marks"
        wait_for(lambda: marks.exists() and "three" in marks.read_text(), "the third row")
        wait_for(lambda: of(traces(folder)[0], "verb_invoked", item=2), "its frame")
    finally:
        os.killpg(victim.pid, signal.SIGKILL)
        victim.wait()
    frame = pd.DataFrame({"name": ["one", "two", "three", "four"]}, index=[40, 30, 20, 10])
    (trace,) = traces(folder)
    killed = nika_nb.attach(trace).table("each", like=frame)
    assert killed["state"].to_dict() == {40: "success", 30: "success", 20: "incomplete", 10: "pending"}
    (folder / "go").touch()
    run = nika_nb.run(folder / "slow.nika.yaml", vars={"rows": frame}, resume=True)
    table = run.table("each")
    assert list(table["output"]) == ["one!", "two!", "three!", "four!"]
    assert table["cached"].to_dict() == {40: True, 30: True, 20: False, 10: False}
    assert marks.read_text().split() == ["one", "two", "three", "three", "four"]


def test_a_table_while_it_runs(folder: Path) -> None:
    """Every row is there from the start: done, running, or pending."""
    program(folder, "work", 'while [ "$1" = two ] && [ ! -e go ]; do sleep 0.02; done; printf ok')
    frame = pd.DataFrame({"name": ["one", "two", "three"]}, index=list("xyz"))
    run = nika_nb.run(SLOW, vars={"rows": frame}, background=True)
    try:
        wait_for(lambda: traces(folder) and of(traces(folder)[0], "verb_invoked", item=1), "the second row")
        assert run.table("each")["state"].to_dict() == {"x": "success", "y": "running", "z": "pending"}
    finally:
        (folder / "go").touch()
        run.wait()
    assert list(run.table("each")["state"]) == ["success"] * 3


def test_a_fan_out_that_was_ended_took_its_time(folder: Path) -> None:
    """A cancelled one worked from its first item on, and the ledger counts that as the tables do."""
    program(folder, "work", '[ "$1" = one ] || exec sleep 60; printf ok')
    frame = pd.DataFrame({"name": ["one", "two", "three"]})
    run = nika_nb.run(SLOW, vars={"rows": frame}, background=True)
    wait_for(lambda: traces(folder) and of(traces(folder)[0], "verb_invoked", item=1), "the second row")
    run.cancel()
    run.wait()
    assert list(run.table("each")["state"]) == ["success", "cancelled", "cancelled"]
    (row,) = nika_nb.read_trace(run).tasks.to_dict("records")
    took = row["ended"] - row["started"]
    assert row["state"] == "cancelled"
    assert row["duration"] == took.floor("ms")
    assert nika_nb.ledger(run).spent.ms == took // pd.Timedelta(milliseconds=1)


GATED = """nika: gated
inputs:
  rows: { type: { array: { object: { name: string } } } }
permits: { exec: ["./work"], tools: ["nika:prompt"] }
tasks:
  ask: { invoke: { tool: "nika:prompt", args: { message: "Go?" } } }
  each:
    with: { go: "${{ tasks.ask.output }}" }
    when: ${{ with.go == true }}
    for_each: { items: "${{ inputs.rows }}" }
    exec: { command: ["./work", "${{ item.name }}"] }
"""


def test_an_answer_keeps_the_labels(folder: Path) -> None:
    """The run goes on from its trace, where no labels are, and still knows them."""
    program(folder, "work", 'printf "%s!" "$1"')
    frame = pd.DataFrame({"name": ["one", "two"]}, index=["x", "y"])
    run = nika_nb.run(GATED, vars={"rows": frame}, interactive=False)
    assert run.table("each")["state"].to_dict() == {"x": "pending", "y": "pending"}
    run.answer(ask="yes")
    assert run.table("each")["output"].to_dict() == {"x": "one!", "y": "two!"}


def test_without_labels_the_items_are_counted(folder: Path, people: pd.DataFrame) -> None:
    """A run from its file alone has 0, 1, 2 …; `like` gives the labels back."""
    run = nika_nb.run(SCORE, vars={"rows": people})
    assert run.trace is not None
    attached = nika_nb.attach(run.trace)
    assert attached.table("score").index.equals(pd.RangeIndex(3, name="item"))
    for like in (people, people["n"], people.index, ["c", "a", "b"]):
        assert list(attached.table("score", like).index) == ["c", "a", "b"]
    assert nika_nb.read_trace(run.trace).table("score", people).equals(run.table("score"))


def test_another_length_is_refused(folder: Path, people: pd.DataFrame) -> None:
    """An index of other rows would put every output on the wrong one."""
    run = nika_nb.run(SCORE, vars={"rows": people})
    for other in (people.iloc[:2], pd.concat([people, people])):
        with pytest.raises(UsageError, match="`score` runs over 3 items, and that index has"):
            run.table("score", other)


def test_what_is_no_fan_out_is_refused(folder: Path) -> None:
    run = nika_nb.run('nika: x\nmodel: mock/echo\ntasks: { one: { infer: { prompt: "p" } } }')
    with pytest.raises(UsageError, match="`one` is no fan-out"):
        run.table("one")
    with pytest.raises(UsageError, match="did you mean `one`"):
        run.table("ones")


NOT_BEGUN = """nika: x
model: mock/echo
permits: { tools: ["nika:assert"] }
tasks:
  bad: { invoke: { tool: "nika:assert", args: { condition: false, message: "no" } } }
  behind: { with: { b: "${{ tasks.bad.output }}" },
    for_each: { items: "${{ with.b }}" }, infer: { prompt: p } }
  shut: { when: false, for_each: { items: [1] }, infer: { prompt: "p" } }
"""


def test_a_fan_out_that_never_began_says_why(folder: Path) -> None:
    """It is no single value: what stood in its way is told."""
    run = nika_nb.run(NOT_BEGUN)
    with pytest.raises(UsageError, match=r"`behind` has no items: it is cancelled \(bad failed\)"):
        run.table("behind")
    with pytest.raises(UsageError, match=r"`shut` has no items: it is skipped \(when: gate closed\)"):
        run.table("shut")


def test_members_of_outputs_become_columns(folder: Path) -> None:
    """unpack: objects open up, a name that is taken is told apart, and what is no object keeps its column."""
    program(folder, "work", '[ "$1" = c ] && echo 3 || echo "{\\"score\\": 1, \\"state\\": \\"$1\\"}"')
    text = SLOW.replace('"${{ item.name }}"] }', '"${{ item.name }}"], decode: json }')
    frame = pd.DataFrame({"name": ["a", "b"]}, index=["x", "y"])
    table = nika_nb.run(text, vars={"rows": frame}).table("each", unpack=True)
    assert list(table.columns[:2]) == ["score", "output.state"]
    assert "output" not in table.columns
    assert table["score"].to_dict() == {"x": 1, "y": 1}
    assert table["output.state"].to_dict() == {"x": "a", "y": "b"}
    mixed = nika_nb.run(text, vars={"rows": pd.DataFrame({"name": ["a", "c"]})}).table("each", unpack=True)
    assert mixed["output"].tolist() == [{"score": 1, "state": "a"}, 3]


UNPACKED = [
    ("whole", [2**53 + 1, None], "Int64"),
    ("beyond 64 bits", [2**70, None], "object"),
    ("fractions", [0.5, None], "Float64"),
    ("both", [1, 0.5], "Float64"),
    ("both, and one too large to be a fraction", [2**53 + 1, 0.5], "object"),
    ("truth", [True, None], "boolean"),
    ("truth and a number", [True, 1], "object"),
    ("text", ["ä", None], "string"),
    ("lists", [[1], None], "object"),
    ("objects", [{"a": 1}, None], "object"),
    ("nothing", [None, None], "object"),
]


@pytest.mark.parametrize(
    ("values", "kind"), [case[1:] for case in UNPACKED], ids=[case[0] for case in UNPACKED]
)
def test_no_value_of_a_column_changes_another(values: list[Any], kind: str) -> None:
    """No whole number becomes a fraction because one is missing elsewhere, or is a fraction there."""
    column = pd.Series(typed(values))
    assert str(column.dtype) == kind
    assert [None if value is pd.NA else value for value in column] == values


def test_a_failed_row_leaves_the_members_of_others(folder: Path) -> None:
    """unpack: an id of one row is what it was, labels may repeat, and lists stay with their rows."""
    large = 2**53 + 1
    told = f'{{\\"id\\": {large}, \\"of\\": [\\"$1\\"]}}'
    program(folder, "work", f'[ "$1" = c ] && exit 3; echo "{told}"')
    text = SLOW.replace('"${{ item.name }}"] }', '"${{ item.name }}"], decode: json }')
    text = text.replace("max_parallel: 1", "max_parallel: 1, fail_fast: false")
    frame = pd.DataFrame({"name": ["a", "c", "b"]}, index=["x", "y", "x"])
    table = nika_nb.run(text, vars={"rows": frame}).table("each", unpack=True)
    assert list(table["id"]) == [large, pd.NA, large]
    assert list(table["of"]) == [["a"], None, ["b"]]
    assert list(table.index) == ["x", "y", "x"]


FED = {
    "an input": ("items: ${{ inputs.rows }}", "", "rows"),
    "through a binding": ("items: ${{ with.b }}", "with: { b: '${{ inputs.rows }}' }", "rows"),
    "through another fan-out": ("items: ${{ with.b }}", "with: { b: '${{ tasks.first.output }}' }", "rows"),
    "a part of another fan-out": (
        "items: ${{ with.b }}",
        "with: { b: '${{ tasks.first.output[0] }}' }",
        None,
    ),
    "a choice": ('items: "${{ true ? inputs.rows : inputs.rows }}"', "", None),
    "a list of its own": ("items: [1, 2]", "", None),
    "a task that is none": ("items: ${{ with.b }}", "with: { b: '${{ tasks.plain.output }}' }", None),
}


@pytest.mark.parametrize("name", FED)
def test_where_items_come_from(folder: Path, name: str) -> None:
    """An input is found through bindings and fan-outs; what is made in between has no labels."""
    items, binding, expected = FED[name]
    text = f"""nika: fed
model: mock/echo
inputs: {{ rows: {{ type: {{ array: string }}, default: ["a"] }} }}
tasks:
  first: {{ for_each: {{ items: "${{{{ inputs.rows }}}}" }}, infer: {{ prompt: "${{{{ item }}}}" }} }}
  plain: {{ invoke: {{ tool: "nika:log", args: {{ message: m }} }} }}
  each:
    {binding}
    for_each:
      {items}
    infer: {{ prompt: "${{{{ item }}}}" }}
"""
    run = nika_nb.run(text)
    assert run.trace is not None
    workflow = workflow_of(run.trace)
    assert workflow is not None
    assert fed_by(workflow, "each") == expected


def test_another_engines_fan_out_has_its_outputs(folder: Path) -> None:
    """Where a journal tells nothing of items, the task's output still does."""
    run = nika_nb.run(
        "nika: f\nmodel: mock/echo\ntasks: {t: {for_each: {items: [1, 2]}, infer: {prompt: '${{ item }}'}}}"
    )
    assert run.trace is not None
    lines = [
        line for line in run.trace.read_bytes().splitlines(keepends=True) if b"nb_item_completed" not in line
    ]
    (folder / "bare.ndjson").write_bytes(b"".join(line for line in lines if b"verb_invoked" not in line))
    table = nika_nb.read_trace(folder / "bare.ndjson").table("t")
    assert list(table["output"]) == ["mock(echo) · 1", "mock(echo) · 2"]
    assert dtypes(table) == COLUMNS


def test_items_and_table_agree(folder: Path, people: pd.DataFrame, priced: Priced) -> None:
    """The same figures, whichever way one looks."""
    run = nika_nb.run(SCORE, vars={"rows": people})
    items = nika_nb.read_trace(run).items.query("task == 'score'").reset_index(drop=True)
    shared = [name for name in COLUMNS if name in PINNED["items"]]
    assert items[shared].equals(run.table("score").reset_index(drop=True)[shared])
