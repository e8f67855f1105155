"""The words of `nika-nb trace show` and `trace replay`."""

from __future__ import annotations

import argparse
from typing import Any

_NEWEST = "a trace, or a run's id (the newest trace)"
_FINE = "every item of a fan-out and every task of a called workflow is a step"
_STEP = "a step's number, or the task that settles there"


def add(actions: argparse._SubParsersAction[Any]) -> None:
    show = actions.add_parser("show", help="draw the run that a trace tells of")
    show.add_argument("trace", nargs="?", help=f"{_NEWEST}, or a task of it")
    show.add_argument("task", nargs="?", help="what became of that one: TASK, TASK[3], CALL/TASK")
    show.add_argument("--at", metavar="STEP", help=f"as it stood at one step of its replay: {_STEP}")
    show.add_argument("--fine", action="store_true", help=f"with --at: {_FINE}")
    show.set_defaults(command="trace:show_command")
    replay = actions.add_parser(
        "replay",
        help="step through a run, forward and back; nothing is executed",
        description="On a terminal the keys step: space ← → home end ↑ ↓ q. Elsewhere a line a step.",
    )
    replay.add_argument("trace", nargs="?", help=f"{_NEWEST}; of a run all invocations are one timeline")
    replay.add_argument("--fine", action="store_true", help=_FINE)
    where = replay.add_mutually_exclusive_group()
    where.add_argument("--step", metavar="STEP", help=f"begin there: {_STEP}")
    where.add_argument("--speed", metavar="X", type=_speed, help="play at X times the recorded pace")
    replay.set_defaults(command="replay:replay_command")


def _speed(text: str) -> float:
    """Raises ArgumentTypeError unless it is a number above 0."""
    try:
        speed = float(text)
    except ValueError:
        speed = 0.0
    if not 0 < speed < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no speed: 1 is the recorded pace, 6 six times as fast")
    return speed
