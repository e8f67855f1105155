"""What was answered in a recorded run, by the keys of its prompts."""

from __future__ import annotations

from typing import Any

from nika_nb.catalog.builtins import PROMPT
from nika_nb.engine.contract import unit_key
from nika_nb.plan.plan import Plan
from nika_nb.trace.child import CHILD
from nika_nb.trace.fields import shape_of, whole
from nika_nb.trace.frame import Frame
from nika_nb.trace.memory import JournalMemory
from nika_nb.trace.trace import Trace
from nika_nb.values import Json, loads


def decisions(trace: Trace, plan: Plan) -> dict[str, Any]:
    """`ask`, `ask[3]` and `call/ask` with their answers; what nobody answered is left out."""
    found: dict[str, Any] = {}
    calls: set[tuple[str, int | None]] = set()
    for frame, text in trace.texts():
        task = plan.tasks.get(str(frame.get("task")))
        if task is None:
            continue
        if frame.kind == CHILD:
            calls.add((task.task.id, whole(frame.get("item"))))
        elif task.task.action.get("tool") == PROMPT and text is not None:
            found |= _decided(frame, text, fans_out=task.task.for_each is not None)
    memory = JournalMemory(trace)
    for call, item in calls:
        found |= _below(call, item, memory, plan)
    return found


def _decided(frame: Frame, text: str, *, fans_out: bool) -> dict[str, Json]:
    """The answer in the end of a prompt, or of one item of it."""
    outcome = shape_of(frame.get("outcome"))
    item = whole(frame.get("item"))
    if (
        outcome.get("class") != "success"
        or outcome.get("cause") == "recovered"
        or fans_out != (item is not None)
    ):
        return {}
    return {unit_key(str(frame.get("task")), item): loads(text)}


def _below(call: str, item: int | None, memory: JournalMemory, plan: Plan) -> dict[str, Any]:
    callee = plan.callees.get(plan.tasks[call].task.called or "")
    child = memory.child(call, item)
    if callee is None or not isinstance(child, JournalMemory):
        return {}
    return {
        f"{unit_key(call, item)}/{key}": said for key, said in decisions(child.trace, callee.plan).items()
    }
