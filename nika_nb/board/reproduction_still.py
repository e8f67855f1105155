"""A reproduction as text and as HTML: a verdict per task and why, and two outputs that are not the same."""

from __future__ import annotations

from collections.abc import Iterator

from nika_nb.board.clean import inline, one_line
from nika_nb.board.reproduction import WORD, Reproduction, TaskReproduction, VerdictName
from nika_nb.board.style import COLOUR
from nika_nb.board.verdicts import LONGEST, MOST, closing, page, row, width_of
from nika_nb.money import spent
from nika_nb.values import plural

GLYPH: dict[VerdictName, str] = {
    "reproduced": "✔", "nature": "≈", "edited": "✎", "environment": "✖", "unverifiable": "?",
}  # fmt: skip
_TONE: dict[VerdictName, str] = {
    "reproduced": COLOUR["ok"], "nature": COLOUR["cached"], "edited": COLOUR["retrying"],
    "environment": COLOUR["failed"], "unverifiable": COLOUR["skipped"],
}  # fmt: skip
_SHOWN = 60  # characters of an output


def text(found: Reproduction) -> str:
    """A block of lines, two blanks in front of each."""
    width = width_of(task.task for task in found.tasks)
    words = max(len(word) for word in WORD.values())
    lines = [f"  🦋 nika · {one_line(found.workflow)} · reproducing {one_line(found.trace.name)}", ""]
    for task in found.tasks:
        head = f"  {GLYPH[task.verdict]}  {one_line(task.task):<{width}}  {WORD[task.verdict]:<{words}}"
        lines.append(f"{head}  {one_line(task.why, LONGEST)}".rstrip())
        lines += [f"       {label:<8}  {what}" for label, what in _outputs(task)]
    return "\n".join([*lines, *closing(summary(found), _about(found))])


def html(found: Reproduction) -> str:
    """The same as a table."""
    title, about = inline(found.workflow, 80), f"reproducing {inline(found.trace.name)}"
    tone = COLOUR["ok"] if found.ok else COLOUR["failed"]
    return page(title, about, map(_row, found.tasks), summary(found), _about(found), tone)


def _row(task: TaskReproduction) -> str:
    sign = f"{GLYPH[task.verdict]} {WORD[task.verdict]}"
    return row(sign, _TONE[task.verdict], inline(task.task), task.why, _outputs(task))


def _outputs(task: TaskReproduction) -> Iterator[tuple[str, str]]:
    """The beginnings of two outputs that are not the same."""
    if task.recorded is not None and task.again is not None and task.recorded != task.again:
        yield "recorded", one_line(task.recorded, _SHOWN)
        yield "again", one_line(task.again, _SHOWN)


def summary(found: Reproduction) -> str:
    """How many tasks have which verdict, whether the outputs are the same, and what it cost."""
    counts = [(found.count(verdict), word) for verdict, word in WORD.items()]
    parts = [f"{count} {word}" for count, word in counts if count]
    parts += {True: ["the same outputs"], False: ["other outputs"], None: []}[found.outputs]
    parts += ["byte-identical journals"] if found.identical else []
    return " · ".join([*parts, spent(found.cost_usd, found.unpriced)])


def _about(found: Reproduction) -> Iterator[tuple[str, str]]:
    if found.state != "completed":
        yield "again", f"the run {found.state}"
    if found.effects:
        more = len(found.effects) - MOST
        said = ", ".join(found.effects[:MOST])
        yield "done once more", f"{said} and {plural(more, 'other')}" if more > 0 else said
    if found.again is not None:
        yield "trace", str(found.again)
    for notice in found.notices:
        yield "note", notice
