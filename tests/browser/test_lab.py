"""What a person sees in JupyterLab: run, watch, pause, click, crash, interrupt. In a real browser."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import nika_nb
from tests.browser.conftest import Book, Opener

pytestmark = pytest.mark.browser

SLOW = """%%nika
nika: slow
permits: { exec: ["sleep"] }
tasks:
  first: { exec: { command: ["sleep", "0.6"] } }
  second: { after: { first: success }, exec: { command: ["sleep", "0.9"] } }
  third: { after: { second: success }, exec: { command: ["sleep", "0.8"] } }
"""

ASK = """%%nika --into run
nika: approval
model: mock/echo
permits: { tools: ["nika:prompt"], exec: ["echo"] }
tasks:
  draft: { infer: { prompt: "a note" } }
  ask:
    with: { draft: "${{ tasks.draft.output }}" }
    invoke: { tool: "nika:prompt", args: { message: "Publish? ${{ with.draft }}" } }
  publish:
    with: { go: "${{ tasks.ask.output }}" }
    when: ${{ with.go == true }}
    exec: { command: ["echo", "published"] }
outputs: { said: "${{ tasks.publish.output }}" }
"""


STILL = {"text/html", "text/plain"}


def outputs(cell: Any) -> str:
    """The text of a cell's outputs."""
    return "\n".join(cell.locator(".jp-Cell-outputArea").all_inner_texts())


def until(found: Callable[[], bool], what: str, seconds: float = 30) -> None:
    """Waits for something that is bound to happen."""
    deadline = time.monotonic() + seconds
    while not found():
        if time.monotonic() > deadline:
            pytest.fail(f"never happened: {what}")
        time.sleep(0.05)


def newest(folder: Path) -> Path:
    return max((folder / ".nika" / "traces").glob("*.ndjson"), key=lambda path: path.stat().st_mtime_ns)


def keys_of_stills(notebook: Any, index: int) -> set[str]:
    """The mime types of the displays of a cell that say something; one that may hold row buttons is mute."""
    displays = [output["data"] for output in notebook.cells[index].outputs if "data" in output]
    return {key for data in displays if data["text/plain"] for key in data}


def test_the_panel_changes_while_the_cell_runs(book: Opener) -> None:
    """Every task is seen pending, running and done before the cell has ended; the still stays."""
    found = book(SLOW)
    found.run(0)
    cell = found.start(1)
    seen: set[str] = set()

    def sampled() -> bool:
        seen.add(outputs(cell))
        return any("3/3" in text for text in seen)

    until(sampled, "three of three done")
    assert any("1/3" in text for text in seen), seen
    assert any("2/3" in text for text in seen), seen
    until(lambda: keys_of_stills(found.save(), 1) == STILL, "the still took the panel's place")
    assert "third" in found.save().cells[1].outputs[0].data["text/plain"]


def test_a_click_answers_and_the_run_goes_on_in_place(book: Opener) -> None:
    """The cell returns paused; one click, and the same panel runs to its end."""
    found = book(ASK, "run.outputs")
    found.run(0)
    cell = found.run(1)
    until(lambda: "Publish? mock(echo) · a note" in outputs(cell), "the question is shown")
    cell.get_by_role("button", name="Yes, continue").click()
    until(lambda: "3/3" in outputs(cell), "the run completed in its panel")
    assert "answered" in outputs(cell)
    value = found.run(2)
    assert "published" in outputs(value)
    until(lambda: keys_of_stills(found.save(), 1) == STILL, "question and panel are stills in the file")


def test_a_refusal_triggers_nothing(book: Opener) -> None:
    """No is an answer: the gated task is skipped, the run completes."""
    found = book(ASK)
    found.run(0)
    cell = found.run(1)
    until(lambda: "Publish? mock(echo) · a note" in outputs(cell), "the question is shown")
    cell.locator("button", has_text=re.compile(r"^\s*No\s*$")).click()
    until(lambda: "3/3" in outputs(cell), "the run completed")
    tasks = nika_nb.read_trace(newest(found.path.parent)).tasks.set_index("task")
    assert tasks.loc["publish", "state"] == "skipped"


def test_the_form_is_rebuilt_from_the_file_after_the_kernel_was_killed(book: Opener) -> None:
    """A killed kernel loses nothing: attach draws the form from the trace alone, and a click goes on."""
    found = book(ASK, "%nika attach")
    found.run(0)
    found.run(1)
    trace = newest(found.path.parent)
    run_id = nika_nb.attach(trace).id
    before = found.kernel_pid()
    os.kill(before, signal.SIGKILL)
    _restarted(found, before)
    cell = found.run(2)
    until(lambda: "Publish? mock(echo) · a note" in outputs(cell), "the question is shown")
    cell.get_by_role("button", name="Yes, continue").click()
    until(lambda: "3/3" in outputs(cell), "the run completed")
    after = nika_nb.attach(newest(found.path.parent))
    assert after.id == run_id
    assert after.state == "completed"


def _restarted(found: Book, before: int) -> None:
    """The server starts a killed kernel again; the first cell is run until it is the new one's."""

    def reborn() -> bool:
        found.start(0)
        found.page.wait_for_timeout(1000)
        return found.kernel_pid() != before

    until(reborn, "another kernel answered", 60)
    found.idle()


def test_an_interrupt_ends_the_processes_and_is_journaled(book: Opener) -> None:
    """The ■ of the toolbar: KeyboardInterrupt in one line, no process left, the run cancelled."""
    found = book(SLOW.replace('"0.6"', '"97.531"'))
    found.run(0)
    cell = found.start(1)
    until(lambda: "sleep" in outputs(cell) and bool(_sleepers()), "the task runs")
    found.page.locator('[data-command="notebook:interrupt-kernel"]').first.click()
    until(lambda: "KeyboardInterrupt" in outputs(cell), "the interrupt was raised")
    until(lambda: not _sleepers(), "the process is gone", 5)
    assert "Traceback" not in outputs(cell)
    assert nika_nb.read_trace(newest(found.path.parent)).state == "cancelled"


def _sleepers() -> list[str]:
    """Live processes of the interrupted task."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state = stat.read_text().rpartition(")")[2].split()[0]
            if state != "Z" and b"97.531" in (stat.parent / "cmdline").read_bytes():
                found.append(stat.parent.name)
        except OSError:
            continue
    return found


def test_a_refused_cell_shows_the_place_and_no_traceback(book: Opener) -> None:
    """What is wrong, where, what to do; the line number is the cell's."""
    found = book('%%nika\nnika: broken\ntasks:\n  a: { exce: { command: ["x"] } }\n')
    found.run(0)
    cell = found.run(1)
    text = outputs(cell)
    assert "NIKA-PARSE-" in text
    assert "line 4" in text
    assert "Traceback" not in text
    assert not (found.path.parent / ".nika").exists()
