"""The graph and the timeline of a run by themselves: a file, a page, a line of text, without pandas."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import nika_nb
from nika_nb.board.drawing import Drawing
from tests.doors import environment

TWO = """nika: two
model: mock/echo
tasks:
  draft: { infer: { prompt: "a" } }
  title: { with: { d: "${{ tasks.draft.output }}" }, infer: { prompt: "${{ with.d }}" } }
"""


def holds(drawing: Drawing) -> None:
    """A whole document that names every task, and the same words beside it."""
    root = ElementTree.fromstring(drawing.svg())
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    words = " ".join(root.itertext())
    for task in ("draft", "title"):
        assert task in words
        assert task in drawing.text()
    assert repr(drawing) == drawing.text()
    shown = drawing._repr_mimebundle_()
    assert shown["text/plain"] == drawing.text()
    beginning = '<img alt="graph: ' if drawing.what == "graph" else '<table aria-label="timeline of '
    assert beginning in shown["text/html"]


def test_a_run_and_every_step_of_it_are_drawn(folder: Path) -> None:
    """As they stand, at hand or from the file; a step shows what was known by then."""
    run = nika_nb.run(TWO)
    assert run.trace is not None
    for shown in (run, nika_nb.attach(run.trace), *run.replay()[1:]):
        holds(shown.graph)
    for shown in (run, nika_nb.attach(run.trace), run.replay().at("title")):
        holds(shown.timeline)
    assert "✔ draft" in run.replay().at("draft").graph.text()
    assert "○ title" in run.replay().at("draft").graph.text()
    assert "title" not in run.replay().at("draft").timeline.text()


def test_a_board_shows_itself_as_its_run_does(folder: Path) -> None:
    """A step's board in a cell is a table of tasks, not what it is made of."""
    run = nika_nb.run(TWO)
    board = run.replay().at("draft").board
    assert "✔  draft  infer · mock/echo" in repr(board)
    assert "version" not in repr(board)
    assert board._repr_mimebundle_()["text/plain"] == repr(board)
    assert repr(run.replay()[-1].board) == repr(run)


def test_what_runs_is_drawn_while_it_runs(folder: Path) -> None:
    """A drawing is of its moment: it stays as it was."""
    run = nika_nb.run(TWO, background=True)
    early = run.graph.text()
    run.wait()
    assert "draft" in early or early == ""
    assert "✔ title" in run.graph.text()


def test_a_drawing_needs_no_pandas(folder: Path) -> None:
    script = (
        "import sys, nika_nb; r = nika_nb.run(sys.argv[1]); r.graph.svg(); r.timeline.svg(); r.replay()[1]"
    )
    (folder / "two.nika.yaml").write_text(TWO)
    subprocess.run(
        [sys.executable, "-c", f"{script}; assert 'pandas' not in sys.modules", "two.nika.yaml"],
        cwd=folder,
        env=environment(),
        check=True,
    )
