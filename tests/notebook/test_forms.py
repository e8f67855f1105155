"""The form of an open prompt: every way to click it, and what it says back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from nika_nb.engine.contract import Prompt
from nika_nb.errors import UsageError
from nika_nb.notebook.forms import Form, labels
from nika_nb.runs import ticket

CONFIRM = Prompt("ask", "confirm", "Ship it?", gates=("ship",))
CHOICE = Prompt("pick", "choice", "Which?", ("red", "blue"))
INPUT = Prompt("note", "input", "A word?", item=3)


class Door:
    """Takes answers; refuses what it is told to refuse."""

    def __init__(self, refuse: Exception | None = None) -> None:
        self.taken: list[tuple[str, Any]] = []
        self.refuse = refuse

    def __call__(self, prompt: Prompt, value: Any) -> None:
        if self.refuse:
            raise self.refuse
        self.taken.append((prompt.key, value))


def said(form: Form) -> str:
    return str(form._told.value)


def button(form: Form, label: str) -> Any:
    return next(button for button in form.buttons if button.description == label)


@pytest.mark.parametrize(("label", "value"), [("Yes, continue", True), ("No", False)])
def test_a_confirm_has_two_named_buttons(label: str, value: bool) -> None:
    """What a click means stands on the button."""
    door = Door()
    button(Form(CONFIRM, door), label).click()
    assert door.taken == [("ask", value)]


def test_a_double_click_answers_once() -> None:
    """A second click is queued before the first has disabled the button; it must do nothing."""
    door = Door()
    form = Form(CONFIRM, door)
    yes = button(form, "Yes, continue")
    yes.click()
    yes.click()
    button(form, "No").click()
    assert door.taken == [("ask", True)]
    assert all(other.disabled for other in form.buttons)


def test_a_click_within_a_click_answers_once() -> None:
    """The form is closed to clicks before the answer is handed over."""
    taken: list[Any] = []

    def door(prompt: Prompt, value: Any) -> None:
        taken.append(value)
        button(form, "No").click()

    form = Form(CONFIRM, door)
    button(form, "Yes, continue").click()
    assert taken == [True]


def test_a_choice_is_empty_until_something_is_chosen() -> None:
    """Nothing is preselected; a submit without a choice is explained and consumes nothing."""
    door = Door()
    form = Form(CHOICE, door)
    submit = button(form, "Submit")
    submit.click()
    assert door.taken == []
    assert "Nothing is chosen yet" in said(form)
    form._field.value = 1
    submit.click()
    assert door.taken == [("pick", "blue")]


def test_an_empty_text_is_asked_about_once() -> None:
    """An empty answer is legal and most often a slip: the second submit means it."""
    door = Door()
    form = Form(INPUT, door)
    submit = button(form, "Submit")
    submit.click()
    assert (door.taken, "The answer is empty" in said(form)) == ([], True)
    submit.click()
    assert door.taken == [("note[3]", "")]


def test_a_text_is_handed_over_as_it_was_written() -> None:
    """No trimming, no interpretation."""
    door = Door()
    form = Form(INPUT, door)
    form._field.value = " yes\n"
    button(form, "Submit").click()
    assert door.taken == [("note[3]", " yes\n")]


def test_a_refused_answer_is_explained_and_can_be_given_again() -> None:
    """A wrong value consumes nothing; the sentence is text, not markup."""
    door = Door(UsageError("`<b>` is none of red, blue"))
    form = Form(CHOICE, door)
    form._field.value = 0
    button(form, "Submit").click()
    assert "`&lt;b&gt;` is none of red, blue" in said(form)
    assert not button(form, "Submit").disabled
    door.refuse = None
    button(form, "Submit").click()
    assert door.taken == [("pick", "red")]


def test_an_exception_in_the_callback_is_shown_in_the_form(capsys: pytest.CaptureFixture[str]) -> None:
    """No cell would show it: it is neither raised nor printed, and the form stays usable."""
    form = Form(CONFIRM, Door(RuntimeError("<img src=x>")))
    button(form, "Yes, continue").click()
    assert "RuntimeError: &lt;img src=x&gt;" in said(form)
    assert not any(other.disabled for other in form.buttons)
    assert capsys.readouterr() == ("", "")


def test_an_answer_that_is_refused_later_opens_the_form_again() -> None:
    """A preflight can find something missing after the click was taken."""
    form = Form(CONFIRM, Door())
    button(form, "Yes, continue").click()
    form.refuse("`pandoc` is not installed: the answer was not used")
    assert "pandoc" in said(form)
    assert not button(form, "No").disabled


def test_a_form_that_was_answered_elsewhere_does_nothing_more() -> None:
    """Its buttons are gone and dead, and it says why."""
    door = Door()
    form = Form(CONFIRM, door)
    yes = button(form, "Yes, continue")
    form.close("answered from the command line")
    yes.click()
    assert door.taken == []
    assert yes not in form.box.children
    assert "answered from the command line" in said(form)
    form.refuse("too late")  # what was said of a click that is still under way
    form.hold("not now")
    assert "answered from the command line" in said(form)
    assert yes.disabled


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "\x1b[31m\u202edlrow", "x" * 100_000])
def test_hostile_questions_are_text(text: str) -> None:
    """Options are shown as text of bounded length; the answer is the choice as it was given."""
    door = Door()
    form = Form(Prompt("pick", "choice", text, (text, "b")), door)
    label, _ = form._field.options[0]
    assert len(label) <= 200
    assert "\u202e" not in label
    assert "\x1b" not in label
    form._field.value = 0
    button(form, "Submit").click()
    assert door.taken == [("pick", text)]


def test_declining_is_asked_about_once() -> None:
    """It cannot be taken back: the first click says what it means, the second does it."""
    door, declined = Door(), []
    form = Form(INPUT, door, lambda prompt: declined.append(prompt.key))
    decline = button(form, "Decline")
    decline.click()
    assert (declined, "`note[3]` has no answer" in said(form)) == ([], True)
    button(form, "Submit").click()  # something else is clicked: what was said before is forgotten
    decline.click()
    assert declined == []
    decline.click()
    assert (declined, door.taken) == (["note[3]"], [])


def test_a_confirm_is_refused_by_no() -> None:
    """There is nothing that declining would add to it."""
    labels = [one.description for one in Form(CONFIRM, Door(), lambda prompt: None).buttons]
    assert labels == ["Yes, continue", "No"]


def test_an_old_question_is_looked_at_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quarter of an hour after it was shown a click is confirmed, once; a pause itself never expires."""
    clock = [1_000_000.0]
    monkeypatch.setattr(ticket, "now", lambda: clock[0])
    door = Door()
    form = Form(CONFIRM, door)
    clock[0] += ticket.TTL + 1
    yes = button(form, "Yes, continue")
    yes.click()
    assert (door.taken, "more than 15 minutes" in said(form)) == ([], True)
    clock[0] += ticket.TTL  # shown anew, and fresh from then on
    yes.click()
    assert door.taken == [("ask", True)]


def test_a_day_later_a_text_is_still_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """The confirmation of an old question costs a click, never what was written."""
    clock = [1_000_000.0]
    monkeypatch.setattr(ticket, "now", lambda: clock[0])
    door = Door()
    form = Form(INPUT, door)
    form._field.value = "a long answer"
    clock[0] += 86_400
    button(form, "Submit").click()
    button(form, "Submit").click()
    assert door.taken == [("note[3]", "a long answer")]


@pytest.mark.parametrize(("prompt", "draft"), [(INPUT, "half a sen"), (CHOICE, 1)], ids=["text", "choice"])
def test_a_draft_survives_a_redraw(prompt: Prompt, draft: Any) -> None:
    """Another form of the same question goes on with what was begun; one of another run does not."""
    form = Form(prompt, Door(), run_id="one")
    form._field.value = draft
    again = Form(prompt, Door(), run_id="one")
    assert again._field.value == draft
    assert Form(prompt, Door(), run_id="two")._field.value in (None, "")
    again.close("answered")
    assert Form(prompt, Door(), run_id="one")._field.value in (None, "")


def test_a_form_that_is_held_opens_again_with_its_draft() -> None:
    """While the run is at work on something else, nothing can be clicked and nothing is lost."""
    door = Door()
    form = Form(INPUT, door)
    form._field.value = "x"
    form.hold("The run is at work.")
    button(form, "Submit").click()
    assert (door.taken, form._field.disabled, "at work" in said(form)) == ([], True, True)
    form.release()
    assert (form._field.value, form._field.disabled, said(form)) == ("x", False, "")
    button(form, "Submit").click()
    assert door.taken == [("note[3]", "x")]


def test_a_default_is_offered() -> None:
    """It stands in the form to be sent or changed; one that could not be read in full does not."""
    text = Prompt("note", "input", "?", default="main", has_default=True)
    assert Form(text, Door())._field.value == "main"
    assert Form(replace(text, default="a\u202eb"), Door())._field.value == ""
    choice = replace(CHOICE, default="blue", has_default=True)
    assert Form(choice, Door())._field.value == 1
    assert Form(replace(choice, default="none of them"), Door())._field.value is None


def test_choices_can_be_told_apart() -> None:
    """What looks alike once it is cleaned is numbered, what is empty is called so."""
    assert labels(("a", "a\u200b", "", " ", "b")) == ["a", "a (2)", "(empty)", "(empty) (4)", "b"]


def test_very_many_choices_stand_in_a_list() -> None:
    """Hundreds of radio buttons would be no form any more."""
    door = Door()
    form = Form(Prompt("pick", "choice", "?", tuple(map(str, range(500)))), door)
    form._field.value = 499
    button(form, "Submit").click()
    assert (type(form._field).__name__, door.taken) == ("Select", [("pick", "499")])
