"""A click overtakes what was typed before it: the answer is what the page had, not what the kernel knew."""

from __future__ import annotations

from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from ipywidgets import Textarea

from nika_nb.notebook import echo
from nika_nb.notebook.echo import MISSED, Echo, Echoes
from nika_nb.notebook.forms import Form
from nika_nb.runs.run import Prompt
from tests.doors import wait_for


class Page:
    """A page with one field, that echoes when it is told to."""

    def __init__(self) -> None:
        self.field = Textarea()
        self.echo = Echo(self.field)

    def answer(self, **held_back: Any) -> None:
        """Says what it had held back, and the echo, in one message."""
        self.field.set_state({"echoed": self.field.asked, **held_back})


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Page:
    """None of this kernel has echoed yet."""
    monkeypatch.setattr(echo, "_heard_once", False)
    return Page()


def test_nothing_is_done_before_the_page_has_echoed(page: Page) -> None:
    """Each click waits for its own."""
    done = list[str]()
    page.echo.then(lambda: done.append("first"), done.append)
    assert done == []
    page.answer()
    assert done == ["first"]
    page.echo.then(lambda: done.append("second"), done.append)
    assert done == ["first"]
    page.answer()
    assert done == ["first", "second"]


def test_what_comes_with_the_echo_is_part_of_the_answer(page: Page) -> None:
    """Another widget could be heard before it, in another thread: the link is of the field alone."""
    done = list[str]()
    page.field.value = "Nightl"
    page.echo.then(lambda: done.append(page.field.value), done.append)
    page.answer(value="Nightly")
    assert done == ["Nightly"]
    assert {page.echo.link.source, page.echo.link.target} == {(page.field, "asked"), (page.field, "echoed")}


def test_a_page_that_knows_no_echo_is_not_waited_for_long(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its forms work as far as they can."""
    monkeypatch.setattr(echo, "PATIENCE", 0.01)
    done = list[str]()
    page.echo.then(lambda: done.append("done"), done.append)
    wait_for(lambda: done == ["done"], "the end of the waiting")


def test_a_page_that_went_away_gives_no_half_answer(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has echoed before: what is missing now may be half of what was typed."""
    monkeypatch.setattr(echo, "PATIENCE", 0.01)
    done = list[str]()
    page.echo.then(lambda: done.append("done"), done.append)
    page.answer()
    page.echo.then(lambda: done.append("half"), done.append)
    wait_for(lambda: done == ["done", MISSED], "the end of the waiting")
    page.answer()  # late, and of no use any more
    assert done == ["done", MISSED]


def test_while_a_cell_works_the_page_is_waited_for(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has not gone: an older kernel hears its echo when the cell has ended."""
    monkeypatch.setattr(echo, "PATIENCE", 0.01)
    monkeypatch.setattr(echo, "_heard_once", True)
    looks, done = list[str](), list[str]()

    def works() -> bool:
        looks.append("at work")
        return True

    monkeypatch.setattr(echo, "cell_at_work", works)
    page.echo.then(lambda: done.append("done"), done.append)
    wait_for(lambda: len(looks) > 3, "looks at the cell")
    page.answer()
    assert done == ["done"]


def test_a_shell_tells_whether_a_cell_works() -> None:
    """And when it has ended."""
    shell = InteractiveShell.instance()
    shell.user_ns["works"] = echo.cell_at_work
    assert shell.run_cell("works()").result is True
    assert not echo.cell_at_work()


def test_without_a_kernel_there_is_no_page_to_wait_for() -> None:
    """As in a test, or a plain shell."""
    assert not echo.has_page()


def test_a_form_that_goes_takes_its_link_along(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it was answered, or nobody sees it any more."""
    monkeypatch.setattr(echo, "has_page", lambda: True)
    for end in (lambda form: form.close("answered"), lambda form: form.leave()):
        form = Form(Prompt("note", "input", "A word?"), lambda *_: None)
        form.buttons[0].click()
        (link,) = (one.link for one in form._echoes._echoes)
        end(form)
        assert link.comm is None


def test_fields_that_a_click_acts_on_are_asked_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes of the first one may change the second."""
    monkeypatch.setattr(echo, "has_page", lambda: True)
    first, second, done = Textarea(), Textarea(), list[str]()
    first.observe(lambda _: setattr(second, "value", ""), "value")
    echoes = Echoes(first, second)
    echoes.then(lambda: done.append(f"{first.value} {second.value}"), done.append)
    assert (first.asked, second.asked) == (1, 0)
    first.set_state({"value": "rows", "echoed": 1})
    assert (second.asked, done) == (1, [])
    second.set_state({"value": "12", "echoed": 1})
    assert done == ["rows 12"]
    echoes.close()
