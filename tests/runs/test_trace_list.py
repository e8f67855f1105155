"""Lists of traces: what was answered is no pause any more, and tells how its run stands."""

from __future__ import annotations

import json
from pathlib import Path

import nika_nb
from nika_nb.runs.shelf import Shelf
from nika_nb.runs.trace_list import listed
from tests.doors import Terminal

ASKS = """\
nika: asks
permits: {tools: ["nika:prompt"]}
tasks:
  first: {invoke: {tool: "nika:prompt", args: {message: "One?"}}}
  then: {after: {first: success}, invoke: {tool: "nika:prompt", args: {message: "Two?"}}}
"""


def states(folder: Path) -> list[tuple[str, str | None]]:
    """The state of each trace and of its run, the newest first."""
    return [(one.state, one.run) for one in listed(folder / ".nika" / "traces")]


def test_an_answered_pause_is_none(folder: Path) -> None:
    """As its run goes on, also where another one waits; with a cache and without."""
    run = nika_nb.run(ASKS)
    other = nika_nb.run(ASKS.replace("nika: asks", "nika: other"))
    assert states(folder) == [("paused", None)] * 2
    run.answer(True)
    assert states(folder) == [("paused", None), ("paused", None), ("answered", "paused")]
    run.answer(True)
    found = [("completed", None), ("answered", "completed"), ("paused", None), ("answered", "completed")]
    assert states(folder) == found
    (folder / ".nika" / "index.sqlite3").touch()  # there is one: it is used
    Shelf(folder / ".nika" / "traces").entries()
    assert states(folder) == found
    other.cancel()
    assert states(folder)[1:] == [*found[:2], ("cancelled", "cancelled"), found[3]]


def test_the_terminal_tells_it(terminal: Terminal, folder: Path) -> None:
    """In its lines, and for programs."""
    run = nika_nb.run(ASKS)
    run.answer(True).answer(True)
    lines = terminal("trace", "ls").out.decode().splitlines()
    assert ["answered" in line and line.endswith("→ completed") for line in lines] == [False, True, True]
    assert not any("paused" in line for line in lines)
    shapes = json.loads(terminal("trace", "ls", "--json").out)
    assert [shape["state"] for shape in shapes] == ["completed", "answered", "answered"]
    assert [shape.get("run_state") for shape in shapes] == [None, "completed", "completed"]
    assert shapes[1]["went_on_in"] == Path(shapes[0]["trace"]).name
