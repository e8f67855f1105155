"""An interrupt at every moment at which a page is changed: what was shown is followed by its still."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

import nika_nb
from nika_nb.interrupts import undisturbed
from nika_nb.notebook import closing
from nika_nb.notebook.clicks import INTERRUPTED, clicked
from nika_nb.notebook.shown import Spots
from nika_nb.notebook.watch import NikaInterrupted, Watch
from nika_nb.runs.request import document
from nika_nb.runs.run import Run, ready
from tests.doors import program, started, wait_for
from tests.notebook.conftest import Shown
from tests.notebook.test_actions import ASKS, ROWS, Page

WAITS = """\
nika: waits
permits: {exec: ["./until"]}
tasks:
  first: {exec: {command: ["./until"]}}
"""
UNFINISHED = "how the run stood when the page was last told"


@pytest.fixture(autouse=True)
def _alone(folder: Path) -> Iterator[None]:
    program(folder, "say", 'printf %s "$1"')
    program(folder, "until", "while [ ! -e go ]; do sleep 0.02; done")
    closing.retire()
    yield
    closing.retire()


class Interrupting:
    """Sends an interrupt right behind the n-th message that the main thread sends to the page."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.left = 0
        pub = InteractiveShell.instance().display_pub
        publish = pub.publish

        def sent(*args: Any, **more: Any) -> None:
            publish(*args, **more)
            if threading.current_thread() is threading.main_thread():
                self.left -= 1
                if self.left == 0:
                    signal.raise_signal(signal.SIGINT)

        monkeypatch.setattr(pub, "publish", sent)

    def at(self, moment: int, show: Callable[[], None]) -> bool:
        """Whether the page had been told so often; then the interrupt was felt, as one line."""
        self.left = moment
        try:
            show()
        except NikaInterrupted:
            return True
        finally:
            came, self.left = self.left <= 0, 0
        assert not came, "an interrupt was lost"
        return False


@pytest.fixture
def interrupting(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> Interrupting:
    return Interrupting(monkeypatch)


def watch_of(run: Run, spots: Spots | None = None) -> Watch:
    return Watch(run, Page(), spots=spots)  # type: ignore[arg-type]


def text(shown: Shown) -> str:
    return "\n".join(bundle["text/plain"] for bundle in shown.now)


@pytest.mark.parametrize("workflow", [ROWS, ASKS])
def test_a_cell_leaves_a_still_whenever_it_is_interrupted(
    shown: Shown, interrupting: Interrupting, workflow: str
) -> None:
    """Behind its panel's first message or its last: no panel stays at work, no question without its form."""
    request = nika_nb.run(workflow).request
    moment, felt = 1, True
    while felt:
        shown.sent.clear()
        run = ready(request)
        watch = watch_of(run)
        felt = interrupting.at(moment, lambda watch=watch, run=run: watch.block(run.begin))  # type: ignore[misc]
        assert UNFINISHED not in text(shown), moment
        assert run.state in ("completed", "paused", "cancelled")
        assert run.state in text(shown) or "3/3 done" in text(shown)
        assert ("◇ ask · Go on?" in text(shown)) == bool(run.prompts) == bool(watch.questions.forms)
        moment += 1
    assert moment > 4


def test_interrupts_on_the_heels_of_the_first_cut_nothing_short(
    shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They come before, between and behind the steps of an end: the cell has its still all the same."""
    end = Run.end_now

    def pressed(run: Run) -> None:
        for _ in range(3):
            signal.raise_signal(signal.SIGINT)
        end(run)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Run, "end_now", pressed)
    monkeypatch.setattr(Watch, "_pump", lambda watch: signal.raise_signal(signal.SIGINT))
    run = ready(document(WAITS).request())
    with pytest.raises(NikaInterrupted, match="was interrupted and its processes ended"):
        watch_of(run).block(run.begin)
    assert run.state == "cancelled"
    assert UNFINISHED not in text(shown)
    assert "cancelled" in text(shown)


@pytest.fixture
def waiting() -> Iterator[Run]:
    """A run at work until it is ended."""
    run = nika_nb.run(WAITS, background=True)
    wait_for(started(Path.cwd(), "first"), "its task at work")
    yield run
    run.cancel()
    run.wait()


@pytest.mark.parametrize("moment", [1, 2])
def test_a_run_that_was_begun_behind_a_cell_ends_with_its_still(
    shown: Shown, interrupting: Interrupting, waiting: Run, moment: int
) -> None:
    """An interrupt before the cell has returned ends it; it does not go on unseen."""
    spots, run = Spots(), ready(waiting.request)
    spots.reserve()
    watch = watch_of(run, spots)
    assert interrupting.at(moment, lambda: watch.background(run.begin))
    assert run.state == "cancelled"
    assert "⊘ cancelled" in text(shown)
    assert UNFINISHED not in text(shown)


@pytest.mark.parametrize("moment", [1, 2])
def test_who_stops_following_leaves_a_still_that_says_so(
    shown: Shown, interrupting: Interrupting, waiting: Run, moment: int
) -> None:
    """However little of the panel is there; the run goes on."""
    assert waiting.trace is not None
    watch = watch_of(nika_nb.attach(waiting.trace))
    assert interrupting.at(moment, watch.accompany)
    assert "not followed here any more; it goes on" in text(shown)
    assert UNFINISHED not in text(shown)
    assert waiting.running


def test_what_may_not_stand_half_done_is_done_before_an_interrupt_is_felt() -> None:
    """It is felt right behind, though something else went wrong within; what was to handle it does."""
    done: list[str] = []

    def inner() -> None:
        with undisturbed():
            signal.raise_signal(signal.SIGINT)
            done.append("inner")

    def outer() -> None:
        with undisturbed():
            inner()
            done.append("outer")
            raise ValueError

    with pytest.raises(KeyboardInterrupt):
        outer()
    assert done == ["inner", "outer"]
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        inner()
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_click_that_is_interrupted_says_so() -> None:
    """Its buttons can be pressed again; nothing is raised where no cell would show it."""
    said: list[str] = []
    assert not clicked(lambda: signal.raise_signal(signal.SIGINT), said.append)
    assert said == [INTERRUPTED]
