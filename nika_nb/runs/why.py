"""Why every task of a resume ran or did not: the field or the binding that changed, and who caused it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from nika_nb.engine.contract import unit_of
from nika_nb.engine.memory import Miss
from nika_nb.engine.outcome import cancelled_said, null_said
from nika_nb.engine.recovery import MOVED
from nika_nb.errors import NikaError
from nika_nb.plan.edges import edges_of
from nika_nb.plan.identity import Identity
from nika_nb.runs.causes import Causes, Reason
from nika_nb.runs.explanation import ItemWhy, TaskWhy, Why
from nika_nb.runs.provenance import doubted
from nika_nb.runs.reading import Reading, reading
from nika_nb.runs.traced import Traced
from nika_nb.trace.fields import list_of, shape_of
from nika_nb.trace.kinship import resumed_from
from nika_nb.trace.lineage import remember
from nika_nb.trace.memory import JournalMemory
from nika_nb.trace.reader import read
from nika_nb.trace.unit import Unit
from nika_nb.values import plural


def why(run: Traced) -> Why:
    """Why each task of a run ran or did not: what had changed, and where the change began.

    run: a Run, a trace's path or name, or a run's id, of which the newest invocation counts. Raises
    UsageError where there is no such trace, TraceUnreadable for another file.
    """
    found = reading(run)
    seen = found.seen
    doubts = doubted(found.path)
    return Why(seen.workflow or "", found.path.name, seen.resumed, tuple(_tasks(found)), doubts)


def _tasks(found: Reading) -> Iterator[TaskWhy]:
    resumes = found.seen.resumed is not None
    reasons = {name: _reason(found, name, resumes) for name in found.units}
    causes = Causes(reasons, found.workflow)
    memory = _memory(found)
    for name, unit in found.units.items():
        reason, items = reasons[name], found.items.get(name, [])
        ran = [item for item in items if _ran(item)]
        recalled = [item for item in items if item.cached]
        yield TaskWhy(
            task=name,
            state=unit.state,
            reason=reason.kind,
            changed=reason.changed,
            upstream=reason.upstream,
            causes=causes.of(name),
            detail=reason.detail,
            items=tuple(_items(memory, ran, recalled)) if memory is not None and ran and recalled else (),
            recalled=len(recalled),
            sentence="no text and no value changed" if unit.files_changed else _sentence(reason, unit),
            files_changed=tuple(dict.fromkeys(unit.files_changed)),
            nulls=tuple(_nulls(found, name)) if unit.started is not None and not unit.cached else (),
            recovered=_recovered(unit, items),
        )


def _recovered(unit: Unit, items: list[Unit]) -> str:
    """`recovered from CODE · message`; of a fan-out how many items did, and the first of them from what."""
    if unit.cause != "recovered":
        return ""
    count = sum(item.cause == "recovered" for item in items)
    of_items = f"{count:,} of {plural(len(items), 'item')} " if items else ""
    return f"{of_items}recovered from {unit.error_code} · {unit.error_message}"


def _nulls(found: Reading, task: str) -> Iterator[str]:
    """Told of the workflow's own tasks: the edges of a called one are not at hand."""
    for edge in edges_of(found.workflow) if found.workflow is not None else ():
        producer = found.units.get(edge.producer) if edge.kind == "value" else None
        if edge.consumer == task and producer is not None and producer.state == "skipped":
            yield null_said(edge.binding or "", edge.producer)


def _reason(found: Reading, name: str, resumes: bool) -> Reason:
    units, unit = found.units, found.units[name]
    if unit.cached:
        return Reason(name, "cached")
    if unit.started is None and unit.reason is None:
        return Reason(name, "", detail=_not_run(unit))
    kind = unit.reason or _with_its_call(units, name) or ("first-run" if not resumes or "/" in name else "")
    return Reason(name, kind, unit.parts, unit.detail or ("" if kind else _unrecorded(found, name)))


def _unrecorded(found: Reading, name: str) -> str:
    """Why a task ran on a resume that was not looked for in the record, or that the record has no end of."""
    task = found.workflow.tasks.get(name) if found.workflow is not None else None
    cleans_up = task is not None and task.is_cleanup
    return "it cleans up behind what began" if cleans_up else "it had not settled"


def _with_its_call(units: Mapping[str, Unit], name: str) -> str:
    """`forced` for a task below a call, or below the item of one, that runs again because of `--from`."""
    call, below, _ = name.partition("/")
    above = units.get(unit_of(call)[0]) if below else None
    if above is None or above.reason != "forced":
        return ""
    return "forced" if not above.detail or call in above.detail.split(", ") else ""


def _memory(found: Reading) -> JournalMemory | None:
    """What the trace had resumed from, where a fan-out took something from it."""
    partly = any(item.cached for items in found.items.values() for item in items)
    earlier = resumed_from(found.path) if partly else None
    forced = map(str, list_of(found.seen.prologue.get("forced")))
    try:
        return remember(read(earlier), forced)[0] if earlier is not None else None
    except NikaError:
        return None


def _ran(item: Unit) -> bool:
    return not item.cached and (item.started is not None or item.state in ("success", "failure"))


def _not_run(unit: Unit) -> str:
    if unit.state == "pending":
        return "not reached"
    if unit.state == "paused":
        return "waits for an answer"
    return f"blocked · {unit.detail}" if unit.detail else _called_off(unit) or unit.note or unit.state


def _called_off(unit: Unit) -> str:
    """Why it did not come to its end, where the run ended without it."""
    stopped = unit.state == "cancelled" and unit.cause != "upstream"
    how = "not started" if unit.started is None else "stopped"
    return cancelled_said(unit.note or "", how) if stopped else ""


def _sentence(reason: Reason, unit: Unit) -> str:
    if reason.kind == "cached":
        return "nothing changed"
    why = "first run" if reason.kind == "first-run" else reason.sentence or reason.detail
    stopped = _called_off(unit) if reason.kind else ""
    return f"{why} · {stopped}" if stopped else why


def _items(memory: JournalMemory, ran: list[Unit], recalled: list[Unit]) -> Iterator[ItemWhy]:
    """Asks the record again, as the run did: what was recalled first, for every record serves once."""
    for item in recalled:
        memory.recall_item(_identity(item), item.item or 0)
    for item in sorted(ran, key=lambda unit: unit.item or 0):
        index = item.item or 0
        found = memory.recall_item(_identity(item), index) if item.def_hash is not None else None
        miss = found if isinstance(found, Miss) else MOVED if found and found.error else Miss("first-run")
        reason = "" if miss.reason == "first-run" else miss.reason
        yield ItemWhy(index, item.state, reason, miss.parts, miss.detail)


def _identity(item: Unit) -> Identity:
    parts = {name: str(digest) for name, digest in shape_of(item.input_parts).items()}
    return Identity(item.task, item.def_hash or "", item.input_hash or "", input_parts=parts)
