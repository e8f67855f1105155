"""A forecast as text and as HTML: what is skipped, what runs and why, what that may cost and touch."""

from __future__ import annotations

from collections.abc import Iterator

from nika_nb.board.clean import inline, one_line
from nika_nb.board.forecast import Ceiling, Fate, Forecast, TaskForecast, Touch
from nika_nb.board.style import COLOUR, QUIET
from nika_nb.board.text import duration
from nika_nb.board.verdicts import LONGEST, MOST, closing, page, row, width_of
from nika_nb.money import money
from nika_nb.values import plural

GLYPH: dict[Fate, str] = {"skip": "↷", "run": "▸", "depends": "◌", "idle": "–"}
_TONE: dict[Fate, str] = {
    "skip": COLOUR["cached"], "run": COLOUR["running"],
    "depends": COLOUR["retrying"], "idle": COLOUR["skipped"],
}  # fmt: skip


def text(found: Forecast) -> str:
    """A block of lines, two blanks in front of each."""
    width = width_of(task.task for task in found.tasks)
    lines = [f"  🦋 nika · plan of {_title(found)}", ""]
    for task in found.tasks:
        said = one_line(_said(task) or task.note, LONGEST)
        lines.append(f"  {GLYPH[task.fate]}  {task.fate:<7}  {one_line(task.task):<{width}}  {said}".rstrip())
        lines += [f"       {label:<6}  {one_line(what, LONGEST)}" for label, what in _facts(task)]
    return "\n".join([*lines, *closing(summary(found), _about(found))])


def html(found: Forecast) -> str:
    """The same as a table."""
    title = f"plan of {inline(found.workflow, 80)}"
    about = inline(_about_title(found))
    return page(title, about, map(_row, found.tasks), summary(found), _about(found), COLOUR["running"])


def _row(task: TaskForecast) -> str:
    what = f'{inline(task.task)}<div style="{QUIET};font-size:12px">{inline(task.note)}</div>'
    return row(f"{GLYPH[task.fate]} {task.fate}", _TONE[task.fate], what, _said(task), _facts(task))


def _title(found: Forecast) -> str:
    return f"{one_line(found.workflow)} · {one_line(_about_title(found))}"


def _about_title(found: Forecast) -> str:
    how = f"resuming {found.trace}" if found.trace else "a fresh run"
    return f"{plural(len(found.tasks), 'task')} · {how} · nothing has run"


def _said(task: TaskForecast) -> str:
    """Why, how many of its items, and the most that it can cost."""
    parts = [_why(task)]
    if task.items and task.recorded and task.fate == "run":
        parts.append(f"{task.recorded:,} of {plural(task.items, 'item')} recorded")
    elif task.items:
        parts.append(plural(task.items, "item"))
    parts += ["asks you"] if task.asks else []
    parts += [ceiling_said(task.ceiling)] if task.works and task.ceiling != Ceiling(0.0) else []
    parts += [f"{money(task.saved_usd)} saved"] if task.saved_usd else []
    return " · ".join(part for part in parts if part)


def _why(task: TaskForecast) -> str:
    names = ", ".join(f"`{name}`" for name in task.upstream)
    if task.fate == "skip":
        took = f" (it took {duration(task.saved_ms)})" if task.saved_ms else ""
        return (task.why or "recorded") + took + (f", once {names} succeeds" if names else "")
    if task.fate == "depends" and not task.why:
        return f"depends on upstream: skipped if {names} gives what it gave before"
    return task.why


def ceiling_said(ceiling: Ceiling) -> str:
    """`at most $0.02`, or why nobody can say."""
    if ceiling.usd is None:
        return f"no ceiling ({ceiling.why})"
    return f"at most {money(ceiling.usd)}" + (f" {ceiling.why}" if ceiling.why else "")


def _facts(task: TaskForecast) -> Iterator[tuple[str, str]]:
    """(label, what) of everything that it may touch, and what is to say of what does no work."""
    if task.files_changed:
        yield "note", task.since
    if not task.works:
        return
    if unnamed := [model for model in task.models if model not in task.note]:
        yield "asks", ", ".join(unnamed)
    again = task.fires_again
    if again:
        yield "again", f"{_listed(again)}  ({task.again} before)"
    others = tuple(touch for touch in task.touches if touch not in again)
    if others:
        yield "may", _listed(others)


def _listed(touches: tuple[Touch, ...]) -> str:
    more = len(touches) - MOST
    said = ", ".join(str(touch) for touch in touches[:MOST])
    return f"{said} and {more} more" if more > 0 else said


def summary(found: Forecast) -> str:
    """How many tasks are skipped, run, or may run; the most that it can cost, and what it saves."""
    runs = found.count("run")
    parts = [f"{found.count('skip')} skipped", "1 runs" if runs == 1 else f"{runs} run"]
    parts += [f"{found.count('depends')} may run"] if found.count("depends") else []
    parts += [f"{found.count('idle')} idle"] if found.count("idle") else []
    parts.append(ceiling_said(found.ceiling))
    parts += [f"{money(found.saved_usd)} saved"] if found.saved_usd else []
    return " · ".join(parts)


def _about(found: Forecast) -> Iterator[tuple[str, str]]:
    for entry in found.widened:
        yield "the edit widened", entry
    if found.cap_usd is not None:
        yield "the cap", f"nothing more is started beyond {money(found.cap_usd)}"
    for notice in found.notices:
        yield "note", notice
