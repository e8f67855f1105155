"""The same in JupyterLab and in Notebook 7: live, asked, attached, interrupted, stopped, completed by Tab."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import nika_nb
from tests.browser.conftest import Opener
from tests.browser.test_lab import ASK, keys_of_stills, newest, outputs, until
from tests.doors import alive, program
from tests.kernels import VIEW, WAITS

pytestmark = pytest.mark.browser

STILL = {"text/html", "text/plain"}


@pytest.fixture(params=["lab", "notebook"])
def front(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def stage(folder: Path) -> None:
    """A program that waits for a file to be there; the first one is."""
    program(folder, "until", 'echo $$ >> pids\nwhile [ ! -e "$1" ]; do sleep 0.02; done')
    (folder / "go").touch()


def dead(folder: Path) -> Callable[[], bool]:
    pids = [int(word) for word in (folder / "pids").read_text().split()]
    return lambda: not any(map(alive, pids))


def test_notebook_7_shows_asks_and_is_interrupted(book: Opener) -> None:
    """What JupyterLab is tried for elsewhere: a live panel, a form, the stop button; and what is saved."""
    found = book(WAITS.format(line=""), ASK, WAITS.format(line=""), front="notebook")
    folder = found.path.parent
    stage(folder)
    found.run(0)

    cell = found.start(1)
    until(lambda: "1/2" in outputs(cell), "the first task done, the second at work")
    (folder / "end").touch()
    until(lambda: "2/2" in outputs(cell), "both done")

    asked = found.run(2)
    until(lambda: "Publish? mock(echo) · a note" in outputs(asked), "the question is shown")
    asked.get_by_role("button", name="Yes, continue").click()
    until(lambda: "3/3" in outputs(asked), "the run completed in its panel")
    until(lambda: keys_of_stills(found.save(), 1) == keys_of_stills(found.save(), 2) == STILL, "the stills")

    (folder / "end").unlink()
    (folder / "pids").unlink()
    stopped = found.start(3)
    until(lambda: "1/2" in outputs(stopped), "the second task at work")
    found.page.locator('[data-command="notebook:interrupt-kernel"]').first.click()
    until(lambda: "KeyboardInterrupt: waits was interrupted" in outputs(stopped), "the interrupt was raised")
    until(dead(folder), "the processes are gone", 5)
    assert "Traceback" not in outputs(stopped)
    assert nika_nb.read_trace(newest(folder)).state == "cancelled"


def test_what_goes_on_behind_its_cell(book: Opener, front: str) -> None:
    """A run with its Stop button, while another cell runs; a plan that its button carries out."""
    found = book(
        WAITS.format(line="--background --into run"),
        "'meanwhile'",
        "run.state",
        WAITS.format(line="--plan"),
        front=front,
    )
    folder = found.path.parent
    stage(folder)
    found.run(0)

    cell = found.run(1)
    assert "meanwhile" in outputs(found.run(2))
    until(lambda: "1/2" in outputs(cell), "the second task at work")
    cell.get_by_role("button", name="Stop").click()
    until(lambda: "cancelled" in outputs(cell), "the run was cancelled")
    until(dead(folder), "the processes are gone", 5)
    assert "'cancelled'" in outputs(found.run(3))

    (folder / "end").touch()
    traces = len(list((folder / ".nika" / "traces").iterdir()))
    plan = found.run(4)
    until(lambda: "nothing has run" in outputs(plan), "the plan is shown")
    assert len(list((folder / ".nika" / "traces").iterdir())) == traces
    plan.get_by_role("button", name="Run").click()
    until(lambda: "2/2" in outputs(plan), "it was carried out")
    until(lambda: VIEW not in keys_of_stills(found.save(), 4), "its still is saved")


def test_a_run_is_followed_from_a_second_notebook(book: Opener, front: str, browser: Any) -> None:
    """Another page, another kernel, the same folder: what happens here is seen there, to the end."""
    found = book(WAITS.format(line="--background"), front=front)
    stage(found.path.parent)
    found.run(0)
    cell = found.run(1)
    until(lambda: "1/2" in outputs(cell), "the second task at work")
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    try:
        line = f"%nika attach {newest(found.path.parent).name}"
        other = book(line, name="other", front=front, page=context.new_page())
        other.run(0)
        watching = other.start(1)
        until(lambda: "1/2" in outputs(watching) and "goes on" in outputs(watching), "it is seen there")
        (found.path.parent / "end").touch()
        until(lambda: "2/2" in outputs(watching), "its end is seen there")
    finally:
        context.close()
    until(lambda: "2/2" in outputs(cell), "its end is seen here")


def test_tab_completes_in_a_workflow_cell(book: Opener, front: str) -> None:
    """A key, then a tool within quotes: what was begun is replaced by what was chosen."""
    found = book("%%nika\nnika: x\ntasks:\n  a:\n    inv", front=front)
    found.run(0)
    cell = found.cell(1)
    cell.locator(".cm-content").first.click()
    found.page.keyboard.press("Control+End")
    popup = found.page.locator(".jp-Completer-item")
    found.page.keyboard.press("Tab")
    until(lambda: "invoke:" in " ".join(popup.all_inner_texts()), "the key is offered")
    found.page.keyboard.press("Enter")
    until(lambda: "invoke:" in cell.locator(".cm-content").inner_text(), "the key was completed")
    found.page.keyboard.type(' { tool: "nika:')
    found.page.keyboard.press("Tab")
    until(lambda: popup.count() > 3, "the tools are offered")
    found.page.keyboard.type("prom")
    until(lambda: popup.count() == 1, "one is left")
    found.page.keyboard.press("Enter")
    until(lambda: 'tool: "nika:prompt' in cell.locator(".cm-content").inner_text(), "the tool was taken")
