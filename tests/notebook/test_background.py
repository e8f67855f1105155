"""Runs that no cell waits for, and runs watched from elsewhere: in real kernels, with a page in front."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import nika_nb
from tests.doors import alive, hits, marks, newest, of, program, ran, started, traces, wait_for
from tests.kernels import Cell, Page, kernel

# Each waits until somebody makes the file that it is named for.
WAITS = """%%nika {line}
nika: {name}
permits: {{exec: ["./until"]}}
tasks:
  first: {{ exec: {{ command: ["./until", "go"] }} }}
  second: {{ after: {{ first: success }}, exec: {{ command: ["./until", "{name}"] }} }}
outputs: {{ said: "${{{{ tasks.second.output }}}}" }}
"""
ASKS = """%%nika {line}
nika: asks
permits: {{exec: ["./until"]}}
tasks:
  first: {{ exec: {{ command: ["./until", "go"] }} }}
  ask:
    after: {{ first: success }}
    invoke: {{ tool: "nika:prompt", args: {{ message: "Go on?" }} }}
  act:
    with: {{ go: "${{{{ tasks.ask.output }}}}" }}
    when: ${{{{ with.go == true }}}}
    exec: {{ command: ["./until", "go"] }}
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    folder = tmp_path_factory.mktemp("notebook")
    program(folder, "until", 'echo $$ >> pids\nwhile [ ! -e "$1" ]; do sleep 0.02; done\nprintf %s "$1"')
    with kernel(folder) as found:
        yield found


@pytest.fixture(autouse=True)
def _fresh(page: Page) -> Iterator[None]:
    (page.folder / "go").touch()
    yield
    for path in page.folder.iterdir():
        if path.name not in ("until", ".nika"):
            path.unlink()


def still(cell: Cell) -> bool:
    """The run has stopped, and its still stands there, which needs no kernel."""
    return cell.at_rest


def pids(page: Page) -> list[int]:
    return [int(word) for word in (page.folder / "pids").read_text().split()]


def labels(page: Page, cell: Cell) -> list[str]:
    return [page.widgets[one]["description"] for one in page.shown(cell, "Button")]


def test_a_run_behind_a_cell_returns_at_once_and_ends_in_its_place(page: Page) -> None:
    """The kernel is free, the value is the live run, the panel goes on where it was begun."""
    cell = page.run(WAITS.format(name="one", line="--background --into run"))
    assert page.run("run.state, run.running").text == "('running', True)"
    other = page.run("print('meanwhile')")
    page.until(lambda: "Stop" in labels(page, cell) and "1/2" in page.told(cell))
    (page.folder / "one").touch()
    page.until(lambda: still(cell) and "2/2 done" in cell.text)
    assert other.text == "meanwhile\n"
    assert page.run("run.wait(), run.outputs").text == "(True, {'said': 'one'})"


def test_several_go_on_at_once_and_each_has_its_stop_button(page: Page) -> None:
    """One is stopped, its processes are dead and its journal says so; the other comes to its end."""
    first = page.run(WAITS.format(name="left", line="--background --into left"))
    second = page.run(WAITS.format(name="right", line="--background --into right"))
    page.until(lambda: len(pids(page)) == 4)
    page.click(page.button(first, "Stop"))
    page.until(lambda: still(first) and "⊘ cancelled" in first.text)
    assert page.run("left.state, right.state").text == "('cancelled', 'running')"
    (page.folder / "right").touch()
    page.until(lambda: still(second) and "2/2 done" in second.text)
    assert [alive(pid) for pid in pids(page)] == [False] * 4


def test_an_interrupt_does_not_reach_it(page: Page) -> None:
    """What the kernel's interrupt stops is the cell that runs now."""
    page.run(WAITS.format(name="one", line="--background --into run"))
    busy = page.start("import time; print('busy', flush=True); time.sleep(60)")
    page.until(lambda: "busy" in busy.text)
    page.interrupt()
    page.until(lambda: busy.ended)
    assert "KeyboardInterrupt" in busy.error
    assert page.run("run.state").text == "'running'"
    assert page.run("run.cancel(); run.wait(), run.state").text == "(True, 'cancelled')"


def test_what_it_asks_stands_below_its_panel(page: Page) -> None:
    """A pause behind a cell: the question and its form come up in that cell, and a click goes on."""
    (page.folder / "go").unlink()
    cell = page.run(ASKS.format(line="--background --into run"))
    assert "Go on?" not in cell.text
    (page.folder / "go").touch()
    page.until(lambda: "◇ ask · Go on?" in cell.text and "Yes, continue" in labels(page, cell))
    assert "%nika answer" in cell.text
    page.click(page.button(cell, "Yes, continue"))
    page.until(lambda: still(cell) and "3/3 done" in cell.text)
    assert page.run("run.state").text == "'completed'"


def test_a_kernel_that_is_shut_down_ends_its_runs(page: Page, tmp_path: Path) -> None:
    """Their journals say that they were cancelled, their processes are gone, the next load tells of them."""
    program(tmp_path, "until", (page.folder / "until").read_text().partition("\n")[2])
    (tmp_path / "go").touch()
    with kernel(tmp_path) as other:
        other.run(WAITS.format(name="left", line="--background"))
        wait_for(started(tmp_path, "second"), "the second task at work")
        other.shut_down()
        assert nika_nb.read_trace(newest(tmp_path)).state == "cancelled"
    assert not any(alive(int(pid)) for pid in (tmp_path / "pids").read_text().split())
    with kernel(tmp_path) as other:
        assert "left was cancelled at 1/2; `--resume` would skip 1" in other.run("%reload_ext nika_nb").text


def test_nobody_there_to_see_it(page: Page) -> None:
    """Headless, a cell waits for its run whatever it says: what comes behind would be lost."""
    cell = page.start(WAITS.format(name="one", line="--background"), stdin=False)
    page.until(lambda: "the cell waits for it" in cell.text)
    (page.folder / "one").touch()
    page.until(lambda: cell.ended)
    assert "2/2 done" in cell.text


def test_a_failure_behind_a_cell_is_told_in_its_panel(page: Page) -> None:
    """No cell fails for it, nothing is printed; the run's outputs say it in a sentence."""
    bad = WAITS.format(name="one", line="--background --into run").replace('"one"]', '"-x", "y"]')
    program(page.folder, "until", '[ "$1" = -x ] && exit 3; exit 0')
    cell = page.run(bad)
    page.until(lambda: still(cell) and "✖ failed" in cell.text)
    program(page.folder, "until", 'echo $$ >> pids\nwhile [ ! -e "$1" ]; do sleep 0.02; done\nprintf %s "$1"')
    assert cell.error == ""
    assert "failed at `second`" in page.run("run.outputs").error


# -- a plan ----------------------------------------------------------------------------------------


def test_a_plan_is_carried_out_by_its_button(page: Page) -> None:
    """Nothing runs before the click; then exactly that, from the trace that was shown, in the same cell."""
    (page.folder / "one").touch()
    page.run(WAITS.format(name="one", line=""))
    before = traces(page.folder)
    edited = WAITS.replace('["./until", "{name}"]', '["./until", "{name}", "-"]')
    cell = page.run(edited.format(name="one", line="--plan --resume --into again"))
    assert "definition changed: exec.command" in cell.text
    assert traces(page.folder) == before
    page.run(WAITS.format(name="one", line=""))  # a newer trace, which was not what the plan showed
    page.click(page.button(cell, "Run"))
    page.until(lambda: still(cell) and "2/2 done" in cell.text)
    assert ran(newest(page.folder)) == {"second"}
    assert of(newest(page.folder), "workflow_started")[0]["resumed_trace"] == before[-1].name
    assert page.run("again.state").text == "'completed'"


@pytest.mark.parametrize("by", ["a path elsewhere", "its run's id"])
def test_a_plan_from_a_named_trace_is_carried_out_from_that_one(page: Page, by: str) -> None:
    """The line beside the button names it as the author did."""
    (page.folder / "one").touch()
    page.run(WAITS.format(name="one", line=""))
    begun = of(newest(page.folder), "workflow_started")[0]
    name = str(begun["correlation"])
    if by == "a path elsewhere":
        name = "kept.ndjson"
        newest(page.folder).rename(page.folder / name)
    cell = page.run(WAITS.format(name="one", line=f"--plan --resume {name}"))
    assert f"%%nika --resume {name}" in page.told(cell)
    page.click(page.button(cell, "Run"))
    page.until(lambda: still(cell) and "2/2 done" in cell.text)
    assert of(newest(page.folder), "workflow_started")[0]["parent_run"] == begun["correlation"]
    assert hits(newest(page.folder)) == {"first", "second"}


def test_a_plan_that_cannot_be_carried_out_says_why(page: Page) -> None:
    """The trace is gone meanwhile: the sentence stands beside the button, which can be pressed again."""
    (page.folder / "one").touch()
    page.run(WAITS.format(name="one", line=""))
    cell = page.run(WAITS.format(name="one", line="--plan --resume"))
    kept = newest(page.folder).rename(page.folder / "kept")
    page.click(page.button(cell, "Run"))
    page.until(lambda: "there is no trace" in page.told(cell))
    kept.rename(page.folder / ".nika" / "traces" / cell.text.split("resuming ")[1].split()[0])
    page.click(page.button(cell, "Run"))
    page.until(lambda: still(cell) and "2/2 done" in cell.text)


# -- attached --------------------------------------------------------------------------------------


def test_a_run_is_followed_from_a_second_kernel(page: Page) -> None:
    """From its file alone: what it does shows there, and it ends as the still of the same run."""
    cell = page.run(WAITS.format(name="one", line="--background"))
    wait_for(started(page.folder, "second"), "the second task at work")
    with kernel(page.folder) as other:
        watching = other.start(f"%nika attach {newest(page.folder).name}")
        other.until(lambda: "second" in other.told(watching) and "goes on" in other.told(watching))
        assert not watching.ended
        (page.folder / "one").touch()
        other.until(lambda: watching.ended)
        assert "2/2 done" in watching.text
        assert other.run("_.state, _.outputs").text == "('completed', {'said': 'one'})"
    page.until(lambda: still(cell))


def test_who_stops_following_leaves_the_run_alone(page: Page) -> None:
    """An interrupt ends the looking, in one line that says how to look again."""
    page.run(WAITS.format(name="one", line="--background --into run"))
    wait_for(started(page.folder, "second"), "the second task at work")
    with kernel(page.folder) as other:
        watching = other.start(f"%nika attach {newest(page.folder).name}")
        other.until(lambda: "second" in other.told(watching))
        other.interrupt()
        other.until(lambda: watching.ended)
        assert watching.error.startswith("KeyboardInterrupt: one is not followed here any more; it goes on")
        assert "not followed here any more" in watching.text
    assert page.run("run.wait(0.6), run.state").text == "(False, 'running')"
    (page.folder / "one").touch()
    assert page.run("run.wait(), run.state").text == "(True, 'completed')"


def test_an_attached_run_can_be_ended_from_there(page: Page) -> None:
    """From Python, in another kernel: asked, and waited for."""
    page.run(WAITS.format(name="one", line="--background --into run"))
    wait_for(started(page.folder, "second"), "the second task at work")
    name = newest(page.folder).name
    with kernel(page.folder) as other:
        other.run(f"import nika_nb; run = nika_nb.attach('.nika/traces/{name}')")
        assert other.run("run.state, run.running, run.wait(0.05)").text == "('running', True, False)"
        assert other.run("run.cancel(); run.wait(), run.state").text == "(True, 'cancelled')"
    assert page.run("run.wait(), run.state").text == "(True, 'cancelled')"
    assert marks(page.folder / "pids")
