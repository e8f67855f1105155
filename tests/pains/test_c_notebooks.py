"""Reports (c): notebooks, widgets, loops, told as stories in a real kernel with a page in front of it.

Shown by other tests, where a report is not here:
 44  the toolbar's stop button                        browser/test_lab.py
 45  kernels before and after version 7               notebook/test_kernels.py
 51  executed, converted, and every task still there   notebook/test_headless.py
 52  a notebook with a widget is executed to its end  notebook/test_headless.py
 54  a page that is reloaded                          browser/test_forms.py
 56  a runner whose kernel is killed                  pains/test_c_runners.py
 59  completion where no front-end knows the language  notebook/test_completion.py
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import nika_nb
from tests.doors import alive, marks, newest, program, traces, wait_for
from tests.kernels import VIEW, Cell, Page, kernel, pids

SAY = """nika: say
permits: {exec: ["./say"]}
tasks: { say: { exec: { command: ["./say", "hello"] } } }
outputs: { said: "${{ tasks.say.output }}" }
"""

ASK = """%%nika --into run
nika: ask
permits: {exec: ["./say"]}
tasks:
  ask: { invoke: { tool: "nika:prompt", args: { message: "Go on?" } } }
  act:
    with: { go: "${{ tasks.ask.output }}" }
    when: ${{ with.go == true }}
    exec: { command: ["./say", "acted"] }
outputs: { act: "${{ tasks.act.output }}" }
"""

TREE = """%%nika
nika: tree
permits: {exec: ["./tree"]}
tasks: { tree: { exec: { command: ["./tree"] } } }
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    folder = tmp_path_factory.mktemp("notebook")
    program(folder, "say", 'echo "$1" >> marks\nprintf %s "$1"')
    program(folder, "tree", "trap '' INT TERM\necho $$ >> pids\n(sleep 61 & echo $! >> pids; wait) &\nwait")
    with kernel(folder) as found:
        yield found


@pytest.fixture(autouse=True)
def _fresh(page: Page) -> None:
    for name in ("marks", "pids"):
        (page.folder / name).unlink(missing_ok=True)


def done(page: Page, cell: Cell) -> None:
    """The run behind the last answer has come to its end, and its still stands there."""
    page.until(lambda: "2/2 done" in cell.text and cell.at_rest)


# -- loops ---------------------------------------------------------------------------------------


def test_c_41_a_workflow_runs_while_the_notebooks_own_loop_runs(page: Page) -> None:
    """A cell, a call, and a task of one's own that ticks on: no patched loop, nothing to await."""
    page.run("import asyncio, sys\nticks = []")
    page.run("async def tick():\n    while True:\n        ticks.append(1); await asyncio.sleep(0.01)")
    page.run("ticking = asyncio.ensure_future(tick())")
    cell = page.run(f"%%nika --into run\n{SAY}")
    assert "1/1 done" in cell.text
    page.run(f"import nika_nb\ntext = '''{SAY}'''")
    assert "'hello'" in page.run("nika_nb.run(text).outputs").text
    page.run("before = len(ticks); await asyncio.sleep(0.1)")
    assert page.run("len(ticks) > before, 'nest_asyncio' in sys.modules, ticking.done()").text == (
        "(True, False, False)"
    )
    page.run("ticking.cancel()")


def test_c_42_a_workflow_is_awaited(page: Page) -> None:
    """Beside other things that are awaited in the same cell."""
    page.run(f"import asyncio, nika_nb\ntext = '''{SAY}'''")
    cell = page.run("both = await asyncio.gather(nika_nb.arun(text), nika_nb.arun(text))")
    assert cell.error == ""
    assert page.run("[run.outputs['said'] for run in both]").text == "['hello', 'hello']"


# -- interrupts ------------------------------------------------------------------------------------


def interrupted(page: Page, code: str) -> Cell:
    cell = page.start(code)
    page.until(lambda: len(pids(page)) == 2)
    page.interrupt()
    page.until(lambda: cell.ended)
    return cell


def test_c_43_an_interrupt_ends_the_tree_raises_and_is_journaled(page: Page) -> None:
    """All three: nothing goes on, the cells behind it do not run, the journal says who ended it."""
    cell = interrupted(page, TREE)
    assert cell.reply["status"] == "error"
    assert cell.error.startswith("KeyboardInterrupt: tree was interrupted")
    assert "\n" not in cell.error
    wait_for(lambda: not any(map(alive, pids(page))), "the end of every process")
    assert nika_nb.read_trace(newest(page.folder)).state == "cancelled"
    assert "⊘ cancelled" in cell.text


def test_c_44_an_awaited_workflow_is_interrupted_at_once(page: Page) -> None:
    """`await` is no shelter: the tree is dead, the run cancelled, and the kernel takes the next cell."""
    page.run(f"import nika_nb\ntree = '''{TREE.partition(chr(10))[2]}'''")
    cell = interrupted(page, "await nika_nb.arun(tree)")
    assert cell.reply["status"] == "error"
    wait_for(lambda: not any(map(alive, pids(page))), "the end of every process")
    wait_for(lambda: nika_nb.read_trace(newest(page.folder)).state == "cancelled", "the end of the journal")
    assert page.run("1 + 1").text == "2"


# -- what is shown ---------------------------------------------------------------------------------


def test_c_45_what_happens_behind_a_click_is_said_by_widgets_and_displays(page: Page) -> None:
    """A thread's prints land in whichever cell runs next: nothing is printed."""
    cell = page.run(ASK)
    page.click(page.button(cell, "Yes, continue"))
    other = page.run("import time; time.sleep(0.5)")
    done(page, cell)
    assert [output["output_type"] for output in cell.outputs] == ["display_data"] * 4
    assert other.outputs == []


def test_c_46_no_output_widget(page: Page) -> None:
    """It loses text that comes from threads; live text stands in the panel itself."""
    page.run(f"%%nika\n{SAY}")
    page.run(ASK)
    assert {state["_model_name"] for state in page.widgets.values()} & {"OutputModel"} == set()


def test_c_49_every_run_is_updated_in_its_own_place(page: Page) -> None:
    """Two runs in two cells, answered the other way round: each ends where it began."""
    first, second = page.run(ASK), page.run(ASK.replace("nika: ask", "nika: other"))
    page.click(page.button(second, "No"))
    done(page, second)
    assert "◇ ask · Go on?" in first.text
    page.click(page.button(first, "Yes, continue"))
    done(page, first)
    assert "✔  act" in first.text
    assert "↷  act" in second.text
    assert "nika · other" in second.text
    assert "nika · other" not in first.text


def test_c_50_every_widget_has_html_and_text_beside_it(page: Page) -> None:
    """A page without widgets, or one that lost the model, still reads what there is to read."""
    cell = page.run(ASK)
    assert all({"text/html", "text/plain"} <= keys for keys in cell.keys)
    assert sum(VIEW in keys for keys in cell.keys) == 1
    for fact in ("Go on?", "when with.go == true", "run ./say acted", "%nika answer"):
        assert fact in cell.text


def test_c_54_a_second_kernel_draws_the_same_from_the_file(page: Page) -> None:
    """Output that a page lost is not lost: the trace tells it again, the form included."""
    cell = page.run(ASK)
    name = newest(page.folder).name
    with kernel(page.folder) as other:
        again = other.run(f"%nika attach {name}")
        assert again.text.replace("\n", " ") == cell.text.replace("\n", " ")
        other.click(other.button(again, "Yes, continue"))
        done(other, again)
        page.until(lambda: "already answered elsewhere" in cell.text and "completed</b>" in cell.page)
    assert marks(page.folder / "marks") == {"acted": 1}
    assert "'acted'" in page.run("run.outputs").text


# -- questions -------------------------------------------------------------------------------------


def test_c_47_a_cell_that_asks_returns_and_a_click_goes_on(page: Page) -> None:
    """Nobody has to run a second cell: the kernel is free, the same cell shows the end."""
    cell = page.run(ASK)
    assert cell.reply["status"] == "ok"
    assert page.run("run.state").text == "'paused'"
    page.click(page.button(cell, "Yes, continue"))
    done(page, cell)
    assert "'acted'" in page.run("run.outputs").text
    assert marks(page.folder / "marks") == {"acted": 1}


def test_c_47_a_click_in_a_busy_kernel_counts_when_it_is_free(page: Page) -> None:
    """Twice, in the middle of another cell: delivered late, taken once."""
    before = len(traces(page.folder))
    cell = page.run(ASK)
    busy = page.start("import time; time.sleep(0.4)")
    for _ in range(2):
        page.click(page.button(cell, "Yes, continue"))
    page.until(lambda: busy.ended)
    done(page, cell)
    assert len(traces(page.folder)) == before + 2
    assert marks(page.folder / "marks") == {"acted": 1}


@pytest.mark.parametrize("stdin", [True, False], ids=["page", "headless"])
def test_c_48_57_a_question_is_never_put_by_input(page: Page, stdin: bool) -> None:
    """Not in a cell, not behind a click; a front-end that knows no input hears of none, and has no form."""
    cell = page.run(ASK, stdin=stdin)
    assert cell.reply["status"] == "ok"
    assert cell.error == ""
    if stdin:
        page.click(page.button(cell, "No"))
        done(page, cell)
    else:
        assert not page.shown(cell, "Button")
    assert page.asked_for_input == 0


def test_c_59_a_refused_cell_is_shown_readably_without_colours_of_the_front_end(page: Page) -> None:
    """No front-end knows the language in a cell: place, caret and way out come from the kernel."""
    cell = page.run('%%nika\nnika: broken\ntasks:\n  a: { exce: { command: ["x"] } }\n')
    for part in ("line 4", "^^^^", "did you mean `exec`"):
        assert part in cell.error
    assert "Traceback" not in cell.error


def test_the_kernel_runs_what_the_tests_run(page: Page) -> None:
    """The same Python with the same package."""
    assert page.run("import sys; sys.executable").text == repr(sys.executable)
    assert Path(page.run("import nika_nb; nika_nb.__file__").text.strip("'")) == Path(nika_nb.__file__)
