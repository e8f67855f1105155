"""What a run needs from this machine and this version, looked up before anything starts: one table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from nika_nb.authority.files import read_plain
from nika_nb.catalog.frames import TASK_ENDS
from nika_nb.language.model import Workflow
from nika_nb.plan.plan import Plan
from nika_nb.runs.lack import Lack
from nika_nb.runs.needs import models, programs, secrets, skills, tools
from nika_nb.runs.needs.sought import LookUp, Sought
from nika_nb.runs.request import Request
from nika_nb.trace.trace import Trace

# What no run begins without.
ALWAYS: tuple[LookUp, ...] = (models.look_up, tools.look_up, skills.look_up)

# What a run does not begin without, besides, where somebody relies on it: one that is durable, or consumes
# an answer. What any other lacks of it is told by the task that needs it.
RELIED_ON: tuple[LookUp, ...] = (programs.look_up, secrets.look_up)


def missing(workflow: Workflow, request: Request, read: Callable[[str], bytes] = read_plain) -> list[Lack]:
    """What is not there of what no run begins without; empty when all is there. read: opens its files."""
    place = request.place
    tasks = tuple(workflow.tasks.values())
    return _found(ALWAYS, Sought(workflow, tasks, place.base, place.root, request.model, read))


def lacking(plan: Plan, base: Path, done: frozenset[str] = frozenset()) -> list[Lack]:
    """What is not there besides, of what the tasks need that are not done; called workflows included.

    base: the folder that relative paths start from. A task that declares what becomes of it without
    a thing does not need it.
    """
    lacks: list[Lack] = []
    for name, sought in _live(plan, base, done, ""):
        lacks += [lack.within(name) for lack in _found(RELIED_ON, sought)]
    return list(dict.fromkeys(lacks))


def settled(trace: Trace) -> frozenset[str]:
    """The tasks that a continuation of this trace does not run again."""
    last = {str(frame.get("task")): frame for frame in trace.frames if frame.kind in TASK_ENDS}
    return frozenset(name for name, frame in last.items() if "not_resumable" not in frame.fields)


def _found(table: tuple[LookUp, ...], sought: Sought) -> list[Lack]:
    return list(dict.fromkeys(lack for look_up in table for lack in look_up(sought)))


def _live(plan: Plan, base: Path, done: frozenset[str], name: str) -> Iterator[tuple[str, Sought]]:
    """What each text is called, and its tasks that may run."""
    tasks = [task for task in plan.workflow.tasks.values() if task.id not in done and task.when is not False]
    yield name, Sought(plan.workflow, tuple(tasks), base, base)
    for task in tasks:
        callee = plan.callees.get(task.called or "")
        if callee is not None:
            yield from _live(callee.plan, base, frozenset(), callee.name)
