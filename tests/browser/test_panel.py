"""The panel as people see it in JupyterLab: live, over, large, dark and light; and its row buttons."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path
from typing import Any

import nbformat
import pytest

from nika_nb.board import mimebundle
from nika_nb.board.state import board_of
from tests.board.scripted import resume
from tests.browser.conftest import Book, Lab, Opener
from tests.browser.test_lab import newest, outputs, until
from tests.doors import of, program, ran, traces

pytestmark = pytest.mark.browser

BRIEF = """%%nika --into run
nika: weekly-brief
model: mock/echo
permits:
  exec: ["./fetch", "./clean", "./title", "./stats", "./publish"]
  tools: ["nika:read"]
  fs: { read: ["./*.md"] }
tasks:
  notes: { invoke: { tool: "nika:read", args: { path: "./notes.md" } } }
  rows: { exec: { command: ["./fetch"] } }
  clean: { with: { rows: "${{ tasks.rows.output }}" }, exec: { command: ["./clean"] } }
  titles:
    with: { notes: "${{ tasks.notes.output }}", rows: "${{ tasks.clean.output }}" }
    for_each: { items: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], max_parallel: 2 }
    exec: { command: ["./title", "${{ item }}"] }
  stats: { with: { rows: "${{ tasks.clean.output }}" }, exec: { command: ["./stats"] } }
  brief:
    with: { titles: "${{ tasks.titles.output }}", stats: "${{ tasks.stats.output }}" }
    infer: { prompt: "A brief of ${{ with.titles }} and ${{ with.stats }}" }
  publish: { after: { brief: success }, exec: { command: ["./publish"] } }
"""

PROGRAMS = {
    "fetch": "sleep 0.4; echo 12 rows",
    "clean": "for n in 1 2 3 4 5 6; do echo checked $n of 6; sleep 0.2; done",
    "title": "sleep 0.4; echo A title for row $1",
    "stats": "for n in 1 2 3 4; do echo pass $n of 4; sleep 0.4; done; echo mean 4.2",
    "publish": "test -e ready && echo published",
}


def opened(book: Opener, *cells: str) -> Book:
    found = book(*cells)
    (found.path.parent / "notes.md").write_text("# Monday\nThe archive grew.\n")
    for name, body in PROGRAMS.items():
        program(found.path.parent, name, body)
    found.run(0)
    return found


def theme(found: Book, name: str) -> None:
    """JupyterLab's own dark or light theme, chosen in its menu."""
    page = found.page
    page.locator(".lm-MenuBar-itemLabel", has_text="Settings").click()
    page.locator(".lm-Menu-itemLabel", has_text=re.compile("^Theme$")).click()
    page.locator(".lm-Menu-itemLabel", has_text=re.compile(f"^{name}$")).click()
    page.wait_for_function(f"document.body.dataset.jpThemeName === '{name}'")


def shot(cell: Any, name: str) -> None:
    """A picture of a cell's outputs, where a folder for pictures is named."""
    folder = os.environ.get("NIKA_TEST_SHOTS")
    if folder:
        cell.locator(".jp-Cell-outputArea").screenshot(path=str(Path(folder) / f"{name}.png"))


# For every piece of text in an element: how far its colour stands out from the page behind it, as WCAG
# reckons it; opacity counts. The least of all, and where that is.
CONTRAST = """element => {
  const light = c => { c /= 255; return c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4 };
  const lum = rgb => .2126 * light(rgb[0]) + .7152 * light(rgb[1]) + .0722 * light(rgb[2]);
  const parts = text => { const n = text.match(/[\\d.]+/g).map(Number); return n.length < 4 ? [...n, 1] : n };
  const page = parts(getComputedStyle(document.body).getPropertyValue('--jp-layout-color0').includes('#111')
    ? 'rgb(17,17,17)' : 'rgb(255,255,255)');
  let least = [99, ''];
  const walk = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode, text = node.textContent.trim();
    if (!/[a-z0-9]{2}/i.test(text) || node.parentElement.closest('svg,button,select,[role=status]')) continue;
    let opacity = 1;
    for (let at = node.parentElement; at && at !== document.body; at = at.parentElement)
      opacity *= Number(getComputedStyle(at).opacity);
    const ink = parts(getComputedStyle(node.parentElement).color);
    const share = opacity * ink[3];
    const mixed = [0, 1, 2].map(at => share * ink[at] + (1 - share) * page[at]);
    const pair = [lum(mixed), lum(page)].sort((a, b) => b - a);
    const ratio = (pair[0] + .05) / (pair[1] + .05);
    if (ratio < least[0]) least = [ratio, text];
  }
  return least;
}"""


# The marks of a broken chain that a page puts on widgets whose kernel has gone.
MARKS = """() => [...document.querySelectorAll('.jupyter-widgets-disconnected')].filter(one =>
  one.offsetParent && getComputedStyle(one, '::before').content !== 'none').length"""


def readable(cell: Any) -> None:
    """All text of a cell's outputs has the contrast that WCAG asks of text (AA)."""
    ratio, text = cell.locator(".jp-Cell-outputArea").evaluate(CONTRAST)
    assert ratio >= 4.5, f"{text!r} has a contrast of {ratio:.2f}"


def panel_of(cell: Any) -> Any:
    return cell.locator(".jp-OutputArea-child").first


def test_the_panel_lives_while_its_cell_runs(book: Opener) -> None:
    """Graph, timeline and rows follow; the page switches views by itself, by keyboard too, while the
    kernel is busy; then the still stands there, readable in both themes."""
    found = opened(book, BRIEF)
    cell = found.start(1)
    graph = cell.locator("svg[aria-label^='graph of 7 tasks']")
    graph.wait_for()
    until(lambda: "◐ titles" in graph.inner_html(), "the graph follows")
    assert cell.locator("table[aria-label^='timeline of']").last.is_visible()
    until(lambda: bool(re.search("pass [1-4] of 4", outputs(cell))), "the last line of what runs")
    shot(cell, "panel-live")
    items = cell.get_by_role("button", name="Items")
    items.focus()
    found.page.keyboard.press("Space")
    until(lambda: "items of titles" in outputs(cell), "the page switched to the items")
    assert not graph.is_visible()
    readable(cell)
    until(lambda: "NIKA-EXEC-001" in outputs(cell), "the last task failed")
    found.idle()
    still = panel_of(cell)
    assert still.get_by_alt_text(re.compile("^graph: ")).is_visible()
    assert still.locator("table[aria-label^='timeline of']").is_visible()
    assert not still.locator("svg,button").count()
    shot(cell, "panel-failed")
    for name in ("JupyterLab Light", "JupyterLab Dark"):
        theme(found, name)
        readable(cell)
    shot(cell, "panel-failed-dark")


LONG = """%%nika
nika: load
permits: { exec: ["./fetch", "./broken"] }
tasks:
  extract: { exec: { command: ["./fetch"] } }
  load_into_the_warehouse_of_invoices: { after: { extract: success }, exec: { command: ["./broken"] } }
  announce: { after: { load_into_the_warehouse_of_invoices: success }, exec: { command: ["./fetch"] } }
"""

# What of an element's text lies outside of what the page shows of it, and cannot be scrolled to.
OUTSIDE = """element => {
  const edge = element.getBoundingClientRect().right + 1;
  const out = [];
  const walk = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode;
    if (!node.textContent.trim() || node.parentElement.closest('svg,select,script,style')) continue;
    const range = document.createRange(); range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    let at = node.parentElement, reached = false;
    while (at && at !== element) {
      const flow = getComputedStyle(at);
      reached = reached || /auto|scroll|hidden/.test(flow.overflowX);
      at = at.parentElement;
    }
    if (box.width && box.right > edge && !reached) out.push(node.textContent.trim());
  }
  return out;
}"""


def test_a_narrow_page_cuts_nothing_off(book: Opener) -> None:
    """Of 600 pixels: what failed, with its reason, is seen whole; buttons show their words, lines wrap."""
    found = opened(book, LONG)
    reason = "a reason that is much longer than the page is wide, " * 3
    program(found.path.parent, "broken", f"echo {reason} >&2; exit 2")
    found.page.keyboard.press("Control+b")
    found.page.set_viewport_size({"width": 600, "height": 1200})
    cell = found.run(1)
    cell.get_by_role("button", name="Run from here").wait_for()
    area = cell.locator(".jp-OutputArea-output")
    assert [area.nth(at).evaluate(OUTSIDE) for at in range(2)] == [[], []]
    told, edge = (
        panel_of(cell).get_by_text("NIKA-EXEC-001").first.bounding_box(),
        panel_of(cell).bounding_box(),
    )
    assert told["x"] + told["width"] <= edge["x"] + edge["width"]
    for button in cell.locator(".jp-Cell-outputArea button:visible").all():
        assert button.evaluate("one => one.scrollWidth <= one.clientWidth")
    shot(cell, "panel-narrow")


def test_row_buttons_take_the_run_on_in_its_panel(book: Opener) -> None:
    """From the failed row; one item; an output: each says its line and the kernel stays free."""
    found = opened(book, BRIEF, "6 * 7")
    cell = found.run(1)
    folder = found.path.parent
    cell.get_by_role("button", name="Run from here").wait_for()
    assert f"%nika resume {newest(folder).name} --from publish" in outputs(cell)
    (folder / "ready").touch()
    cell.get_by_role("button", name="Run from here").click()
    until(lambda: "completed" in panel_of(cell).inner_text(), "the run went on in place")
    assert "forced by --from" in panel_of(cell).inner_text()
    assert ran(newest(folder)) == {"publish"}

    cell.get_by_label("Row").select_option(label="↷ titles")
    cell.get_by_label("Item").fill("3")
    cell.get_by_label("Item").press("Tab")
    until(lambda: f"{newest(folder).name} --from 'titles[3]'" in outputs(cell), "the line follows")
    cell.get_by_role("button", name="Roll this item again").click()
    until(lambda: len(traces(folder)) == 3, "the roll began")
    assert "42" in outputs(found.run(2)), "the kernel is free meanwhile"
    until(lambda: "11 cached" in panel_of(cell).inner_text(), "the other items were recalled")
    until(lambda: cell.get_by_role("button", name="Open output").is_enabled(), "it came to rest")
    assert {frame["item"] for frame in of(newest(folder), "nb_item_completed") if "matched" not in frame} == {
        3
    }

    cell.get_by_role("button", name="Open output").focus()
    found.page.keyboard.press("Space")
    until(lambda: "output of titles[3]" in outputs(cell), "the output opened")
    assert "A title for row 4" in outputs(cell)
    readable(cell)
    shot(cell, "panel-rows")


@pytest.mark.parametrize("moment", ["live", "over"])
def test_a_page_without_its_kernel_shows_the_still_and_no_dead_buttons(book: Opener, moment: str) -> None:
    """Saved, the kernel killed, the page loaded again: every word of the still, nothing to click. In the
    middle of a run it says how far that was, and how to go on."""
    found = opened(book, BRIEF)
    cell = found.start(1)
    if moment == "live":
        until(lambda: "checked" in outputs(cell), "at work")
    else:
        until(lambda: "6 ok · 1 failed" in panel_of(cell).inner_text(), "the still took the panel's place")
    found.save()
    os.kill(found.kernel_pid(), signal.SIGKILL)
    found.page.reload()
    found.page.locator(".jp-NotebookPanel .jp-Cell").first.wait_for()
    cell = found.cell(1)
    until(lambda: "weekly-brief" in panel_of(cell).inner_text(), "the still is there")
    for word in (
        "titles",
        *(["6 ok · 1 failed", "failed"] if moment == "over" else ["%nika attach", "--resume"]),
    ):
        assert word in panel_of(cell).inner_text()
    assert not cell.locator(".jp-Cell-outputArea").get_by_role("button").count()
    shot(cell, f"panel-no-kernel-{moment}")


def test_a_kernel_that_dies_at_work_is_told_on_the_open_page(book: Opener) -> None:
    """Nobody reloads: how far it was seen to be stays, what can be clicked no more goes, and it says how to
    go on.
    """
    found = opened(book, BRIEF)
    cell = found.start(1)
    until(lambda: "checked" in outputs(cell), "at work")
    assert "%nika attach" not in outputs(cell)
    os.kill(found.kernel_pid(), signal.SIGKILL)
    until(lambda: f"%nika attach {newest(found.path.parent).name}" in outputs(cell), "how to go on")
    assert "interrupt the kernel" not in outputs(cell)
    assert "checked" in outputs(cell)
    assert found.page.evaluate(MARKS) == 0
    shot(cell, "panel-kernel-died")
    assert outputs(cell).count("7 tasks") == 1


WIDE = """%%nika
nika: thousand
permits: { exec: ["true"] }
tasks:
  start: { exec: { command: ["true"] } }
"""


def test_a_thousand_tasks_stay_smooth(book: Opener) -> None:
    """A window of rows while it runs, the graph folded behind its switch; the page never hangs."""
    rows = "".join(
        f'  t{n:03}: {{ after: {{ start: success }}, exec: {{ command: ["true"] }} }}\n' for n in range(999)
    )
    found = opened(book)
    notebook = nbformat.read(str(found.path), as_version=4)  # type: ignore[no-untyped-call]
    notebook.cells.append(nbformat.v4.new_code_cell(WIDE + rows))  # type: ignore[no-untyped-call]
    nbformat.write(notebook, str(found.path))  # type: ignore[no-untyped-call]
    found.page.reload()
    found.idle()
    found.run(0)
    found.page.evaluate(
        """() => { window.gaps = []; let last = performance.now(); const tick = () => {
        const now = performance.now(); window.gaps.push(now - last); last = now;
        requestAnimationFrame(tick) }; tick() }"""
    )
    cell = found.start(1)
    until(lambda: "and 960 more" in outputs(cell), "a window of the rows")
    cell.get_by_role("button", name="Graph and timeline").click()
    until(lambda: "t000…t998 · 999 tasks" in outputs(cell), "the folded graph")
    shot(cell, "panel-thousand")
    gaps = sorted(found.page.evaluate("window.gaps"))
    found.idle(120)
    until(lambda: "1,000/1,000 done" in panel_of(cell).inner_text(), "the still")
    assert "t998" in panel_of(cell).inner_text()
    assert gaps[int(len(gaps) * 0.95)] < 20 * gaps[len(gaps) // 10] + 200


def test_an_untrusted_notebook_shows_the_same_still(lab: Lab, page: Any) -> None:
    """What JupyterLab's sanitiser takes away, tones of themes and words for screen readers, is missed by
    nobody: signs, words, bars, drawings and folds are there."""
    output = nbformat.v4.new_output("display_data", mimebundle(board_of(resume().events)))  # type: ignore[no-untyped-call]
    cell = nbformat.v4.new_code_cell("%%nika\n…", outputs=[output], execution_count=1)  # type: ignore[no-untyped-call]
    notebook = nbformat.v4.new_notebook(cells=[cell])  # type: ignore[no-untyped-call]
    nbformat.write(notebook, str(lab.root / "foreign.ipynb"))  # type: ignore[no-untyped-call]
    page.goto(f"{lab.url}/lab/tree/foreign.ipynb?reset")
    found = page.locator('[data-windowed-list-index="0"]')
    found.get_by_text("4/4 done").wait_for()
    images = found.locator("img")
    images.first.wait_for()
    assert images.evaluate_all("all => all.map(one => one.naturalWidth > 50)") == [True], "the graph"
    timeline = found.locator("table [style*='height:10px']")
    assert timeline.evaluate_all("all => all.map(one => one.offsetWidth >= 2)") == [True, True], "what ran"
    bars = found.locator("[style*='height:6px'] > div")
    assert bars.evaluate_all("all => all.every(one => one.offsetWidth > 10)")
    assert bars.count() == 2
    readable(found)
    shot(found, "panel-untrusted")
