"""A kernel of many runs holds the widgets of the newest one, and of what can still be used."""

from __future__ import annotations

import pytest

from tests.kernels import Cell, Page

RUN = """%%nika {line}
nika: small
permits: {{exec: ["true"]}}
tasks:
  a: {{ exec: {{ command: ["true"] }} }}
  b: {{ for_each: {{ items: [1, 2, 3] }}, exec: {{ command: ["true"] }} }}
"""
ASKS = """%%nika {line}
nika: asks
permits: {{tools: ["nika:prompt"]}}
tasks:
  ask: {{ invoke: {{ tool: "nika:prompt", args: {{ message: "Go on?" }} }} }}
"""
HELD = "from ipywidgets.widgets import widget as _w; from comm import get_comm_manager as _g"
HELD += "; len(_w._instances), len(_g().comms)"


def held(page: Page) -> tuple[int, ...]:
    """How many models the kernel holds, and how many comms."""
    return tuple(map(int, page.run(HELD).text.strip("()").split(",")))


def simple(page: Page) -> None:
    page.run(RUN.format(line=""))


def behind(page: Page) -> None:
    cell = page.run(RUN.format(line="--background"))
    page.until(lambda: "2/2 done" in cell.text and cell.at_rest)


def answered(page: Page) -> None:
    cell = page.run(ASKS.format(line=""))
    page.click(page.button(cell, "Yes, continue"))
    page.until(lambda: "1/1 done" in cell.text and cell.at_rest)


def planned(page: Page) -> None:
    cell = page.run(RUN.format(line="--plan"))
    page.click(page.button(cell, "Run"))
    page.until(lambda: "2/2 done" in cell.text and cell.at_rest)


def rolled(page: Page) -> None:
    cell = page.run(RUN.format(line=""))
    page.click(page.button(cell, "Run from here"))
    page.until(lambda: "forced by --from" in cell.text and not _at_work(page, cell))


def _at_work(page: Page, cell: Cell) -> bool:
    return any(page.widgets[one]["disabled"] for one in page.shown(cell, "Button")) or not cell.at_rest


@pytest.mark.parametrize("way", [simple, behind, answered, planned, rolled])
def test_runs_leave_no_widgets_behind(page: Page, way: object) -> None:
    """However they were begun: the number is the same after one and after five."""
    assert callable(way)
    way(page)
    simple(page)  # a run that has come to its end, whatever the way before
    before = held(page)
    for _ in range(4):
        way(page)
    simple(page)
    assert held(page) == before
    assert before[0] < 60


def test_what_waits_goes_on_working(page: Page) -> None:
    """Other runs come and go; the question is answered by its form, and the panel lives again."""
    cell = page.run(ASKS.format(line="--into waits"))
    for _ in range(3):
        simple(page)
    page.click(page.button(cell, "Yes, continue"))
    page.until(lambda: "1/1 done" in cell.text and cell.at_rest)
    assert page.run("waits.state").text == "'completed'"


def test_the_row_buttons_of_the_newest_run_go_on_working(page: Page) -> None:
    """Those of the run before have gone with it, its still has not."""
    first, second = page.run(RUN.format(line="")), page.run(RUN.format(line=""))
    assert not page.shown(first, "Button")
    assert "2/2 done" in first.text
    page.click(page.button(second, "Run from here"))
    page.until(lambda: "forced by --from" in second.text and not _at_work(page, second))


def test_a_row_button_rolls_what_the_page_shows(page: Page) -> None:
    """The row and the item were put in so quickly that the click overtook them."""
    cell = page.run(RUN.format(line=""))
    (row,), (item,) = page.shown(cell, "Dropdown"), page.shown(cell, "BoundedIntText")
    (at,) = (at for at, label in enumerate(page.widgets[row]["_options_labels"]) if label.endswith("b"))
    page.put(row, index=0)
    page.withheld = [(row, {"index": at}), (item, {"value": 2})]
    page.click(page.button(cell, "Roll this item again"))
    page.until(lambda: "forced by --from" in cell.text and not _at_work(page, cell))
    (line,) = (line for line in cell.text.splitlines() if "forced by --from" in line)
    assert "b[2]" in line


def test_a_page_that_was_loaded_while_it_stood_there_keeps_the_still(page: Page) -> None:
    """It knows no displays: what it shows is the widget, and that stays."""
    cell = page.run(ASKS.format(line=""))
    (root,) = [one for one in page.shown(cell, "VBox") if _stands_alone(page, one)]
    page.load_anew()
    page.click(page.button(cell, "Yes, continue"))
    page.until(lambda: cell.at_rest and "1/1 done" in cell.text)
    simple(page)
    assert root in page.widgets
    children = [one.removeprefix("IPY_MODEL_") for one in page.widgets[root]["children"]]
    assert children
    assert set(children) <= set(page.widgets)


def _stands_alone(page: Page, widget: str) -> bool:
    return not any(f"IPY_MODEL_{widget}" in one.get("children", ()) for one in page.widgets.values())


def test_a_cell_that_runs_again_takes_its_forms_with_it(page: Page) -> None:
    """They are gone from the page; those of other cells stay, and nothing is answered."""
    page.run(ASKS.format(line=""), cell_id="one")
    first = held(page)
    for _ in range(3):
        page.run(ASKS.format(line=""), cell_id="one")
    assert held(page) == first
    other = page.run(ASKS.format(line=""), cell_id="two")
    page.run("1", cell_id="one")
    page.run("%nika replay", cell_id="one")
    page.run("%nika replay", cell_id="one")
    page.click(page.button(other, "Yes, continue"))
    page.until(lambda: "1/1 done" in other.text and other.at_rest)
