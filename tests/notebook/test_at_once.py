"""A kernel may hear two widgets at the same time, each in a thread of its own, as painters and cells work:
whatever comes in the very middle of something else, what stands on the page in the end is right.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import nika_nb
from nika_nb.board import text
from nika_nb.notebook import closing, proposal, replay
from nika_nb.notebook.actions import Actions
from nika_nb.notebook.forms import Form
from nika_nb.notebook.lookout import Lookout
from nika_nb.notebook.proposal import Proposal
from nika_nb.notebook.replay import Player
from nika_nb.notebook.shown import blanks
from nika_nb.runs import returned
from nika_nb.runs.forecast import forecast
from nika_nb.runs.run import Prompt, Run
from tests.board.test_replay import replayed
from tests.doors import program, traces, wait_for
from tests.notebook.conftest import Shown
from tests.notebook.meeting import Meeting
from tests.notebook.test_actions import ROWS, at_rest, of, watched
from tests.notebook.test_questions import ASK, forms, press
from tests.trace.journals import story, write


@pytest.fixture(autouse=True)
def _alone(folder: Path) -> Iterator[None]:
    """Nothing of another test rests, and a folder with a program."""
    program(folder, "say", 'printf %s "$1"')
    closing.retire()
    yield
    closing.retire()


@pytest.mark.parametrize("look", ["a still", "its tasks"])
def test_a_run_can_be_looked_at_while_a_painter_takes_in_what_has_happened(
    monkeypatch: pytest.MonkeyPatch, look: str
) -> None:
    """Tasks come up on the board in the middle of the look."""
    run = nika_nb.run(ASK)
    room, name = (text, "one_line") if look == "a still" else (returned, "_result")
    known = getattr(room, name)

    def slowly(*given: Any) -> Any:
        run.board.row("late")
        return known(*given)

    monkeypatch.setattr(room, name, slowly)
    assert "act" in (repr(run) if look == "a still" else run.tasks)


# -- the row buttons ---------------------------------------------------------------------------


def test_two_buttons_in_one_moment_begin_one_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each costs money: the second one finds all of them off, however close it comes."""
    rolled = list[str]()
    actions = Actions(rolled.append)
    run = nika_nb.run(ROWS)
    assert run.trace is not None
    actions.renew(run.board, run.trace)
    second = Meeting(actions.buttons["item"].click, (actions, "_turn"))
    enable = actions._enable

    def slowly(on: bool) -> None:
        second()
        enable(on)

    monkeypatch.setattr(actions, "_enable", slowly)
    actions.buttons["from"].click()
    second.over()
    assert rolled == ["behind"]


def test_a_row_button_does_nothing_once_another_run_has_begun(shown: Shown, folder: Path) -> None:
    """Its panel goes: what it would begin nobody could see."""
    watch = watched(nika_nb.run(ROWS))
    button = of(watch).buttons["from"]
    retired = Meeting(closing.retire, (watch, "turn"))
    with watch.turn:
        retired()
        button.click()
    retired.over()
    assert len(traces(folder)) == 1
    assert button.comm is None


@pytest.mark.parametrize("other", ["another run", "its cell again"])
def test_a_run_that_a_row_button_begins_keeps_its_panel(
    shown: Shown, monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    """Whatever else begins just then: it is at work and is shown, and its buttons come back."""
    watch = watched(nika_nb.run(ROWS))
    assert watch.panel is not None
    panel, resume = watch.panel, Run.resume
    comes = Meeting(closing.retire if other == "another run" else watch.clear, (watch, "turn"))

    def slowly(self: Run, **how: Any) -> Run:
        comes()
        return resume(self, **how)

    monkeypatch.setattr(Run, "resume", slowly)
    of(watch).buttons["from"].click()
    comes.over()
    wait_for(lambda: at_rest(watch), "the buttons")
    assert panel.box.comm is not None
    assert "forced by --from" in shown.now[0]["text/plain"]


def test_a_row_button_that_is_refused_can_be_clicked_again(shown: Shown, folder: Path) -> None:
    """It rests as before."""
    watch = watched(nika_nb.run(ROWS))
    (trace,) = traces(folder)
    trace.rename(folder / "away")
    of(watch).buttons["from"].click()
    assert trace.name in of(watch).said.value
    (folder / "away").rename(trace)
    of(watch).buttons["from"].click()
    wait_for(lambda: len(traces(folder)) == 2 and at_rest(watch), "the end of it")


# -- forms -------------------------------------------------------------------------------------


def test_a_form_that_is_closed_as_it_refuses_stays_closed() -> None:
    """It says who answered, and its buttons stay off."""
    form = Form(Prompt("ask", "confirm", "Sure?"), lambda *_: None)
    comes = Meeting(lambda: form.close("answered elsewhere"), (form, "_turn"))
    form._told.observe(comes, "value")
    form.refuse("not now")
    comes.over()
    assert not form._open
    assert "answered elsewhere" in form._told.value


def test_a_click_is_no_answer_to_a_question_that_came_after_it(shown: Shown, folder: Path) -> None:
    """Another question under the same name: what was shown is what was answered."""
    watch = watched(nika_nb.run(ASK))
    before, questions = forms(watch)["ask"], watch.questions
    questions.forms["ask"] = questions._form(replace(before.prompt, message="Wipe it?"), 1)
    press(before, "Yes, continue")
    assert len(traces(folder)) == 1
    assert list(questions.open) == ["ask"]
    questions.close()


def test_an_answer_that_was_kept_is_none_to_another_question(
    shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run was at work, and asks something else by the same name when it waits again."""
    watch = watched(nika_nb.run(ASK))
    questions, form = watch.questions, forms(watch)["ask"]
    questions._at_work = True
    press(form, "Yes, continue")
    assert questions._kept
    other = replace(form.prompt, message="Wipe it?", shown_hash="other")
    monkeypatch.setattr(Run, "prompts", property(lambda self: (other,)))
    questions._take_in(watch.run.trace)
    assert not questions._kept
    assert questions.open["ask"].prompt is other
    questions.close()


def test_a_form_whose_cell_has_run_again_takes_no_answer(shown: Shown, folder: Path) -> None:
    """It is on no page, and neither would be what the answer sets going."""
    watch = watched(nika_nb.run(ASK))
    form = forms(watch)["ask"]
    watch.clear()
    press(form, "Yes, continue")
    assert len(traces(folder)) == 1


def test_who_is_forgotten_while_he_is_asked_is_not_looked_at() -> None:
    """His widgets are closed."""
    lookout = Lookout(60)

    class Asked:
        looked = 0

        def stamp(self) -> tuple[int, ...]:
            if self.looked == 0:
                lookout.forget(self)
            return (1,)

        def look(self) -> bool:
            self.looked += 1
            return True

    asked = Asked()
    lookout.watch(asked)
    lookout.glance()
    assert (asked.looked, dict(lookout._open)) == (0, {})


# -- a forecast, a replay ----------------------------------------------------------------------


def _proposed(carried: list[str]) -> Proposal:
    def carry(_: Any) -> Any:
        carried.append("run")
        return blanks(1)[0]

    return Proposal(forecast(nika_nb.run(ASK).request), "%%nika", carry)


def test_a_cell_that_runs_again_takes_no_panel_that_comes_up_just_then(
    shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its run is at work."""
    found = _proposed([])
    comes = Meeting(found.clear, (found, "_turn"))
    panels = list[Any]()

    def update(*_: Any) -> None:
        panels.extend(found.box.children)
        comes()

    monkeypatch.setattr(proposal, "update", update)
    found.button.click()
    comes.over()
    (panel,) = panels
    assert panel.comm is not None


def test_a_forecast_whose_cell_has_run_again_begins_nothing(shown: Shown) -> None:
    """The click was on its way."""
    carried = list[str]()
    found = _proposed(carried)
    found.clear()
    found.button.click()
    assert carried == []


def test_a_player_shows_the_step_that_its_slider_stands_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it was moved while the one before was being drawn."""
    player = Player(replayed(write(tmp_path, story())))
    comes = Meeting(lambda: setattr(player.slider, "value", 4), (player, "_turn"))
    player._status.observe(comes, "value")
    player.slider.value = 1
    comes.over()
    assert "broken failed" in player._status.value
    assert "3 ok · 1 failed · 2 left" in player._state.value


def test_two_steps_forward_in_one_moment_are_two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """None is lost."""
    player = Player(replayed(write(tmp_path, story())))
    comes = Meeting(player.forth.click, (player, "_turn"))

    def slowly(most: int, step: int) -> int:
        comes()
        return min(most, step)

    monkeypatch.setattr(replay, "min", slowly, raising=False)
    player.forth.click()
    comes.over()
    assert player.slider.value == 2
