"""The form of an open prompt: every way to click it, and what it says back."""

from __future__ import annotations

from typing import Any

import pytest

from nika_nb.engine.contract import Prompt
from nika_nb.errors import UsageError
from nika_nb.notebook.forms import Form
from tests.notebook.conftest import Shown

CONFIRM = Prompt("ask", "confirm", "Ship it?", gates=("ship",))
CHOICE = Prompt("pick", "choice", "Which?", ("red", "blue"))
INPUT = Prompt("note", "input", "A word?", item=3)
LINE = "%nika answer ask=yes"
WIDGET = "application/vnd.jupyter.widget-view+json"


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
    return str(form._said.value)


def button(form: Form, label: str) -> Any:
    return next(button for button in form.buttons if button.description == label)


def test_the_question_and_the_form_are_two_outputs(shown: Shown) -> None:
    """A page whose kernel is gone still shows the first, and nothing false in place of the second."""
    Form(CONFIRM, Door(), run_id="01J", lines=[LINE]).show()
    question, form = shown.now
    assert set(question) == {"text/html", "text/plain"}
    assert "Ship it?" in question["text/plain"]
    assert LINE in question["text/plain"]
    assert set(form) == {WIDGET, "text/html", "text/plain"}
    assert (form["text/html"], form["text/plain"]) == ("", "")


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


def test_both_outputs_are_replaced_once_it_is_answered(shown: Shown) -> None:
    """The saved notebook holds question and answer, and no widget."""
    form = Form(CONFIRM, Door())
    form.show()
    form.resolved("answered: yes")
    assert shown.now == [
        {"text/html": shown.now[0]["text/html"], "text/plain": "  ◆ ask · Ship it?  → answered: yes"},
        {"text/html": "", "text/plain": ""},
    ]


def test_a_reloaded_page_sees_the_run_go_on_in_the_form() -> None:
    """Such a page forgot the displays; it hears the widgets, so the panel moves into the form."""
    from ipywidgets import HTML

    panel = HTML("live")
    form = Form(CONFIRM, Door())
    form.resolved("answered: yes", panel)
    assert form.box.children[-1] is panel
    assert "answered: yes" in form.box.children[0].value


def test_a_form_that_was_answered_elsewhere_does_nothing_more() -> None:
    """Its buttons are gone and dead, and it says why."""
    door = Door()
    form = Form(CONFIRM, door)
    yes = button(form, "Yes, continue")
    form.disable("answered from the command line")
    yes.click()
    assert door.taken == []
    assert yes not in form.box.children
    assert "answered from the command line" in said(form)


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
