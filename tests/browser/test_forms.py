"""Questions in JupyterLab: by mouse and by keyboard, through reloads and dead kernels, whatever they say."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest
from nbconvert import HTMLExporter

import nika_nb
from tests.board.test_hostile import NASTY
from tests.browser.conftest import Book, Opener
from tests.browser.test_lab import ASK, STILL, _restarted, keys_of_stills, newest, outputs, until
from tests.browser.test_panel import MARKS
from tests.doors import frames, nika, traces

pytestmark = pytest.mark.browser

FORM = """%%nika --into run
nika: release
tasks:
  name: { invoke: { tool: "nika:prompt", args: { mode: input, message: "What is it called?" } } }
  colour:
    invoke: { tool: "nika:prompt", args: { mode: choice, message: "Which colour?", choices: [red, blue] } }
  notes: { invoke: { tool: "nika:prompt", args: { mode: input, message: "Anything else?" } } }
outputs: { name: "${{ tasks.name.output }}", colour: "${{ tasks.colour.output }}" }
"""

HOSTILE = """%%nika --vars given
nika: hostile
inputs: { text: { type: string, required: true }, choices: { type: { array: string }, required: true } }
tasks:
  ask:
    with: { text: "${{ inputs.text }}" }
    invoke:
      tool: "nika:prompt"
      args: { message: "${{ with.text }}", mode: choice, choices: "${{ inputs.choices }}" }
  say:
    with: { text: "${{ inputs.text }}" }
    invoke: { tool: "nika:prompt", args: { message: "${{ with.text }}", mode: input } }
"""

PLANTED = "script, iframe, .planted, [onerror], [onload], [onmouseover]"  # what the hostile texts would make


def saved_still(found: Book, index: int) -> bool:
    return keys_of_stills(found.save(), index) == STILL


def test_a_form_by_keyboard_through_a_reload(book: Opener, page: Any) -> None:
    """Tab and Enter are enough; what is wrong is said in place; a reload keeps what was begun."""
    found = book(FORM, "run.outputs")
    found.run(0)
    cell = found.run(1)
    until(lambda: "3 questions wait" in outputs(cell), "the questions are shown")
    text = cell.get_by_label("Your answer").first
    text.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    cell.get_by_role("alert").get_by_text("The answer is empty").wait_for()
    text.fill("Night")
    found.cell(0).locator(".cm-content").first.click()  # a widget keeps its keys to itself
    found.save()
    page.reload()
    cell = found.cell(1)
    text = cell.get_by_label("Your answer").first
    text.wait_for()
    assert text.input_value() == "Night"
    text.press("End")
    page.keyboard.type("ly")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    until(lambda: cell.get_by_label("Your answer").count() == 1, "the answered form has gone")
    submit = cell.get_by_role("button", name="Submit").first
    submit.click()
    cell.get_by_role("alert").get_by_text("Nothing is chosen yet").wait_for()
    cell.get_by_label("blue").focus()
    page.keyboard.press("Space")
    submit.press("Enter")
    until(lambda: cell.get_by_label("blue").count() == 0, "the answered form has gone")
    decline = cell.get_by_role("button", name="Decline")
    decline.click()
    cell.get_by_role("alert").get_by_text("Click Decline again").wait_for()
    decline.click()
    until(lambda: nika_nb.read_trace(newest(found.path.parent)).state == "failed", "the run has ended")
    tasks = nika_nb.read_trace(newest(found.path.parent)).tasks.set_index("task")
    assert list(tasks["output"][["name", "colour"]]) == ["Nightly", "blue"]
    assert tasks.loc["notes", "error_code"] == "NIKA-CANCEL-001"
    until(lambda: "✖ failed" in outputs(cell), "a reloaded page shows the end in the form")


THREE_CLICKS = """cell => [...cell.querySelectorAll('button')]
    .filter(button => /Submit|Yes/.test(button.innerText)).slice(0, 3).forEach(button => button.click())"""


def test_every_kind_of_form_in_notebook_7(book: Opener) -> None:
    """Text, radio buttons, buttons, clicked in one moment: each answer is given in its turn."""
    sure = "  sure: { invoke: { tool: 'nika:prompt', args: { message: Sure? } } }\n  notes:"
    found = book(FORM.replace("  notes:", sure), "run.outputs", front="notebook")
    found.run(0)
    cell = found.run(1)
    until(lambda: "4 questions wait" in outputs(cell), "the questions are shown")
    cell.get_by_label("Your answer").first.fill("Nightly")
    cell.get_by_label("blue").check()
    cell.evaluate(THREE_CLICKS)
    until(lambda: cell.get_by_role("button", name="Submit").count() == 1, "one question is left")
    cell.get_by_label("Your answer").fill("no")
    cell.get_by_role("button", name="Submit").click()
    until(lambda: "4/4" in outputs(cell), "the run has ended")
    said = outputs(found.run(2))
    assert "'Nightly'" in said
    assert "'blue'" in said


def test_the_inbox_brings_back_what_a_killed_kernel_asked(book: Opener) -> None:
    """The cell was edited meanwhile: the answer goes on with the text that asked."""
    found = book(ASK, "%nika inbox")
    found.run(0)
    found.run(1)
    before = found.kernel_pid()
    os.kill(before, signal.SIGKILL)
    _restarted(found, before)
    inbox = found.run(2)
    inbox.get_by_role("button", name="Yes, continue").wait_for()
    assert "1 run waits for an answer" in outputs(inbox)
    for fact in ("approval · asked 20", "Publish? mock(echo) · a note", "publish (when with.go == true)"):
        assert fact in outputs(inbox)
    inbox.get_by_role("button", name="Yes, continue").click()
    until(lambda: "✔ completed" in outputs(inbox), "the run ended in the inbox")
    assert "answered: yes" in outputs(inbox)
    old, new = traces(found.path.parent)
    assert frames(new)[0]["correlation"] == frames(old)[0]["correlation"]
    until(lambda: saved_still(found, 2), "no widget is left in the file")
    again = found.run(2)
    until(lambda: "nothing waits for an answer here" in outputs(again), "it waits no more")


def test_a_question_is_read_once_and_gives_way_to_its_lines_when_its_kernel_dies(
    book: Opener, page: Any
) -> None:
    """While the form lives, it alone asks. No dead button stays, and the lines that answer come up by
    themselves, without a reload.
    """
    found = book(ASK, ASK.replace("%%nika --into run", "%%nika --plan"))
    found.run(0)
    found.run(2)
    cell = found.run(1)
    cell.get_by_role("button", name="Yes, continue").wait_for()
    assert outputs(cell).count("Publish? mock(echo) · a note") == 1
    assert "%nika answer" not in outputs(cell)
    os.kill(found.kernel_pid(), signal.SIGKILL)
    until(lambda: f"%nika answer {newest(found.path.parent).name} ask=yes" in outputs(cell), "the lines")
    assert outputs(cell).count("Publish? mock(echo) · a note") == 1
    for index in (1, 2):
        found.cell(index)
        until(lambda: not page.locator(".jp-Cell-outputArea button:visible").count(), "no dead button")
    assert page.evaluate(MARKS) == 0


# At how many places from the left these names begin, and how many of them are seen.
LEFTS = """(cell, names) => { const seen = [...cell.querySelectorAll('b')].filter(one =>
    one.offsetParent && names.includes(one.textContent)).map(one => one.getBoundingClientRect().left);
  return [seen.filter((left, at) => !seen.slice(0, at).some(one => Math.abs(one - left) < 2)).length,
    seen.length] }"""

# How many choices lie over another one, or have their button elsewhere than at the left of their first line.
OVERLAPS = """cell => { const labels = [...cell.querySelectorAll('.widget-radio-box label')]
  .map(one => { const all = document.createRange(); all.selectNodeContents(one);
    return all.getBoundingClientRect() });
  const apart = [...cell.querySelectorAll('.widget-radio-box input')].filter((one, at) =>
    Math.abs(one.getBoundingClientRect().top - labels[at].top) > 8 || one.getBoundingClientRect().width < 10);
  return apart.length + labels.slice(1).filter((one, at) => one.top < labels[at].bottom - 1).length }"""


def test_long_choices_wrap_on_a_narrow_page_and_an_answer_stands_among_the_forms(
    book: Opener, page: Any
) -> None:
    """None lies over another one; what was answered is a line in its place, in one row with the rest."""
    long = "a choice that says in very many words what would happen if somebody picked it"
    found = book(FORM.replace("[red, blue]", f'["{long}", "{long} too", blue]'))
    found.run(0)
    page.keyboard.press("Control+b")
    page.set_viewport_size({"width": 520, "height": 1400})
    cell = found.run(1)
    cell.get_by_label("blue").wait_for()
    assert cell.evaluate(OVERLAPS) == 0
    cell.get_by_label("blue").check()
    cell.get_by_role("button", name="Submit").nth(1).click()
    until(lambda: "answered: blue" in outputs(cell), "the answer stands there")
    until(lambda: cell.evaluate(LEFTS, ["name", "colour", "notes"]) == [1, 3], "three names in one row")


def test_a_form_closes_by_itself_when_a_terminal_answers(book: Opener) -> None:
    """Nobody touches the page: the buttons go, the page says who it was, the file keeps the end."""
    found = book(ASK)
    found.run(0)
    cell = found.run(1)
    cell.get_by_role("button", name="Yes, continue").wait_for()
    folder = found.path.parent
    assert nika("answer", str(newest(folder)), "no", cwd=folder).code == 0
    until(lambda: "already answered elsewhere" in outputs(cell), "the page heard of it")
    until(lambda: "✔ completed" in outputs(cell), "the panel shows the end")
    assert "with nika-nb" in outputs(cell)
    assert cell.get_by_role("button", name="No").count() == 0
    until(lambda: saved_still(found, 1), "no widget is left in the file")


def test_hostile_questions_do_nothing(book: Opener, page: Any, tmp_path: Path) -> None:
    """In the cell, in forms, in the inbox, in the page that nbconvert makes: text, and nothing but text."""
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    texts = [text[:3000] for name, text in NASTY.items() if name not in ("surrogate", "lines")]
    texts.append("<img src=x onerror=alert(2) class=planted><iframe src=javascript:alert(3)>")
    given = {"text": "\n".join(texts), "choices": texts}
    found = book(f"given = {given!r}", HOSTILE, "%nika inbox", "%nika trace")
    found.run(0)
    found.run(1)
    for index in (2, 3, 4):
        cell = found.run(index)
        shown = "Download trace" if index == 4 else "alert(1)"
        until(lambda cell=cell, shown=shown: shown in outputs(cell), "the text is shown")
        assert cell.locator(".jp-Cell-outputArea").locator(PLANTED).count() == 0
    asked = found.cell(2)
    assert asked.locator("input[type=radio]").count() == len(texts)
    asked.locator("input[type=radio]").first.check()
    asked.get_by_role("button", name="Submit").first.click()
    until(lambda: asked.locator("input[type=radio]").count() == 0, "the answer was taken")
    found.save()
    html, _ = HTMLExporter().from_filename(str(found.path))
    (tmp_path / "book.html").write_text(html, encoding="utf-8")
    alone = page.context.new_page()
    alone.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    alone.goto((tmp_path / "book.html").as_uri(), wait_until="domcontentloaded")
    assert alone.locator(".jp-Cell-outputArea").locator(PLANTED).count() == 0
    assert "alert(1)" in alone.locator("body").inner_text()
    assert dialogs == []
