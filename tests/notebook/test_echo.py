"""A click overtakes what was typed before it: the answer is what the page had, not what the kernel knew."""

from __future__ import annotations

import pytest

from nika_nb.notebook import echo
from nika_nb.notebook.echo import MISSED, Echo
from tests.doors import wait_for


class Page:
    """Echoes when it is told to."""

    def __init__(self, found: Echo) -> None:
        self._echo = found

    def answer(self) -> None:
        self._echo._answer.value = self._echo._call.value


def test_nothing_is_done_before_the_page_has_echoed() -> None:
    """One echo answers for every call before it, each once, in their order."""
    found, done = Echo(), list[str]()
    found.then(lambda: done.append("first"), done.append)
    found.then(lambda: done.append("second"), done.append)
    assert done == []
    Page(found).answer()
    assert done == ["first", "second"]
    found.then(lambda: done.append("third"), done.append)
    Page(found).answer()
    assert done == ["first", "second", "third"]


def test_a_page_that_knows_no_echo_is_not_waited_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its forms work as far as they can."""
    monkeypatch.setattr(echo, "PATIENCE", 0.01)
    found, done = Echo(), list[str]()
    found.then(lambda: done.append("done"), done.append)
    wait_for(lambda: done == ["done"], "the end of the waiting")


def test_a_page_that_went_away_gives_no_half_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has echoed before: what is missing now may be half of what was typed."""
    monkeypatch.setattr(echo, "PATIENCE", 0.01)
    found, done = Echo(), list[str]()
    found.then(lambda: done.append("done"), done.append)
    Page(found).answer()
    found.then(lambda: done.append("half"), done.append)
    wait_for(lambda: done == ["done", MISSED], "the end of the waiting")
    Page(found).answer()  # late, and of no use any more
    assert done == ["done", MISSED]


def test_without_a_kernel_there_is_no_page_to_wait_for() -> None:
    """As in a test, or a plain shell."""
    done = list[str]()
    echo.settled(lambda: done.append("done"), done.append)
    assert done == ["done"]
