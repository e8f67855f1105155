"""Older kernels: ipykernel 6.29 and the first of version 7. The newest one runs every other test."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import nika_nb
from tests.doors import ROOT, alive, newest, program, wait_for
from tests.kernels import WAITS, Cell, Page, kernel, pids

VERSIONS = ("6.29.5", "7.0.1")

ASKS = """%%nika --into run
nika: asks
permits: {exec: ["./until"]}
tasks:
  ask: { invoke: { tool: "nika:prompt", args: { message: "Go on?" } } }
  act:
    with: { go: "${{ tasks.ask.output }}" }
    when: ${{ with.go == true }}
    exec: { command: ["./until", "go"] }
"""


@pytest.fixture(scope="module", params=VERSIONS)
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A kernel of that version: its package alone, put before the one that is installed."""
    own = request.config.cache.mkdir(f"ipykernel-{request.param}")  # type: ignore[union-attr]
    if not (own / "ipykernel").is_dir():
        pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(own)]
        subprocess.run([*pip, f"ipykernel=={request.param}"], check=True, timeout=120)
    folder = tmp_path_factory.mktemp("notebook")
    program(folder, "until", 'echo $$ >> pids\nwhile [ ! -e "$1" ]; do sleep 0.02; done')
    with kernel(folder, PYTHONPATH=os.pathsep.join([str(own), str(ROOT)])) as found:
        assert found.run("import ipykernel; ipykernel.__version__").text == repr(request.param)
        yield found


@pytest.fixture(autouse=True)
def _fresh(page: Page) -> Iterator[None]:
    (page.folder / "go").touch()
    yield
    for name in ("go", "end", "pids"):
        (page.folder / name).unlink(missing_ok=True)


def still(cell: Cell) -> bool:
    return cell.at_rest


def test_the_panel_is_live_while_the_cell_runs(page: Page) -> None:
    """One done, one at work, before the cell has ended; then the still takes its place."""
    cell = page.start(WAITS.format(line=""))
    page.until(lambda: "1/2" in page.told(cell))
    assert not cell.ended
    (page.folder / "end").touch()
    page.until(lambda: cell.ended)
    assert still(cell)
    assert "2/2 done" in cell.text


def test_a_click_answers_and_the_run_goes_on_in_place(page: Page) -> None:
    """By the comm message that a button sends, also while another cell runs."""
    cell = page.run(ASKS)
    page.click(next(one for one in page.shown(cell, "Button") if "Yes" in page.widgets[one]["description"]))
    busy = page.run("import time; time.sleep(0.3); print('meanwhile')")
    page.until(lambda: still(cell) and "2/2 done" in cell.text)
    assert busy.text == "meanwhile\n"
    assert page.run("run.state").text == "'completed'"


def test_an_interrupt_ends_the_processes_and_is_journaled(page: Page) -> None:
    """KeyboardInterrupt in one line, nothing left running, the run cancelled."""
    cell = page.start(WAITS.format(line=""))
    page.until(lambda: len(pids(page)) == 2)
    page.interrupt()
    page.until(lambda: cell.ended)
    assert cell.error.startswith("KeyboardInterrupt: waits was interrupted")
    wait_for(lambda: not any(map(alive, pids(page))), "the end of every process")
    assert nika_nb.read_trace(newest(page.folder)).state == "cancelled"


def test_a_run_behind_a_cell_has_a_stop_button(page: Page) -> None:
    """The kernel is free, its panel goes on in its cell, a click ends it."""
    cell = page.run(WAITS.format(line="--background --into run"))
    other = page.run("print('meanwhile')")
    page.until(lambda: "1/2" in page.told(cell))
    page.click(page.button(cell, "Stop"))
    page.until(lambda: still(cell) and "⊘ cancelled" in cell.text)
    assert other.text == "meanwhile\n"
    assert page.run("run.state").text == "'cancelled'"


def test_tab_and_shift_tab_are_answered(page: Page) -> None:
    """In workflow cells by us, in others as always."""
    assert page.complete("%%nika\nnika: x\ntasks:\n  a:\n    exe¦")["matches"] == ["exec:"]
    assert page.inspect("%%nika\nnika: x\nta¦sks:\n")["data"]["text/plain"].startswith("tasks")
    assert "print" in page.complete("prin¦")["matches"]
    assert "Prints" in str(page.inspect("print¦")["data"])


def test_prints_stand_where_they_belong(page: Page, tmp_path: Path) -> None:
    """Nothing of a run is printed from a thread: the cell that runs next shows its own output alone."""
    page.run(WAITS.format(line="--background"))
    (page.folder / "end").touch()
    assert page.run("print('mine')").text == "mine\n"
