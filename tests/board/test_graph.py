"""The graph of a run: where tasks stand, what is folded, what is said of what is left out."""

from __future__ import annotations

import random
import re
from itertools import pairwise

import pytest

from nika_nb.board.folding import DRAWN, PLAIN, folded
from nika_nb.board.graph import graph_svg, graph_text
from nika_nb.board.layout import layered
from nika_nb.board.state import Board, board_of
from tests.board.scripted import Script, crash, resume


def places(svg: str) -> dict[str, tuple[float, float]]:
    """Task → where its box stands."""
    found = re.findall(r"<title>(\w+) .*?<rect x='([\d.]+)' y='([\d.]+)'", svg)
    return {task: (float(x), float(y)) for task, x, y in found}


def graph(edges: dict[str, list[str]]) -> Board:
    """A board of tasks and what each waits for."""
    script = Script()
    for task, needs in edges.items():
        script.task(task, "exec · x", *needs)
    return board_of(script.events, live=True)


def test_a_task_stands_behind_everything_it_waits_for() -> None:
    """Left to right; what waits for nothing stands first."""
    at = {task: x for task, (x, _) in places(graph_svg(board_of(resume().events))).items()}
    assert at["hash_notes"] == at["count_notes"] < at["pack_assets"] < at["manifest"]


def test_boxes_and_arrows() -> None:
    """A box a task, an arrow an edge; small enough to travel with every still."""
    svg = graph_svg(board_of(resume().events))
    assert svg.count("<rect") == 4
    assert len(re.findall(r"\dC\d", svg)) == svg.count("l5 3.5l-5 3.5z") == 3
    assert len(svg) < 4000


def test_no_state_is_told_by_colour_alone() -> None:
    """Each box has its sign, and a title with the word."""
    svg = graph_svg(board_of(crash().events, live=True))
    for said in ("✔ hash_notes", "◐ pack_assets", "○ manifest", "1 running", "1 pending", "2 ok"):
        assert said in svg


def test_an_order_is_dashed_and_a_value_is_not() -> None:
    """What a task reads and what it only waits for are told apart, in the picture and in the text."""
    script = (
        Script().task("a", "x").say("task_scheduled", task="b", note="x", needs='[["a", "value", "with.v"]]')
    )
    board = board_of(script.events)
    assert "stroke-dasharray='4 3'" not in graph_svg(board)
    assert "b  ← a" in graph_text(board)
    ordered = graph({"a": [], "b": ["a"]})
    assert "stroke-dasharray='4 3'" in graph_svg(ordered)
    assert "b  ⇠ a" in graph_text(ordered)


def test_neighbours_do_not_overlap_and_a_fork_is_symmetrical() -> None:
    """Boxes of one layer keep their distance; a task between two stands in the middle."""
    at = places(graph_svg(graph({"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"]})))
    assert abs(at["b"][1] - at["c"][1]) >= 24
    assert at["a"][1] == at["d"][1] == pytest.approx((at["b"][1] + at["c"][1]) / 2)


def test_two_straight_lines_do_not_cross() -> None:
    """The order within a layer follows the neighbours, not the document."""
    at = places(graph_svg(graph({"a": [], "b": [], "b2": ["b"], "a2": ["a"]})))
    assert (at["a"][1] < at["b"][1]) == (at["a2"][1] < at["b2"][1])


def test_a_circle_is_drawn_all_the_same() -> None:
    """A journal can claim anything; drawing it must end."""
    assert graph_svg(graph({"a": ["b"], "b": ["a"], "c": ["c", "nobody"]})).count("<rect") == 3


def test_a_graph_that_can_be_read_is_not_folded() -> None:
    """Up to some dozens of tasks every one has its box."""
    wide = {"start": [], **{f"t{n}": ["start"] for n in range(PLAIN - 1)}}
    assert len(folded(graph(wide).tasks).cells) == PLAIN


def test_tasks_that_stand_alike_are_folded_into_one_box() -> None:
    """A thousand tasks side by side are one box that counts them by state, between what is around them."""
    wide = {"start": [], **{f"t{n}": ["start"] for n in range(1000)}, "end": [f"t{n}" for n in range(1000)]}
    board = graph(wide)
    board.become(board.rows["t7"], "failed")
    svg = graph_svg(board)
    assert svg.count("<title>") == 3
    assert "✖ t0…t999 · 1,000 tasks" in svg
    assert "999 pending, 1 failed" in svg
    assert "⇠ t0…t999 · 1,000 tasks" in graph_text(board)


def test_a_long_chain_is_folded_and_many_chains_too() -> None:
    """A chain is one box; chains that stand alike are one box again."""
    long = {f"t{n}": [f"t{n - 1}"] if n else [] for n in range(500)}
    assert "t0…t499 · 500 tasks" in graph_svg(graph(long))
    many = {
        f"{name}{n}": [f"{before}{n}"] if before else []
        for n in range(40)
        for before, name in ("-a", "ab", "bc")
    }
    many = {task: [need for need in needs if need[0] != "-"] for task, needs in many.items()}
    assert [len(cell.rows) for cell in folded(graph(many).tasks).cells] == [120]


def tangle(count: int) -> Board:
    """Tasks of which no two stand alike, as deep as they come."""
    chance = random.Random(7)
    return graph(
        {f"t{n}": [f"t{m}" for m in chance.sample(range(n), min(n, 2))] if n else [] for n in range(count)}
    )


def test_what_cannot_be_folded_is_cut_and_that_is_said() -> None:
    """A drawing stays bounded; how many tasks are missing stands in it, and in its text."""
    board = tangle(2000)
    found = folded(board.tasks)
    assert len(found.cells) <= DRAWN
    assert found.left_out > 0
    assert f"and {found.left_out:,} tasks that the graph leaves out" in graph_svg(board)
    assert f"and {found.left_out:,} tasks that the graph leaves out" in graph_text(board)
    assert len(graph_svg(board)) < 400_000


def test_a_tangle_of_some_hundred_tasks_is_drawn_whole() -> None:
    """No two boxes of a layer overlap, every edge runs from left to right."""
    board = tangle(200)
    found = folded(board.tasks)
    layout = layered([cell.id for cell in found.cells], list(found.edges))
    assert set(layout.bends) == set(found.edges)
    columns: dict[int, list[float]] = {}
    for cell in found.cells:
        columns.setdefault(layout.layer[cell.id], []).append(layout.height[cell.id])
    for heights in map(sorted, columns.values()):
        assert all(low + 1 <= high + 1e-9 for low, high in pairwise(heights))
