"""`nika-nb trace replay` and `trace show --at`: piped, on a real terminal with keys, with hostile outputs."""

from __future__ import annotations

import re
import signal
import termios
from pathlib import Path

import pytest

from nika_nb.cli import replay as replaying
from nika_nb.cli.keys import _KEY, _NAMED
from tests.board.test_hostile import UNSEEN
from tests.cli.terminals import INTERRUPT, Sitting
from tests.doors import Terminal, newest, traces
from tests.trace.journals import Events, completed, edited, item, started, story, write

RIGHT, LEFT, DOWN, UP, HOME, END = "\x1b[C", "\x1b[D", "\x1b[B", "\x1b[A", "\x1b[H", "\x1b[F"


def lines(out: bytes) -> list[str]:
    return [line.strip() for line in out.decode("utf-8").splitlines()]


@pytest.fixture
def trace(folder: Path) -> Path:
    return write(folder, story())


# -- piped -----------------------------------------------------------------------------------------


def test_piped_it_lists_every_settle(trace: Path, terminal: Terminal) -> None:
    """A line a step, and nothing that moves a cursor."""
    done = terminal("trace", "replay", trace)
    assert done.code == 0
    assert b"\x1b" not in done.out
    said = lines(done.out)
    assert said[0] == "replay of naïve-archive · 8 steps"
    assert any("chain intact" in line and line.endswith("not sealed") for line in said[1:3])
    assert [line.split("  ")[-1] for line in said[1:] if line[0].isdecimal()] == [
        "▷ the run begins",
        "✔ hash ok",
        "✔ big ok",
        "✔ fan ok",
        "✖ broken failed",
        "↷ late skipped",
        "⊘ gone cancelled",
        "✔ the run completes",
    ]


def test_it_begins_at_a_step_and_counts_finer_ones(trace: Path, terminal: Terminal) -> None:
    """By its number, from the end, or by the task; items on request."""
    for where in ("4", "-4", "broken"):
        listed = lines(terminal("trace", "replay", trace, "--step", where).out)[1:]
        assert next(line for line in listed if line[:1].isdecimal()).startswith("4  ")
    fine = terminal("trace", "replay", trace, "--fine").out.decode()
    assert "✔ fan[1] ok" in fine
    assert "11 steps" in fine


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--step", "8"), "the steps 0 to 7"),
        (("--step", "hsh"), "did you mean `hash`"),
        (("--speed", "0"), "'0' is no speed"),
        (("--speed", "fast"), "'fast' is no speed"),
        (("--speed", "2", "--step", "1"), "not allowed with argument"),
    ],
)
def test_what_it_cannot_do_it_says(
    trace: Path, terminal: Terminal, words: tuple[str, ...], said: str
) -> None:
    done = terminal("trace", "replay", trace, *words)
    assert (done.code, done.out) == (3, b"")
    assert said in done.err


def test_a_speed_keeps_the_recorded_pace(
    trace: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So many times faster, and never longer than a moment however long the run waited."""
    waited: list[float] = []
    monkeypatch.setattr(replaying.time, "sleep", waited.append)
    assert terminal("trace", "replay", trace, "--speed", "2").code == 0
    assert len(waited) == 7
    assert sum(waited) == pytest.approx(0.0095, rel=0.5)
    waited.clear()
    terminal("trace", "replay", trace, "--speed", "0.00001")
    assert max(waited) == replaying.LONGEST


def test_a_run_of_several_traces_is_one_listing(files: Path, terminal: Terminal) -> None:
    """By any of its traces and by its id."""
    terminal("run", "asks.nika.yaml")
    paused = newest(files)
    run_id = re.search(rb"asks-[0-9a-f]{8}", paused.read_bytes())
    assert run_id is not None
    terminal("answer", paused, "ask=yes")
    outs = [terminal("trace", "replay", name).out for name in (*traces(files), run_id[0].decode())]
    assert outs[0] == outs[1] == outs[2]
    assert b"6 steps over 2 traces" in outs[0]
    assert "▷ ask answered, the run goes on" in outs[0].decode()


def test_what_is_wrong_with_a_trace_is_said_first(trace: Path, terminal: Terminal) -> None:
    """Tampered, it is replayed all the same."""
    done = terminal("trace", "replay", edited(trace, "process_error", "nothing_at_all"))
    assert done.code == 0
    assert lines(done.out)[1].startswith("! its chain is BROKEN at line ")
    assert "✔ the run completes" in done.out.decode()
    assert terminal("trace", "replay", "nothing.ndjson").code == 3


def test_show_draws_the_run_as_it_stood_at_a_step(trace: Path, terminal: Terminal) -> None:
    """The state of every task by then, and what came out there."""
    early = terminal("trace", "show", trace, "--at", "hash").out.decode()
    assert "step 1 of 7 · ✔ hash ok" in early
    assert "1/6 done" in early
    assert "output of hash" in early
    assert "e3b0" in early
    late = terminal("trace", "show", trace, "--at", "4").out.decode()
    assert "3 ok · 1 failed · 2 left" in late
    assert "command exited with status 1" in late
    item_ = terminal("trace", "show", trace, "--fine", "--at", "fan[1]").out.decode()
    assert "✔ fan[1] ok" in item_
    assert "β" in item_
    assert terminal("trace", "show", trace, "--fine").code == 3
    assert "3 ok · 1 failed · 2 left" not in terminal("trace", "show", trace).out.decode()


# -- on a terminal ---------------------------------------------------------------------------------


def shows(sitting: Sitting, *texts: str) -> None:
    """All of these on the screen, none of them necessarily new."""
    for text in texts:
        assert text in sitting.screen.text, f"{text!r} is not on the screen:\n{sitting.screen.text}"


def test_keys_step_forward_and_back(trace: Path) -> None:
    """Right, left, end, home; the screen is painted in place; q leaves it as it stood."""
    sitting = Sitting("trace", "replay", trace, cwd=trace.parent)
    sitting.expect("step 0 of 7 · ▷ the run begins")
    sitting.type(RIGHT)
    sitting.expect("step 1 of 7 · ✔ hash ok")
    sitting.expect("q leaves")
    shows(sitting, "1/6 done", "output of what settled here", "e3b0")
    sitting.type(END)
    sitting.expect("step 7 of 7 · ✔ the run completes")
    sitting.type(LEFT)
    sitting.expect("step 6 of 7 · ⊘ gone cancelled")
    sitting.type(HOME + RIGHT + RIGHT)
    sitting.expect("step 2 of 7 · ✔ big ok")
    sitting.expect("q leaves")
    sitting.type("q")
    assert sitting.end() == 0
    shows(sitting, "step 2 of 7", "2/6 done")
    assert sitting.screen.text.count("q leaves") == 1, sitting.screen.text
    assert sitting.said.rstrip().endswith("\x1b[?25h")


def test_it_plays_and_stops(trace: Path) -> None:
    """Space plays to the end, and once more from the beginning; a key stops it."""
    sitting = Sitting("trace", "replay", trace, cwd=trace.parent)
    sitting.expect("step 0 of 7")
    sitting.type(" ")
    sitting.expect("▶")
    sitting.expect("step 2 of 7")
    sitting.type(LEFT)
    sitting.expect("‖")
    sitting.expect("step 1 of 7")
    sitting.type("q")
    assert sitting.end() == 0


def test_a_speed_plays_by_itself(trace: Path) -> None:
    """To the end, where it waits."""
    sitting = Sitting("trace", "replay", trace, "--speed", "1", cwd=trace.parent)
    sitting.expect("step 7 of 7 · ✔ the run completes")
    sitting.type("q")
    assert sitting.end() == 0


def test_outputs_are_chosen(trace: Path) -> None:
    """Down is the next one that is known by then, up the one before."""
    sitting = Sitting("trace", "replay", trace, "--step", "fan", cwd=trace.parent)
    sitting.expect("step 3 of 7")
    sitting.expect("γ")
    sitting.type(DOWN)
    sitting.expect("output of hash")
    sitting.type(UP + UP)
    sitting.expect("output of fan")
    sitting.type("q")
    assert sitting.end() == 0


@pytest.mark.parametrize(("leave", "code"), [(INTERRUPT, 130), ("", 143)])
def test_the_terminal_is_given_back(trace: Path, leave: str, code: int) -> None:
    """Left by an interrupt or a request to end: its lines are lines again, its cursor is seen."""
    sitting = Sitting("trace", "replay", trace, cwd=trace.parent)
    before = termios.tcgetattr(sitting._fd)[3]
    sitting.expect("q leaves")
    assert termios.tcgetattr(sitting._fd)[3] & termios.ICANON == 0
    if leave:
        sitting.type(leave)
    else:
        sitting.signal(signal.SIGTERM)
    sitting.expect("\x1b[?25h")
    assert termios.tcgetattr(sitting._fd)[3] == before
    assert sitting.end() == code


@pytest.mark.parametrize(("columns", "rows"), [(30, 12), (100, 8), (80, 60)])
def test_any_size_of_terminal_is_kept_to(folder: Path, columns: int, rows: int) -> None:
    """Nothing scrolls away above the screen, however many tasks there are."""
    make = Events()
    make("workflow_started", **started())
    for at in range(120):
        make("task_completed", **completed(f"task_with_a_long_name_{at}", {"value": "x" * 500}))
    path = write(folder, make.made)
    sitting = Sitting("trace", "replay", path, cwd=folder, columns=columns, rows=rows)
    sitting.expect("step 0 of")
    for _ in range(5):
        sitting.type(RIGHT)
    sitting.expect("step 5 of")
    sitting.type("q")
    assert sitting.end() == 0
    assert len(sitting.screen.lines) <= rows
    assert max(map(len, sitting.screen.lines)) <= columns


def test_hostile_outputs_do_nothing_on_a_terminal(folder: Path) -> None:
    """No escape sequence but our own, in the rows, in an output, in a listing."""
    make = Events()
    make("workflow_started", **started())
    nasty = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202egnp.exe\r\n\x1b[999A"
    make("task_completed", **completed("t\x1b[31m", {nasty: [nasty]}))
    make("nb_item_completed", **item("fan", 0, nasty))
    path = write(folder, make.made)
    sitting = Sitting("trace", "replay", path, "--fine", cwd=folder)
    sitting.expect("step 0 of")
    sitting.type(RIGHT + RIGHT + DOWN)
    sitting.expect("output of")
    sitting.type("q")
    assert sitting.end() == 0
    ours = re.sub(r"\x1b\[(?:\?(?:2026|25)[hl]|\d+A|J)", "", sitting.said)
    assert not UNSEEN.search(ours.replace("\r\n", "\n").replace("\r", ""))
    assert "]0;owned" not in ours.replace("\\u001b]0;owned", "")


def test_every_way_to_send_a_key_is_known() -> None:
    """Both modes of the arrow keys; what nobody knows is one key that does nothing."""
    typed = "\x1b[C\x1bOD q\x1b[1;5C\x1b"
    keys = [_NAMED.get(key, key) for key in _KEY.findall(typed)]
    assert keys == ["right", "left", " ", "q", "\x1b[1;5C", "\x1b"]
