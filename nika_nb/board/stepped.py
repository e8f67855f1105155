"""A step of a replay, and the whole of it, in words: for a terminal, for screen readers, as a text twin."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote
from typing import Any

from nika_nb.board import text, tree
from nika_nb.board.clean import one_line
from nika_nb.board.replay import Replay, Step
from nika_nb.board.rows import State
from nika_nb.board.stops import BEGINS
from nika_nb.board.text import UNICODE, duration
from nika_nb.money import spent, spent_said
from nika_nb.values import plural

_LISTED = 200  # steps that a still tells one by one
_RUN: dict[str, tuple[str, str]] = {
    BEGINS: ("▷", "begins"),
    "workflow_paused": ("◇", "pauses"),
    "workflow_completed": ("✔", "completes"),
    "workflow_failed": ("✖", "fails"),
    "workflow_cancelled": ("⊘", "is cancelled"),
    "incomplete": ("…", "breaks off"),
    "running": ("◐", "goes on"),
}
_SETTLED: dict[State, str] = {"cached": "cache hit"}


def sign(step: Step) -> str:
    """One sign for how something settled, or for what the run does."""
    return UNICODE[step.drawn] if step.drawn else _RUN.get(step.kind, ("·", ""))[0]


def what(step: Step) -> str:
    """`hash_notes ok`, `ask answered, goes on`, `the run pauses`."""
    if step.task is not None and step.drawn is not None:
        return f"{one_line(step.task, 80)} {_SETTLED.get(step.drawn, step.drawn)}"
    if step.goes_on:
        answered = ", ".join(one_line(name, 80) for name in step.answered)
        return f"{answered} answered, the run goes on" if answered else "the run goes on"
    return f"the run {_RUN.get(step.kind, ('', one_line(step.kind)))[1]}"


def mark(step: Step) -> str:
    """The name on the slider: of the task, or of what the run does."""
    if step.task is not None:
        return one_line(step.task, 40)
    if step.goes_on:
        return "answered" if step.answered else "goes on"
    return _RUN.get(step.kind, ("", one_line(step.kind, 40)))[1]


def after(step: Step) -> str:
    """How long after the run's begin it was."""
    ms = (step.time - step.replay[0].time).total_seconds() * 1000
    return f"+{duration(max(0, round(ms)))}"


def spending(step: Step) -> str:
    """What the run has cost by then, in a sentence."""
    return spent_said(step.spent_usd, step.unpriced)


def line(step: Step) -> str:
    """The step as one line of a listing."""
    width = len(str(len(step.replay) - 1))
    paid = spent(step.spent_usd, step.unpriced)
    return f"  {step.index:>{width}}  {after(step):>8}  {paid:>9}  {sign(step)} {what(step)}"


def spoken(step: Step) -> str:
    """The step as it is said aloud: which, what settled, when, what was spent."""
    where = f"step {step.index} of {len(step.replay) - 1}"
    return f"{where} · {sign(step)} {what(step)} · {after(step)} · {spending(step)}"


def whole(step: Step) -> str:
    """The step with the state of every task by then."""
    return f"  {spoken(step)}\n\n{text.still(step.board, _now(step))}"


def _now(step: Step) -> int | None:
    """The moment of the step: what runs then has run until then."""
    return step.board.last


def known(step: Step, name: str | None, most: int) -> list[str]:
    """What is known of one name at a step, in at most so many lines; none where there is nothing."""
    if name is None:
        return [] if step.returned is None else _indented(step.returned, most)
    for outputs in (step.outputs, step.within):
        if name in outputs:
            return _indented(outputs[name], most)
    if name == step.task and step.drawn == "failed" and step.error is not None:
        return _indented(step.error, most)
    return []


def _indented(value: Any, most: int) -> list[str]:
    return [f"    {line}" for line in tree.lines(value, most)]


def title(replay: Replay) -> str:
    """`replay of nightly-archive · 7 steps`, and over how many traces."""
    name = one_line(replay.workflow, 80) or "a run"
    traces = f" over {len(replay.traces)} traces" if len(replay.traces) > 1 else ""
    steps = plural(len(replay), "step")
    return f"replay of {name} · {steps}{traces}"


def how(replay: Replay) -> list[str]:
    """The exact lines that replay it: in a notebook, in Python, in a terminal."""
    path = one_line(replay.tape.reels[-1].shown, 1000)
    name = one_line(replay.traces[-1].name, 400)
    found = name if path == f".nika/traces/{name}" else path
    return [
        f"%nika replay {quote(found)}",
        f"nika_nb.replay({path!r})",
        f"nika-nb trace replay {quote(path)}",
    ]


def still(replay: Replay) -> str:
    """The run as it ended, what has to be said of its journals, how to step through it."""
    notes = [f"  ! {one_line(note, 400)}" for note in replay.notes]
    lines = [f"  {title(replay)}", *notes, "", text.still(replay[-1].board), "", "  to step through it:"]
    return "\n".join([*lines, *(f"    {way}" for way in how(replay))])


def listing(steps: Sequence[Step], most: int = _LISTED) -> list[str]:
    """A line a step; of many, the first."""
    lines = [line(step) for step in steps[:most]]
    return lines if len(steps) <= most else [*lines, f"  and {len(steps) - most:,} more"]
