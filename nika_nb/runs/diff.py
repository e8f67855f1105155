"""Compares two runs, from their traces alone: what was written, what came in, what came out, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import get_args

from nika_nb.engine.contract import unit_key
from nika_nb.engine.reasons import with_origins
from nika_nb.language.template import references
from nika_nb.plan.identity import definition_fields
from nika_nb.plan.meaning import envelope
from nika_nb.plan.plan import RECOVER, TaskPlan, make_plan
from nika_nb.runs.causes import Causes, Reason
from nika_nb.runs.difference import Diff, Edit, Kind, Side, TaskDiff
from nika_nb.runs.explanation import ItemWhy
from nika_nb.runs.provenance import doubted
from nika_nb.runs.reading import Reading, reading
from nika_nb.runs.textdiff import text_diff
from nika_nb.runs.traced import Traced
from nika_nb.trace.fields import said, shape_of
from nika_nb.trace.reader import opening
from nika_nb.trace.unit import Unit
from nika_nb.values import Json, unequal

# What only the files beside a workflow tell: their digests stand in the journal, their texts elsewhere.
_OUTSIDE = ("workflow ", "agent.skills ")
_KINDS: dict[str, Kind] = {kind: kind for kind in get_args(Kind)}


def diff(a: Traced, b: Traced) -> Diff:
    """How run b differs from run a: definitions, inputs, outputs, costs, times, and what caused what.

    Each is a Run, a trace's path or name, or a run's id, of which the newest invocation counts. Raises
    UsageError where there is no such trace, TraceUnreadable for another file.
    """
    one, other = reading(a, outputs=True), reading(b, outputs=True)
    return Diff(
        a=one.path.name,
        b=other.path.name,
        workflow=other.seen.workflow or one.seen.workflow or "",
        edits=tuple(_edits(one, other)),
        layout=_layout(one, other),
        tasks=tuple(_Comparison(one, other).tasks()),
        outputs=text_diff(one.outputs, other.outputs) if one.outputs and other.outputs else (),
        cost_usd=(one.seen.spent.usd, other.seen.spent.usd),
        duration_ms=(_took(one), _took(other)),
        doubts=(*doubted(one.path), *doubted(other.path)),
        unpriced=(one.seen.unpriced, other.seen.unpriced),
    )


def _took(run: Reading) -> int:
    return max(0, run.seen.ended - run.seen.started) // 10**6


def _layout(a: Reading, b: Reading) -> bool:
    """Whether two texts are not the same, and mean the same."""
    before, after = a.seen.prologue, b.seen.prologue
    meaning = before.get("semantic_hash")
    same = meaning is not None and meaning == after.get("semantic_hash")
    return same and before.get("workflow_sha256") != after.get("workflow_sha256")


def _edits(a: Reading, b: Reading) -> Iterator[Edit]:
    """What differs outside the tasks: the values of inputs, then what is declared."""
    told_of: set[str] = set()
    for before, after in ((_values(a), _values(b)), (_declared(a), _declared(b))):
        for name in unequal(before, after):
            if name not in told_of:
                told_of.add(name)
                yield Edit(name, before.get(name), after.get(name))


def _values(run: Reading) -> dict[str, Json]:
    given = {f"inputs.{name}": value for name, value in (opening(run.path).input_values or {}).items()}
    return given | {"--model": run.seen.prologue.get("model_override")}


def _declared(run: Reading) -> dict[str, Json]:
    """What a text says outside its tasks: `permits`, `model`, `const.unit`, `outputs.titles`, …"""
    found: dict[str, Json] = {}
    for part, value in (envelope(run.workflow) if run.workflow is not None else {}).items():
        if part in ("inputs", "const", "secrets", "outputs"):
            found |= {f"{part}.{name}": each for name, each in value.items()}
        else:
            found[part] = value
    return found


class _Comparison:
    """The tasks of two traces, side by side."""

    def __init__(self, a: Reading, b: Reading) -> None:
        self._a, self._b = a, b
        self._plans = _plans(a), _plans(b)
        self._recalled = {*_recalled(a), *_recalled(b)}

    def tasks(self) -> Iterator[TaskDiff]:
        names = list(dict.fromkeys([*self._b.units, *self._a.units]))
        names = [name for name in names if self._comparable(name)]
        pairs = {name: (self._a.units.get(name), self._b.units.get(name)) for name in names}
        found = {name: self._parts(name, *pair) for name, pair in pairs.items()}
        reasons = {name: self._reason(name, *pairs[name], *found[name]) for name in names}
        causes = Causes(reasons, self._b.workflow)
        for name, (a, b) in pairs.items():
            reason = reasons[name]
            output = text_diff(a.output if a else None, b.output if b else None) if a and b else ()
            yield TaskDiff(
                task=name,
                kind=_KINDS[reason.kind],
                a=_side(a),
                b=_side(b),
                changed=reason.changed,
                upstream=reason.upstream,
                causes=causes.of(name),
                edits=tuple(self._written(name, found[name][0])) if a and b else (),
                output=output,
                items=tuple(self._items(name)) if a and b and reason.kind != "same" else (),
                sentence=_sentence(reason, a, b),
            )

    def _comparable(self, name: str) -> bool:
        """A called workflow tells of its tasks only where the call ran, in both runs."""
        calls = (name[:at] for at, sign in enumerate(name) if sign == "/")
        return self._recalled.isdisjoint(calls)

    def _parts(self, name: str, a: Unit | None, b: Unit | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """(the fields that differ, the bindings and inputs that do, each with where it comes from)."""
        if a is None or b is None:
            return (), ()
        fields = self._fields(name, a, b)
        planned = self._plans[1].get(name)
        if a.input_hash is not None and b.input_hash is not None:
            before, after = shape_of(a.input_parts), shape_of(b.input_parts)
            # What only one of them reads is written differently: it is a field, and named as one.
            names = [part for part in unequal(before, after) if part in before and part in after]
        else:
            names = list(self._derived(planned)) if planned is not None else []
        if "on_error" not in fields and planned is not None and recover_differently(planned, a, b):
            names.append(RECOVER)
        return fields, tuple(
            with_origins(planned, part) if planned is not None else part
            for part in names
            if part not in fields
        )

    def _fields(self, name: str, a: Unit, b: Unit) -> tuple[str, ...]:
        """By the recorded digests; where a task left none, by the recorded texts."""
        recorded = shape_of(a.definition_parts), shape_of(b.definition_parts)
        if all(recorded):
            return unequal(*recorded)
        before, after = (plans.get(name) for plans in self._plans)
        if before is None or after is None:
            return ()
        found = unequal(before.definition_parts, after.definition_parts)
        return tuple(part for part in found if not part.startswith(_OUTSIDE))

    def _derived(self, planned: TaskPlan) -> Iterator[str]:
        """The bindings and inputs of a task that left no digests, by what it reads."""
        for binding, producers in planned.origins.items():
            if any(self._moved(producer) for producer in producers):
                yield f"with.{binding}"
        moved = {edit.name for edit in _edits(self._a, self._b)}
        read = [*planned.task.with_.values(), planned.task.action.body]
        found = (
            ".".join([ref.root, *map(str, ref.steps[:1])]) for value in read for ref in references(value)
        )
        yield from (name for name in dict.fromkeys(found) if name in moved)

    def _moved(self, producer: str) -> bool:
        a, b = self._a.units.get(producer), self._b.units.get(producer)
        return (a.output if a else None) != (b.output if b else None)

    def _reason(
        self, name: str, a: Unit | None, b: Unit | None, fields: tuple[str, ...], bindings: tuple[str, ...]
    ) -> Reason:
        if a is None or b is None:
            return Reason(name, "new" if a is None else "gone")
        if fields or _both_differ(a.def_hash, b.def_hash):
            return Reason(name, "definition", (*fields, *bindings))
        if bindings or _both_differ(a.input_hash, b.input_hash):
            return Reason(name, "input", bindings)
        if (a.state, a.cause, a.error_code) != (b.state, b.cause, b.error_code):
            return Reason(name, "outcome")
        return Reason(name, "output" if a.output != b.output else "same")

    def _written(self, name: str, fields: tuple[str, ...]) -> Iterator[Edit]:
        """The fields as they were and are, where the texts are recorded."""
        planned = [plans[name] for plans in self._plans if name in plans]
        if len(planned) == 2:
            before, after = (definition_fields(one.task.action.verb, one.definition) for one in planned)
            for field in fields:
                if before.get(field) != after.get(field):
                    yield Edit(field, before.get(field), after.get(field))

    def _items(self, name: str) -> Iterator[ItemWhy]:
        """The items of a fan-out that differ, index by index."""
        sides = [{item.item or 0: item for item in run.items.get(name, [])} for run in (self._a, self._b)]
        for index in sorted(set(sides[0]) | set(sides[1])):
            a, b = sides[0].get(index), sides[1].get(index)
            if a is None or b is None:
                unit = a or b
                assert unit is not None
                yield ItemWhy(index, unit.state, "new" if a is None else "gone")
                continue
            if _both_differ(a.def_hash, b.def_hash):
                yield ItemWhy(index, b.state, "definition")
            elif _both_differ(a.input_hash, b.input_hash):
                names = unequal(shape_of(a.input_parts), shape_of(b.input_parts))
                yield ItemWhy(index, b.state, "input", names)
            elif a.state != b.state or a.output != b.output:
                yield ItemWhy(index, b.state, "output")


def _recalled(run: Reading) -> Iterator[str]:
    """The tasks and items that a record stood in for."""
    yield from (name for name, unit in run.units.items() if unit.cached)
    yield from (unit_key(item.task, item.item) for one in run.items.values() for item in one if item.cached)


def _plans(run: Reading) -> Mapping[str, TaskPlan]:
    if run.workflow is None:
        return {}
    return make_plan(run.workflow, said(run.seen.prologue.get("model_override"))).tasks


def _both_differ(before: str | None, after: str | None) -> bool:
    return before is not None and after is not None and before != after


def recover_differently(planned: TaskPlan, a: Unit, b: Unit) -> bool:
    """Whether both recovered, from what both read: it gave them their outputs."""
    return planned.reads_to_recover and a.cause == b.cause == "recovered" and a.output != b.output


def _side(unit: Unit | None) -> Side | None:
    if unit is None:
        return None
    made = unit.spent.copy()
    made.add(unit.saved)  # of a fan-out that was recalled in part, both
    took = unit.saved.ms if unit.cached else unit.duration_ms
    return Side(unit.state, unit.cached, made.usd, made.tokens, took, unit.error_code, unit.has_unknown)


def _sentence(reason: Reason, a: Unit | None, b: Unit | None) -> str:
    if a is None or b is None:
        return "new task" if a is None else "no longer there"
    ends = "" if a.state == b.state and a.error_code == b.error_code else f"{_ended(a)} → {_ended(b)}"
    if reason.kind == "output":
        return "the same was asked, and another answer came"
    return " · ".join(part for part in (reason.sentence, ends) if part)


def _ended(unit: Unit) -> str:
    if unit.cause == "recovered":
        return f"recovered ({unit.error_code})"
    failed = unit.state == "failure" and unit.error_code
    return f"{unit.state} ({unit.error_code})" if failed else unit.state
