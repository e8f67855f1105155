"""A resume of what waits: the run that asks is shown again, and one question is answered in one run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import nika_nb
from nika_nb.errors import ResumeRefused, RunUnfinished
from nika_nb.runs.answered import AlreadyAnswered
from tests.doors import Terminal, hits, marks, newest, of, program, traces
from tests.runs.gated import GATE

EDITED = GATE.replace("Ship it?", "Ship it now?")
Ask = Callable[..., tuple[str | None, str, list[str]]]  # the run's id, its state, what was said


@pytest.fixture(params=["terminal", "json", "Python", "background", "method"])
def resumed(request: pytest.FixtureRequest, gate: Path, terminal: Terminal) -> Ask:
    """A resume through a door: bare where no trace is named."""

    def at_the_terminal(trace: Path | None = None, *words: str) -> tuple[str | None, str, list[str]]:
        told = ["--json"] if request.param == "json" else []
        done = terminal("run", "w.nika.yaml", "--resume", *([trace] if trace else []), *words, *told)
        assert done.code == 4, done.err
        if told:
            assert done.events[-1]["kind"] == "workflow_paused"
        assert "nika-nb answer" in done.err
        return of(newest(gate), "workflow_started")[0]["correlation"], "paused", done.err.splitlines()

    def from_python(trace: Path | None = None, **more: Any) -> tuple[str | None, str, list[str]]:
        given = {"resume": trace or True, "background": request.param == "background"} | more
        run = nika_nb.run(gate / "w.nika.yaml", **given)
        run.wait()
        return run.id, run.state, run.notices

    def from_a_run(trace: Path | None = None, **more: Any) -> tuple[str | None, str, list[str]]:
        held = nika_nb.attach(trace or newest(gate))
        run = held.resume(**more)
        assert run is held
        return run.id, run.state, run.notices

    by_name = {"terminal": at_the_terminal, "json": at_the_terminal, "method": from_a_run}
    return by_name.get(request.param, from_python)


def test_a_run_that_waits_is_shown_and_none_begins(resumed: Ask, gate: Path) -> None:
    """Through every door, bare or with the trace's name, and as often as somebody likes."""
    first = nika_nb.run(gate / "w.nika.yaml")
    assert first.trace is not None
    before = first.trace.read_bytes()
    for trace in (None, first.trace, None):
        found, state, said = resumed(trace)
        assert (found, state) == (first.id, "paused")
        assert any(f"{first.id} still waits for an answer to `ask`: nothing was run" in line for line in said)
    assert traces(gate) == [first.trace]
    assert first.trace.read_bytes() == before
    assert marks(gate / "marks") == {"prep": 1}


def test_what_is_shown_again_takes_the_answer(gate: Path) -> None:
    """It is the same run, and whoever held it before is told that it has its answer."""
    first = nika_nb.run(gate / "w.nika.yaml", vars={"who": "bob"})
    again = nika_nb.run(gate / "w.nika.yaml", resume=True, vars={"who": "bob"})
    assert again.answer(True).state == "completed"
    with pytest.raises(AlreadyAnswered):
        first.answer(True)
    assert again.id == first.id
    assert marks(gate / "marks") == {"prep": 1, "ship": 1}


@pytest.mark.parametrize(
    ("text", "more"),
    [
        (EDITED, {}),
        (GATE, {"vars": {"who": "bob"}}),
        (GATE, {"from_": "prep"}),
        (GATE, {"model": "mock/echo"}),
    ],
    ids=["text", "inputs", "from", "model"],
)
def test_another_run_says_that_the_older_one_waits(gate: Path, text: str, more: dict[str, Any]) -> None:
    """What is not the same begins another run, which tells of the older one and how to be rid of it."""
    first = nika_nb.run(GATE)
    other = nika_nb.run(text, resume=True, **more)
    assert other.state == "paused"
    assert other.id != first.id
    (said,) = [line for line in other.notices if "this is another run" in line]
    assert f"{first.id} still waits for an answer to `ask`" in said
    assert "nika_nb.runs.cancel(…)" in said
    first.cancel()
    assert first.state == "cancelled"
    assert other.answer(True).state == "completed"


@pytest.mark.parametrize("first_answered", ["newer", "older"])
def test_one_question_is_answered_in_one_run(gate: Path, first_answered: str) -> None:
    """Whichever run has its answer first: the other one is refused, and nothing happens twice."""
    older = nika_nb.run(GATE)
    newer = nika_nb.run(EDITED, resume=True)
    taken, refused = (newer, older) if first_answered == "newer" else (older, newer)
    assert taken.answer(True).state == "completed"
    with pytest.raises(AlreadyAnswered, match="would happen twice"):
        refused.answer(True)
    assert refused.state == "paused"
    assert marks(gate / "marks") == {"prep": 1, "ship": 1}
    refused.decline()
    assert refused.state == "completed"
    assert marks(gate / "marks") == {"prep": 1, "ship": 1}


def test_an_answer_by_default_counts(gate: Path) -> None:
    """Nobody was there and the default decided: the run that waited for a human does not do it again."""
    text = GATE.replace('"Ship it?"', '"Ship it?", default: true')
    asked = nika_nb.run(text, interactive=True)
    decided = nika_nb.run(text, resume=True)
    assert (asked.state, decided.state) == ("paused", "completed")
    with pytest.raises(AlreadyAnswered):
        asked.answer(True)
    assert marks(gate / "marks") == {"prep": 1, "ship": 1}


def test_what_was_refused_can_be_asked_again(gate: Path) -> None:
    """In a run of its own, by --from, as the refusal says."""
    older = nika_nb.run(GATE)
    nika_nb.run(EDITED, resume=True).answer(True)
    assert older.trace is not None
    again = nika_nb.run(GATE, resume=older.trace, from_="ask")
    assert again.answer(True).state == "completed"
    assert marks(gate / "marks") == {"prep": 1, "ship": 2}


def test_an_answered_trace_does_not_ask_again(gate: Path) -> None:
    """Whoever resumes it by its name is told where the run went on."""
    first = nika_nb.run(GATE)
    trace = first.trace
    first.answer(True)
    with pytest.raises(AlreadyAnswered, match=r"To ask again, in another run: `from_="):
        nika_nb.run(GATE, resume=trace)
    edited = nika_nb.run(EDITED, resume=trace)
    assert any("was already answered" in line and "may happen once more" in line for line in edited.notices)
    assert edited.state == "paused"


def test_a_failed_sibling_is_run_again(gate: Path) -> None:
    """A resume that has more to do than to ask begins another run."""
    program(gate, "step", 'echo "$1" >> marks\n[ "$1" != prep ] || [ -e fixed ] || exit 1')
    text = GATE.replace("after: {prep: success}, ", "")
    first = nika_nb.run(text)
    (gate / "fixed").touch()
    second = nika_nb.run(text, resume=True)
    assert (first.state, second.state) == ("paused", "paused")
    assert second.id != first.id
    assert second.tasks["prep"].state == "success"
    assert any("this is another run" in line for line in second.notices)


CHILD = "nika: child\ntasks:\n  ask: {invoke: {tool: 'nika:prompt', args: {message: 'Well?'}}}\n"
MANY = """\
nika: many
permits: {exec: ["./step"]}
tasks:
  call: {invoke: {workflow: ./child.nika.yaml}}
  each: {for_each: {items: [a, b]}, invoke: {tool: "nika:prompt", args: {message: "${{ item }}?"}}}
  ship: {after: {call: success, each: success}, exec: {command: ["./step", "ship"]}}
"""


def test_items_and_called_workflows_wait_as_well(gate: Path) -> None:
    """Also after some of them were answered."""
    (gate / "child.nika.yaml").write_text(CHILD, encoding="utf-8")
    first = nika_nb.run(MANY)
    assert {prompt.key for prompt in first.prompts} == {"call/ask", "each[0]", "each[1]"}
    again = nika_nb.run(MANY, resume=True)
    assert again.id == first.id
    again.answer({"each[1]": True})
    third = nika_nb.run(MANY, resume=True)
    assert (third.id, third.trace) == (first.id, again.trace)
    assert third.answer({"each[0]": True, "call/ask": True}).state == "completed"
    assert marks(gate / "marks") == {"ship": 1}


def test_a_reproducible_run_waits_as_well(gate: Path) -> None:
    """Its journals name no file, and are recognised by their bytes."""
    text = GATE.replace("inputs:", "run: {entropy: {seeded: 7}, clock: virtual}\ninputs:")
    first = nika_nb.run(text)
    again = nika_nb.run(text, resume=True)
    assert (again.id, traces(gate)) == (first.id, [first.trace])
    newer = nika_nb.run(text.replace("Ship it?", "Ship it now?"), resume=True)
    newer.answer(True)
    with pytest.raises(ResumeRefused, match="would happen twice"):
        first.answer(True)


def test_looking_ahead_tells_it(gate: Path) -> None:
    """What would run is foretold: nothing."""
    first = nika_nb.run(GATE)
    told = nika_nb.plan_resume(GATE)
    assert any(f"{first.id} still waits" in notice for notice in told.notices)


def test_a_refusal_of_one_run_takes_nothing_from_another(gate: Path) -> None:
    """Whoever said no in the one may say yes in the other: nothing happens twice."""
    older = nika_nb.run(GATE)
    nika_nb.run(EDITED, resume=True).answer(False)
    assert older.answer(True).state == "completed"
    assert marks(gate / "marks") == {"prep": 1, "ship": 1}


def test_the_terminal_tells_how_to_say_no(gate: Path, terminal: Terminal) -> None:
    """Beside the line that says yes."""
    said = terminal("run", "w.nika.yaml").err
    assert "  to say no: ask=no\n" in said


def test_outputs_of_a_run_at_work(gate: Path) -> None:
    """They are not there yet, which is no failure of the run."""
    program(gate, "step", "while [ ! -e go ]; do sleep 0.02; done")
    run = nika_nb.run(GATE, background=True)
    with pytest.raises(RunUnfinished, match=r"is still running: `run.wait\(\)` waits"):
        _ = run.outputs
    (gate / "go").touch()
    run.wait()


def test_what_a_record_stands_for_was_not_tried(gate: Path) -> None:
    """`attempts` counts how often a verb was run in this invocation, in the tables and in the run."""
    nika_nb.run(GATE, answer={"ask": True})
    again = nika_nb.run(GATE, resume=True, from_="ship")
    table = nika_nb.read_trace(again).tasks.set_index("task")["attempts"]
    expected = {"prep": 0, "ask": 0, "ship": 1}
    assert table.to_dict() == expected
    assert {name: task.attempts for name, task in again.tasks.items()} == expected
    told = nika_nb.attach(str(again.trace)).tasks
    assert {name: task.attempts for name, task in told.items()} == expected


def test_the_frames_of_a_run_that_waits(gate: Path, terminal: Terminal) -> None:
    """Under --json they are the journal's own; under --output json the question is told."""
    first = nika_nb.run(gate / "w.nika.yaml")
    assert first.trace is not None
    assert terminal("run", "w.nika.yaml", "--resume", "--json").out == first.trace.read_bytes()
    shape = json.loads(terminal("run", "w.nika.yaml", "--resume", "--output", "json").out)
    assert shape["paused"]["task"] == "ask"
    assert hits(first.trace) == set()
