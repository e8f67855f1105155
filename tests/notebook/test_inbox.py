"""`%nika inbox`: every run that waits, each with its forms, compact where there are many."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

import nika_nb
from nika_nb.errors import NikaError, UsageError
from nika_nb.notebook import commands
from nika_nb.notebook.commands import waiting
from nika_nb.notebook.session import Session
from nika_nb.notebook.watch import Watch
from tests.doors import newest, program, traces, wait_for
from tests.notebook.conftest import Shown
from tests.notebook.test_questions import ASK, THREE, WIDGET, Widgets, forms, over, press

MANY = """nika: many
tasks:
  ask: { invoke: { tool: "nika:prompt", args: { message: "Go on?" } } }
"""


@pytest.fixture
def watches(monkeypatch: pytest.MonkeyPatch, folder: Path) -> list[Watch]:
    """What an inbox drew; in a folder with a program."""
    found: list[Watch] = []

    class Drawn(Watch):
        def draw(self) -> None:
            found.append(self)
            super().draw()

    monkeypatch.setattr(waiting, "Watch", Drawn)
    program(folder, "say", 'echo "$1" >> marks\nprintf %s "$1"')
    return found


@pytest.fixture
def session(folder: Path) -> Session:
    """A notebook in that folder, with widgets and no kernel."""
    found = Session(InteractiveShell.instance())
    found.surface = Widgets()  # type: ignore[assignment]
    return found


def act(session: Session, line: str) -> Any:
    return commands.act(session, shlex.split(line))


def test_a_run_that_waits_is_one_still_and_one_display(
    session: Session, shown: Shown, watches: list[Watch]
) -> None:
    """No panel of what has not moved: which run, what it asks, what hangs on it, its form."""
    nika_nb.run(ASK)
    act(session, "inbox")
    assert shown.text.startswith("1 run waits for an answer\n")
    _, still, form = shown.now
    assert still["text/plain"].startswith("  ask · asked 20")
    assert "waiting for it: act (when with.go == true)" in still["text/plain"]
    assert WIDGET in form


def test_an_answered_run_comes_to_life_in_its_place(
    session: Session, shown: Shown, watches: list[Watch]
) -> None:
    """Its panel stands among the forms while it works; its still is what stays."""
    nika_nb.run(ASK)
    nika_nb.run(MANY)
    act(session, "inbox")
    (watch,) = (one for one in watches if one.run.workflow == "ask")
    press(forms(watch)["ask"], "Yes, continue")
    assert watch.widget is not None
    wait_for(lambda: over(watch), "the end")
    assert shown.text.startswith("1 run waits for an answer\n")
    _, _, other, still, form = shown.now
    assert "◆ ask · Go on?  → answered: yes" in still["text/plain"]
    assert "2/2 done" in still["text/plain"]
    assert form == {"text/html": "", "text/plain": ""}
    assert WIDGET in other


def test_some_answers_leave_the_others_of_a_run_in_the_list(
    session: Session, shown: Shown, watches: list[Watch]
) -> None:
    """Its panel has gone again, the rest waits on; the last answer brings its still."""
    nika_nb.run(THREE)
    act(session, "inbox")
    (watch,) = watches
    for key in ("each[0]", "each[1]"):
        forms(watch)[key]._field.value = 0
        press(forms(watch)[key], "Submit")
        wait_for(lambda: over(watch), "the end")
    assert list(forms(watch)) == ["name"]
    assert [form.box for form in watch.questions.forms.values()] == list(
        watch.questions._sheet.widget.children[1:4]
    )
    assert watch.panel is not None
    assert watch.panel.box not in watch.questions._sheet.widget.children
    assert shown.text.startswith("1 run waits for an answer\n")
    assert "done" not in shown.now[1]["text/plain"]
    forms(watch)["name"]._field.value = "Ann"
    press(forms(watch)["name"], "Submit")
    wait_for(lambda: over(watch), "the end")
    assert "3/3 done" in shown.now[1]["text/plain"]
    assert shown.text.startswith("nothing waits for an answer here\n")


def test_many_are_folded_and_shown_a_page_at_a_time(
    session: Session, shown: Shown, watches: list[Watch]
) -> None:
    """Two outputs each, twenty runs at a time: JupyterLab shows no more of one cell."""
    for _ in range(22):
        nika_nb.run(MANY)
    act(session, "inbox")
    assert shown.now[0]["text/plain"] == (
        "22 runs wait for an answer; number 1 to 20 of them stand below; %nika inbox 20 shows older ones"
    )
    assert len(shown.now) == 41
    assert shown.now[1]["text/html"].count("<details>") == 1
    act(session, "inbox 20")
    assert shown.now[41]["text/plain"].endswith("number 21 to 22 of them stand below")
    assert len(watches) == 22
    assert len({watch.run.id for watch in watches}) == 22


def test_the_line_above_counts_what_still_waits(
    session: Session, shown: Shown, watches: list[Watch], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever it was answered; what the next line leaves out are those that still stand here."""
    monkeypatch.setattr(waiting, "_MOST_RUNS", 2)
    for _ in range(3):
        nika_nb.run(MANY)
    act(session, "inbox")
    first, second = watches
    press(forms(first)["ask"], "Yes, continue")
    wait_for(lambda: over(first), "the end")
    assert shown.now[0]["text/plain"] == (
        "2 runs wait for an answer; number 1 to 1 of them stand below; %nika inbox 1 shows older ones"
    )
    assert second.run.trace is not None
    nika_nb.attach(second.run.trace).answer(True)
    wait_for(lambda: not forms(second), "the answer of the call")
    wait_for(lambda: shown.text.startswith("1 run waits for an answer; %nika inbox shows them"), "the line")


def test_a_shell_without_widgets_reads_the_lines(
    session: Session, watches: list[Watch], capsys: pytest.CaptureFixture[str]
) -> None:
    """In a plain terminal: which run, what it asks, what to type."""
    run = nika_nb.run(ASK)
    session.surface.has_widgets = False  # type: ignore[misc]
    act(session, "inbox")
    said = capsys.readouterr().out
    assert said.startswith("1 run waits for an answer\n  ask · asked 20")
    assert run.trace is not None
    assert f"to answer: %nika answer {run.trace.name} ask=yes" in said


def test_nothing_waits(session: Session, capsys: pytest.CaptureFixture[str]) -> None:
    """And an offset that is none is told how to be one."""
    act(session, "inbox")
    assert capsys.readouterr().out == "nothing waits for an answer here\n"
    with pytest.raises(UsageError, match="%nika inbox 20"):
        act(session, "inbox all")


def test_the_line_of_a_run_below_answers_it(
    session: Session, shown: Shown, watches: list[Watch], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder with blanks, a choice with quotes, a notebook that has changed its folder since."""
    below = folder / "sub dir"
    below.mkdir()
    with monkeypatch.context() as moved:
        moved.chdir(below)
        nika_nb.run(
            MANY.replace('message: "Go on?"', 'message: M, mode: choice, choices: ["it\'s \\"a\\" $x"]')
        )
    act(session, "inbox")
    (line,) = (
        line.partition("to answer: %nika ")[2]
        for line in shown.now[1]["text/plain"].splitlines()
        if "to answer: " in line
    )
    monkeypatch.chdir(below)
    monkeypatch.setattr(session, "watch", lambda run, begin: (begin(), run.wait(), run)[2])
    assert act(session, line).tasks["ask"].output == 'it\'s "a" $x'
    assert len(traces(below)) == 2
    assert not traces(folder)


def test_a_damaged_trace_hides_no_other(
    session: Session,
    shown: Shown,
    watches: list[Watch],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What was removed between two looks is said in its place."""
    nika_nb.run(MANY)
    nika_nb.run(MANY)
    gone = newest(session.folder)
    attached = session.desk.attached

    def removed(path: Path) -> nika_nb.Run:
        if path == gone:
            raise NikaError("it is gone")
        return attached(path)

    monkeypatch.setattr(session.desk, "attached", removed)
    act(session, "inbox")
    assert shown.now[0]["text/plain"] == "2 runs wait for an answer"
    assert capsys.readouterr().out == "it is gone\n"
    assert len(watches) == 1
