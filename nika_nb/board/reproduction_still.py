"""A reproduction as text and as HTML: a verdict per task and why, and two outputs that are not the same."""

from __future__ import annotations

from collections.abc import Iterator

from nika_nb.board.clean import inline, one_line
from nika_nb.board.reproduction import WORD, Reproduction, TaskReproduction, VerdictName
from nika_nb.board.style import COLOUR, QUIET, box, fact
from nika_nb.board.text import money, plural, rule

GLYPH: dict[VerdictName, str] = {
    "reproduced": "✔", "nature": "≈", "edited": "✎", "environment": "✖", "unverifiable": "?",
}  # fmt: skip
_TONE: dict[VerdictName, str] = {
    "reproduced": COLOUR["ok"], "nature": COLOUR["cached"], "edited": COLOUR["retrying"],
    "environment": COLOUR["failed"], "unverifiable": COLOUR["skipped"],
}  # fmt: skip
_WIDEST = 40  # columns of the id
_SHOWN = 60  # characters of an output
_LONGEST = 400  # characters of anything that is said in one line
_MOST = 12  # effects that are told one by one


def text(found: Reproduction) -> str:
    """A block of lines, two blanks in front of each."""
    width = min(max((len(one_line(task.task)) for task in found.tasks), default=0), _WIDEST)
    words = max(len(word) for word in WORD.values())
    lines = [f"  🦋 nika · {one_line(found.workflow)} · reproducing {one_line(found.trace.name)}", ""]
    for task in found.tasks:
        head = f"  {GLYPH[task.verdict]}  {one_line(task.task):<{width}}  {WORD[task.verdict]:<{words}}"
        lines.append(f"{head}  {one_line(task.why, _LONGEST)}".rstrip())
        lines += [f"       {label:<8}  {what}" for label, what in _outputs(task)]
    lines.append(rule(one_line(summary(found), _LONGEST)))
    lines += [f"  {label}  {one_line(what, _LONGEST)}" for label, what in _about(found)]
    return "\n".join(lines)


def html(found: Reproduction) -> str:
    """The same as a table."""
    head = (
        f'<div><span style="font-weight:600">🦋 {inline(found.workflow, 80)}</span>'
        f'<span style="{QUIET}"> · reproducing {inline(found.trace.name)}</span></div>'
    )
    style = "table-layout:auto;width:100%;border-collapse:collapse;margin:4px 0;border:0"
    rows = "".join(map(_row, found.tasks))
    about = "".join(fact(label, what) for label, what in _about(found))
    counts = f'<div style="font-weight:600">{inline(summary(found), _LONGEST)}</div>'
    tone = COLOUR["ok"] if found.ok else COLOUR["failed"]
    return box(f'{head}<table style="{style}">{rows}</table>{counts}{about}', tone)


def _row(task: TaskReproduction) -> str:
    cell = "text-align:left;vertical-align:top;padding:1px 14px 1px 0;border:0;font-size:13px"
    tone = f"color:{_TONE[task.verdict]};font-weight:600"
    sign = f'<span style="{tone}">{GLYPH[task.verdict]} {WORD[task.verdict]}</span>'
    facts = "".join(fact(label, what) for label, what in _outputs(task))
    return (
        f'<tr style="background:none"><td style="{cell};white-space:nowrap">{sign}</td>'
        f'<td style="{cell}">{inline(task.task)}</td>'
        f'<td style="{cell};width:70%">{inline(task.why, _LONGEST)}{facts}</td></tr>'
    )


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
    return " · ".join([*parts, money(found.cost_usd)])


def _about(found: Reproduction) -> Iterator[tuple[str, str]]:
    if found.state != "completed":
        yield "again", f"the run {found.state}"
    if found.effects:
        more = len(found.effects) - _MOST
        said = ", ".join(found.effects[:_MOST])
        yield "done once more", f"{said} and {plural(more, 'other')}" if more > 0 else said
    if found.again is not None:
        yield "trace", str(found.again)
    for notice in found.notices:
        yield "note", notice
