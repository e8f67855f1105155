"""Reports (b): a human who was asked twice, misunderstood, or never asked.

Shown by other tests, where a report is not here:
 28  several questions at once, and in a fan-out   runs/test_prompts.py
 29  a bare answer with several open; some answers  cli/test_bad_input.py, runs/test_prompts.py
 32  one branch pauses, the others finish          runs/test_checklist.py (t21)
 33  a wrong answer consumes nothing               runs/test_checklist.py (t22), cli/test_bad_input.py
 37  a key that nothing reads is refused           corpus/test_headers.py, check/test_static_conformance.py
 39  is a demand, and no report
"""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

import nika_nb
from nika_nb.errors import NikaError, UsageError
from nika_nb.notebook.watch import Watch
from nika_nb.runs.run import Run
from tests.doors import PATIENCE, Terminal, frames, kinds, launch, newest, nika, of, program, traces, wait_for
from tests.notebook.conftest import Shown

ASK = """\
nika: ask
permits: {exec: ["./say"]}
tasks:
  prep: {exec: {command: ["./say", "ready"]}}
  ask:
    after: {prep: success}
    invoke: {tool: "nika:prompt", args: {message: "Go on?"}}
  act:
    with: {go: "${{ tasks.ask.output }}"}
    when: ${{ with.go == true }}
    exec: {command: ["./say", "acted"]}
outputs: {act: "${{ tasks.act.output }}"}
"""


@pytest.fixture
def asking(folder: Path) -> Path:
    program(folder, "say", 'echo "$1" >> marks\nprintf %s "$1"')
    (folder / "ask.nika.yaml").write_text(ASK, encoding="utf-8")
    return folder


class Widgets:
    """A surface that has widgets and no kernel behind it."""

    has_widgets = True
    cell_id = None
    execution = ""
    interactive = True


def clicked(run: Run, label: str) -> Watch:
    """A form of the run is shown and one of its buttons pressed; the watch that follows."""
    watch = Watch(run, Widgets())  # type: ignore[arg-type]
    watch.draw()
    (form,) = watch.questions.open.values()
    next(button for button in form.buttons if button.description == label).click()
    wait_for(lambda: run.state != "paused" and not run.running, "the end of the answered run")
    return watch


def by_form(trace: Path, terminal: Terminal) -> None:
    clicked(nika_nb.attach(trace), "Yes, continue")


def by_python(trace: Path, terminal: Terminal) -> None:
    nika_nb.attach(trace).answer(ask=True)


def by_terminal(trace: Path, terminal: Terminal) -> None:
    assert terminal("answer", trace, "ask=yes").code == 0


def by_resume(trace: Path, terminal: Terminal) -> None:
    assert terminal("run", "ask.nika.yaml", "--resume", trace, "--answer", "ask=yes").code == 0


DOORS = {"form": by_form, "python": by_python, "terminal": by_terminal, "resume": by_resume}

# What tells one invocation from another, or says which door it came through.
OWN = {
    *("uuid", "run", "correlation", "pid", "door", "duration_ms", "pgid", "started", "resumed_trace"),
    *("resumed_head", "matched", "saved_ms", "notebook", "cell", "run_created", "started_ns", "ended_ns"),
}


def told(trace: Path) -> list[dict[str, Any]]:
    return [{key: value for key, value in frame.items() if key not in OWN} for frame in frames(trace)]


@pytest.mark.usefixtures("shown")
def test_b_31_the_same_journal_whichever_door(asking: Path, terminal: Terminal) -> None:
    """A click, a call, a command and an edited resume of the same text write the same frames."""
    journals = {}
    for name, door in DOORS.items():
        terminal("run", "ask.nika.yaml")
        paused = newest(asking)
        door(paused, terminal)
        journals[name] = told(newest(asking))
        assert frames(newest(asking))[0]["correlation"] == frames(paused)[0]["correlation"], name
    for name, journal in journals.items():
        assert journal == journals["python"], name
    assert [frame["kind"] for frame in journals["python"]].count("task_cache_hit") == 1


@pytest.mark.parametrize(
    "answer",
    [("yes",), (True,), ({"ask": "yes"},), ({"ask": True},), ({"": "yes"},)],
    ids=str,
)
def test_b_34_an_answer_by_itself_or_by_name(asking: Path, answer: tuple[Any]) -> None:
    """Both shapes are taken, from Python as from a terminal."""
    run = nika_nb.run(ASK).answer(*answer)
    assert run.outputs == {"act": "acted"}


@pytest.mark.parametrize(
    "answer", [{"value": "yes"}, {"task": "ask"}, ["yes"], {"ask": {"value": True}}, None], ids=str
)
def test_b_34_another_shape_is_refused_with_the_right_one(asking: Path, answer: Any) -> None:
    """The sentence names the question or what it takes; nothing is consumed."""
    run = nika_nb.run(ASK)
    with pytest.raises(UsageError, match="ask"):
        run.answer(answer)
    assert (run.state, len(traces(asking))) == ("paused", 1)
    assert run.answer("yes").state == "completed"


def test_b_36_without_a_human_nothing_hangs(asking: Path) -> None:
    """A pipe that stays open is not read, the exit code is 4, and what still runs can be ended."""
    paused = nika("run", "ask.nika.yaml", cwd=asking, stdin=b"yes\n" * 1000)
    assert (paused.code, paused.out) == (4, b"")
    assert kinds(newest(asking))["workflow_paused"] == 1
    program(asking, "say", "echo $$ >> pids; exec sleep 60")
    engine = launch("run", "ask.nika.yaml", cwd=asking)
    wait_for((asking / "pids").exists, "the first task")
    engine.send_signal(signal.SIGTERM)
    assert engine.wait(PATIENCE) == 130


def test_b_38_a_form_that_somebody_else_answered(asking: Path, shown: Shown, terminal: Terminal) -> None:
    """A late click consumes nothing; the form says where and when it was answered, and is closed."""
    terminal("run", "ask.nika.yaml")
    paused = newest(asking)
    run = nika_nb.attach(paused)
    watch = Watch(run, Widgets())  # type: ignore[arg-type]
    watch.draw()
    (form,) = watch.questions.open.values()
    assert terminal("answer", paused, "no").code == 0
    before = set(traces(asking))
    next(button for button in form.buttons if button.description == "Yes, continue").click()
    assert set(traces(asking)) == before
    assert all(button.disabled for button in form.buttons)
    assert "already answered" in str(form._told.value)
    assert of(newest(asking), "approval_decided")[0]["decision"] == "deny"
    with pytest.raises(NikaError, match="already answered"):
        nika_nb.attach(paused).answer(True)


def test_b_38_the_question_of_another_process(asking: Path) -> None:
    """A question that was answered elsewhere is no longer listed as open."""
    run = nika_nb.run(ASK)
    assert nika("answer", str(run.trace), "yes", cwd=asking).code == 0
    again = nika_nb.attach(newest(asking))
    assert (again.state, again.prompts) == ("completed", ())
    assert json.loads(frames(newest(asking))[0]["answered"]) == ["ask"]
