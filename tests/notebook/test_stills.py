"""What a page that runs nothing keeps of a run: finished, failed, cancelled, killed in the middle."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import unescape

import pytest
from nbconvert import HTMLExporter

from tests.doors import program
from tests.kernels import Cell, Page, kernel

TEXT = """%%nika
nika: nightly
permits: {exec: ["./say", "./maybe", "./wait"]}
tasks:
  first: {exec: {command: ["./say", "<b>hello</b>"]}}
  fan:
    after: {first: success}
    for_each: {items: [a, b, c]}
    exec: {command: ["./say", "${{ item }}"]}
  last: {after: {fan: success}, exec: {command: ["./LAST"]}}
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    folder = tmp_path_factory.mktemp("stills")
    program(folder, "say", 'printf %s "$1"')
    program(folder, "maybe", "echo no luck >&2; exit 3")
    program(folder, "wait", "touch up; sleep 60")
    with kernel(folder) as found:
        yield found


def completed(page: Page) -> Cell:
    return page.run(TEXT.replace("./LAST", "./say").replace('["./say"]}}\n', '["./say", "done"]}}\n'))


def failed(page: Page) -> Cell:
    return page.run(TEXT.replace("LAST", "maybe"))


def at_work(page: Page) -> Cell:
    """The last task works, and the page shows it: a run begins a moment before its panel stands."""
    (page.folder / "up").unlink(missing_ok=True)
    cell = page.start(TEXT.replace("LAST", "wait"))
    page.until(lambda: (page.folder / "up").exists() and len(cell.keys) > 1)
    return cell


def cancelled(page: Page) -> Cell:
    cell = at_work(page)
    page.interrupt()
    page.until(lambda: cell.ended)
    return cell


def exported(page: Page) -> str:
    """The notebook as nbconvert makes a page of it, without a kernel: what stands in its outputs."""
    html, _ = HTMLExporter().from_filename(str(page.saved(page.folder / "book.ipynb")))
    return str(html)


def words(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


@pytest.mark.parametrize(
    ("act", "facts"),
    [
        (completed, ["✔ completed", "3/3 done", "✔ ok last"]),
        (failed, ["✖ failed", "2 ok · 1 failed", "✖ failed last", "NIKA-EXEC-001"]),
        (cancelled, ["⊘ cancelled", "2 ok · 1 cancelled", "⊘ cancelled last"]),
    ],
)
def test_a_page_without_a_kernel_reads_right(
    page: Page, act: Callable[[Page], Cell], facts: list[str]
) -> None:
    """Final state, every task, the drawings, the items to unfold, the journal; no widget, nothing to load."""
    page.cells.clear()
    act(page)
    html = exported(page)
    said = words(html)
    for fact in ("nightly", "first", "fan", "items of fan", "trace .nika/traces/", "chain", *facts):
        assert fact in said
    assert 'alt="graph: ' in html
    assert "→ <b>hello</b>" in said
    assert "<b>hello</b>" not in html
    assert "widget-view+json" not in html
    assert "Loading widget" not in html
    assert "display:none}" not in html.partition("nika-run-")[2]


def test_killed_in_the_middle_the_page_says_how_far_it_was(page: Page) -> None:
    """What a front-end had saved by then: the still, and how to go on; nothing that needs the kernel."""
    page.cells.clear()
    cell = at_work(page)
    html = exported(page)
    page.interrupt()
    page.until(lambda: cell.ended)
    said = words(html)
    for fact in ("nightly", "running", "fan", "%nika attach", "--resume"):
        assert fact in said
    assert "widget-view+json" not in html
