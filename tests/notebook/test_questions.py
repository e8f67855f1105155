"""The open questions of a run on a page: every way in which they get their answers."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import nika_nb
from nika_nb.notebook import questions
from nika_nb.notebook.forms import Form, Given
from nika_nb.notebook.lookout import Lookout
from nika_nb.notebook.watch import Watch
from nika_nb.runs.run import Run
from tests.doors import Terminal, frames, launch, newest, of, program, traces, wait_for
from tests.notebook.conftest import Shown

WIDGET = "application/vnd.jupyter.widget-view+json"

ASK = """\
nika: ask
permits: {exec: ["./say"]}
tasks:
  ask: {invoke: {tool: "nika:prompt", args: {message: "Go on?"}}}
  act:
    with: {go: "${{ tasks.ask.output }}"}
    when: ${{ with.go == true }}
    exec: {command: ["./say", "acted"]}
"""

THREE = """\
nika: three
permits: {exec: ["./say"]}
tasks:
  name: {invoke: {tool: "nika:prompt", args: {mode: input, message: "Who?"}}}
  each:
    for_each: {items: [red, blue]}
    invoke: {tool: "nika:prompt", args: {mode: choice, message: "How ${{ item }}?", choices: [very, a bit]}}
  tell:
    with: {name: "${{ tasks.name.output }}"}
    exec: {command: ["./say", "${{ with.name }}"]}
outputs: {each: "${{ tasks.each.output }}", name: "${{ tasks.name.output }}"}
"""

TWICE = """\
nika: twice
tasks:
  first: {invoke: {tool: "nika:prompt", args: {message: "First?"}}}
  second:
    with: {go: "${{ tasks.first.output }}"}
    when: ${{ with.go == true }}
    invoke: {tool: "nika:prompt", args: {message: "Second?"}}
"""


class Widgets:
    """A surface that has widgets and no kernel behind it."""

    has_widgets = True
    cell_id = None
    execution = ""
    interactive = True


@pytest.fixture(autouse=True)
def _furnished(folder: Path) -> None:
    program(folder, "say", 'echo "$1" >> marks\nprintf %s "$1"')


def watched(text: str) -> Watch:
    return shown_again(nika_nb.run(text))


def shown_again(run: Run) -> Watch:
    watch = Watch(run, Widgets())  # type: ignore[arg-type]
    watch.draw()
    return watch


def forms(watch: Watch) -> dict[str, Form]:
    return watch.questions.open


def press(form: Form, label: str) -> None:
    next(button for button in form.buttons if button.description == label).click()


def over(watch: Watch) -> bool:
    """Whether nothing goes on behind a click any more."""
    with watch.questions._turn:
        return not watch.questions._at_work


def until(found: Callable[[], Any]) -> None:
    wait_for(found, "what was to come behind an answer")


def held(form: Form) -> str:
    return str(form._told.value)


def page(shown: Shown) -> str:
    return "\n".join(str(bundle["text/plain"]) for bundle in shown.now)


def test_the_question_and_the_form_are_two_outputs(shown: Shown) -> None:
    """A page whose kernel is gone still shows the first, and nothing false in place of the second."""
    watch = watched(ASK)
    panel, _, question, form = shown.now
    assert set(panel) == set(question) == {"text/html", "text/plain"}
    assert set(form) == {WIDGET, "text/html", "text/plain"}
    assert (form["text/html"], form["text/plain"]) == ("", "")
    assert watch.run.trace is not None
    for line in (
        "◇ ask · Go on?",
        "waiting for it: act (when with.go == true)",
        "they may: run ./say acted",
        f"to answer: %nika answer {watch.run.trace.name} ask=yes",
    ):
        assert line in question["text/plain"]


def test_while_the_form_lives_the_question_is_read_once(shown: Shown) -> None:
    """The form tells it, and its style hides the still; the panel's row only says that it waits."""
    watch = watched(ASK)
    panel, _, question, _ = shown.now
    assert "Go on?" not in panel["text/html"].partition("what happened")[0]
    above, form, _ = watch.questions._sheet.widget.children
    (name,) = re.findall('^<div class="([^"]+)-still">', question["text/html"])
    assert (
        f"body:has(.{name}:not(.jupyter-widgets-disconnected)) .{name}-still{{display:none}}" in above.value
    )
    assert {name, "nika-live"} <= set(watch.questions._sheet.widget._dom_classes)
    assert form is forms(watch)["ask"].box
    assert form.children[0].value.count("Go on?") == 1
    assert "act (when with.go == true)" in form.children[0].value


def test_where_nobody_can_answer_there_is_no_form(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    """The still says how to; a front-end that lets no kernel ask has a form where the setting says so."""
    monkeypatch.setattr(Widgets, "interactive", False)
    watched(ASK)
    assert [set(bundle) for bundle in shown.now[2:]] == [{"text/html", "text/plain"}]
    assert "<style" not in shown.now[2]["text/html"]  # nothing hides it
    monkeypatch.setenv("NIKA_NB_INTERACTIVE", "1")
    watched(ASK)
    assert WIDGET in shown.now[-1]


def test_both_outputs_are_replaced_once_it_is_answered(shown: Shown) -> None:
    """The saved notebook holds question and answer, and no widget."""
    watch = watched(ASK)
    press(forms(watch)["ask"], "Yes, continue")
    until(lambda: over(watch))
    panel, _, question, form = shown.now
    assert "2/2 done" in panel["text/plain"]
    assert question["text/plain"] == "  ◆ ask · Go on?  → answered: yes"
    assert form == {"text/html": "", "text/plain": ""}


@pytest.mark.usefixtures("shown")
def test_a_reloaded_page_sees_the_run_go_on_in_the_form() -> None:
    """Such a page forgot the displays; it hears the widgets, so the panel moves into the form."""
    watch = watched(ASK)
    press(forms(watch)["ask"], "No")
    until(lambda: over(watch))
    said, panel = watch.questions._sheet.widget.children
    assert "answered: no" in said.children[0].value
    assert panel is watch.widget


def test_a_double_click_resumes_once(folder: Path, shown: Shown) -> None:
    """Both clicks are queued before the first is worked off."""
    watch = watched(ASK)
    form = forms(watch)["ask"]
    for _ in range(3):
        press(form, "Yes, continue")
    until(lambda: over(watch))
    assert len(traces(folder)) == 2


def test_answering_one_leaves_the_others_open(folder: Path, shown: Shown) -> None:
    """They stay on the page with what was begun, and their lines name the trace that asks now."""
    watch = watched(THREE)
    forms(watch)["name"]._field.value = "Ann"
    forms(watch)["each[1]"]._field.value = 0
    press(forms(watch)["each[1]"], "Submit")
    until(lambda: over(watch))
    assert list(forms(watch)) == ["name", "each[0]"]
    assert forms(watch)["name"]._field.value == "Ann"
    text = page(shown)
    assert "◆ each[1] · How blue?  → answered: very" in text
    assert f"%nika answer {newest(folder).name} name='your answer'" in text
    assert f"%nika decline {newest(folder).name} each[0]" in text
    assert traces(folder)[0].name not in text.partition("2 questions wait")[2]


def test_answers_given_in_a_row_are_given_in_turn(folder: Path, shown: Shown) -> None:
    """Nobody has to wait for the run between two clicks; each answer reaches its own question."""
    watch = watched(THREE)
    open_ = forms(watch)
    open_["name"]._field.value = "Ann"
    open_["each[0]"]._field.value, open_["each[1]"]._field.value = 0, 1
    for form in open_.values():
        press(form, "Submit")
    until(lambda: over(watch) and not forms(watch))
    assert watch.run.outputs == {"name": "Ann", "each": ["very", "a bit"]}
    assert len(traces(folder)) <= 4


@pytest.mark.usefixtures("shown")
def test_an_answer_that_is_kept_is_judged_when_its_turn_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is wrong with it is said in its form, which is open again; nothing is lost."""
    watch = watched(THREE)
    open_ = forms(watch)
    go_on = threading.Event()
    follow = watch.follow
    monkeypatch.setattr(watch, "follow", lambda: (go_on.wait(20), follow()))
    open_["name"]._field.value = "Ann"
    press(open_["name"], "Submit")
    open_["each[0]"]._field.value = 0
    press(open_["each[0]"], "Submit")
    assert "Taken" in held(open_["each[0]"])
    watch.questions._kept["each[0]"] = Given("nothing of the kind")
    go_on.set()
    until(lambda: over(watch))
    assert "takes one of its choices" in held(open_["each[0]"])
    assert list(forms(watch)) == ["each[0]", "each[1]"]
    press(open_["each[0]"], "Submit")
    until(lambda: over(watch))
    assert list(forms(watch)) == ["each[1]"]


def test_a_decline_goes_on_without_an_answer(folder: Path, shown: Shown) -> None:
    """The second click declines; what waits for it does not run."""
    watch = watched(THREE)
    press(forms(watch)["name"], "Decline")
    press(forms(watch)["name"], "Decline")
    until(lambda: over(watch))
    assert "◆ name · Who?  → declined" in page(shown)
    assert list(forms(watch)) == ["each[0]", "each[1]"]
    assert of(newest(folder), "task_failed", task="name")[0]["detail"].startswith("NIKA-CANCEL-001")


def test_what_is_asked_next_stands_in_the_same_place(shown: Shown) -> None:
    """A run that asks again has no cell of its own to draw in."""
    watch = watched(TWICE)
    press(forms(watch)["first"], "Yes, continue")
    until(lambda: over(watch))
    assert list(forms(watch)) == ["second"]
    _, _, question, form = shown.now
    assert "◆ first" in question["text/plain"]
    assert "◇ second · Second?" in question["text/plain"]
    assert WIDGET in form
    press(forms(watch)["second"], "Yes, continue")
    until(lambda: over(watch))
    panel, _, question, form = shown.now
    assert [set(bundle) for bundle in (panel, question, form)] == [{"text/html", "text/plain"}] * 3


# -- answered elsewhere ------------------------------------------------------------------------


def test_a_form_closes_by_itself_when_somebody_else_answered(shown: Shown, terminal: Terminal) -> None:
    """Without a click: who, when, through which door; the panel shows what came of it."""
    watch = watched(ASK)
    terminal("answer", watch.run.trace, "no")
    until(lambda: "2/2 done" in page(shown) and not questions.lookout._thread)
    assert not forms(watch)
    said = page(shown)
    assert "◆ ask · Go on?  → already answered elsewhere: on 20" in said
    assert "UTC with nika-nb" in said
    panel, _, question, form = shown.now
    assert WIDGET not in panel | question | form
    assert watch.run.tasks["act"].state == "skipped"


def test_a_form_closes_when_another_run_that_took_up_its_pause_has_the_answer(shown: Shown) -> None:
    """It says which; what is behind the question is not done a second time."""
    watch = watched(ASK)
    other = nika_nb.run(ASK.replace("Go on?", "Go on now?"), resume=watch.run.trace)
    other.answer(True)
    until(lambda: not forms(watch))
    assert f"from Python, in another run: {other.id}" in page(shown)
    assert watch.run.state == "paused"


def test_a_question_that_was_declined_is_not_called_answered(shown: Shown) -> None:
    """By a line in another cell, and by somebody else."""
    watch = watched(ASK)
    watch.run.decline("ask")
    until(lambda: "2/2 done" in page(shown) and "declined on 20" in page(shown))
    assert "answered" not in page(shown)


def test_a_confirmation_tells_how_to_say_no(shown: Shown) -> None:
    """The exact line, beside the one that says yes."""
    watch = watched(ASK)
    assert watch.run.trace is not None
    assert f"to say no: %nika answer {watch.run.trace.name} ask=no" in page(shown)


def test_of_several_only_the_answered_one_closes(shown: Shown, terminal: Terminal) -> None:
    """The others wait on, in the run as it is now: a click answers that one."""
    watch = watched(THREE)
    forms(watch)["each[0]"]._field.value = 1
    terminal("answer", watch.run.trace, "name=Bob")
    until(lambda: list(forms(watch)) == ["each[0]", "each[1]"])
    until(lambda: not forms(watch)["each[0]"]._field.disabled)
    press(forms(watch)["each[0]"], "Submit")
    until(lambda: over(watch))
    terminal("answer", watch.run.trace, "each[1]=very")
    until(lambda: watch.run.state == "completed")
    assert watch.run.outputs == {"name": "Bob", "each": ["a bit", "very"]}


def test_while_somebody_else_is_at_it_the_others_are_held(folder: Path, shown: Shown) -> None:
    """They say why, and open again when the run waits again."""
    program(folder, "say", "while [ ! -e go ]; do sleep 0.02; done")
    watch = watched(THREE)
    answering = launch("answer", str(watch.run.trace), "name=Bob", cwd=folder)
    until(lambda: "name" not in forms(watch))
    other = forms(watch)["each[0]"]
    until(lambda: "is at work in process" in held(other))
    press(other, "Submit")
    assert "is at work in process" in held(other)
    (folder / "go").touch()
    assert answering.wait(20) == 4
    until(lambda: not other._field.disabled)
    assert held(other) == ""
    assert len(traces(folder)) == 2


def test_an_answer_from_python_closes_the_form_of_the_same_run(shown: Shown) -> None:
    """`run.answer` in another cell: the question says when, and nobody is told of another place."""
    watch = watched(ASK)
    watch.run.answer("yes")
    until(lambda: "2/2 done" in page(shown) and "answered on 20" in page(shown))
    assert "elsewhere" not in page(shown)
    assert not forms(watch)
    assert watch.run.outputs == {}


def test_a_removed_trace_closes_its_form(shown: Shown) -> None:
    """There is nothing left to answer."""
    watch = watched(ASK)
    assert watch.run.trace is not None
    watch.run.trace.unlink()
    until(lambda: questions.GONE in page(shown))
    assert not forms(watch)


def test_a_run_that_broke_off_elsewhere_says_how_to_go_on(
    folder: Path, shown: Shown, terminal: Terminal
) -> None:
    """Its engine died at work on an answer: what is left open cannot be answered there."""
    terminal("answer", nika_nb.run(THREE).trace, "name=Bob")
    broken = newest(folder)
    lines = broken.read_bytes().splitlines(keepends=True)
    broken.write_bytes(b"".join(lines[:-1]))
    watch = shown_again(nika_nb.attach(traces(folder)[0]))
    assert not forms(watch)
    assert f"broke off there: go on with `--resume {broken.name}`" in page(shown)


def test_the_lookout_looks_only_where_something_changed(folder: Path) -> None:
    """A stamp a second; the files are read when it differs, and once more for what it may hide."""
    looked: list[int] = []

    class One:
        stamps = (1,)

        def stamp(self) -> tuple[int, ...]:
            return self.stamps

        def look(self) -> bool:
            looked.append(self.stamps[0])
            return self.stamps != (3,)

    one, found = One(), Lookout(0.001)
    found.watch(one)
    until(lambda: looked == [1, 1])
    one.stamps = (2,)
    until(lambda: looked == [1, 1, 2, 2])
    one.stamps = (3,)
    until(lambda: found._thread is None)
    assert looked == [1, 1, 2, 2, 3]
    found.watch(one)  # the next question finds a thread again
    until(lambda: found._thread is None)


def test_a_look_that_fails_is_no_end() -> None:
    """The next change is looked at again."""

    class One:
        count = 0

        def stamp(self) -> tuple[int, ...]:
            self.count += 1
            return (self.count,)

        def look(self) -> bool:
            if self.count < 3:
                raise OSError("away")
            return False

    found = Lookout(0.001)
    found.watch(One())
    until(lambda: found._thread is None)


def test_very_many_questions_come_up_as_others_are_answered(
    shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All are listed with their lines; forms stand there for the first ones, and it says how many follow."""
    monkeypatch.setattr(questions, "MOST", 1)
    watch = watched(THREE)
    assert list(forms(watch)) == ["name"]
    assert "3 questions wait for an answer" in page(shown)
    assert "each[1]=very" in page(shown)
    assert "2 more questions will stand here" in watch.questions._sheet.widget.children[-1].value
    forms(watch)["name"]._field.value = "Ann"
    press(forms(watch)["name"], "Submit")
    until(lambda: over(watch))
    assert list(forms(watch)) == ["each[0]"]


def test_python_is_another_door_than_a_form(folder: Path, shown: Shown) -> None:
    """What a form answered says so; what the same run is answered with afterwards does not."""
    watch = watched(TWICE)
    press(forms(watch)["first"], "Yes, continue")
    until(lambda: over(watch))
    watch.run.answer("yes")
    assert [frames(trace)[0].get("door") for trace in traces(folder)] == ["Python", "a form", "Python"]
