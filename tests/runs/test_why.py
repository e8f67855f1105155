"""Why a task ran: every kind of reason, items, called workflows, and how the answer looks."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import nika_nb
from nika_nb.errors import UsageError
from nika_nb.tables.columns import TABLES
from tests.doors import environment, of, program, traces, wait_for

CHAIN = """nika: chain
permits: { exec: ["./say"] }
inputs: { rows: { type: { array: string }, default: [a, b, c] } }
tasks:
  first: { exec: { command: ["./say", "one"] } }
  second: { with: { f: "${{ tasks.first.output }}" }, exec: { command: ["./say", "${{ with.f }}"] } }
  third: { with: { s: "${{ tasks.second.output }}" }, exec: { command: ["./say", "${{ with.s }}"] } }
  closed: { when: false, exec: { command: ["./say", "never"] } }
  rows: { for_each: { items: "${{ inputs.rows }}" }, exec: { command: ["./say", "${{ item }}"] } }
"""


def kinds(why: nika_nb.Why) -> dict[str, str]:
    return {task.task: task.reason for task in why.tasks}


def test_a_first_run_has_nothing_to_compare_with(say: Path) -> None:
    found = nika_nb.why(nika_nb.run(CHAIN))
    assert kinds(found) == dict.fromkeys(["first", "second", "third", "rows"], "first-run") | {"closed": ""}
    assert found["closed"].detail == "when: gate closed"
    assert found.resumed is None
    assert not found["closed"].ran


def test_a_hit_says_that_nothing_changed(say: Path) -> None:
    first = nika_nb.run(CHAIN)
    found = nika_nb.why(first.resume())
    assert kinds(found) == dict.fromkeys(["first", "second", "third", "rows"], "cached") | {"closed": ""}
    assert found.resumed == first.trace.name if first.trace else False
    assert "4 skipped (cache hit)" in repr(found)


def test_a_change_is_followed_to_its_beginning(say: Path) -> None:
    """The third task changed because of the first, two steps away."""
    first = nika_nb.run(CHAIN)
    found = nika_nb.why(nika_nb.run(CHAIN.replace('"one"', '"two"'), resume=first.trace))
    assert found["third"].upstream == ("second",)
    assert [cause.task for cause in found["third"].causes] == ["first"]
    assert found["third"].because == "first: definition changed: exec.command"
    assert found["first"].because == ""


def test_forced_new_and_failed_tasks_say_so(say: Path) -> None:
    """--from, a new task, one that had failed: each by its own name; what follows from them as well."""
    text = CHAIN.replace('command: ["./say", "one"]', 'command: ["./say", "one"], cwd: "./gone"')
    failed = nika_nb.run(text)
    (say / "gone").mkdir()
    (say / "gone" / "say").symlink_to(say / "say")
    added = text + '  extra: { exec: { command: ["./say", "x"] } }\n'
    found = nika_nb.why(nika_nb.run(added, resume=failed.trace, from_="rows"))
    assert kinds(found)["first"] == "not-recorded"
    assert found["first"].detail.startswith("failed (NIKA-EXEC")
    assert kinds(found)["extra"] == "new"
    assert kinds(found)["rows"] == "forced"
    assert found["second"].detail == "blocked (first failed)"


OBSERVER = """nika: observer
inputs: { on: { type: bool, default: false } }
permits: { exec: ["./say"] }
tasks:
  up: { when: "${{ inputs.on == true }}", exec: { command: ["./say", "up"] } }
  sees:
    after: { up: terminal }
    with: { s: "${{ tasks.up.status }}" }
    exec: { command: ["./say", "${{ with.s }}"] }
"""


def test_an_upstream_that_had_not_run_is_a_cause(say: Path) -> None:
    """It is written as before, and has another end: what observes it changed because of that."""
    first = nika_nb.run(OBSERVER)
    found = nika_nb.why(nika_nb.run(OBSERVER, vars={"on": True}, resume=first.trace))
    assert found["sees"].changed == ("with.s",)
    assert found["sees"].because == "up: not recorded: skipped"


def test_items_that_ran_are_told_one_by_one(say: Path) -> None:
    """Of a fan-out which is recalled in part: the changed element, the new one, and how many others."""
    first = nika_nb.run(CHAIN)
    run = nika_nb.run(CHAIN, vars={"rows": ["a", "x", "c", "d", "e"]}, resume=first.trace)
    rows = nika_nb.why(run)["rows"]
    assert [(item.index, item.reason, item.changed) for item in rows.items] == [
        (1, "input", ("item",)),
        (3, "new", ()),
        (4, "new", ()),
    ]
    assert rows.recalled == 2
    assert rows.items_said == "3 of 5 items ran: [1] input changed: item; [3], [4] new"


def test_moved_items_are_recalled_and_not_told(say: Path) -> None:
    """A row at the front moves all others; only the new one ran."""
    first = nika_nb.run(CHAIN)
    run = nika_nb.run(CHAIN, vars={"rows": ["z", "a", "b", "c"]}, resume=first.trace)
    rows = nika_nb.why(run)["rows"]
    assert ([item.index for item in rows.items], rows.recalled) == ([0], 3)


def test_a_second_row_like_a_recalled_one_is_new(say: Path) -> None:
    """Every record stands in once: of two equal rows the one that was recorded is recalled."""
    first = nika_nb.run(CHAIN, vars={"rows": ["a"]})
    rows = nika_nb.why(nika_nb.run(CHAIN, vars={"rows": ["a", "a"]}, resume=first.trace))["rows"]
    assert [(item.index, item.reason) for item in rows.items] == [(1, "new")]


KILLED = "import nika_nb; nika_nb.run(open('w').read())"


def test_after_a_kill(say: Path) -> None:
    """What was running, what never started, what had settled."""
    program(say, "say", 'touch "at-$1"; [ "$1" != b ] || [ -e go ] || sleep 60; printf %s "$1"')
    text = CHAIN.replace('items: "${{ inputs.rows }}"', 'items: "${{ inputs.rows }}", max_parallel: 1')
    (say / "w").write_text(text, encoding="utf-8")
    victim = subprocess.Popen([sys.executable, "-c", KILLED], env=environment(), start_new_session=True)
    try:
        wait_for(lambda: (say / "at-b").exists(), "the second row")
        wait_for(lambda: of(traces(say)[0], "verb_invoked", item=1), "its frame")
    finally:
        os.killpg(victim.pid, signal.SIGKILL)
        victim.wait()
    (say / "go").touch()
    found = nika_nb.why(nika_nb.run(text, resume=True))
    assert found["rows"].reason == "not-recorded"
    assert {item.index: item.detail for item in found["rows"].items} == {1: "was running", 2: "never started"}
    assert found["rows"].recalled == 1


CALLER = """nika: caller
permits: { exec: ["./say"], fs: { read: ["./child.nika.yaml"] } }
tasks:
  call: { invoke: { workflow: ./child.nika.yaml } }
  after: { with: { c: "${{ tasks.call.output }}" }, exec: { command: ["./say", "${{ with.c.said }}"] } }
"""
CHILD = """nika: child
permits: { exec: ["./say"] }
tasks:
  quiet: { exec: { command: ["./say", "hush"] } }
  loud: { exec: { command: ["./say", "hey"] } }
outputs: { said: "${{ tasks.loud.output }}" }
"""


def test_what_changed_in_a_called_workflow(say: Path) -> None:
    """The call names the workflow, its tasks stand as `call/task`, and what follows knows the beginning."""
    child = say / "child.nika.yaml"
    child.write_text(CHILD, encoding="utf-8")
    first = nika_nb.run(CALLER)
    assert first.state == "completed", first
    child.write_text(CHILD.replace('"hey"', '"ho"'), encoding="utf-8")
    again = nika_nb.run(CALLER, resume=first.trace)
    found = nika_nb.why(again)
    assert kinds(found) == {
        "call": "definition", "call/quiet": "cached", "call/loud": "definition", "after": "input",
    }  # fmt: skip
    assert found["call"].changed == ("workflow ./child.nika.yaml",)
    for task in ("call", "after"):
        assert found[task].because == "call/loud: definition changed: exec.command"
    differing = nika_nb.diff(first, again)
    assert {task.task: task.kind for task in differing.differing} == {
        "call": "definition", "call/loud": "definition", "after": "input",
    }  # fmt: skip
    assert differing["after"].because == "call/loud: definition changed: exec.command"


FANNED = """nika: fanned
permits: { exec: ["./say"] }
tasks:
  call: { for_each: { items: ["a", "b", "c"] }, invoke: { workflow: ./child.nika.yaml } }
"""


def test_an_item_that_calls_runs_again_with_all_it_calls(say: Path) -> None:
    """What it calls is forced with it; of its recalled neighbours nothing is said to be gone."""
    (say / "child.nika.yaml").write_text(CHILD, encoding="utf-8")
    program(say, "say", 'cat answer 2>/dev/null || printf %s "$1"')
    first = nika_nb.run(FANNED)
    (say / "answer").write_text("42", encoding="utf-8")
    again = nika_nb.run(FANNED, resume=first.trace, from_="call[1]")
    assert kinds(nika_nb.why(again)) == {
        "call": "forced", "call[1]/quiet": "forced", "call[1]/loud": "forced",
    }  # fmt: skip
    found = nika_nb.diff(first, again)
    assert {task.task: task.kind for task in found.tasks} == {
        "call": "output", "call[1]/quiet": "output", "call[1]/loud": "output",
    }  # fmt: skip
    assert found["call[1]/loud"].output == ("-hey", "+42")


def test_a_group_names_the_member_that_changed(say: Path) -> None:
    text = CHAIN + (
        '  m1: { group: all, exec: { command: ["./say", "m1"] } }\n'
        '  m2: { group: all, exec: { command: ["./say", "m2"] } }\n'
        '  sum: { with: { g: "${{ group.all }}" }, exec: { command: ["./say", "${{ with.g[1] }}"] } }\n'
    )
    first = nika_nb.run(text)
    assert first.state == "completed", first
    found = nika_nb.why(nika_nb.run(text.replace('"./say", "m2"', '"./say", "m3"'), resume=first.trace))
    assert [cause.task for cause in found["sum"].causes] == ["m2"]


def test_the_answer_is_a_table(say: Path) -> None:
    """A row per task, typed as the reference says."""
    first = nika_nb.run(CHAIN)
    table = nika_nb.why(nika_nb.run(CHAIN, vars={"rows": ["a", "x"]}, resume=first.trace)).table()
    assert [str(kind) for kind in table.dtypes] == [column.dtype for column in TABLES["why"]]
    rows = table.set_index("task")
    assert rows.loc["rows", ["reason", "changed", "items_ran", "items_cached"]].tolist() == [
        "input", "for_each.items", 1, 1,
    ]  # fmt: skip
    assert rows.loc["rows", "cause"] == "inputs.rows changed"
    assert rows["cached"].sum() == 3


def test_without_the_earlier_trace_the_reasons_stand(say: Path) -> None:
    """The journal tells its reasons itself; only single items are looked up beside it."""
    first = nika_nb.run(CHAIN)
    run = nika_nb.run(CHAIN, vars={"rows": ["a", "x"]}, resume=first.trace)
    assert run.trace is not None
    (say / "elsewhere").mkdir()
    shutil.copy(run.trace, say / "elsewhere")
    found = nika_nb.why(say / "elsewhere" / run.trace.name)
    assert found["rows"].changed == ("for_each.items",)
    assert found["rows"].items == ()


def test_what_a_task_wrote_is_inert_in_the_drawings(say: Path) -> None:
    """Outputs and names of a journal from anywhere: escaped in HTML, without controls in text."""
    evil = "<img src=x onerror=alert(1)>\\u001b[31m"
    text = CHAIN.replace('"one"', f'"{evil}"')
    first = nika_nb.run(CHAIN)
    other = nika_nb.run(text, resume=first.trace)
    for answer in (nika_nb.why(other), nika_nb.diff(first, other)):
        shown = answer._repr_mimebundle_()
        assert "<img" not in shown["text/html"]
        assert "\x1b" not in shown["text/plain"] + shown["text/html"]


def test_a_task_that_is_not_there_is_a_missing_key(say: Path) -> None:
    run = nika_nb.run(CHAIN)
    for found in (nika_nb.why(run), nika_nb.diff(run, run)):
        with pytest.raises(KeyError, match="nothing"):
            found["nothing"]


def test_what_is_no_trace_is_refused(folder: Path) -> None:
    with pytest.raises(UsageError):
        nika_nb.why("missing.ndjson")
