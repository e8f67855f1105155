"""Two tasks that may run at the same time never write the same file."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise

from nika_nb.authority import paths
from nika_nb.check.folding import argument, fixed
from nika_nb.check.problem import is_open
from nika_nb.check.subject import Subject
from nika_nb.errors import Diagnostic
from nika_nb.language.folding import fold
from nika_nb.language.model import Task
from nika_nb.language.template import Plain
from nika_nb.plan.graph import Reach

CODE = "NIKA-SEC-012"
_WRITERS = ("nika:write", "nika:edit")
_MOST_PAIRS = 200


def judge(subject: Subject) -> Iterator[Diagnostic]:
    """NIKA-SEC-012."""
    writers: dict[str, list[Task]] = {}
    for task in subject.sound_tasks:
        path = _path(subject, task)
        if path is None or task.when is False:
            continue
        writers.setdefault(paths.lexical(path, subject.base), []).append(task)
        if _fans_out(subject, task):
            yield _same_file(subject, task, path)
    yield from _collisions(subject, writers)


def _path(subject: Subject, task: Task) -> str | None:
    """The file that a task writes, where the text itself decides it."""
    if task.action.verb != "invoke" or task.action.get("tool") not in _WRITERS:
        return None
    path = argument(subject.workflow, task, "path")
    return path if isinstance(path, str) and not is_open(path) else None


def _fans_out(subject: Subject, task: Task) -> bool:
    """Whether several elements may be worked on at once."""
    if task.for_each is None or task.for_each.max_parallel == 1:
        return False
    items = fold(task.for_each.items, fixed(subject.workflow, task))
    return not (isinstance(items, Plain) and isinstance(items.raw, list) and len(items.raw) < 2)


def _same_file(subject: Subject, task: Task, path: str) -> Diagnostic:
    sentence = f"every element of `{task.id}` writes `{path}`, and they run at the same time"
    hint = "name the file by its element, like `./out/${{ index }}.md`, or write `max_parallel: 1`"
    place = subject.place("tasks", task.id, "invoke", "args", "path")
    return Diagnostic(CODE, sentence, place, hint, task=task.id)


def _collisions(subject: Subject, writers: dict[str, list[Task]]) -> Iterator[Diagnostic]:
    reach = Reach(_nexts(subject) if any(len(tasks) > 1 for tasks in writers.values()) else {})
    for tasks in writers.values():
        for first, second in combinations(tasks[:_MOST_PAIRS], 2):
            if not (reach.leads(first.id, second.id) or reach.leads(second.id, first.id)):
                yield _unordered(subject, *sorted((first, second), key=lambda task: task.is_cleanup))


def _nexts(subject: Subject) -> dict[str, list[str]]:
    """task → what begins only when it has ended.

    What follows one task and waits for no other runs before that one is seen to end: in the order in
    which such cleanups stand, and before all that waits for it.
    """
    found = {name: [*names] for name, names in subject.nexts.items()}
    for edges in subject.following.values():
        at_once = [edge.consumer for edge in edges if len(subject.workflow.tasks[edge.consumer].after) == 1]
        cleanups = [one for one in at_once if subject.workflow.tasks[one].is_cleanup]
        waiting = [edge.consumer for edge in edges if edge.schedules]
        for cleanup, following in pairwise(cleanups):
            found[cleanup].append(following)
        if cleanups:
            found[cleanups[-1]] += waiting
    return found


def _unordered(subject: Subject, first: Task, second: Task) -> Diagnostic:
    sentence = f"`{first.id}` and `{second.id}` write the same file, and nothing puts them in order"
    word = "unwind" if first.is_cleanup else "terminal"
    place = subject.place("tasks", second.id, "invoke", "args", "path")
    other = subject.place("tasks", first.id, "invoke", "args", "path")
    hint = f"write `after: {{ {first.id}: {word} }}` in `{second.id}`, or give each its own file"
    return Diagnostic(
        CODE, sentence, place, hint, task=second.id, related=((f"`{first.id}` writes it here", other),)
    )
