"""A trace as tables: stable columns and types, on finished, running, torn and foreign journals."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

import nika_nb
from nika_nb.errors import UsageError
from nika_nb.tables import TABLES, TraceTables
from nika_nb.trace.lines import TraceUnreadable
from nika_nb.trace.reader import read
from tests.doors import of, program, wait_for
from tests.priced import CENT, TOKENS, Priced

MOMENT, SPAN = "datetime64[ns, UTC]", "timedelta64[ns]"

# Every column that there is: to rename one is to break somebody's notebook.
FIGURES = {
    "tokens": "Int64", "cost_usd": "Float64", "saved_usd": "Float64", "saved_tokens": "Int64", "saved": SPAN,
    "wasted_usd": "Float64",
}  # fmt: skip
RESULT = {
    "output": "object", "error_code": "string", "error_message": "string", "def_hash": "string",
    "input_hash": "string",
}  # fmt: skip
PINNED = {
    "runs": {
        "trace": "string", "run_id": "string", "workflow": "string", "state": "string", "started": MOMENT,
        "ended": MOMENT, "duration": SPAN, "tasks": "Int64", "failed": "Int64", "hits": "Int64",
        "live": "Int64", **FIGURES, "unpriced": "Int64", "cut_off": "Int64", "resumed": "string",
        "events": "Int64", "size": "Int64", "torn": "boolean", "damage": "string",
    },
    "inputs": {"input": "string", "value": "object", "origin": "string", "withheld": "boolean"},
    "tasks": {
        "task": "string", "verb": "string", "note": "string", "state": "string", "cause": "string",
        "cached": "boolean", "reason": "string", "changed": "string", "detail": "string", "started": MOMENT,
        "ended": MOMENT, "duration": SPAN, "attempts": "Int64", "items": "Int64", "items_cached": "Int64",
        "items_failed": "Int64", "model": "string", **FIGURES, "unpriced": "string", **RESULT,
    },
    "items": {
        "task": "string", "item": "Int64", "state": "string", "cause": "string", "cached": "boolean",
        "started": MOMENT, "ended": MOMENT, "duration": SPAN, "attempts": "Int64", "model": "string",
        **FIGURES, "unpriced": "string", **RESULT,
    },
    "attempts": {
        "task": "string", "item": "Int64", "attempt": "Int64", "state": "string", "started": MOMENT,
        "ended": MOMENT, "duration": SPAN, "tokens": "Int64", "cost_usd": "Float64", "error_code": "string",
        "delay": SPAN,
    },
    "permits": {
        "task": "string", "time": MOMENT, "plane": "string", "gate": "string", "allowed": "boolean",
        "why": "string", "line": "Int64",
    },
    "prompts": {
        "key": "string", "task": "string", "item": "Int64", "mode": "string", "message": "string",
        "choices": "string", "state": "string", "answer": "object", "source": "string", "door": "string",
        "why": "string", "time": MOMENT, "gates": "string", "effects": "string", "shown_hash": "string",
    },
    "events": {
        "line": "Int64", "time": MOMENT, "kind": "string", "task": "string", "item": "Int64",
        "attempt": "Int64", "note": "string", "detail": "string", "id": "string", "invocation": "string",
        "fields": "string",
    },
}  # fmt: skip

TEXT = """nika: table
model: mock/echo
permits: { tools: ["nika:assert"] }
tasks:
  good: { infer: { prompt: "hello" } }
  bad: { invoke: { tool: "nika:assert", args: { condition: false, message: "no" } } }
  dead: { after: { bad: success }, infer: { prompt: "never" } }
  never: { when: false, infer: { prompt: "never" } }
  fan: { for_each: { items: [1, null, "three"] }, infer: { prompt: "item ${{ item }}" } }
  tried:
    retry: { max_attempts: 3, backoff_ms: 1, on_codes: [NIKA-INFER-004] }
    infer: { prompt: "fails 2 then works" }
  rescued: { on_error: { recover: { a: null } }, infer: { prompt: "breaks always" } }
"""


@pytest.fixture
def tables(folder: Path, priced: Priced) -> TraceTables:
    return nika_nb.read_trace(nika_nb.run(TEXT))


def dtypes(frame: pd.DataFrame) -> dict[str, str]:
    return {name: str(kind) for name, kind in frame.dtypes.items()}


@pytest.mark.parametrize("table", PINNED)
def test_the_columns_and_their_types_are_pinned(tables: TraceTables, table: str) -> None:
    """Strings, nullable integers, UTC nanoseconds, time spans: whatever the rows hold."""
    assert dtypes(getattr(tables, table)) == PINNED[table]
    assert list(PINNED) == list(TABLES)[: len(PINNED)]


@pytest.mark.parametrize("table", PINNED)
def test_types_do_not_depend_on_rows(tables: TraceTables, table: str, folder: Path) -> None:
    """A journal that holds nothing but its first line has every table, empty."""
    first = tables.path.read_bytes().splitlines(keepends=True)[0]
    (folder / "short.ndjson").write_bytes(first)
    found = getattr(nika_nb.read_trace(folder / "short.ndjson"), table)
    assert dtypes(found) == PINNED[table]
    assert len(found) == (table in ("runs", "events"))


def test_every_column_says_what_it_means() -> None:
    """The reference is made from these words; amounts say their unit."""
    for columns in TABLES.values():
        assert len({column.name for column in columns}) == len(columns)
        assert all(column.meaning for column in columns)
        amounts = [column for column in columns if column.dtype in ("Float64", SPAN, MOMENT)]
        assert all(column.unit for column in amounts)


def test_a_row_per_task_with_what_became_of_it(tables: TraceTables) -> None:
    """States, causes, codes, items, outputs, in document order."""
    rows = tables.tasks.set_index("task")
    assert list(rows.index) == ["good", "bad", "dead", "never", "fan", "tried", "rescued"]
    assert list(rows["state"]) == [
        "success", "failure", "cancelled", "skipped", "success", "success", "success"
    ]  # fmt: skip
    assert list(rows["cause"]) == [
        "normal", "verb_error", "upstream", "gate", "normal", "normal", "recovered"
    ]  # fmt: skip
    assert rows.loc["bad", "error_code"] == "NIKA-BUILTIN-ASSERT-001"
    assert rows.loc["fan", "items"] == 3
    assert pd.isna(rows.loc["good", "items"])
    assert pd.isna(rows.loc["dead", "started"])
    assert not rows["cached"].any()


def test_outputs_are_values(tables: TraceTables) -> None:
    """What JSON holds comes back as Python has it; a task without an output has none."""
    outputs = tables.tasks.set_index("task")["output"]
    assert outputs["good"] == "hello"
    assert outputs["fan"] == ["item 1", "item null", "item three"]
    assert outputs["rescued"] == {"a": None}
    assert outputs["bad"] is None
    fan = tables.items.set_index(["task", "item"])["output"]
    assert list(fan["fan"]) == ["item 1", "item null", "item three"]


def test_costs_stand_once_in_each_table(tables: TraceTables, priced: Priced) -> None:
    """What was paid for is the sum of the tasks, of the attempts, and the figure of the run."""
    paid = CENT * len(priced.calls)
    rows = tables.tasks.set_index("task")
    assert tables.tasks["cost_usd"].sum() == pytest.approx(paid)
    assert tables.attempts["cost_usd"].sum() == pytest.approx(paid)
    assert tables.runs["cost_usd"].tolist() == [pytest.approx(paid)]
    assert tables.runs["tokens"].tolist() == [TOKENS * len(priced.calls)]
    assert rows.loc["fan", "cost_usd"] == pytest.approx(3 * CENT)
    assert tables.items["cost_usd"].sum() == pytest.approx(3 * CENT)
    assert pd.isna(rows.loc["dead", "cost_usd"])


def test_what_gave_nothing_is_wasted(tables: TraceTables) -> None:
    """Two failed attempts before a good one, and all of what had to be recovered from."""
    wasted = tables.tasks.set_index("task")["wasted_usd"].dropna()
    assert wasted.to_dict() == {"tried": pytest.approx(2 * CENT), "rescued": pytest.approx(CENT)}
    assert tables.runs["wasted_usd"].tolist() == [pytest.approx(3 * CENT)]


def test_items_stand_in_their_order_however_they_settled(folder: Path) -> None:
    """The first one waits until the journal tells of the second one's end."""
    told = "grep -q nb_item_completed .nika/traces/*"
    program(folder, "step", f'[ "$1" = two ] || until {told}; do sleep 0.01; done')
    run = nika_nb.run(
        'nika: fan\npermits: { exec: ["./step"] }\ntasks:\n'
        '  fan: { for_each: { items: [one, two] }, exec: { command: ["./step", "${{ item }}"] } }\n'
    )
    assert run.trace is not None
    assert [frame["item"] for frame in of(run.trace, "nb_item_completed")] == [1, 0]
    assert nika_nb.read_trace(run).items["item"].tolist() == [0, 1]


def test_a_row_per_attempt(tables: TraceTables) -> None:
    """Each with its end, its code, its own cost and how long was waited after it."""
    tried = tables.attempts.query("task == 'tried'")
    assert list(tried["attempt"]) == [1, 2, 3]
    assert list(tried["state"]) == ["failure", "failure", "success"]
    assert list(tried["error_code"].dropna()) == ["NIKA-INFER-004"] * 2
    assert list(tried["cost_usd"]) == [pytest.approx(CENT)] * 3
    assert list(tried["delay"].isna()) == [False, False, True]
    assert (tried["ended"] >= tried["started"]).all()
    rescued = tables.attempts.query("task == 'rescued'")
    assert list(rescued["state"]) == ["failure"]
    assert list(tables.attempts.query("task == 'fan'")["item"]) == [0, 1, 2]
    assert not set(tables.attempts["task"]) & {"dead", "never"}


def test_a_row_per_decision_at_the_boundary(tables: TraceTables) -> None:
    """What was wanted, whether it was granted, and by what."""
    (row,) = tables.permits.query("task == 'bad'").to_dict("records")
    assert (row["plane"], row["gate"], row["allowed"]) == ("tool", "nika:assert", True)
    assert row["why"]


def test_a_refused_attempt_is_one(folder: Path, priced: Priced) -> None:
    """What the boundary stops never began, and is told with its code."""
    text = """nika: x
inputs: { program: { type: string } }
permits: { exec: ["cat"] }
tasks: { t: { exec: { command: ["${{ inputs.program }}"] } } }
"""
    found = nika_nb.read_trace(nika_nb.run(text, vars={"program": "ls"}))
    (row,) = found.attempts.to_dict("records")
    assert (row["attempt"], row["state"]) == (1, "failure")
    assert row["error_code"].startswith("NIKA-SEC")
    assert pd.isna(row["started"])
    assert list(found.permits["allowed"]) == [False]


def test_moments_keep_their_nanoseconds(tables: TraceTables) -> None:
    """A timestamp in the table is the journal's own number."""
    frames = read(tables.path).frames
    assert [moment.value for moment in tables.events["time"]] == [frame.timestamp for frame in frames]


def test_durations_can_be_counted_with(tables: TraceTables) -> None:
    """A span divides into seconds; missing ones stay missing."""
    seconds = tables.tasks.set_index("task")["duration"].dt.total_seconds()
    assert seconds["good"] >= 0
    assert pd.isna(seconds["dead"])


def test_a_torn_tail_loses_only_itself(tables: TraceTables, folder: Path) -> None:
    """Half a line at the end: the rest is a table."""
    torn = folder / "torn.ndjson"
    torn.write_bytes(tables.path.read_bytes()[:-40])
    found = nika_nb.read_trace(torn)
    assert len(found.events) == len(tables.events) - 1
    assert found.torn
    assert found.state == "incomplete"
    assert found.runs[["state", "torn"]].to_dict("records") == [{"state": "incomplete", "torn": True}]


def test_every_cut_of_a_journal_has_tables(tables: TraceTables, folder: Path) -> None:
    """Cut off at any line, as a kill leaves it: each table reads, and says what is known."""
    lines = tables.path.read_bytes().splitlines(keepends=True)
    for count in range(1, len(lines)):
        (folder / "cut.ndjson").write_bytes(b"".join(lines[:count]))
        found = nika_nb.read_trace(folder / "cut.ndjson")
        assert len(found.events) == count
        for table in PINNED:
            assert dtypes(getattr(found, table)) == PINNED[table]
        assert "running" not in set(found.tasks["state"]) | set(found.attempts["state"])
        assert found.runs["cut_off"].tolist() == [sum(found.attempts["state"] == "incomplete")]


def test_damage_is_told_and_ends_the_reading(tables: TraceTables, folder: Path) -> None:
    """A line in the middle that cannot be read: what stands before it, and where it stopped."""
    lines = tables.path.read_bytes().splitlines(keepends=True)
    (folder / "bad.ndjson").write_bytes(b"".join([*lines[:8], b"\0\0\0\n", *lines[8:]]))
    found = nika_nb.read_trace(folder / "bad.ndjson")
    assert found.damage is not None
    assert "line 9" in found.damage
    assert len(found.events) == 8
    assert found.runs["damage"].tolist() == [found.damage]


def test_what_is_no_journal_is_refused(folder: Path) -> None:
    (folder / "x.ndjson").write_text("no journal\n", encoding="utf-8")
    with pytest.raises(TraceUnreadable):
        nika_nb.read_trace(folder / "x.ndjson")
    with pytest.raises(UsageError):
        nika_nb.read_trace(folder / "missing.ndjson")


GATED = """nika: gated
permits: { exec: ["./gate"] }
tasks:
  first: { exec: { command: ["./gate", "go"] } }
  second: { after: { first: success }, exec: { command: ["./gate", "open"] } }
  third: { after: { second: success }, exec: { command: ["./gate", "go"] } }
"""


@pytest.fixture
def under_way(folder: Path) -> Iterator[nika_nb.Run]:
    """A run that works on its second task until a file `open` stands there."""
    program(folder, "gate", 'while [ ! -e "$1" ]; do sleep 0.02; done\nprintf done')
    (folder / "go").touch()
    run = nika_nb.run(GATED, background=True)
    try:
        yield run
    finally:
        (folder / "open").touch()
        run.wait()


def test_a_run_that_goes_on_is_a_table_too(under_way: nika_nb.Run, folder: Path) -> None:
    """What has settled has its output, what works says so; the tables of one reading fit together."""
    wait_for(lambda: under_way.tasks and under_way.tasks["second"].state == "running", "the second task")
    found = nika_nb.read_trace(under_way)
    assert found.state == "running"
    assert list(found.tasks["state"]) == ["success", "running", "pending"]
    (folder / "open").touch()
    under_way.wait()
    assert list(found.attempts["state"]) == ["success", "running"]
    assert len(found.events) == found.runs["events"][0]
    assert list(nika_nb.read_trace(under_way).tasks["state"]) == ["success"] * 3
    assert not found.torn


def test_reading_while_it_is_written_never_fails(folder: Path, priced: Priced) -> None:
    """Every table, again and again, while a fan-out journals its items."""
    items = list(range(400))
    text = (
        f"nika: busy\nmodel: mock/echo\ntasks: {{t: {{for_each: {{items: {items}}}, infer: {{prompt: p}}}}}}"
    )
    run = nika_nb.run(text, background=True)
    wait_for(lambda: run.trace is not None and run.trace.exists(), "the journal")
    seen = 0
    while run.running:
        found = nika_nb.read_trace(run)
        assert len(found.items) >= seen
        assert len(found.events) == found.runs["events"][0]
        seen = len(found.items)
    run.wait()
    assert len(nika_nb.read_trace(run).items) == 400


ASKS = """nika: asks
permits: { tools: ["nika:prompt", "nika:log"] }
tasks:
  ask: { invoke: { tool: "nika:prompt", args: { message: "Go?" } } }
  pick: { invoke: { tool: "nika:prompt", args: { message: "Which?", mode: choice, choices: [a, b] } } }
  auto: { invoke: { tool: "nika:prompt", args: { message: "Sure?", default: true } } }
  go:
    with: { go: "${{ tasks.ask.output }}" }
    when: ${{ with.go == true }}
    invoke: { tool: "nika:log", args: { message: "gone" } }
"""


def test_a_row_per_question(folder: Path) -> None:
    """Waiting with its choices and what hangs on it; then how it was decided, and through which door."""
    run = nika_nb.run(ASKS, interactive=False)
    asked = nika_nb.read_trace(run).prompts.set_index("key")
    assert asked["state"].to_dict() == {"auto": "answered", "ask": "waiting", "pick": "waiting"}
    assert asked.loc["pick", "choices"] == "a · b"
    assert asked.loc["ask", "gates"] == "go"
    assert asked.loc["ask", "message"] == "Go?"
    assert asked.loc["auto", ["source", "answer"]].tolist() == ["default", True]
    assert asked["door"].isna().all()
    assert list(nika_nb.read_trace(run).tasks["state"]) == ["paused", "paused", "success", "pending"]
    run.answer(ask="no", pick="b")
    decided = nika_nb.read_trace(run).prompts.set_index("key")
    assert decided["state"].to_dict() == {"ask": "answered", "pick": "answered"}
    assert decided["answer"].to_dict() == {"ask": False, "pick": "b"}
    assert decided["door"].to_dict() == {"ask": "Python", "pick": "Python"}
    assert decided["message"].to_dict() == {"ask": "Go?", "pick": "Which?"}
    for told in ("choices", "gates", "effects"):
        assert decided[told].dropna().to_dict() == asked.loc[["ask", "pick"], told].dropna().to_dict()
    assert decided.loc["ask", "gates"] == "go"


def test_a_declined_question_says_so(folder: Path) -> None:
    run = nika_nb.run(ASKS, interactive=False)
    run.answer(pick="a").decline("ask")
    (row,) = nika_nb.read_trace(run).prompts.to_dict("records")
    assert (row["key"], row["state"], row["answer"], row["why"]) == ("ask", "declined", False, "declined")


def test_an_answers_trace_counts_no_attempt_twice(folder: Path, priced: Priced) -> None:
    """It tells once more of what failed and was skipped before the pause; nothing of that ran again."""
    text = ASKS.replace("tools: [", 'tools: ["nika:assert", ') + (
        '  bad: { invoke: { tool: "nika:assert", args: { condition: false, message: "no" } } }\n'
        '  shut: { when: false, invoke: { tool: "nika:log", args: { message: "no" } } }\n'
    )
    run = nika_nb.run(text, interactive=False)
    run.answer(ask="yes", pick="a")
    tried = nika_nb.read_traces().tasks.groupby("task")["attempts"].agg(list).to_dict()
    assert tried["bad"] == [1, pd.NA]
    assert tried["shut"] == [pd.NA, pd.NA]
    assert tried["auto"] == [1, 0]
    assert tried["go"] == [pd.NA, 1]


TAKES = """nika: takes
inputs:
  level: { type: integer, required: true }
  words: { type: { array: string }, default: ["a"] }
  token: { type: string, default: "" }
  open: { type: { union: [string, null] } }
secrets: { key: { source: env, key: TABLE_KEY, egress: [{ to: exec }] } }
permits: { exec: ["true"], env: ["K"] }
tasks: { t: { exec: { command: ["true"], env: { K: "${{ secrets.key }}" } } } }
"""


def test_a_row_per_input(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was given and what was a default; a value that gives a secret away is not told."""
    monkeypatch.setenv("TABLE_KEY", "s3cr3t-in-an-input")
    run = nika_nb.run(TAKES, vars={"level": 3, "token": "s3cr3t-in-an-input"})
    found = nika_nb.read_trace(run).inputs.set_index("input")
    assert found["value"].to_dict() == {"level": 3, "words": ["a"], "token": None, "open": None}
    assert found["origin"].dropna().to_dict() == {"level": "python", "words": "file", "token": "python"}
    assert found["withheld"].to_dict() == {"level": False, "words": False, "token": True, "open": False}


def test_a_sweep_has_its_parameters_beside_its_runs(folder: Path) -> None:
    """From the traces alone: which value each run had; also one that is too large for a line."""
    text = (
        TAKES[: TAKES.index("secrets:")]
        + 'permits: { exec: ["true"] }\n'
        + ('tasks: { t: { exec: { command: ["true"] } } }\n')
    )
    large = ["w" * 1000] * 2000
    for level in (1, 2):
        nika_nb.run(text, vars={"level": level, "words": large})
    traces = nika_nb.read_traces()
    levels = traces.inputs.query("input == 'level'").set_index("trace")["value"]
    assert list(traces.tasks["trace"].map(levels)) == [1, 2]
    assert all(value == large for value in traces.inputs.query("input == 'words'")["value"])


def test_hits_are_saved_and_not_spent(folder: Path, priced: Priced) -> None:
    """On a resume what a record stood in for cost nothing here, and what it would have cost stands apart."""
    first = nika_nb.run(TEXT)
    paid = len(priced.calls)
    again = nika_nb.read_trace(first.resume())
    rows = again.tasks.set_index("task")
    assert rows.loc[["good", "fan", "tried"], "cached"].all()
    assert rows.loc[["good", "fan", "tried"], "cost_usd"].isna().all()
    assert again.runs.loc[0, ["hits", "resumed"]].tolist() == [4, first.trace and first.trace.name]
    assert again.runs.loc[0, "saved_usd"] == pytest.approx(CENT * paid)
    assert len(priced.calls) == paid
    assert again.items["cached"].all()
    assert len(again.attempts) == 1  # of the assertion, which failed again


def test_a_half_recalled_fan_out_counts_each_item_once(folder: Path, priced: Priced) -> None:
    """One item of three changed: one cent is spent, two are saved, at every level."""
    text = (
        "nika: f\nmodel: mock/echo\ntasks:\n"
        '  fan: { for_each: { items: [1, 2, 3] }, infer: { prompt: "item ${{ item }}" } }\n'
    )
    first = nika_nb.run(text)
    again = nika_nb.read_trace(nika_nb.run(text.replace("3]", "4]"), resume=first.trace))
    for table in (again.runs, again.tasks, again.items):
        assert table["cost_usd"].sum() == pytest.approx(CENT)
        assert table["saved_usd"].sum() == pytest.approx(2 * CENT)
    assert again.tasks.loc[0, ["items", "items_cached"]].tolist() == [3, 2]


def test_a_trace_is_found_by_run_name_and_path(tables: TraceTables) -> None:
    """The Run, its id, the file's name and its path mean the same."""
    assert tables.run_id is not None
    for given in (tables.run_id, tables.path.name, tables.path.stem, str(tables.path)):
        assert nika_nb.read_trace(given).path.resolve() == tables.path.resolve()


def test_the_reference_engines_journals_are_tables_too(conformance: Path) -> None:
    """All 61 journals of another engine read into rows whose tasks have states."""
    traces = sorted((conformance / "reference-traces").glob("*.ndjson"))
    assert len(traces) == 61
    for path in traces:
        found = nika_nb.read_trace(path)
        assert len(found.events) > 0
        assert set(found.tasks["state"]) <= {
            "success",
            "failure",
            "skipped",
            "cancelled",
            "pending",
            "incomplete",
        }
        for table in PINNED:
            assert dtypes(getattr(found, table)) == PINNED[table]
