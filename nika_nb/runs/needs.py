"""What the tasks that still have to run need from this machine: programs, secrets, and a journal."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from nika_nb.authority import env, paths
from nika_nb.authority.permits import judge_target
from nika_nb.authority.secrets import UNRESOLVED_CODE, Masker, SecretStore
from nika_nb.catalog.frames import TASK_ENDS
from nika_nb.check.needs import Need, needs_of
from nika_nb.errors import Fault
from nika_nb.language.model import Permits, Task, Workflow
from nika_nb.language.template import Value, references
from nika_nb.plan.plan import Plan
from nika_nb.runs.lack import Lack
from nika_nb.trace.folder import TraceFolder
from nika_nb.trace.trace import Trace

NOT_STARTED_CODE = "NIKA-EXEC-002"
JOURNAL_CODE = "NIKA-NB-001"

_WHY_A_JOURNAL = "a durable run lives in its journal"


def settled(trace: Trace) -> frozenset[str]:
    """The tasks that a continuation of this trace does not run again."""
    last = {str(frame.get("task")): frame for frame in trace.frames if frame.kind in TASK_ENDS}
    return frozenset(name for name, frame in last.items() if "not_resumable" not in frame.fields)


def lacking(plan: Plan, base: Path, done: frozenset[str] = frozenset()) -> list[Lack]:
    """What is not there of what the tasks need that are not done; called workflows included.

    base: the folder that relative paths start from. A task that declares what becomes of it without
    a thing does not need it.
    """
    found: list[Lack] = []
    for name, workflow, tasks in _live(plan, done, ""):
        looked = _secrets(workflow, tasks, base)
        for task in tasks:
            looked += _programs(workflow, task, base)
        found += [lack.within(name) for lack in looked]
    return list(dict.fromkeys(found))


def no_journal(folder: TraceFolder, wanted: bool) -> list[Lack]:
    """Why the journal of a durable run could not be written. wanted: journals are not turned off."""
    if not wanted:
        what = "journals are turned off (NIKA_NO_TRACE_FILE)"
        return [Lack(JOURNAL_CODE, what, f"{_WHY_A_JOURNAL}: unset the variable")]
    try:
        folder.path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder.path) as file:
            file.write(b"\n" * 4096)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        return [unwritable(folder, error.strerror or str(error))]
    return []


def unwritable(folder: TraceFolder, why: str) -> Lack:
    """What is said where a journal could not be written into a folder."""
    what = f"the folder {folder.shown} takes no journal ({why})"
    return Lack(JOURNAL_CODE, what, f"{_WHY_A_JOURNAL}: make the folder writable, and room on the disk")


Live = tuple[str, Workflow, list[Task]]  # what the text is called, the text, its tasks that may run


def _live(plan: Plan, done: frozenset[str], name: str) -> Iterator[Live]:
    tasks = [task for task in plan.workflow.tasks.values() if task.id not in done and task.when is not False]
    yield name, plan.workflow, tasks
    for task in tasks:
        callee = plan.callees.get(task.called or "")
        if callee is not None:
            yield from _live(callee.plan, frozenset(), callee.name)


# -- programs ----------------------------------------------------------------------------------


def _programs(workflow: Workflow, task: Task, base: Path) -> Iterator[Lack]:
    if task.action.verb != "exec" or _handles(task, NOT_STARTED_CODE):
        return
    for need in needs_of(workflow, task):
        program = need.program
        if program and "${{" not in program and not _found(program, need, workflow.permits, base):
            what, hint = _named(task.id, program)
            yield Lack(NOT_STARTED_CODE, what, hint, task.id)


def _named(task: str, program: str) -> tuple[str, str]:
    if "/" in program:
        return f"`{task}`: there is no program at `{program}`", "put it there and make it executable"
    return (
        f"`{task}`: the program `{program}` is not on the PATH",
        "install it, or put its folder on the PATH",
    )


def _found(program: str, need: Need, permits: Permits | None, base: Path) -> bool:
    """Whether the program can be started as far as that can be known; what only the run knows counts."""
    cwd = need.action.get("cwd") or ""
    if "${{" in str(cwd):
        return True
    if "/" not in program:
        path = _path(permits, need.action.get("env"))
        return path is None or shutil.which(program, path=path) is not None
    place = os.path.join(paths.as_walked(str(cwd), str(base)), program)
    if os.path.isfile(place) and os.access(place, os.X_OK):
        return True
    # A task before it may still write it.
    written = os.path.relpath(place, base)
    written = place if written.startswith("..") else f"./{written}"
    return judge_target(permits, "write", written, str(base), paths.effective(written, str(base))).allowed


def _path(permits: Permits | None, given: Mapping[str, object] | None) -> str | None:
    """The PATH of the child; None where only the run knows it."""
    if any("${{" in str(value) for name, value in (given or {}).items() if name == "PATH"):
        return None
    try:
        own = {name: value for name, value in (given or {}).items() if name == "PATH"}
        return env.compose(permits, own, os.environ).values.get("PATH", os.defpath)
    except Fault:
        return None


def _handles(task: Task, code: str) -> bool:
    policy = task.on_error
    return policy is not None and (policy.on_codes is None or code in policy.on_codes)


# -- secrets -----------------------------------------------------------------------------------


def _secrets(workflow: Workflow, tasks: list[Task], base: Path) -> list[Lack]:
    """The secrets that these tasks name and that their stores do not hold."""
    store = SecretStore(workflow.secrets, base, Masker())
    found: list[Lack] = []
    for task in tasks:
        for name in dict.fromkeys(_read_by(task)):
            why = store.missing(name) if name in store else None
            if why is not None:
                what, _, hint = why.partition("; ")
                found.append(Lack(UNRESOLVED_CODE, f"`{task.id}`: {what}", hint, task.id))
    return found


def _read_by(task: Task) -> Iterator[str]:
    when = None if isinstance(task.when, bool) else task.when
    items = task.for_each.items if task.for_each else None
    values: list[Value | None] = [*task.with_.values(), task.action.body, when, items]
    for value in values:
        for ref in references(value):
            if ref.root == "secrets" and ref.steps:
                yield str(ref.steps[0])
