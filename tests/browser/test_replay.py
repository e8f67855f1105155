"""A replay as people use it: open, play, keys on the slider, an output looked into; and without a kernel."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from typing import Any

import pytest

from tests.browser.conftest import Book, Lab, Opener
from tests.browser.test_lab import outputs, until

pytestmark = pytest.mark.browser

BRIEF = """%%nika --into run
nika: weekly-brief
model: mock/echo
permits: { exec: ["echo", "sleep", "false"] }
tasks:
  notes: { exec: { command: ["sleep", "0.2"] } }
  topics: { exec: { command: ["echo", '["resume","<img src=x onerror=document.title=1>"]'] } }
  titles:
    with: { topics: "${{ tasks.topics.output }}" }
    for_each: { items: ["${{ with.topics }}", "two"] }
    infer: { prompt: "A title for ${{ item }}" }
  audit: { after: { notes: success }, exec: { command: ["false"] }, on_error: { recover: { checked: no } } }
  publish:
    with: { titles: "${{ tasks.titles.output }}" }
    after: { audit: terminal }
    exec: { command: ["echo", "published", "${{ with.titles[1] }}"] }
outputs: { said: "${{ tasks.publish.output }}" }
"""
TASKS = ("notes", "topics", "titles", "audit", "publish")


def opened(book: Opener) -> tuple[Book, Any]:
    """The notebook, and its cell with the player."""
    found = book(BRIEF, "run.replay()")
    found.run(0)
    found.run(1)
    cell = found.run(2)
    until(lambda: "the run begins" in outputs(cell), "the player stands at the beginning")
    return found, cell


def test_open_play_step_with_keys_look_into_an_output_and_back(book: Opener) -> None:
    """Play, whose picture is told in a word, runs to the end by itself; arrows step; an output is text."""
    found, cell = opened(book)
    said = cell.get_by_role("status")
    assert "0/5 done" in outputs(cell)
    cell.locator(".widget-dropdown select").first.select_option("5×")
    assert cell.get_by_role("button", name="one step back", exact=True).is_visible()
    cell.get_by_role("button", name="play", exact=True).click()
    until(lambda: "the run completes" in said.inner_text(), "it played to the end")
    cell.locator(".widget-play .fa-play").wait_for()  # it has stopped by itself
    slider = cell.get_by_role("slider")
    slider.focus()
    found.page.keyboard.press("ArrowLeft")
    until(lambda: "publish ok" in said.inner_text(), "the key stepped back")
    cell.locator(".widget-dropdown select").last.select_option("topics")
    until(lambda: "onerror=document.title=1" in outputs(cell), "the output is shown")
    assert cell.locator("img[src='x']").count() == 0
    assert found.page.title() != "1"
    found.page.keyboard.press("Tab")
    slider.focus()
    found.page.keyboard.press("Home")
    until(lambda: "the run begins" in said.inner_text(), "back at the beginning")
    until(lambda: "not settled yet" in outputs(cell), "the output is not known yet")
    found.page.keyboard.press("ArrowRight")
    until(lambda: "step 1 of 6" in said.inner_text(), "one step on")
    cell.get_by_role("checkbox").check()
    until(lambda: "of 8" in said.inner_text(), "the items are steps")


def test_where_the_player_lives_its_still_is_hidden_and_elsewhere_it_is_all_there_is(
    book: Opener, lab: Lab
) -> None:
    """Live: the player. Saved, exported, reopened without its kernel: the final state, no dead control."""
    found, cell = opened(book)
    still = cell.locator("div[class^='nika-replay-']")
    assert still.count() == 1
    assert not still.is_visible()
    found.page.keyboard.press("Control+s")
    until(
        lambda: "run.replay" in found.path.read_text() and "to step through it" in found.path.read_text(),
        "saved",
    )
    _exported(found)
    found.page.goto("about:blank")
    _end_kernels(lab)
    found.page.goto(f"{lab.url}/lab/tree/{found.path.parent.name}/{found.path.name}?reset")
    found.page.locator(".jp-NotebookPanel .jp-Cell").first.wait_for()
    found.idle()
    until(lambda: still.count() == 1 and still.is_visible(), "the still is shown")
    shown = still.inner_text()
    assert all(task in shown for task in TASKS)
    assert "completed" in shown
    assert "%nika replay " in shown


def test_a_player_whose_kernel_has_gone_says_so(book: Opener, lab: Lab) -> None:
    """The widgets stay on the page and do nothing: nobody is left to wonder why."""
    found, cell = opened(book)
    gone = cell.get_by_text("The kernel that read the trace is gone")
    assert not gone.is_visible()
    os.kill(found.kernel_pid(), signal.SIGKILL)
    until(gone.is_visible, "it is said")


def _exported(found: Book) -> None:
    command = [sys.executable, "-m", "jupyter", "nbconvert", "--to", "html", str(found.path)]
    subprocess.run(command, check=True, timeout=120, capture_output=True)
    page = found.path.with_suffix(".html").read_text(encoding="utf-8")
    assert "widget-view+json" not in page
    assert "display:none}" not in page.partition("nika-replay-")[2]
    assert all(task in page for task in TASKS)
    assert "%nika replay " in page


def _end_kernels(lab: Lab) -> None:
    """Every kernel of the server, as after a restart of the machine."""
    with urllib.request.urlopen(f"{lab.url}/api/sessions") as answer:
        sessions = json.load(answer)
    for session in sessions:
        request = urllib.request.Request(f"{lab.url}/api/sessions/{session['id']}", method="DELETE")
        urllib.request.urlopen(request).close()
