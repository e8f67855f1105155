"""The row buttons of a run that is over: what they show, what a click does, what is left of them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

import nika_nb
from nika_nb.notebook import closing
from nika_nb.notebook.actions import Actions
from nika_nb.notebook.shown import Spots, view
from nika_nb.notebook.watch import Watch
from nika_nb.runs.run import Run, ready
from tests.doors import marks, newest, program, ran, traces, wait_for
from tests.notebook.conftest import Notebook, Shown

WIDGET = "application/vnd.jupyter.widget-view+json"

ROWS = """\
nika: rolls
permits: {exec: ["./say"]}
tasks:
  before: {exec: {command: ["./say", "before"]}}
  rows:
    after: {before: success}
    for_each: {items: [x, y, z]}
    exec: {command: ["./say", "${{ item }}"]}
  behind:
    with: {v: "${{ tasks.rows.output }}"}
    exec: {command: ["./say", "behind"]}
outputs: {rows: "${{ tasks.rows.output }}"}
"""

FAILS = """\
nika: fails
permits: {exec: ["./say", "./maybe"]}
tasks:
  first: {exec: {command: ["./say", "first"]}}
  second: {after: {first: success}, exec: {command: ["./maybe"]}}
  third: {after: {second: success}, exec: {command: ["./say", "third"]}}
"""

ASKS = """\
nika: asks
permits: {exec: ["./say"]}
tasks:
  draft: {exec: {command: ["./say", "draft"]}}
  ask:
    after: {draft: success}
    invoke: {tool: "nika:prompt", args: {message: "Go on?"}}
  act:
    with: {go: "${{ tasks.ask.output }}"}
    when: ${{ with.go == true }}
    exec: {command: ["./say", "acted"]}
"""


class Page:
    """A surface that has widgets and no kernel behind it; somebody is there to click, or nobody is."""

    has_widgets = True
    cell_id = None
    execution = ""

    def __init__(self, interactive: bool = True) -> None:
        self.interactive = interactive


@pytest.fixture(autouse=True)
def _alone(folder: Path) -> Iterator[None]:
    """No buttons of another test, and a folder with a program."""
    program(folder, "say", 'echo "$1" >> marks\nprintf %s "$1"')
    program(folder, "maybe", "test -e ready")
    closing.retire()
    yield
    closing.retire()


def watched(run: Run, *, interactive: bool = True) -> Watch:
    watch = Watch(run, Page(interactive))  # type: ignore[arg-type]
    watch.draw()
    return watch


def of(watch: Watch) -> Actions:
    found = watch._again._actions
    assert found is not None
    return found


def click(watch: Watch, button: str) -> None:
    """A click, and until all is over that it began."""
    before = watch.run
    of(watch).buttons[button].click()
    wait_for(lambda: watch.run is not before and at_rest(watch), "the end of it")


def at_rest(watch: Watch) -> bool:
    """Whether the buttons stand on the page and can be clicked."""
    found = watch._again._actions
    placed = watch.panel is not None and watch.panel._place is not None
    return found is not None and not found.buttons["from"].disabled and placed


def root(watch: Watch) -> Any:
    """The widget that stands in the second display, as a front-end finds it."""
    assert watch.panel is not None
    return view(watch.panel._place)[WIDGET]


def panel_of(watch: Watch) -> Any:
    assert watch.panel is not None
    return watch.panel.box


def lines(watch: Watch) -> dict[str, str]:
    return {name: button.tooltip for name, button in of(watch).buttons.items()}


def test_the_buttons_stand_below_the_still_in_a_display_of_their_own(shown: Shown) -> None:
    """A page without the kernel shows the still alone: the second display has no twin."""
    watch = watched(nika_nb.run(ROWS))
    still, below = shown.now
    assert set(still) == {"text/html", "text/plain"}
    assert set(below) == {WIDGET, "text/html", "text/plain"}
    assert (below["text/html"], below["text/plain"]) == ("", "")
    assert below[WIDGET] == root(watch)


def test_where_nobody_can_click_there_are_none(shown: Shown) -> None:
    """A headless run leaves its still and no widget."""
    watched(nika_nb.run(ROWS), interactive=False)
    assert [set(bundle) for bundle in shown.now] == [{"text/html", "text/plain"}] * 2


def test_a_run_that_another_kernel_is_at_has_none(shown: Shown, folder: Path) -> None:
    """What still works cannot be rolled again."""
    path = nika_nb.run(ROWS).trace
    assert path is not None
    cut = path.with_name("cut.ndjson")
    cut.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:5]))
    run = nika_nb.attach(cut)
    run.board.state = "running"
    watched(run)
    assert WIDGET not in shown.now[1]


def test_each_button_shows_the_line_it_stands_for(shown: Shown) -> None:
    """On the page beside it and as its own description; quoted where a line needs it."""
    watch = watched(nika_nb.run(ROWS))
    trace = watch.run.trace
    assert trace is not None
    of(watch).task.value = "rows"
    of(watch).item.value = 2
    assert lines(watch) == {
        "from": f"%nika resume {trace.name} --from rows",
        "item": f"%nika resume {trace.name} --from 'rows[2]'",
        "open": f"%nika show {trace.name} 'rows[2]'",
    }
    assert [html.value.count("%nika") for html in of(watch)._lines.values()] == [1, 1, 1]


@pytest.mark.parametrize("button", ["from", "item"])
def test_a_click_does_what_its_line_does(shown: Shown, notebook: Notebook, folder: Path, button: str) -> None:
    """The same tasks and items run, the same are recalled, in journals alike."""
    InteractiveShell.instance().run_line_magic("load_ext", "nika_nb")
    watch = watched(nika_nb.run(ROWS))
    of(watch).task.value, of(watch).item.value = "rows", 1
    line, before = lines(watch)[button], marks(folder / "marks")
    click(watch, button)
    clicked, after = newest(folder), marks(folder / "marks")
    typed = notebook.python(line)
    assert not typed.failed, typed.error
    assert marks(folder / "marks") - after == after - before
    assert ran(newest(folder)) == ran(clicked) == {"rows", "behind"}
    assert len(traces(folder)) == 3


def test_the_line_that_opens_an_output_is_one_that_can_be_typed(notebook: Notebook, folder: Path) -> None:
    """A task, an item; what is not there is named, with what was meant."""
    trace = nika_nb.run(ROWS).trace
    assert trace is not None
    assert notebook.python(f"%nika show {trace.name} before").text.strip().endswith("before")
    assert notebook.python(f"%nika show {trace.name} 'rows[2]'").text.strip() == "z"
    assert "did you mean `rows`?" in notebook.python(f"%nika show {trace.name} rowz").error
    assert "one word too many" in notebook.python(f"%nika show {trace.name} rows behind").error


def test_from_a_failed_task_in_the_same_panel(shown: Shown, folder: Path) -> None:
    """The row that failed is chosen; repaired and clicked, the still above becomes that of the new run."""
    watch = watched(nika_nb.run(FAILS))
    assert of(watch).row.id == "second"
    (folder / "ready").touch()
    click(watch, "from")
    still, below = shown.now
    assert "3/3 done" in still["text/plain"]
    assert "forced by --from" in still["text/plain"]
    assert below == {**below, "text/html": "", "text/plain": ""}
    assert ran(newest(folder)) == {"second", "third"}
    assert lines(watch)["from"].split()[2] == newest(folder).name


def test_one_item_again_and_again(shown: Shown, folder: Path) -> None:
    """Each roll goes on from the one before; only that item runs, and what reads it."""
    watch = watched(nika_nb.run(ROWS))
    of(watch).task.value = "rows"
    for item, word in ((1, "y"), (2, "z")):
        before = marks(folder / "marks")
        of(watch).item.value = item
        click(watch, "item")
        assert marks(folder / "marks") - before == {word: 1, "behind": 1}
        assert (of(watch).row.id, of(watch).item.value) == ("rows", item)


def test_the_click_returns_at_once_and_a_second_one_does_nothing(shown: Shown, folder: Path) -> None:
    """While it works the buttons are off; the engine and the painter have threads of their own."""
    program(folder, "say", "while [ ! -e go ]; do sleep 0.02; done; printf %s x")
    (folder / "go").touch()
    watch = watched(nika_nb.run(ROWS))
    (folder / "go").unlink()
    button = of(watch).buttons["from"]
    for _ in range(3):
        button.click()
    assert threading.current_thread() is threading.main_thread()
    assert watch.run.running
    assert all(one.disabled for one in of(watch).buttons.values())
    wait_for(lambda: "Stop" in {getattr(one, "description", "") for one in _within(panel_of(watch))}, "Stop")
    (folder / "go").touch()
    wait_for(lambda: at_rest(watch), "the end of it")
    assert len(traces(folder)) == 2


def _within(widget: Any) -> Iterator[Any]:
    yield widget
    for child in getattr(widget, "children", ()):
        yield from _within(child)


def test_a_page_that_was_loaded_meanwhile_sees_it_all_in_the_widget_it_shows(shown: Shown) -> None:
    """Such a page knows no displays: one loaded while the run worked shows the panel, one loaded when it
    was over shows the buttons, and in both the still and the buttons of the last run come to stand."""
    watch = watched(nika_nb.run(ROWS))
    assert watch.panel is not None
    below = watch.panel._place
    below.get_state()  # as a page asks that is loaded now
    click(watch, "from")
    wait_for(lambda: below.children == (panel_of(watch),), "the panel where the buttons were")
    assert list(panel_of(watch).children)[2:] == [of(watch).box]
    assert "behind" in panel_of(watch).children[1].value
    assert "display:none" in panel_of(watch).children[0].value


def test_what_goes_wrong_is_said_and_the_buttons_are_there_again(shown: Shown, folder: Path) -> None:
    """No cell would show an exception."""
    watch = watched(nika_nb.run(ROWS))
    assert watch.run.trace is not None
    watch.run.trace.unlink()
    of(watch).buttons["from"].click()
    assert watch.run.trace.name in of(watch).said.value
    assert 'role="alert"' in of(watch).said.value
    assert not of(watch).buttons["from"].disabled


def test_an_output_opens_below_and_does_nothing(shown: Shown, folder: Path) -> None:
    """Markup is text, ten megabytes are a beginning and a number; an item of a fan-out is one item."""
    program(folder, "say", "printf '<script>alert(1)</script>'; head -c 10000000 /dev/zero | tr '\\0' x")
    watch = watched(nika_nb.run(ROWS))
    of(watch).task.value = "rows"
    of(watch).buttons["open"].click()
    wait_for(lambda: of(watch).opened.value, "the output")
    page = of(watch).opened.value
    assert "output of rows[0]" in page
    assert "&lt;script&gt;alert(1)" in page
    assert "<script" not in page
    assert "more characters" in page
    assert len(page) < 30_000


def test_of_what_failed_the_error_is_opened(shown: Shown) -> None:
    """The whole error stands where the output would."""
    watch = watched(nika_nb.run(FAILS))
    of(watch).buttons["open"].click()
    wait_for(lambda: of(watch).opened.value, "the error")
    page = of(watch).opened.value
    assert "error of second" in page
    assert "NIKA-EXEC-001 · command exited with status" in page


def test_what_has_no_output_says_so(shown: Shown) -> None:
    """A task that did not run is named with its state."""
    watch = watched(nika_nb.run(FAILS))
    of(watch).task.value = "third"
    of(watch).buttons["open"].click()
    wait_for(lambda: of(watch).said.value, "what was said")
    assert "holds no output of `third`: blocked · second failed" in of(watch).said.value


def test_a_roll_that_asks_has_its_form_among_the_buttons(shown: Shown, folder: Path) -> None:
    """There is no cell to show it in; the answer goes on in the same panel, and the buttons come back."""
    run = nika_nb.run(ASKS)
    watch = watched(run.answer(ask=True))
    of(watch).task.value = "draft"
    of(watch).buttons["from"].click()
    wait_for(
        lambda: watch.questions._sheet.widget in panel_of(watch).children and watch.panel._place, "the form"
    )
    assert shown.now[1][WIDGET] == root(watch)
    form = watch.questions.open["ask"]
    assert form.box in watch.questions._sheet.widget.children
    next(button for button in form.buttons if button.description == "Yes, continue").click()
    wait_for(lambda: at_rest(watch), "the end of it")
    assert "3/3 done" in shown.now[0]["text/plain"]
    assert marks(folder / "marks")["acted"] == 2


def test_after_an_answer_the_buttons_stand_below_the_still(shown: Shown) -> None:
    """A run that waits has none; where its forms stood nothing is left."""
    watch = watched(nika_nb.run(ASKS))
    assert WIDGET not in shown.now[1]
    form = watch.questions.open["ask"]
    next(button for button in form.buttons if button.description == "No").click()
    wait_for(lambda: at_rest(watch) and WIDGET not in shown.now[3], "the buttons")
    assert shown.now[1][WIDGET] == root(watch)
    assert not of(watch).buttons["from"].disabled


def test_a_run_in_the_background_has_them_when_it_is_over(shown: Shown) -> None:
    """In the room that its cell kept."""
    spots = Spots()
    spots.reserve()
    run = ready(nika_nb.run(ROWS).request)
    watch = Watch(run, Page(), spots=spots)  # type: ignore[arg-type]
    watch.background(run.begin)
    wait_for(lambda: at_rest(watch), "the buttons")
    assert shown.now[1][WIDGET] == root(watch)
    assert "3/3 done" in shown.now[0]["text/plain"]
    click(watch, "from")
    assert "forced by --from" in shown.now[0]["text/plain"]


def test_only_the_last_run_on_a_page_has_buttons(shown: Shown) -> None:
    """A page of many runs is not full of them; those that go leave nothing in the file."""
    first = watched(nika_nb.run(ROWS))
    second = watched(nika_nb.run(ROWS))
    assert [WIDGET in bundle for bundle in shown.now] == [False, False, False, True]
    assert first._again._actions is None
    assert of(second).box.comm is not None


def test_a_thousand_rows_cost_no_more_widgets(shown: Shown, folder: Path) -> None:
    """The rows are one list, whatever their number."""
    tasks = "\n".join(f"  t{at}: {{ infer: {{ prompt: x }} }}" for at in range(300))
    watch = watched(nika_nb.run(f"nika: wide\nmodel: mock/echo\ntasks:\n{tasks}\n"))
    assert len(of(watch).task.options) == 300
    assert sum(1 for _ in _within(of(watch).box)) < 20
