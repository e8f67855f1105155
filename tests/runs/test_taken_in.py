"""What has happened in a run is taken in once, whenever it is looked at and whatever comes between."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

import nika_nb
from nika_nb.board import Board
from nika_nb.engine.events import Event
from nika_nb.runs.run import Run, ready
from tests.doors import program

CHAIN = """nika: chain
model: mock/echo
tasks:
  a: { infer: { prompt: one } }
  b: { with: { a: "${{ tasks.a.output }}" }, infer: { prompt: "two ${{ with.a }}" } }
  c: { with: { b: "${{ tasks.b.output }}" }, infer: { prompt: "three ${{ with.b }}" } }
"""

HELD = """nika: held
model: mock/echo
permits: { exec: ["./hold"] }
tasks:
  quick: { infer: { prompt: one } }
  held: { exec: { command: ["./hold"] } }
"""


@pytest.fixture
def heard() -> Iterator[None]:
    """An interrupt raises KeyboardInterrupt, whatever this process made of it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run that has ended and that nobody has looked at."""
    monkeypatch.chdir(tmp_path)
    run = ready(nika_nb.run(CHAIN).request)
    run.begin()
    assert run._session is not None
    assert run._session.done.wait(30)
    return run


@pytest.mark.usefixtures("heard")
@pytest.mark.parametrize("interrupted", ["task_completed", "workflow_started", "workflow_completed"])
def test_an_interrupt_loses_nothing_of_what_happened(
    over: Run, monkeypatch: pytest.MonkeyPatch, interrupted: str
) -> None:
    """It is felt behind the event that is just taken in, and the next look goes on from there."""
    take = Board.apply
    came: list[str] = []

    def pressed(board: Board, event: Event) -> None:
        if event.kind == interrupted and not came:
            came.append(event.kind)
            signal.raise_signal(signal.SIGINT)
        take(board, event)

    monkeypatch.setattr(Board, "apply", pressed)
    with pytest.raises(KeyboardInterrupt):
        over.catch_up()
    assert over.board.state == ("completed" if interrupted == "workflow_completed" else "running")
    over.catch_up()
    assert (over.board.state, over.board.done) == ("completed", 3)


def test_who_waits_for_a_run_takes_in_what_happens_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else all events of a long run would be held in memory to its end."""
    monkeypatch.chdir(tmp_path)
    program(tmp_path, "hold", "while [ ! -e go ]; do sleep 0.01; done")
    take = Board.apply

    def seen(board: Board, event: Event) -> None:
        take(board, event)
        if event.kind == "task_completed":
            (tmp_path / "go").touch()

    monkeypatch.setattr(Board, "apply", seen)
    run = nika_nb.run(HELD, background=True)
    assert run.wait(20)
    assert run.state == "completed"
