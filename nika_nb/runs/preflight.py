"""What a run needs from this machine and this version, looked up before anything starts: one table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from nika_nb.authority.files import read_plain
from nika_nb.engine.memory import Memory, NoMemory
from nika_nb.language.model import Task, Workflow
from nika_nb.plan.plan import Plan
from nika_nb.runs.lack import Lack
from nika_nb.runs.needs import models, programs, secrets, skills, tools
from nika_nb.runs.needs.sought import LookUp, Sought
from nika_nb.runs.request import Request
from nika_nb.trace.memory import JournalMemory

# What no run begins without.
ALWAYS: tuple[LookUp, ...] = (models.look_up, tools.look_up, skills.look_up, secrets.in_no_store)

# What a run does not begin without, besides, where somebody relies on it: one that is durable, or consumes
# an answer. What any other lacks of it is told by the task that needs it.
RELIED_ON: tuple[LookUp, ...] = (programs.look_up, secrets.look_up)


def missing(workflow: Workflow, request: Request, read: Callable[[str], bytes] = read_plain) -> list[Lack]:
    """What is not there of what no run begins without; empty when all is there. read: opens its files."""
    place = request.place
    tasks = tuple(workflow.tasks.values())
    return _found(ALWAYS, Sought(workflow, tasks, place.base, place.root, request.model, read))


def lacking(plan: Plan, base: Path, memory: Memory | None = None) -> list[Lack]:
    """What is not there besides, of what the tasks need that may still run; called workflows included.

    base: the folder that relative paths start from. memory: of what goes on. A task that declares what
    becomes of it without a thing does not need it.
    """
    lacks: list[Lack] = []
    for name, sought in _live(plan, base, [memory or NoMemory()], ""):
        lacks += [lack.within(name) for lack in _found(RELIED_ON, sought)]
    return list(dict.fromkeys(lacks))


def _found(table: tuple[LookUp, ...], sought: Sought) -> list[Lack]:
    return list(dict.fromkeys(lack for look_up in table for lack in look_up(sought)))


def _live(plan: Plan, base: Path, memories: Sequence[Memory], name: str) -> Iterator[tuple[str, Sought]]:
    """What each text is called, and its tasks that may run. memories: one of each call of it."""
    open_in = {
        task.id: [memory for memory in memories if not _stands(memory, plan, task)] for task in _tasks(plan)
    }
    tasks = tuple(task for task in _tasks(plan) if open_in[task.id])
    yield name, Sought(plan.workflow, tasks, base, base)
    for task in tasks:
        callee = plan.callees.get(task.called or "")
        if callee is not None:
            below = [call for memory in open_in[task.id] for call in _calls(memory, task)]
            yield from _live(callee.plan, base, below, callee.name)


def _tasks(plan: Plan) -> list[Task]:
    """Those that are not switched off."""
    return [task for task in plan.workflow.tasks.values() if task.when is not False]


def _stands(memory: Memory, plan: Plan, task: Task) -> bool:
    return isinstance(memory, JournalMemory) and memory.stands(task.id, plan.tasks[task.id].def_hash)


def _calls(memory: Memory, task: Task) -> list[Memory]:
    """What is known of each call of a workflow that a task still has to bring to an end."""
    if isinstance(memory, JournalMemory) and task.for_each is not None:
        return [memory.child(task.id, item) for item in memory.open_items(task.id)] or [NoMemory()]
    return [memory.child(task.id, None)]
