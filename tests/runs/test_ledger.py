"""What runs have cost: each dollar once, whatever was resumed, answered, retried, called or copied."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

import nika_nb
from nika_nb.board.bars import Bar, bars_html, bars_svg, bars_text
from nika_nb.board.text import money
from nika_nb.errors import UsageError
from nika_nb.tables.columns import TABLES
from tests.doors import traces
from tests.priced import CENT, TOKENS, Priced, priced

__all__ = ["priced"]  # a fixture

BRIEF = """nika: brief
model: mock/echo
permits: { tools: ["nika:prompt"] }
tasks:
  a: { infer: { prompt: "a" } }
  tried:
    retry: { max_attempts: 3, backoff_ms: 1, on_codes: [NIKA-INFER-004] }
    infer: { prompt: "fails 2" }
  fan: { for_each: { items: [1, 2, 3] }, infer: { prompt: "i ${{ item }}" } }
"""


def test_what_was_paid_is_what_was_called(folder: Path, priced: Priced) -> None:
    """Spent is a cent for every call; wasted the two attempts that gave nothing."""
    found = nika_nb.ledger(nika_nb.run(BRIEF))
    assert found.spent.usd == pytest.approx(CENT * len(priced.calls))
    assert found.spent.tokens == TOKENS * len(priced.calls)
    assert found.wasted.usd == pytest.approx(2 * CENT)
    assert found.saved.usd is None
    tasks = {task.task: task for task in found.tasks}
    assert tasks["tried"].spent.usd == pytest.approx(3 * CENT)
    assert tasks["tried"].wasted.tokens == 2 * TOKENS
    assert tasks["fan"].spent.usd == pytest.approx(3 * CENT)


def test_a_chain_of_resumes_counts_each_dollar_once(folder: Path, priced: Priced) -> None:
    """Three invocations, the last one edited: the sum is the calls; with what was saved, three whole runs."""
    first = nika_nb.run(BRIEF)
    whole = CENT * len(priced.calls)
    second = first.resume()
    third = nika_nb.run(BRIEF.replace("[1, 2, 3]", "[1, 2, 4]"), resume=second.trace)
    found = nika_nb.ledger(third)
    assert len(found.entries) == 3
    assert found.spent.usd == pytest.approx(CENT * len(priced.calls)) == pytest.approx(whole + CENT)
    assert (found.spent.usd or 0) + (found.saved.usd or 0) == pytest.approx(3 * whole)
    assert [entry.saved.usd for entry in found.entries] == [
        None,
        pytest.approx(whole),
        pytest.approx(whole - CENT),
    ]
    assert {task.task: (task.runs, task.hits) for task in found.tasks} == {
        "a": (1, 2), "tried": (1, 2), "fan": (2, 1),
    }  # fmt: skip


def test_the_lines_add_up_to_the_sum(folder: Path, priced: Priced) -> None:
    """By invocation and by task: the same dollars."""
    first = nika_nb.run(BRIEF)
    nika_nb.run(BRIEF.replace("[1, 2, 3]", "[1, 2, 4]"), resume=first.trace)
    found = nika_nb.ledger()
    for name in ("spent", "wasted", "saved"):
        total = getattr(found, name).usd
        for lines in (found.entries, found.tasks):
            assert sum(getattr(line, name).usd or 0 for line in lines) == pytest.approx(total)


def test_asked_about_twice_it_is_counted_once(folder: Path, priced: Priced) -> None:
    """A Run, its id, its path, its folder, a copy of its journal, a torn one: one invocation."""
    run = nika_nb.run(BRIEF)
    assert run.trace is not None
    assert run.id is not None
    shutil.copy(run.trace, folder / "copy.ndjson")
    (folder / "torn.ndjson").write_bytes(run.trace.read_bytes()[:-300])
    found = nika_nb.ledger(folder / "torn.ndjson", run, run.id, run.trace, folder, folder / "copy.ndjson")
    assert len(found.entries) == 1
    assert found.entries[0].state == "completed"
    assert found.spent.usd == pytest.approx(CENT * len(priced.calls))


def test_a_failure_is_waste_and_what_it_kept_is_not(folder: Path, priced: Priced) -> None:
    """Of a fan-out that failed, the items that succeeded are recalled next time; the failed one is gone."""
    text = BRIEF.replace('"i ${{ item }}"', '"${{ item }}"').replace(
        "[1, 2, 3]", '["x", "breaks", "y"], fail_fast: false'
    )
    run = nika_nb.run(text)
    assert run.state == "failed"
    found = {task.task: task for task in nika_nb.ledger(run).tasks}
    assert found["fan"].spent.usd == pytest.approx(3 * CENT)
    assert found["fan"].wasted.usd == pytest.approx(CENT)
    again = nika_nb.ledger(nika_nb.run(text.replace('"breaks"', '"mends"'), resume=run.trace))
    assert again.spent.usd == pytest.approx(CENT * len(priced.calls))


def test_what_was_recovered_from_is_waste(folder: Path, priced: Priced) -> None:
    """The value came from the recovery, not from the model; and so it is with what was skipped."""
    text = BRIEF.replace(
        'a: { infer: { prompt: "a" } }', 'a: { on_error: { recover: 1 }, infer: { prompt: "breaks" } }'
    )
    skipped = text.replace("recover: 1", "skip: true")
    for each in (text, skipped):
        found = {task.task: task for task in nika_nb.ledger(nika_nb.run(each)).tasks}
        assert found["a"].wasted.usd == pytest.approx(CENT) == found["a"].spent.usd


def test_an_answered_run_is_all_of_its_invocations(folder: Path, priced: Priced) -> None:
    """What was paid before the question counts with what came after it."""
    text = f"""{BRIEF}
  ask: {{ invoke: {{ tool: "nika:prompt", args: {{ message: "Go?" }} }} }}
  after:
    with: {{ go: "${{{{ tasks.ask.output }}}}" }}
    when: "${{{{ with.go == true }}}}"
    infer: {{ prompt: "z" }}
"""
    run = nika_nb.run(text, interactive=False)
    before = len(priced.calls)
    run.answer(ask="yes")
    assert len(priced.calls) == before + 1
    found = nika_nb.ledger(run)
    assert [entry.state for entry in found.entries] == ["paused", "completed"]
    assert [entry.spent.usd for entry in found.entries] == [pytest.approx(CENT * before), pytest.approx(CENT)]
    assert found.spent.usd == pytest.approx(CENT * len(priced.calls))


CHILD = """nika: child
model: mock/echo
tasks:
  good: { infer: { prompt: "good" } }
  tried:
    after: { good: success }
    retry: { max_attempts: 2, backoff_ms: 1, on_codes: [NIKA-INFER-004] }
    infer: { prompt: "fails 3" }
outputs: { said: "${{ tasks.tried.output }}" }
"""
CALLER = """nika: caller
model: mock/echo
permits: { fs: { read: ["./child.nika.yaml"] } }
tasks:
  call: { invoke: { workflow: ./child.nika.yaml } }
"""


def test_a_called_workflow_is_paid_for_once(folder: Path, priced: Priced) -> None:
    """Its costs are its call's; what it had settled is kept, what failed in it is wasted, and saved later."""
    (folder / "child.nika.yaml").write_text(CHILD, encoding="utf-8")
    failed = nika_nb.run(CALLER)
    assert failed.state == "failed"
    found = nika_nb.ledger(failed)
    assert found.spent.usd == pytest.approx(3 * CENT) == pytest.approx(CENT * len(priced.calls))
    assert found.wasted.usd == pytest.approx(2 * CENT)
    again = failed.resume()
    assert again.state == "completed"
    found = nika_nb.ledger(again)
    assert found.spent.usd == pytest.approx(CENT * len(priced.calls)) == pytest.approx(5 * CENT)
    assert found.saved.usd == pytest.approx(CENT)
    assert found.wasted.usd == pytest.approx(3 * CENT)


def test_a_call_that_is_tried_again_wastes_all_of_its_first_try(folder: Path, priced: Priced) -> None:
    """The second attempt takes nothing from the first, not even what had succeeded in it."""
    (folder / "child.nika.yaml").write_text(CHILD.replace("fails 3", "fails 2"), encoding="utf-8")
    retry = "retry: { max_attempts: 2, backoff_ms: 1, on_codes: [NIKA-INFER-004] }, invoke"
    run = nika_nb.run(CALLER.replace("invoke", retry))
    assert run.state == "completed", run
    found = nika_nb.ledger(run)
    assert found.spent.usd == pytest.approx(CENT * len(priced.calls)) == pytest.approx(5 * CENT)
    assert found.wasted.usd == pytest.approx(3 * CENT)


def test_another_engine_may_tell_the_sum_only(folder: Path, priced: Priced) -> None:
    """What a run cost as a whole is what its end says, also where its tasks say nothing."""
    run = nika_nb.run(BRIEF)
    assert run.trace is not None
    lines = [json.loads(line) for line in run.trace.read_text(encoding="utf-8").splitlines()]
    for frame in lines:
        frame["fields"] = [pair for pair in frame["fields"] if pair["key"] != "cost_usd"]
    (folder / "other.ndjson").write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    found = nika_nb.ledger(folder / "other.ndjson")
    assert found.spent.usd == pytest.approx(CENT * len(priced.calls))
    assert found.wasted.usd is None


def test_what_broke_off_is_told_and_not_guessed(folder: Path, priced: Priced) -> None:
    """Cut off behind a dispatch, as a kill leaves it: what that attempt cost nobody knows."""
    run = nika_nb.run(BRIEF)
    assert run.trace is not None
    lines = run.trace.read_bytes().splitlines(keepends=True)
    at = next(at for at, line in enumerate(lines) if b"verb_invoked" in line)
    (folder / "cut.ndjson").write_bytes(b"".join(lines[: at + 1]))
    found = nika_nb.ledger(folder / "cut.ndjson")
    assert found.entries[0].cut_off == 1
    assert found.spent.usd is None
    assert "1 attempt broke off" in repr(found)


def test_a_model_without_a_price_is_counted_and_costs_nothing_known(folder: Path) -> None:
    """Its tokens are known, its price is not: never zero."""
    found = nika_nb.ledger(nika_nb.run(BRIEF))
    assert found.spent.usd is None
    assert found.spent.tokens
    assert found.measure == "tokens"
    assert "tok" in found.text()


def test_a_folder_and_what_lies_in_it(folder: Path, priced: Priced) -> None:
    """Nothing given: this folder. What is no trace is named, and costs the others nothing."""
    assert nika_nb.ledger().entries == ()
    nika_nb.run(BRIEF)
    nika_nb.run(BRIEF)
    (folder / ".nika" / "traces" / "notes.ndjson").write_text("?", encoding="utf-8")
    found = nika_nb.ledger()
    assert len(found.entries) == 2
    assert [name for name, _ in found.skipped] == ["notes.ndjson"]
    assert "notes.ndjson" in repr(found)
    with pytest.raises(UsageError):
        nika_nb.ledger("nowhere.ndjson")


def test_an_earlier_trace_that_is_gone_is_left_out(folder: Path, priced: Priced) -> None:
    first = nika_nb.run(BRIEF)
    second = first.resume()
    traces(folder)[0].unlink()
    assert len(nika_nb.ledger(second).entries) == 1


def test_the_answer_is_two_tables(folder: Path, priced: Priced) -> None:
    """A row per invocation and a row per task, typed as the reference says."""
    nika_nb.run(BRIEF).resume()
    found = nika_nb.ledger()
    for table, frame in (("ledger", found.table()), ("ledger_tasks", found.task_table())):
        assert [str(kind) for kind in frame.dtypes] == [column.dtype for column in TABLES[table]]
        assert list(frame.columns) == [column.name for column in TABLES[table]]
        assert frame["spent_usd"].sum() == pytest.approx(found.spent.usd)
        assert frame["saved_usd"].sum() == pytest.approx(found.saved.usd)


BARS = [
    Bar("first", "completed", 0.3, 0.1, 0.0),
    Bar("<script>alert(1)</script>\x1b[31m", "failed", 0.0, 0.0, 0.2),
    Bar("third", "running", 0.0, 0.0, 0.0),
]


def test_the_drawing_and_its_twin_say_the_same() -> None:
    """A bar per run with its amounts; whatever a name is made of is inert. One without a bar is counted."""
    svg, text, page = (draw(BARS, money) for draw in (bars_svg, bars_text, bars_html))
    root = ElementTree.fromstring(svg)
    assert root.tag.endswith("svg")
    for drawn in (svg, text, page):
        assert all(bar.words(money) in drawn for bar in BARS[:2])
        assert "third" not in drawn
        assert "and 1 run that paid and saved nothing" in drawn
        assert "\x1b" not in drawn
    assert "<script" not in page
    assert not [node for node in root.iter() if node.tag.endswith("script")]
    first, second, _ = text.splitlines()
    assert (first.count("█"), first.count("▒"), first.count("░")) == (21, 11, 0)
    assert "░" in second


def test_many_bars_are_bounded() -> None:
    many = [Bar(f"run-{at}", "completed", 1.0, 0.0, 0.0) for at in range(500)]
    assert "and 440 earlier runs" in bars_svg(many, money)
    assert bars_html(many, money).count("<tr") == 61
    assert len(bars_text(many, money).splitlines()) == 61
