"""A fan-out, opened: a mark an item, the lines that are worth one, bounded whatever their number."""

from __future__ import annotations

import json
import re

import pytest

from nika_nb.board.html import LIVE_BOUND, live_items, still
from nika_nb.board.items import MARKS, items_svg, opened
from nika_nb.board.rows import KEPT_ITEMS, Row
from nika_nb.board.state import Board, board_of
from tests.board.scripted import Script
from tests.board.test_html import words

NOTE = "infer · mock/echo"


def fan(count: int, failed: tuple[int, ...] = (), running: tuple[int, ...] = (), cached: int = 0) -> Board:
    """A fan-out of that many items: the first ones recalled, some failed, some at work, the others done."""
    script = Script().task("all", f"{NOTE} · {count} items")
    for at in range(count):
        if at < cached:
            script.say("nb_item_completed", task="all", item=at, status="success", matched="{}")
            continue
        script.go("all", f"{NOTE} · {count} items", item=at)
        if at in running:
            continue
        error = json.dumps({"payload": {"error": {"code": "E-1", "message": f"no {at}"}}})
        how = {"status": "failure", "outcome": error} if at in failed else {"status": "success"}
        script.say(
            "nb_item_completed", task="all", item=at, duration_ms=at, output=json.dumps(f"r{at}"), **how
        )
    return board_of(script.events, live=True)


def row(board: Board) -> Row:
    return board.rows["all"]


def test_few_items_have_a_line_each() -> None:
    """Sign, number, time, result; what failed says why, in its own line."""
    said = words(opened(row(fan(6, failed=(2,), running=(5,), cached=1))))
    for line in ("↷ [0]", "✔ [1] 1ms → r1", "✖ [2] 2ms E-1 · no 2", "✔ [4] 4ms → r4", "◐ [5]"):
        assert line in said


def test_of_many_items_what_runs_what_was_slow_and_what_failed_is_told() -> None:
    """Ten thousand items take the room of a few lines."""
    failed = tuple(range(100, 140))
    board = fan(10_000, failed=failed, running=tuple(range(9000, 9030)), cached=50)
    page = opened(row(board))
    said = words(page)
    assert "◐ [9000] [9001]" in said
    assert "and 10 more" in said
    assert "slowest [9999] 10.0s · [9998] 10.0s" in said
    assert "✖ [100] E-1 · no 100" in said
    assert "and 20 more failed items" in said
    assert len(page) < 16_000
    assert len(live_items(board)) < LIVE_BOUND


def marks(svg: str) -> int:
    """How many marks are drawn: ten pixels each in a dashed run, or a cross."""
    runs = sum((int(width) + 2) // 10 for width in re.findall(r"M\d+ \d+h(\d+)", svg))
    return runs + svg.count("l8 8m-8 0l8-8")


@pytest.mark.parametrize("count", [1, 59, 60, 61, 599, 600])
def test_every_item_has_its_mark(count: int) -> None:
    """One mark an item as long as there is room, whatever their states."""
    board = fan(count, failed=(0, 30, 59, 60), running=(3, 4), cached=0)
    assert marks(items_svg(row(board))) == count


def test_of_very_many_items_the_worst_of_a_mark_is_shown() -> None:
    """A failure among those that share a mark is never covered by its neighbours."""
    svg = items_svg(row(fan(6000, failed=(777,))))
    assert marks(svg) == MARKS
    assert svg.count("l8 8m-8 0l8-8") == 1
    assert "10 to a mark" in svg


def test_no_state_of_an_item_is_told_by_colour_alone() -> None:
    """Each has a shape of its own, and the words say how many there are."""
    board = fan(10, failed=(2,), running=(5,), cached=1)
    svg = items_svg(row(board))
    looks = set(re.findall(r"<path d='[^']*' fill='none' stroke='[^']*' ([^/]*)/>", svg))
    assert len(looks) == svg.count("<path") == 4
    assert "1 running, 7 ok, 1 cached, 1 failed" in svg


def test_what_had_not_ended_when_the_run_was_over_is_open_again() -> None:
    """A cancelled fan-out has no item at work."""
    script = Script().task("all", f"{NOTE} · 3 items").go("all", f"{NOTE} · 3 items", item=1)
    board = board_of(script.say("task_cancelled", task="all", note="cancelled").events)
    assert "2 pending" in items_svg(row(board))  # of the third nothing was heard
    assert "running" not in items_svg(row(board))


def test_strange_numbers_cost_nothing() -> None:
    """A journal can claim any index; what is told apart is bounded, the figures still count."""
    script = Script().task("all", NOTE)
    for index in (10**12, -1, "x", None, 3.5, KEPT_ITEMS):
        script.say("nb_item_completed", task="all", item=index, status="success")
    items = row(board_of(script.events)).items
    assert items is not None
    assert (items.done, len(items.states)) == (6, 0)
    assert opened(row(board_of(script.events))) == ""


def test_a_fan_out_is_folded_until_it_is_opened() -> None:
    """In a still it unfolds below its row, by keyboard too; a live view has a page of its own for it."""
    page = still(fan(40))
    assert re.search(r"<details><summary[^>]*>items of all", page)
    assert page.count("<tr") == 3
    assert "items of all · 40/40" in words(live_items(fan(40)))


def test_of_many_fan_outs_those_at_work_come_first() -> None:
    """A live page has a bound; how many it leaves out stands below."""
    script = Script()
    for at in range(300):
        script.task(f"f{at}", f"{NOTE} · 50 items")
        for item in range(50):
            script.go(f"f{at}", f"{NOTE} · 50 items", item=item)
            script.say("nb_item_completed", task=f"f{at}", item=item, status="success")
        if at != 299:
            script.ok(f"f{at}", NOTE, 1)
    page = live_items(board_of(script.events, live=True))
    assert "items of f299" in words(page)
    assert re.search(r"and \d+ more fan-outs", words(page))
    assert len(page.encode()) < LIVE_BOUND + 500
