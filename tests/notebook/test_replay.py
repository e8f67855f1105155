"""The player without a browser: its widgets, what a cell shows with and without somebody at it, the magic."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from nbclient import NotebookClient

import nika_nb
from nika_nb.notebook import magic
from nika_nb.notebook.replay import HERE, OFFERED, Player, players
from tests.board.test_replay import replayed
from tests.notebook.conftest import Shown
from tests.trace.journals import Events, completed, item, started, story, write

WIDGET = "application/vnd.jupyter.widget-view+json"


@pytest.fixture
def player(tmp_path: Path) -> Player:
    return Player(replayed(write(tmp_path, story())))


def status(player: Player) -> str:
    return str(player._status.value)


def test_it_begins_at_the_begin_and_follows_the_slider(player: Player) -> None:
    """Status, state and output are those of the step that the slider stands at, forward and back."""
    assert "the run begins" in status(player)
    assert "0/6 done" in player._state.value
    player.slider.value = 4
    assert "broken failed" in status(player)
    assert "3 ok · 1 failed · 2 left" in player._state.value
    assert "command exited with status 1" in player._value.value
    player.slider.value = 1
    assert "hash ok" in status(player)
    assert "1/6 done" in player._state.value
    assert "e3b0" in player._value.value


def test_the_buttons_go_step_by_step_and_stop_at_the_ends(player: Player) -> None:
    """A step forward, a step back; nothing beyond the first and the last."""
    player.back.click()
    assert player.slider.value == 0
    player.forth.click()
    assert "hash ok" in status(player)
    for _ in range(20):
        player.forth.click()
    assert player.slider.value == player.slider.max == player.play.max == 7
    player.back.click()
    assert "gone cancelled" in status(player)


def test_an_output_that_is_chosen_stays_chosen(player: Player) -> None:
    """It says when it is not there yet; `what settled here` follows the steps again."""
    player.name.value = "big"
    assert "not settled yet" in player._value.value
    player.slider.value = 3
    assert ["ä", "\n🦋"][0] in player._value.value
    player.slider.value = 1
    assert "not settled yet" in player._value.value
    assert player.name.value == "big"
    player.name.value = ""
    assert "e3b0" in player._value.value
    assert player.name.options[0] == (HERE, "")
    assert [value for _, value in player.name.options[1:7]] == [
        "hash",
        "big",
        "fan",
        "broken",
        "late",
        "gone",
    ]


def test_items_can_be_steps_and_one_stays_where_one_was(player: Player) -> None:
    """The finer replay has more steps; back in the coarser one stands right before."""
    player.slider.value = 3  # fan
    player.finer.value = True
    assert player.slider.max == 10
    assert "fan ok" in status(player)
    player.back.click()
    assert "fan[2] ok" in status(player)
    assert "γ" in player._value.value
    player.finer.value = False
    assert player.slider.max == 7
    assert "big ok" in status(player)
    assert ">fan[2]<" not in player._marks.value


def test_a_run_without_items_offers_no_finer_steps(tmp_path: Path) -> None:
    """A control that changes nothing is not there."""
    make = Events()
    make("workflow_started", **started())
    make("task_completed", **completed("a", 1))
    player = Player(replayed(write(tmp_path, make.made)))
    assert player.finer not in player.box.children[1].children


def test_a_wide_fan_out_stays_usable(tmp_path: Path) -> None:
    """Ten thousand items: few steps, or all of them; the list of names stays one that can be read."""
    make = Events()
    make("workflow_started", **started())
    for at in range(10_000):
        make("nb_item_completed", **item("fan", at, at))
    make("task_completed", **completed("fan", list(range(10_000))))
    player = Player(replayed(write(tmp_path, make.made)))
    assert player.slider.max == 2
    assert len(player.name.options) == OFFERED + 1
    player.finer.value = True
    assert player.slider.max == 10_002
    player.slider.value = 7001
    assert "fan[7000] ok" in status(player)
    assert "7000" in player._value.value
    assert len(player._marks.value) + len(player._state.value) < 100_000


def test_speed(player: Player) -> None:
    """Twice as fast is half the time from one step to the next."""
    slow = player.play.interval
    player.speed.value = 2.0
    assert player.play.interval == slow / 2


def test_what_goes_wrong_is_said_in_the_player(player: Player) -> None:
    """A trace that was removed meanwhile: no exception that no cell would show."""
    player.replay.traces[0].unlink()
    player.slider.value = 4
    assert 'role="alert"' in status(player)
    assert "there is no trace" in status(player)


def test_notes_stand_above_the_controls(tmp_path: Path) -> None:
    """Whoever plays a broken journal has read that it is one."""
    from nika_nb.board.replay import Replay

    replay = replayed(write(tmp_path, story()))
    player = Player(Replay(replay.tape, ["its chain is <BROKEN>"], ["OK — not sealed"]))
    assert "OK — not sealed" in player.box.children[-1].value
    assert "⚠</span> its chain is &lt;BROKEN&gt;" in player._head.value


# -- what a cell shows ----------------------------------------------------------------------------


class _Human:
    """A kernel behind a front-end with somebody at it, or a headless one."""

    def __init__(self, there: bool) -> None:
        self._allow_stdin = there


@pytest.fixture
def shell(folder: Path) -> Iterator[InteractiveShell]:
    InteractiveShell.clear_instance()
    found = InteractiveShell.instance()
    yield found
    magic._loaded.clear()
    InteractiveShell.clear_instance()


def displayed(shell: Any, shown: Shown, replay: Any, human: bool) -> list[dict[str, Any]]:
    shell.kernel = _Human(human)
    players(shell)
    assert shell.display_formatter.format(replay) == ({}, {})
    return shown.now


def test_a_page_with_somebody_at_it_gets_player_and_still(
    tmp_path: Path, shell: InteractiveShell, shown: Shown
) -> None:
    """Two outputs. Where the player lives, its style hides the still; elsewhere the still is all there is."""
    player, still = displayed(shell, shown, replayed(write(tmp_path, story())), human=True)
    assert set(player) == {WIDGET, "text/html", "text/plain"}
    assert (player["text/html"], player["text/plain"]) == ("", "")
    assert set(still) == {"text/html", "text/plain"}
    assert still["text/html"].startswith('<div class="nika-replay-')
    assert "display:none" not in still["text/html"]
    for task in ("hash", "big", "fan", "broken", "late", "gone"):
        assert task in still["text/html"]
        assert task in still["text/plain"]
    assert "%nika replay " in still["text/plain"]


def test_a_headless_kernel_shows_the_still_alone(
    tmp_path: Path, shell: InteractiveShell, shown: Shown
) -> None:
    """No control that nobody could use: an executed and exported notebook has none."""
    (still,) = displayed(shell, shown, replayed(write(tmp_path, story())), human=False)
    assert set(still) == {"text/html", "text/plain"}


def test_without_the_extension_it_is_a_still_too(tmp_path: Path, shell: InteractiveShell) -> None:
    """A replay draws itself wherever IPython shows it."""
    data, _ = shell.display_formatter.format(replayed(write(tmp_path, story())))
    assert {"text/html", "text/plain"} <= set(data)
    assert "NIKA-EXEC-001" in data["text/html"]


# -- the magic -------------------------------------------------------------------------------------

FLOW = 'nika: flow\npermits: { exec: ["echo"] }\ntasks: { a: { exec: { command: ["echo", "x"] } } }\n'


def said(shell: InteractiveShell, line: str) -> str:
    with capture_output() as seen:
        result = shell.run_cell(line, store_history=False)
    failure = result.error_in_exec
    text = "".join(output.data.get("text/plain", "") for output in seen.outputs)
    return text + seen.stdout + (str(failure) if failure else "")


def test_the_magic_replays_the_newest_or_the_one_that_is_named(shell: InteractiveShell) -> None:
    """By nothing, by its name, by the run's id; the object is the cell's value."""
    shell.run_line_magic("load_ext", "nika_nb")
    first, second = nika_nb.run(FLOW), nika_nb.run(FLOW.replace("flow", "other"))
    assert first.trace is not None
    assert "replay of other · 3 steps" in said(shell, "%nika replay")
    assert "replay of flow · 3 steps" in said(shell, f"%nika replay {first.trace.name}")
    assert "replay of other · 3 steps" in said(shell, f"%nika replay {second.id}")
    shell.run_cell(f"r = %nika replay {first.trace.name} --fine", store_history=False)
    assert dict(shell.user_ns["r"][-1].outputs) == {"a": "x"}
    assert shell.user_ns["r"].fine
    assert "one word too many" in said(shell, "%nika replay a b")
    assert "there is no trace nothing" in said(shell, "%nika replay nothing")


def test_an_executed_notebook_holds_the_still_and_no_widget(folder: Path) -> None:
    """A real kernel with nobody at it: one output, which reads right on a page that runs nothing."""
    run = nika_nb.run(FLOW)
    assert run.trace is not None
    cells = [
        "%load_ext nika_nb",
        f"%nika replay {run.trace.name}",
        "import nika_nb",
        f"nika_nb.replay({run.id!r})[1]",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])  # type: ignore[no-untyped-call]
    NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(folder)}}).execute()
    (still,) = notebook.cells[1].outputs
    assert set(still.data) == {"text/html", "text/plain"}
    assert "replay of flow · 3 steps" in still.data["text/plain"]
    (step,) = notebook.cells[3].outputs
    assert "step 1 of 2 · ✔ a ok" in step.data["text/plain"]
    assert 'role="status"' in step.data["text/html"]
    assert not notebook.metadata.get("widgets")


def test_the_line_that_is_told_replays_it(shell: InteractiveShell, tmp_path: Path) -> None:
    """By its name where traces lie, by its path anywhere else, as where a notebook carries it."""
    shell.run_line_magic("load_ext", "nika_nb")
    made = nika_nb.run(FLOW).trace
    assert made is not None
    carried = Path("traces") / "carried.ndjson"
    carried.parent.mkdir()
    carried.write_bytes(made.read_bytes())
    for trace, word in ((made, made.name), (carried, str(carried))):
        line = f"%nika replay {word}"
        assert line in said(shell, f"import nika_nb; nika_nb.replay({str(trace)!r})")
        assert "replay of flow" in said(shell, line)
