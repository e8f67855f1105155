"""Private data, untrusted content and a way out: the three together need a human in between."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from nika_nb.authority import globs, paths
from nika_nb.catalog.builtins import PROMPT
from nika_nb.check.folding import argument
from nika_nb.check.problem import is_open
from nika_nb.check.subject import Subject
from nika_nb.errors import Diagnostic, Severity
from nika_nb.language.cel import Reference
from nika_nb.language.model import Permits, Task
from nika_nb.language.template import read_of, references
from nika_nb.plan.gates import FIELD_ROLES
from nika_nb.plan.graph import downstream, topological

CODE = "NIKA-SEC-009"
_NETWORK = ("nika:fetch", "nika:notify")


def judge(subject: Subject) -> Iterator[Diagnostic]:
    """NIKA-SEC-009, once per task through which untrusted content could leave.

    A warning where only a process of this machine brings the content in: what it prints may as
    well be the author's own.
    """
    permits = subject.workflow.permits
    if permits is None or not permits.read or not _has_way_out(subject, permits):
        return
    guarded = _guarded(subject)
    sinks = [task for task in subject.tasks if task.id not in guarded and _sends_out(subject, task)]
    said: set[str] = set()
    for severity, brings_in in _SEVERITIES:
        sources = [task for task in subject.tasks if brings_in(task)]
        tainted = _tainted(subject, sources) if sources and sinks else {}
        for task in sinks:
            source = _reached_by(subject, task, tainted) if task.id not in said else None
            if source is not None:
                said.add(task.id)
                yield _found(subject, source, task, severity)


def _has_way_out(subject: Subject, permits: Permits) -> bool:
    return bool(permits.http or permits.exec) or any(_escapes(subject, grant.text) for grant in permits.write)


def _escapes(subject: Subject, pattern: str) -> bool:
    """Whether a path grant reaches beyond the folder of the workflow."""
    base = paths.lexical("", subject.base)
    return not pattern.startswith("!") and paths.below(paths.lexical(pattern, subject.base), base) is None


def _brings_in(task: Task) -> bool:
    """Whether what a task yields was not authored here."""
    action = task.action
    if action.verb == "agent":
        return _may_use(task, "nika:fetch")
    tool = str(action.get("tool"))
    return action.verb == "invoke" and (tool == "nika:fetch" or tool.startswith("mcp:"))


_SEVERITIES: tuple[tuple[Severity, Callable[[Task], bool]], ...] = (
    ("error", _brings_in),
    ("warning", lambda task: task.action.verb == "exec"),
)


def _may_use(task: Task, *tools: str) -> bool:
    granted = [str(tool) for tool in task.action.get("tools") or ()]
    return any(tool.startswith("mcp:") for tool in granted) or any(
        globs.admits(granted, tool, "/:") for tool in tools
    )


def _sends_out(subject: Subject, task: Task) -> bool:
    action = task.action
    if action.verb == "agent":
        return _may_use(task, *_NETWORK)
    if action.verb == "exec":
        return True
    tool = str(action.get("tool"))
    if action.verb != "invoke" or tool.startswith("mcp:") or tool in _NETWORK:
        return action.verb == "invoke"
    path = argument(subject.workflow, task, "path") if tool in ("nika:write", "nika:edit") else None
    return isinstance(path, str) and not is_open(path) and _escapes(subject, path)


def _tainted(subject: Subject, sources: list[Task]) -> dict[str, str]:
    """task → the source whose content its output may carry."""
    found = {task.id: task.id for task in sources}
    order = topological(subject.workflow.tasks, subject.edges)
    known = -1
    while known < len(found):  # a recovery and a cleanup may read what stands later in that order
        known = len(found)
        for name in order:
            source = _reached_by(subject, subject.workflow.tasks[name], found)
            if source is not None:
                found.setdefault(name, source)
    return found


def _reached_by(subject: Subject, task: Task, tainted: dict[str, str]) -> str | None:
    """The source whose content reaches what a task is given to do."""
    used = read_of(task.action.body, "with")
    loops = any(ref.root == "item" for ref in references(task.action.body))
    values = [task.with_[name] for name in used if name in task.with_]
    if task.on_error is not None and task.on_error.recover is not None:
        values.append(task.on_error.recover)
    if loops and task.for_each is not None:
        values += [task.for_each.items, *task.with_.values()]
    for value in values:
        for reference in references(value):
            for producer in _producers(subject, reference):
                if producer in tainted and producer != task.id:
                    return tainted[producer]
    return None


def _producers(subject: Subject, reference: Reference) -> tuple[str, ...]:
    root, name, steps = reference.root, reference.name, reference.steps
    if name is None:
        return ()
    if root == "tasks" and len(steps) > 1 and (steps[1] not in FIELD_ROLES or steps[1] == "error"):
        return (name,)
    return subject.workflow.groups.get(name, ()) if root == "group" else ()


def _guarded(subject: Subject) -> set[str]:
    """Every task that cannot run before a human has answered."""
    asking: list[str] = []
    for task in subject.tasks:
        args = task.action.get("args") or {}
        asks = task.action.verb == "invoke" and task.action.get("tool") == PROMPT
        if asks and isinstance(args, dict) and args.get("default") is None:
            asking.append(task.id)
    return downstream(subject.scheduling, *asking)


def _found(subject: Subject, source: str, task: Task, severity: Severity) -> Diagnostic:
    origin = subject.workflow.tasks[source]
    sentence = (
        f"content from outside reaches `{task.id}`, which can send it out, in a workflow that may read files "
        f"({source} → {task.id})"
    )
    hint = "let a `nika:prompt` without `default:` stand before it, or take one of the three permits away"
    related = ((f"`{source}` brings it in here", origin.key_span),)
    return Diagnostic(CODE, sentence, task.key_span, hint, severity, task.id, related)
