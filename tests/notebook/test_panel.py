"""The live panel: what is sent while a run goes on, and what stays when it has stopped."""

from __future__ import annotations

from typing import Any

from nika_nb.board import mimebundle
from nika_nb.board.state import Board, board_of
from nika_nb.notebook.panel import Panel
from tests.board.scripted import START, crash, resume
from tests.notebook.conftest import Shown

WIDGET = "application/vnd.jupyter.widget-view+json"
SECOND = 10**9


def live() -> Board:
    return board_of(crash().events, live=True)


class Sends:
    """Counts the trait updates that would go over the wire."""

    def __init__(self, panel: Panel) -> None:
        self.names: list[str] = []
        for widget in (*panel.box.children, panel.box.layout):
            widget.observe(self._seen)

    def _seen(self, change: Any) -> None:
        self.names.append(change["name"])


def texts(panel: Panel) -> str:
    return " ".join(child.value for child in panel.box.children if hasattr(child, "value"))


def buttons(panel: Panel) -> dict[str, Any]:
    rows = [child for child in panel.box.children if hasattr(child, "children")]
    return {button.description: button for row in rows for button in row.children}


def test_a_panel_is_one_display_with_its_still_beside_the_widget(shown: Shown) -> None:
    """A front-end without widgets shows HTML or text instead."""
    Panel(live()).show()
    (bundle,) = shown.now
    assert set(bundle) == {WIDGET, "text/html", "text/plain"}
    assert "hash_notes" in bundle["text/html"]


def test_at_the_end_the_still_stands_there_without_a_widget(shown: Shown) -> None:
    """The saved notebook holds HTML and text only; the widget holds the still for a reloaded page."""
    panel = Panel(live())
    panel.show()
    board = board_of(resume().events)
    panel.finish(board)
    assert shown.now == [mimebundle(board)]
    assert [child.value for child in panel.box.children] == [mimebundle(board)["text/html"]]


def test_only_what_changed_is_sent() -> None:
    """The head ticks; the table is sent when a task changed or a second has passed."""
    board = live()
    panel = Panel(board)
    now = START + 3 * SECOND + SECOND // 2
    panel.paint(board, now)
    sends = Sends(panel)
    panel.paint(board, now)
    panel.paint(board, now)
    assert len(sends.names) <= 1  # the sign may have turned
    sends.names.clear()
    panel.paint(board, now + SECOND // 10)
    assert sends.names == ["value"]
    sends.names.clear()
    panel.paint(board, now + SECOND)
    assert sends.names == ["value", "value"]


def test_a_run_that_a_cell_waits_for_has_no_buttons() -> None:
    """No click would be delivered: the kernel's own interrupt is named instead."""
    panel = Panel(live())
    assert not buttons(panel)
    assert "interrupt the kernel" in texts(panel)


def test_stop_is_called_once() -> None:
    """The button of a background run ends it, and shows that it was pressed."""
    calls: list[str] = []
    panel = Panel(live(), lambda: calls.append("stop"))
    stop = buttons(panel)["Stop"]
    stop.click()
    assert calls == ["stop"]
    assert (stop.disabled, stop.description) == (True, "Stopping…")


def test_a_callback_that_breaks_is_told_in_the_panel() -> None:
    """Nothing that a callback raises would be shown by a cell; markup in it stays text."""

    def broken() -> None:
        raise ValueError("<script>no</script>")

    panel = Panel(live(), broken)
    buttons(panel)["Stop"].click()
    assert "ValueError: &lt;script&gt;no&lt;/script&gt;" in texts(panel)


def test_the_journal_can_be_looked_at_while_the_run_goes_on() -> None:
    """Jupyter hides the folder it lies in; the panel does not, as often as it is asked."""
    held = [b'{"kind":"a"}\n', b'{"kind":"a"}\n{"kind":"b"}\n']
    panel = Panel(live(), lambda: None, lambda: ("x.ndjson", held.pop(0)))
    look = buttons(panel)["View trace"]
    look.click()
    assert "1 event" in texts(panel)
    assert 'download="x.ndjson"' in texts(panel)
    look.click()
    assert "2 events" in texts(panel)


def test_after_an_answer_the_panel_lives_again_in_its_place(shown: Shown) -> None:
    """One display over all the answers of a run."""
    panel = Panel(live())
    panel.show()
    panel.finish(live())
    panel.reopen(live(), lambda: None)
    assert [set(bundle) for bundle in shown.now] == [{WIDGET, "text/html", "text/plain"}]
    assert "Stop" in buttons(panel)
    panel.finish(board_of(resume().events))
    assert [set(bundle) for bundle in shown.now] == [{"text/html", "text/plain"}]
    assert not buttons(panel)


def test_a_broken_run_leaves_its_state_and_what_was_said(shown: Shown) -> None:
    """The panel does not go on spinning over a run that has no engine any more."""
    board = live()
    panel = Panel(board)
    panel.show()
    panel.failure("the disk is <full>")
    (bundle,) = shown.now
    assert board.state == "incomplete"
    assert "the disk is &lt;full&gt;" in bundle["text/html"]
    assert bundle["text/plain"].endswith("the disk is <full>")
    assert "the disk is &lt;full&gt;" in texts(panel)
