"""The live panel: what is sent while a run goes on, and what stays when it has stopped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ipywidgets import HTML, Button, ToggleButtons

from nika_nb.board import mimebundle
from nika_nb.board.rows import Items
from nika_nb.board.state import Board, board_of
from nika_nb.notebook.panel import Panel
from tests.board.scripted import START, Script, crash, resume
from tests.notebook.conftest import Shown

WIDGET = "application/vnd.jupyter.widget-view+json"
SECOND = 10**9


def live() -> Board:
    return board_of(crash().events, live=True)


def widgets(root: Any) -> Iterator[Any]:
    """A widget and everything in it."""
    yield root
    for child in getattr(root, "children", ()):
        yield from widgets(child)


def texts(panel: Panel) -> str:
    return " ".join(str(widget.value) for widget in widgets(panel.box) if isinstance(widget, HTML))


def buttons(panel: Panel) -> dict[str, Any]:
    return {widget.description: widget for widget in widgets(panel.box) if isinstance(widget, Button)}


def switch(panel: Panel) -> Any:
    return next(widget for widget in widgets(panel.box) if isinstance(widget, ToggleButtons))


class Sends:
    """Counts the trait updates that would go over the wire."""

    def __init__(self, panel: Panel) -> None:
        self.sent: list[str] = []
        for widget in (*widgets(panel.box), panel.box.layout):
            widget.observe(self._seen, ["value", "border_left", "children"])

    def _seen(self, change: Any) -> None:
        self.sent.append(str(change["new"]))


TWIN = {"text/html", "text/plain"}


def test_a_panel_is_a_still_and_a_live_view_that_hides_it(shown: Shown) -> None:
    """A front-end without widgets, or a page whose kernel has gone in the middle, shows the still. A page
    that stands open then keeps the live view, which is newer, and says that it has stopped.
    """
    panel = Panel(live())
    panel.show()
    still, view = shown.now
    assert set(still) == TWIN
    assert "hash_notes" in still["text/html"]
    assert "%nika attach" in still["text/plain"]
    assert (set(view), view["text/html"], view["text/plain"]) == ({WIDGET, *TWIN}, "", "")
    (name,) = re.findall('^<div class="([^"]+)-still">', still["text/html"])
    assert f"<style>.{name}-still{{display:none}}" in texts(panel)
    assert f".{name}.jupyter-widgets-disconnected .nika-gone{{display:block !important}}" in texts(panel)
    assert name in panel.box._dom_classes


def test_at_the_end_the_still_stands_there_without_a_widget(shown: Shown) -> None:
    """The saved notebook holds HTML and text only; the widget holds the still for a reloaded page."""
    panel = Panel(live())
    panel.show()
    board = board_of(resume().events)
    panel.finish(board)
    still, view = shown.now
    assert still["text/plain"] == mimebundle(board)["text/plain"]
    assert mimebundle(board)["text/html"] in still["text/html"]
    assert view == {"text/html": "", "text/plain": ""}
    assert panel.box.children[1].value == mimebundle(board)["text/html"]


def test_what_stands_below_the_still_is_shown_with_it_and_goes_alone(shown: Shown) -> None:
    """To a page that was loaded in the middle it stands below the still that the widget holds."""
    panel = Panel(live())
    panel.show()
    below = Button()
    panel.finish(board_of(resume().events), after=below)
    assert [set(bundle) for bundle in shown.now] == [TWIN, {WIDGET, *TWIN}]
    assert panel.box.children[-1] is below
    panel.alone()
    assert [set(bundle) for bundle in shown.now] == [TWIN, TWIN]
    assert below not in panel.box.children


def test_only_what_changed_is_sent_and_one_piece_at_a_time() -> None:
    """Nothing while nothing happens; when a second has passed the head, then the rows, then the picture."""
    board = live()
    panel = Panel(board)
    now = START + 3 * SECOND + SECOND // 2
    for _ in range(40):
        now += SECOND // 100
        panel.paint(board, now)
    sends = Sends(panel)
    for _ in range(9):
        panel.paint(board, now)
    assert sends.sent == []
    for step in range(1, 6):
        before = len(sends.sent)
        panel.paint(board, now + SECOND + step * SECOND // 5)
        assert len(sends.sent) - before <= 1
    assert any(re.search("pack_assets.*>5s<", text) for text in sends.sent)
    assert any("running</b>" in text for text in sends.sent)


def test_a_screen_reader_is_told_of_turns_and_not_of_ticks() -> None:
    """The live region changes with the state, a failure, a quarter; everything that ticks stands outside."""
    board = live()
    panel = Panel(board)
    panel.paint(board)
    assert texts(panel).count("aria-live") == 1
    (said,) = re.findall('aria-atomic="true"[^>]*>([^<]*)<', texts(panel))
    assert said == "nightly-archive: running, 50 percent done"
    for second in range(60):
        panel.paint(board, START + second * SECOND)
    assert re.findall('aria-atomic="true"[^>]*>([^<]*)<', texts(panel)) == [said]
    board.become(board.rows["pack_assets"], "failed")
    panel.paint(board)
    assert "running, 75 percent done, 1 failed" in texts(panel)


def many(count: int) -> Board:
    script = Script()
    for at in range(count):
        script.task(f"t{at}", "exec · x", *([f"t{at - 1}"] if at % 7 else []))
    return board_of(script.events, live=True)


def test_a_small_picture_stands_above_the_rows() -> None:
    """Graph and timeline are there without being asked for, and no switch is in the way."""
    panel = Panel(live())
    panel.paint(live())
    assert "graph of 4 tasks" in texts(panel)
    assert switch(panel).layout.display == "none"


def test_large_pictures_and_fan_outs_stand_behind_a_switch_that_needs_no_kernel() -> None:
    """What is chosen is a matter of the page: the two widgets are linked there."""
    panel = Panel(many(100))
    panel.paint(many(100))
    assert switch(panel).options == ("Tasks", "Graph and timeline")
    assert switch(panel).layout.display != "none"
    fan = many(100)
    fan.row("t3").items = Items(total=5, done=2)
    panel.paint(fan)
    assert switch(panel).options == ("Tasks", "Graph and timeline", "Items")
    assert "items of t3 · 2/5" in texts(panel)
    assert panel._live._link.source == (switch(panel), "index")
    assert panel._live._link.target[1] == "selected_index"


def test_what_the_file_would_keep_is_kept_up_to_date_and_small(shown: Shown) -> None:
    """Every few seconds the display's own text follows; of a thousand tasks it holds a window."""
    board = many(1000)
    panel = Panel(board)
    panel.show()
    sent = len(shown.sent)
    board.become(board.rows["t5"], "running")
    board.version += 1
    for step in range(50):
        panel.paint(board, START + step * SECOND // 5)
    assert 1 <= len(shown.sent) - sent <= 3
    bundle = shown.now[0]
    assert "t5" in bundle["text/html"]
    assert "and 960 more" in bundle["text/plain"]
    assert len(bundle["text/html"]) < 120_000


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
    """The same two displays over all the answers of a run."""
    panel = Panel(live())
    panel.show()
    panel.finish(live())
    panel.reopen(live(), lambda: None)
    assert [set(bundle) for bundle in shown.now] == [TWIN, {WIDGET, *TWIN}]
    assert "Stop" in buttons(panel)
    panel.finish(board_of(resume().events))
    assert [set(bundle) for bundle in shown.now] == [TWIN, TWIN]
    assert not buttons(panel)


def test_a_broken_run_leaves_its_state_and_what_was_said(shown: Shown) -> None:
    """The panel does not go on spinning over a run that has no engine any more."""
    board = live()
    panel = Panel(board)
    panel.show()
    panel.failure("the disk is <full>")
    bundle = shown.now[0]
    assert board.state == "incomplete"
    assert "the disk is &lt;full&gt;" in bundle["text/html"]
    assert bundle["text/plain"].endswith("the disk is <full>")
    assert "the disk is &lt;full&gt;" in texts(panel)
