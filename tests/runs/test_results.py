"""What became of one unit of a run, read back: its output, or its whole error."""

from __future__ import annotations

from pathlib import Path

import pytest

import nika_nb
from nika_nb.board.outputpage import mimebundle, page_text
from nika_nb.errors import RunFailed
from nika_nb.runs.results import sections_of
from tests.doors import Terminal

FLOW = """\
nika: sales
permits: { exec: ["python3"] }
tasks:
  clean:
    for_each: { items: ["1", "ten", "<b>"], fail_fast: false }
    exec: { command: ["python3", "clean.py", "${{ item }}"] }
outputs: { o: "${{ tasks.clean.output }}" }
"""
PROGRAM = """\
import sys
print(sys.argv[1])
float(sys.argv[1])
"""
TEN = "ValueError: could not convert string to float: 'ten'"
TEXT = f"NIKA-EXEC-001 · command exited with status 1: {TEN}\nTraceback (most recent call last):\n"


@pytest.fixture
def run(folder: Path) -> nika_nb.Run:
    (folder / "clean.py").write_text(PROGRAM, encoding="utf-8")
    return nika_nb.run(FLOW)


def told(run: nika_nb.Run, unit: str) -> str:
    assert run.trace is not None
    return page_text(sections_of(run.trace, unit))


def test_an_error_is_read_whole(run: nika_nb.Run) -> None:
    """An item tells its own error, line by line; the fan-out those of all its items."""
    item = told(run, "clean[1]")
    assert item.startswith(TEXT)
    assert item.endswith(f"\n{TEN}")
    whole = told(run, "clean")
    assert whole.startswith("NIKA-EXEC-001 · 2 of 3 items failed\n\n[1] ")
    assert f"[1] {item}\n\n[2] NIKA-EXEC-001" in whole
    assert told(run, "clean[0]") == "1"


def test_an_error_on_a_page_is_escaped(run: nika_nb.Run) -> None:
    """What a program says cannot become part of the page."""
    assert run.trace is not None
    page = mimebundle("clean[2]", sections_of(run.trace, "clean[2]"))["text/html"]
    assert "error of clean[2]" in page
    assert "&lt;b&gt;" in page
    assert "<b>" not in page


def test_a_failed_run_says_the_last_line(run: nika_nb.Run) -> None:
    """Whoever asks for the outputs reads in one sentence why there are none."""
    with pytest.raises(RunFailed) as refused:
        _ = run.outputs
    assert TEN in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_terminal_shows_one_task(run: nika_nb.Run, terminal: Terminal) -> None:
    """`trace show TRACE TASK`; a step of the replay is of the whole run."""
    assert run.trace is not None
    assert terminal("trace", "show", run.trace.name, "clean[1]").out.decode().startswith(TEXT)
    both = terminal("trace", "show", run.trace.name, "clean", "--at", "1")
    assert (both.code, both.out) == (3, b"")
    assert "--at and --fine show a step of the whole run" in both.err
