"""JupyterLab under fast fingers and scripts: clicks in one moment, behind a cell, in two tabs, in reloads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import nika_nb
from tests.browser.conftest import Opener
from tests.browser.test_forms import FORM
from tests.browser.test_lab import ASK, newest, outputs, until
from tests.doors import frames, program, traces

pytestmark = pytest.mark.browser

ROWS = """%%nika
nika: rows
permits: { exec: ["./say"] }
tasks:
  rows: { for_each: { items: [a, b, c, d] }, exec: { command: ["./say", "${{ item }}"] } }
  behind: { with: { v: "${{ tasks.rows.output }}" }, exec: { command: ["./say", "behind"] } }
"""
# Clicks every button whose label is among these, several times, in one moment.
CLICKS = """(cell, [labels, times]) => { const found = [...cell.querySelectorAll('button')]
    .filter(one => labels.some(label => one.innerText.includes(label)));
  for (let at = 0; at < times; at++) found.forEach(one => one.click()); return found.length }"""
# Puts a number in as a person does, and clicks before the page has heard of it.
ROLLS = """(cell, item) => { const field = cell.querySelector('input[type=number]');
  field.focus(); field.value = item;
  for (const kind of ['input', 'change', 'blur']) field.dispatchEvent(new Event(kind, { bubbles: true }));
  [...cell.querySelectorAll('button')].find(one => one.innerText.includes('this item')).click() }"""


def settled(folder: Path) -> bool:
    """Whether nothing is at work any more."""
    return nika_nb.read_trace(newest(folder)).state != "running"


def test_row_buttons_in_one_moment_begin_one_run_of_what_the_page_shows(book: Opener) -> None:
    """Clicks are not counted: the first one wins, also where the item was put in just before."""
    found = book(ROWS)
    folder = found.path.parent
    program(folder, "say", 'echo "$1" >> marks\nsleep 0.1\nprintf %s "$1"')
    found.run(0)
    cell = found.run(1)
    button = cell.get_by_role("button", name="Run from here")
    button.wait_for()

    def rolled(number: int) -> str:
        until(lambda: len(traces(folder)) == number and settled(folder), "one run more")
        until(lambda: bool(button.count()) and button.is_enabled(), "the buttons are back")
        return str(frames(newest(folder))[0]["forced"])

    for number in (2, 3, 4):
        assert cell.evaluate(CLICKS, [["Run from here", "Roll this item"], 3]) == 2
        assert rolled(number) == '["behind"]'
    cell.locator("select").first.select_option(index=0)
    cell.get_by_label("Item").wait_for()
    for number, item in ((5, "3"), (6, "1"), (7, "2")):
        cell.evaluate(ROLLS, item)
        assert rolled(number) == f'["behind","rows[{item}]"]'


def test_a_question_is_answered_while_a_cell_works(book: Opener) -> None:
    """Clicked often, typed quickly, and other cells begin right behind the click: one answer, all of it."""
    found = book(FORM, "import time; time.sleep(3)", "time.sleep(6)", "run.state")
    found.run(0)
    cell = found.run(1)
    until(lambda: "3 questions wait" in outputs(cell), "the questions are shown")
    found.start(2)
    cell.get_by_label("blue").check()
    field = cell.get_by_label("Your answer").first
    field.click()
    found.page.keyboard.type("Nightly")
    cell.evaluate(CLICKS, [["Submit"], 2])
    found.start(3)
    found.idle()
    until(lambda: cell.get_by_label("Your answer").count() == 1, "the answered forms have gone")
    cell.get_by_label("Your answer").fill("no")
    cell.evaluate(CLICKS, [["Submit", "Decline"], 2])
    until(lambda: "3/3" in outputs(cell) or "answered: no" in outputs(cell), "the run has ended")
    tasks = nika_nb.read_trace(newest(found.path.parent)).tasks.set_index("task")
    assert list(tasks["output"][["name", "colour", "notes"]]) == ["Nightly", "blue", "no"]


def test_a_click_and_a_line_that_answer_in_one_moment_are_one_answer(book: Opener) -> None:
    """Whoever was first: the run goes on once, and the form tells who it was."""
    found = book(ASK, "%nika answer ask=yes", "run.state")
    found.run(0)
    for _ in range(3):
        cell = found.run(1)
        cell.get_by_role("button", name="Yes, continue").wait_for()
        asked = newest(found.path.parent)
        found.start(2)
        cell.evaluate(CLICKS, [["Yes, continue"], 1])
        found.idle()
        until(lambda: "answered" in outputs(cell), "the form tells of it")  # noqa: B023
        until(lambda: not cell.get_by_role("button", name="Yes, continue").count(), "no button")  # noqa: B023
        until(lambda: settled(found.path.parent), "the end")
        run = frames(asked)[0]["correlation"]
        one = [path for path in traces(found.path.parent) if frames(path)[0]["correlation"] == run]
        assert len(one) == 2
        assert nika_nb.read_trace(one[-1]).state == "completed"


def test_a_reload_in_the_middle_of_a_continuation(book: Opener, page: Any) -> None:
    """The page that comes up shows the run to its end, and its next question can be answered there."""
    slow = ASK.replace('["echo", "published"]', '["sleep", "2"]').replace('exec: ["echo"]', 'exec: ["sleep"]')
    last = (
        '  sure: { after: { publish: success }, invoke: { tool: "nika:prompt", args: { message: Sure? } } }'
    )
    found = book(slow.replace("outputs:", f"{last}\noutputs:"))
    found.run(0)
    cell = found.run(1)
    button = cell.get_by_role("button", name="Yes, continue")
    button.wait_for()
    found.save()
    button.click()
    page.reload()
    cell = found.cell(1)
    until(lambda: "Sure?" in outputs(cell), "the next question")
    cell.get_by_role("button", name="Yes, continue").click()
    until(lambda: "✔ completed" in outputs(cell), "the end")
    assert nika_nb.read_trace(newest(found.path.parent)).state == "completed"


def test_two_tabs_on_one_notebook(book: Opener, page: Any) -> None:
    """Both click: one answer. Both tell of it, and in either the next question can be answered."""
    found = book(FORM)
    found.run(0)
    cell = found.run(1)
    until(lambda: "3 questions wait" in outputs(cell), "the questions are shown")
    found.save()
    other = page.context.new_page()
    other.goto(page.url.replace("?reset", "").replace("/lab/tree", "/lab/workspaces/other/tree"))
    beside = other.locator('[data-windowed-list-index="1"]')
    beside.get_by_label("blue").wait_for()
    cell.get_by_label("blue").check()
    until(lambda: beside.get_by_label("blue").is_checked(), "the other tab hears of it")
    beside.get_by_label("Your answer").first.fill("Nightly")
    until(lambda: cell.get_by_label("Your answer").first.input_value() == "Nightly", "the text as well")
    for one in (beside, cell):
        one.evaluate(CLICKS, [["Submit"], 1])
    for one in (beside, cell):
        until(lambda: one.get_by_label("Your answer").count() == 1, "one question is left")  # noqa: B023
    beside.get_by_label("Your answer").fill("no")
    beside.evaluate(CLICKS, [["Submit"], 2])
    for one in (beside, cell):
        until(lambda: "3/3" in outputs(one) or "answered: no" in outputs(one), "the end")  # noqa: B023
    tasks = nika_nb.read_trace(newest(found.path.parent)).tasks.set_index("task")
    assert list(tasks["output"][["name", "colour", "notes"]]) == ["Nightly", "blue", "no"]
