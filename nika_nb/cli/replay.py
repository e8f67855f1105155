"""`nika-nb trace replay` and `trace show --at`: a run step by step, with keys on a terminal, or as lines."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from nika_nb.board import stepped
from nika_nb.board.clean import one_line
from nika_nb.board.replay import Replay, Step
from nika_nb.cli.meant import meant
from nika_nb.cli.region import paintable
from nika_nb.cli.streams import print_lines
from nika_nb.runs.replaying import replay_of

PACE = 0.8  # seconds of a step that is played without the recorded pace
LONGEST = 2.0  # seconds that are waited at most, however long the run waited


def replay_command(options: argparse.Namespace) -> int:
    replay = replay_of(meant(options.trace), fine=options.fine)
    start = replay.at(_where(options.step)) if options.step is not None else replay[0]
    if paintable(sys.stdout) and sys.stdin.isatty():
        from nika_nb.cli.screening import Screening

        Screening(replay, start.index, options.speed).run()
    else:
        for line in _told(replay, start.index, options.speed):
            print_lines(line)
    return 0


def show_step(trace: Path, options: argparse.Namespace) -> int:
    """The run as it stood at a step."""
    replay = replay_of(trace, fine=options.fine)
    step = replay.at(_where(options.at))
    print_lines(*notes(replay), stepped.whole(step), *_output(step))
    return 0


def notes(replay: Replay) -> list[str]:
    """What has to be said before one believes what is shown."""
    return [f"  ! {one_line(note, 400)}" for note in replay.notes]


def pause(replay: Replay, index: int, speed: float | None) -> float:
    """Seconds from the step in front of this one to it, as they are played."""
    if speed is None:
        return PACE
    recorded = (replay[index].time - replay[index - 1].time).total_seconds()
    return min(LONGEST, max(0.0, recorded) / speed)


def _told(replay: Replay, start: int, speed: float | None) -> Iterator[str]:
    """A line a step; at the recorded pace where one is asked for."""
    yield f"  {stepped.title(replay)}"
    yield from notes(replay)
    yield from (f"  {one_line(proof, 400)}" for proof in replay.proofs)
    for index in range(start, len(replay)):
        if speed is not None and index > start:
            time.sleep(pause(replay, index, speed))
        yield stepped.line(replay[index])


def _output(step: Step) -> list[str]:
    lines = stepped.known(step, step.task, 40)
    return ["", f"  output of {one_line(step.task or 'the workflow')}", *lines] if lines else []


def _where(text: str) -> int | str:
    """A step's number, or the name of what settles there."""
    try:
        return int(text)
    except ValueError:
        return text
