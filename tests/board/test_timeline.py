"""The timeline of a run: when each task ran, as bars and as text."""

from __future__ import annotations

import re

import pytest

from nika_nb.board.state import board_of
from nika_nb.board.timeline import DRAWN, timeline_html, timeline_svg, timeline_text
from tests.board.scripted import START, Script, crash, resume


def bars(svg: str) -> dict[str, tuple[float, float]]:
    """Task → where its bar begins and how long it is."""
    found = re.findall(
        r"<title>(\w+) [^<]*</title><text[^>]*>[^<]*</text><rect x='([\d.]+)' y='[\d.]+' width='([\d.]+)'",
        svg,
    )
    return {task: (float(x), float(width)) for task, x, width in found}


def test_bars_stand_where_and_as_long_as_tasks_ran() -> None:
    """Side by side what ran side by side, one after the other what waited, to scale."""
    script = Script().go("a", "x").go("b", "x").after(1000).ok("a", "x", 1000).go("c", "x")
    script.after(3000).ok("b", "x", 4000).ok("c", "x", 3000)
    found = bars(timeline_svg(board_of(script.say("workflow_completed").events)))
    assert found["a"][0] == found["b"][0]
    assert found["c"][0] == pytest.approx(found["a"][0] + found["a"][1], abs=0.3)
    assert found["b"][1] == pytest.approx(4 * found["a"][1], abs=0.5)


def test_the_table_has_the_same_bars_in_percent() -> None:
    """Where a bar begins and how long it is, also told to those who do not see it."""
    script = Script().go("a", "x").after(1000).ok("a", "x", 1000).go("c", "x").after(3000).ok("c", "x", 3000)
    page = timeline_html(board_of(script.say("workflow_completed").events))
    assert re.findall(r'aria-label="(from [^"]*)" style="flex:none;width:([\d.]+)%', page) == [
        ("from 0ms on", "0"),
        ("from 1.0s on", "25"),
    ]
    assert re.findall(r"min-width:2px;width:([\d.]+)%", page) == ["25", "75"]


def test_what_runs_grows_with_the_clock() -> None:
    """A running task has run until now; once the run is over, until its last event."""
    board = board_of(crash().events, live=True)
    short, long = (bars(timeline_svg(board, START + at * 10**9))["pack_assets"][1] for at in (1, 50))
    assert short != long
    assert "50.0s" in timeline_svg(board, START + 50 * 10**9 + 28 * 10**6)
    board.close()
    assert "50.0s" not in timeline_svg(board, START + 50 * 10**9)


def test_a_cache_hit_is_a_sign_and_took_no_time() -> None:
    """It is told by its sign and its word, not by a bar."""
    svg = timeline_svg(board_of(resume().events))
    assert set(bars(svg)) == {"pack_assets", "manifest"}
    assert "hash_notes · cache hit (resume) · cached · cache hit" in svg
    assert re.search(r"hash_notes .*▕↷ +▏ cache hit", timeline_text(board_of(resume().events)))


def test_the_text_has_the_same_bars() -> None:
    """One line a task: name, bar, time."""
    lines = timeline_text(board_of(resume().events)).split("\n")
    assert [line.split()[0] for line in lines] == ["hash_notes", "count_notes", "pack_assets", "manifest"]
    assert lines[2].endswith("█" * 32 + "▏ 13.2s")
    assert lines[3].endswith("█▏ 8ms")


def test_of_very_many_tasks_the_longest_are_drawn_and_that_is_said() -> None:
    """A timeline stays one screen high, and says how many it leaves out."""
    script = Script()
    for at in range(500):
        script.go(f"t{at}", "x").after(at % 50).ok(f"t{at}", "x", at % 50)
    svg = timeline_svg(board_of(script.events))
    assert len(bars(svg)) == DRAWN
    assert "and 440 shorter tasks" in svg
    assert "and 440 shorter tasks" in timeline_text(board_of(script.events))
    assert len(svg) < 40_000


@pytest.mark.parametrize("span", [0, 1, 7, 999, 61_000, 3_600_000, 10**9, 10**13])
def test_an_axis_has_a_few_round_moments(span: int) -> None:
    """From a millisecond to a century, between one and six."""
    script = Script().go("a", "x").after(span).ok("a", "x", span)
    ticks = timeline_svg(board_of(script.events)).count("font-size='9.5'")
    assert 1 <= ticks <= 6


def test_a_journal_without_dispatches_is_drawn_from_durations() -> None:
    """Another engine's journal says only how long a task took, and when that was over."""
    script = Script().after(500).say("task_completed", task="a", note="x", duration_ms=300)
    assert "▕" in timeline_text(board_of(script.events))
    assert bars(timeline_svg(board_of(script.events)))["a"][1] > 100


def test_nothing_to_draw_is_an_empty_drawing() -> None:
    """A run that has not begun has no bars, and no error."""
    assert timeline_svg(board_of([])).startswith("<svg")
    assert timeline_text(board_of([])) == ""
