"""The frames of one trace → the rows of one table, each in the order of its columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from nika_nb.tables.attempts import attempt_rows
from nika_nb.tables.columns import EVENTS, ITEMS, PERMITS, RUNS, TASKS, Column
from nika_nb.tables.prompts import prompt_rows
from nika_nb.tables.values import value_of
from nika_nb.trace import agents
from nika_nb.trace.fields import said, whole
from nika_nb.trace.frame import Frame
from nika_nb.trace.overview import Overview
from nika_nb.trace.paging import with_texts
from nika_nb.trace.unit import Unit
from nika_nb.trace.units import Units
from nika_nb.values import dumps

Row = Sequence[Any]


def run_row(seen: Overview) -> Row:
    """What is known of a whole trace."""
    damage = seen.damage
    return ordered(
        RUNS,
        {
            "trace": seen.path.name,
            "run_id": seen.run_id,
            "workflow": seen.workflow,
            "state": seen.state,
            "started": seen.started,
            "ended": seen.ended,
            "duration": max(0, seen.ended - seen.started) // 10**6,
            "tasks": len(seen.tasks),
            "failed": sum(unit.state == "failure" for unit in seen.tasks.values()),
            "hits": seen.hits,
            "live": seen.live,
            **money(seen),
            "unpriced": seen.unpriced,
            "cut_off": seen.cut_off,
            "resumed": seen.resumed,
            "events": seen.events,
            "size": seen.size,
            "torn": seen.torn,
            "damage": f"line {damage.line}: {damage.why}" if damage else None,
        },
    )


def ordered(columns: Iterable[Column], values: Mapping[str, Any]) -> Row:
    return tuple(values.get(column.name) for column in columns)


def money(of: Unit | Overview) -> dict[str, Any]:
    """The columns of what was spent, saved and wasted."""
    return {
        "tokens": of.spent.tokens,
        "cost_usd": of.spent.usd,
        "saved_usd": of.saved.usd,
        "saved_tokens": of.saved.tokens,
        "saved": of.saved.ms,
        "wasted_usd": of.wasted.usd,
    }


def unit_values(unit: Unit) -> dict[str, Any]:
    """One task or item, by column."""
    return {
        "task": unit.task,
        "item": unit.item,
        "verb": unit.verb,
        "note": unit.note,
        "state": unit.state,
        "cause": unit.cause,
        "cached": unit.cached,
        "reason": unit.reason,
        "changed": ", ".join(unit.parts) or None,
        "detail": unit.detail,
        "started": unit.started,
        "ended": unit.ended,
        "duration": unit.duration_ms,
        "attempts": unit.attempts,
        "items": unit.items if unit.items_begun else None,
        "items_cached": unit.items_cached if unit.items_begun else None,
        "items_failed": unit.items_failed if unit.items_begun else None,
        "model": unit.model,
        **money(unit),
        "unpriced": unit.unpriced if unit.has_unknown else None,
        "output": value_of(unit.output),
        "error_code": unit.error_code,
        "error_message": unit.error_message,
        "def_hash": unit.def_hash,
        "input_hash": unit.input_hash,
    }


def _task_rows(frames: Iterable[Frame], running: bool) -> Iterator[Row]:
    units = Units(outputs=True)
    _feed(units, frames, running)
    return (ordered(TASKS, unit_values(unit)) for unit in units.tasks.values())


def _item_rows(frames: Iterable[Frame], running: bool) -> Iterator[Row]:
    found: list[tuple[str, int, Row]] = []

    def keep(unit: Unit) -> None:
        found.append((unit.task, unit.item or 0, ordered(ITEMS, unit_values(unit))))

    units = Units(keep, outputs=True)
    _feed(units, frames, running)
    rank = {task: at for at, task in enumerate(units.tasks)}
    found.sort(key=lambda entry: (rank[entry[0]], entry[1]))
    return (row for _, _, row in found)


def _feed(units: Units, frames: Iterable[Frame], running: bool) -> None:
    for frame, text in with_texts(frames):
        units.take(frame, text)
    units.close(running=running)


def _permit_rows(frames: Iterable[Frame], running: bool) -> Iterator[Row]:
    for frame in frames:
        if frame.kind == "permit_checked":
            decision = frame.get("decision")
            values = {name: said(frame.get(name)) for name in ("task", "plane", "gate", "why")}
            allowed = decision == "allow" if decision in ("allow", "deny") else None
            yield ordered(PERMITS, values | {"time": frame.timestamp, "allowed": allowed, "line": frame.line})


def _event_rows(frames: Iterable[Frame], running: bool) -> Iterator[Row]:
    for frame in frames:
        values = {name: said(frame.get(name)) for name in ("task", "note", "detail")}
        values["note"] = values["note"] or agents.note_of(frame.kind, frame.fields)
        values["detail"] = values["detail"] or agents.detail_of(frame.kind, frame.fields)
        values |= {"kind": frame.kind, "id": frame.id, "invocation": frame.run, "fields": dumps(frame.fields)}
        numbers = {name: whole(frame.get(name)) for name in ("item", "attempt")}
        yield ordered(EVENTS, values | numbers | {"line": frame.line, "time": frame.timestamp})


ROWS: Mapping[str, Callable[[Iterable[Frame], bool], Iterator[Row]]] = {
    "tasks": _task_rows,
    "items": _item_rows,
    "attempts": attempt_rows,
    "permits": _permit_rows,
    "prompts": prompt_rows,
    "events": _event_rows,
}
