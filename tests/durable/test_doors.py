"""What the doors show: lines on a terminal, forms in a notebook; and what they say when they refuse."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

import nika_nb
from nika_nb import runs
from nika_nb.doors import standing_at
from nika_nb.errors import UsageError
from nika_nb.notebook.desk import Desk
from nika_nb.notebook.watch import Watch
from nika_nb.runs.run import Run
from tests.doors import Terminal, frames, newest, wait_for
from tests.durable.project import ASK, DONE, FAILS, GATE, Project
from tests.notebook.conftest import Shown

THREE = """\
nika: three
permits: {tools: ["nika:prompt"]}
tasks:
  a: {invoke: {tool: "nika:prompt", args: {message: "A?"}}}
  b: {invoke: {tool: "nika:prompt", args: {message: "B?"}}}
  c: {invoke: {tool: "nika:prompt", args: {message: "C?"}}}
"""

# -- a terminal --------------------------------------------------------------------------------


def test_a_list_has_a_line_per_run(here: Project, terminal: Terminal) -> None:
    """Its id, its state, whether it can be resumed, when, and what it is a run of."""
    assert terminal("runs", "list").out.decode() == "no runs here\n"
    here.deployed()
    gate, done = here.ran().run_id, here.started(DONE).run_id
    first, second = terminal("runs", "list").out.decode().splitlines()
    assert first.split()[:2] == [done, "completed"]
    assert second.split()[:3] == [gate, "interrupted", "ready"]
    assert second.endswith("gate v1")
    assert terminal("runs", "list", "--limit", "1").out.decode().splitlines()[-1] == "… and 1 more, from 1 on"
    assert terminal("runs", "list", "--status", "failed").out.decode() == "no runs here\n"


def test_a_run_is_described_in_lines(here: Project, terminal: Terminal) -> None:
    """What it asks, what was missing, what it failed of, what it returned."""
    gate, done, fails = (here.started(text).run_id for text in (GATE, DONE, FAILS))
    here.without_say()
    refused = terminal("runs", "resume", gate, "ask=yes")
    assert refused.code == 3
    assert f"{gate} · blocked\n  `ship`: there is no program at `./say`" in refused.err
    said = terminal("runs", "inspect", gate).out.decode()
    assert f"{gate} · interrupted · blocked" in said
    assert "asks `ask`: Ship it?" in said
    assert "blocked: `ship`: there is no program at `./say`; put it there" in said
    assert '{"said": "hello"}' in terminal("runs", "inspect", done).out.decode()
    assert "NIKA-EXEC-001" in terminal("runs", "inspect", fails).out.decode()


def test_reading_and_checkpoints_in_lines(here: Project, terminal: Terminal) -> None:
    """A frame is a line of JSON; the last line says how much is left."""
    run_id = here.started(GATE).run_id
    *lines, last = terminal("runs", "read", run_id, "--start", "0", "--limit", "2").out.decode().splitlines()
    assert [json.loads(line)["index"] for line in lines] == [0, 1]
    assert last.endswith("more from 2 on")
    assert terminal("runs", "read", run_id, "--start", "0", "--limit", "0").code == 3
    for half in ((), ("--start", "0"), ("--limit", "2")):
        refused = terminal("runs", "read", run_id, *half)
        assert (refused.code, "required" in refused.err) == (3, True)
    assert terminal("runs", "checkpoints", run_id).out.decode().startswith("1  interrupted")


def test_a_trace_that_a_run_needs_is_kept_with_the_questions_that_are_open(
    here: Project, terminal: Terminal
) -> None:
    """Each once; what was answered is not waited for. A run that went on and broke off asks nothing."""
    run_id = here.started(GATE).run_id
    runs.resume_run(run_id, {"ask": "yes"})
    for path in here.traces:
        refused = terminal("trace", "rm", path)
        assert (refused.code, "waits for an answer to `name`, and what" in refused.err) == (3, True)
    runs.resume_run(run_id, {"name": "Ann"})
    first, second, last = here.traces
    last.write_bytes(last.read_bytes()[:-20])
    refused = terminal("trace", "rm", first)
    assert (refused.code, "its run went on behind a question and has no end" in refused.err) == (3, True)
    assert here.traces == [first, second, last]


def test_the_exit_code_is_that_of_the_run(here: Project, terminal: Terminal) -> None:
    """0 completed, 1 failed, 4 paused, 3 where something is missing or refused, 2 by the check."""
    for name, text, code in (("done", DONE, 0), ("fails", FAILS, 1), ("ask", ASK, 4)):
        here.deployed(name, text)
        assert terminal("runs", "run", name).code == code
    run_id = runs.list_runs(status="interrupted").runs[0].run_id
    assert terminal("runs", "resume", run_id).code == 3
    assert terminal("runs", "resume", run_id, "yes").code == 0
    assert terminal("runs", "inspect", "nothing").code == 3
    Path("bad.nika.yaml").write_text("nika: bad\ntasks: {}\n", encoding="utf-8")
    assert terminal("runs", "deploy", "bad", "bad.nika.yaml").code == 2
    here.without_say()
    refused = terminal("runs", "run", "done")
    assert (refused.code, refused.out) == (3, b"")
    assert "done · unrunnable: something is missing" in refused.err


def test_deployments_are_listed_and_removed(here: Project, terminal: Terminal) -> None:
    """By name; a version by its number."""
    assert terminal("runs", "deployments").out.decode() == "no deployments here\n"
    here.deployed(topic="a")
    here.deployed(topic="b")
    (line,) = terminal("runs", "deployments").out.decode().splitlines()
    assert line.startswith("gate  version 2  ")
    assert line.endswith("  gate    ready")
    assert "1 version removed" in terminal("runs", "undeploy", "gate", "--version", "2").out.decode()
    assert [one.version for one in runs.list_deployments()] == [1]
    assert terminal("runs", "undeploy", "gate").code == 0
    assert terminal("runs", "undeploy", "gate").code == 3


def test_json_is_json(here: Project, terminal: Terminal) -> None:
    """Every action that shows something shows it as JSON as well."""
    here.deployed()
    run_id = here.ran().run_id
    for words in (
        ("list",),
        ("inspect", run_id),
        ("read", run_id, "--start", "0", "--limit", "9"),
        ("checkpoints", run_id),
        ("deployments",),
    ):
        assert terminal("runs", *words, "--json").outputs
    followed = terminal("runs", "follow", run_id, "--until-pause", "--json")
    assert followed.code == 4
    assert [json.loads(line)["kind"] for line in followed.out.splitlines()][-1] == "workflow_paused"


# -- a form ------------------------------------------------------------------------------------


class Widgets:
    """A surface that has widgets and no kernel behind it."""

    has_widgets = True
    cell_id = None
    execution = ""
    interactive = True


def form_of(run: Run) -> Watch:
    watch = Watch(run, Widgets())  # type: ignore[arg-type]
    watch.draw()
    return watch


def press(watch: Watch, label: str) -> None:
    (form,) = watch.questions.open.values()
    next(button for button in form.buttons if button.description == label).click()


def painted() -> None:
    """Waits until nothing is painted behind a click any more."""
    wait_for(lambda: not any(t.name == "nika-painter" for t in threading.enumerate()), "the last painting")


def test_a_form_whose_question_was_answered_elsewhere_says_when_and_how(here: Project, shown: Shown) -> None:
    """Two notebooks show the same question; the second click is told of the first and asks no more."""
    here.started(ASK)
    paused = here.traces[0]
    first, second = form_of(nika_nb.attach(paused)), form_of(nika_nb.attach(paused))
    (late,) = second.questions.open.values()
    press(first, "Yes, continue")
    wait_for(lambda: [r.status for r in runs.list_runs().runs] == ["completed"], "the answered run")
    painted()
    next(button for button in late.buttons if button.description == "No").click()
    wait_for(lambda: "already answered elsewhere" in shown.text, "the word of the other form")
    assert "in a form" in shown.text
    assert not second.questions.open
    assert frames(newest(here.root))[0]["door"] == "a form"
    assert len(here.traces) == 2


def test_a_form_says_what_is_missing_and_still_asks(here: Project, shown: Shown) -> None:
    """Nothing is consumed: with the program back, the same click counts."""
    here.started(GATE.replace("  name:\n", "  name:\n    when: false\n"))
    run = nika_nb.attach(here.traces[0])
    watch = form_of(run)
    here.without_say()
    press(watch, "Yes, continue")
    (form,) = watch.questions.open.values()
    assert "cannot go on here" in form._told.value
    assert runs.list_runs().runs[0].resume_readiness == "blocked"
    here.with_say()
    press(watch, "No")
    wait_for(lambda: [r.status for r in runs.list_runs().runs] == ["completed"], "the answered run")
    painted()


@pytest.mark.usefixtures("shown")
def test_two_questions_are_answered_in_two_forms(here: Project) -> None:
    """The second answer is one to the run as the first one left it."""
    here.started(GATE)
    run = nika_nb.attach(here.traces[0])
    watch = form_of(run)
    watch.questions._answered(watch.questions.forms["ask"].prompt, True)
    painted()
    assert run.state == "paused"
    watch.questions._answered(watch.questions.forms["name"].prompt, "Ann")
    painted()
    assert run.state == "completed"
    assert [c.sequence for c in runs.checkpoints(str(run.id))] == [1, 2, 3]


def answers_right_behind(watch: Watch, monkeypatch: pytest.MonkeyPatch, **given: Any) -> None:
    """The run that a click sets going has just stopped when a call answers it, before its form looks."""
    follow = watch.follow

    def quick() -> None:
        follow()
        watch.run.answer(**given)

    monkeypatch.setattr(watch, "follow", quick)


def test_a_call_that_answers_as_the_run_behind_a_click_stops_is_told_in_the_form(
    here: Project, shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever is quicker than the form: it tells his answer, and the panel how the run ended."""
    here.started(GATE)
    run = nika_nb.attach(here.traces[0])
    watch = form_of(run)
    answers_right_behind(watch, monkeypatch, name="Ann")
    name, ask = watch.questions.forms["name"], watch.questions.forms["ask"]
    watch.questions._answered(ask.prompt, True)
    painted()
    assert (run.state, ask.said) == ("completed", "answered: yes")
    assert name.said.startswith("answered on 20")
    assert name.said.endswith("from Python")
    assert "4/4 done" in shown.text


def test_a_call_that_is_still_at_work_on_its_answer_then_holds_the_other_questions(
    here: Project, monkeypatch: pytest.MonkeyPatch, shown: Shown
) -> None:
    """They are no past ones: what still waits is asked again."""
    here.started(THREE)
    run = nika_nb.attach(here.traces[0])
    watch = form_of(run)
    answers_right_behind(watch, monkeypatch, b="yes", wait=False)
    forms = watch.questions.forms
    watch.questions._answered(forms["a"].prompt, True)
    painted()
    run.wait()
    wait_for(lambda: forms["b"].said, "the answer of the call")
    assert forms["b"].said.startswith("answered on 20")
    wait_for(lambda: not forms["c"].buttons[0].disabled, "the question that still waits")
    assert watch.questions.open == {"c": forms["c"]}
    watch.questions.close()


def test_a_deployment_lies_beside_its_workflow_whatever_door_made_it(
    here: Project, terminal: Terminal
) -> None:
    """Each door says where it lies and how it is started; from elsewhere it is told where it is."""
    sub = here.root / "sub"
    sub.mkdir()
    for name in ("here", "sub/there"):
        Path(f"{name}.nika.yaml").write_text(DONE, encoding="utf-8")
    desk = Desk(here.root)
    with standing_at("%nika"):
        assert "start it with `%nika run one`" in desk.deploy(["one", "here.nika.yaml"])
        said = desk.deploy(["two", "sub/there.nika.yaml"])
        assert "in sub/.nika/deployments; start it with `%nika run sub/two`" in said
        run = desk.run(["sub/two"], interactive=False)
        run.wait()
        with pytest.raises(UsageError, match=r"it lies elsewhere: `%nika run sub/two`"):
            desk.run(["two"], interactive=False)
    assert (run.state, run.trace is not None and run.trace.parents[2] == sub) == ("completed", True)
    done = terminal("runs", "deploy", "three", "sub/there.nika.yaml")
    assert "start it with `nika-nb runs run three --root sub`" in done.out.decode()
    assert terminal("runs", "run", "two", "--root", "sub").code == 0
    assert "it lies elsewhere: `nika-nb runs run two --root sub`" in terminal("runs", "run", "two").err
    assert runs.deploy("four", "sub/there.nika.yaml").root == sub
    assert runs.run_deployment("three", root="sub").status == "completed"
    with pytest.raises(UsageError, match=r'elsewhere: `nika_nb.runs.run_deployment\("four", root="sub"\)`'):
        runs.run_deployment("four")
