"""The interrupt of a real kernel: felt in a workflow cell as promptly as in a bare one, and thorough."""

from __future__ import annotations

import time

import nika_nb
from tests.doors import alive, newest
from tests.kernels import Page

BARE = "import pathlib, time; pathlib.Path('up').touch(); time.sleep(60)"
TREE = """%%nika
nika: tree
permits: {exec: [sh]}
tasks:
  one: { exec: { command: [sh, "-c", "echo $$ >> pids; sleep 60 & echo $! >> pids; touch up; wait"] } }
  two: { exec: { command: [sh, "-c", "echo $$ >> pids; sleep 60"] } }
  clean: { after: { one: unwind }, exec: { command: [sh, "-c", "touch cleaned"] } }
"""


def interrupted(page: Page, code: str) -> float:
    """Seconds from the interrupt to the moment when the kernel is free again."""
    up = page.folder / "up"
    up.unlink(missing_ok=True)
    cell = page.start(code)
    page.until(up.exists)
    before = time.monotonic()
    page.interrupt()
    page.until(lambda: cell.ended)
    took = time.monotonic() - before
    assert "KeyboardInterrupt" in cell.error
    return took


def test_a_workflow_is_interrupted_as_promptly_as_a_bare_cell(page: Page) -> None:
    """Told by the same kernel in turns; the tree is dead, the cleanup ran, the journal says cancelled."""
    bare, ours = [], []
    for _ in range(3):
        bare.append(interrupted(page, BARE))
        ours.append(interrupted(page, TREE))
        assert nika_nb.read_trace(newest(page.folder)).state == "cancelled"
        assert not any(alive(int(pid)) for pid in (page.folder / "pids").read_text().split())
        assert (page.folder / "cleaned").exists()
        (page.folder / "cleaned").unlink()
    assert min(ours) <= 10 * max(bare), (ours, bare)


def test_the_next_cell_runs_as_if_nothing_had_been(page: Page) -> None:
    """Nothing of the interrupted run is left in the kernel: no thread, no half-drawn panel."""
    interrupted(page, TREE)
    names = "import threading; sorted(t.name for t in threading.enumerate() if t.name.startswith('nika'))"
    assert page.run(names).text == "[]"
    again = page.run(TREE.replace("sleep 60 & ", "true & ").replace("; sleep 60", ""))
    assert "3/3 done" in again.text
