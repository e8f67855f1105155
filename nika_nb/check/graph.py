"""The graph as declared: do its edges end at tasks, do tasks wait for each other, what a cleanup may be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

from nika_nb.check.subject import Subject, the_tasks
from nika_nb.errors import Diagnostic, Span
from nika_nb.language.model import After, Task
from nika_nb.plan.edges import Edge
from nika_nb.plan.gates import PREDICATES
from nika_nb.plan.graph import Reach, cycle
from nika_nb.values import nearest

# What other systems call the states.
_MEANT = {
    "succeeded": "success", "successful": "success", "passed": "success", "ok": "success", "pass": "success",
    "failed": "failure", "fail": "failure", "error": "failure", "errored": "failure",
    "skip": "skipped", "completed": "terminal", "complete": "terminal", "done": "terminal",
    "finished": "terminal", "always": "terminal", "settled": "terminal", "cancelled": "terminal",
    "finally": "unwind", "cleanup": "unwind",
}  # fmt: skip

_MOST_CYCLES = 20  # nobody reads further


def judge(subject: Subject) -> Iterator[Diagnostic]:
    """NIKA-DAG-001 -002 -004 -005 -009, NIKA-DAG-006 for cleanups that follow each other."""
    for task in subject.tasks:
        for entry in task.after:
            yield from _entry(subject, task, entry)
        if task.is_cleanup:
            yield from _cleanup(task)
    yield from _cycles(subject.workflow.tasks, subject.scheduling, _waiting)
    yield from _cycles(subject.workflow.tasks, subject.unwinding, _following)
    yield from _recoveries(subject)


def _entry(subject: Subject, task: Task, entry: After) -> Iterator[Diagnostic]:
    known = subject.names["tasks"]
    if entry.producer not in known:
        place = Span(entry.span.start, entry.span.start + len(entry.producer))
        hint = nearest(entry.producer, known) or the_tasks(known)
        yield Diagnostic("NIKA-DAG-002", f"there is no task `{entry.producer}`", place, hint, task=task.id)
    if entry.predicate not in PREDICATES:
        meant = _MEANT.get(entry.predicate.lower())
        hint = f"write `{meant}`" if meant else nearest(entry.predicate, PREDICATES)
        sentence = f"`{entry.predicate}` is not a state to wait for"
        hint = hint or f"the states are {', '.join(PREDICATES)}"
        yield Diagnostic("NIKA-DAG-005", sentence, entry.predicate_span, hint, task=task.id)


def _cleanup(task: Task) -> Iterator[Diagnostic]:
    if task.group is not None:
        sentence = "a cleanup cannot join a group: it runs beside the graph, and no fold would see it"
        place = task.spans.get("group", task.key_span)
        yield Diagnostic("NIKA-DAG-009", sentence, place, "remove `group:`", task=task.id)
    if task.for_each is not None:
        sentence = "a cleanup runs once and takes no `for_each:`"
        hint = "let it work on the whole list, or fan out in an ordinary task with `after: { …: terminal }`"
        yield Diagnostic("NIKA-PARSE-005", sentence, task.for_each.span, hint, task=task.id)


_Told = Callable[[list[str], list[Edge]], Diagnostic]


def _cycles(tasks: Iterable[str], found: Iterable[Edge], told: _Told) -> Iterator[Diagnostic]:
    """One diagnostic per cycle; a found one is cut open to look for the next."""
    edges = list(found)
    for _ in range(_MOST_CYCLES):
        path = cycle(tasks, edges)
        if not path:
            return
        first = {(edge.producer, edge.consumer): edge for edge in reversed(edges)}
        links = [first[pair] for pair in pairwise(path)]
        yield told(path, links)
        cut = {id(edge) for edge in links}
        edges = [edge for edge in edges if id(edge) not in cut]


def _waiting(path: list[str], links: list[Edge]) -> Diagnostic:
    last = links[-1]
    if len(links) == 1:
        sentence = f"`{path[0]}` waits for itself"
        return Diagnostic("NIKA-DAG-001", sentence, last.span, "remove this edge", task=last.consumer)
    sentence = f"these tasks wait for each other: {' → '.join(path)}"
    related = tuple((f"`{edge.consumer}` waits for `{edge.producer}` here", edge.span) for edge in links[:-1])
    return Diagnostic(
        "NIKA-DAG-001", sentence, last.span, "remove one of these edges", task=last.consumer, related=related
    )


def _following(path: list[str], links: list[Edge]) -> Diagnostic:
    last = links[-1]
    way = " → ".join(path)
    sentence = f"`{path[0]}` can never run: it cleans up after itself" + (
        f" ({way})" if len(links) > 1 else ""
    )
    related = tuple((f"`{edge.consumer}` follows `{edge.producer}` here", edge.span) for edge in links[:-1])
    hint = "name the task that is to be cleaned up after"
    return Diagnostic("NIKA-DAG-006", sentence, last.span, hint, task=last.consumer, related=related)


def _recoveries(subject: Subject) -> Iterator[Diagnostic]:
    """A recovery source that waits for the very task it would rescue."""
    edges = [edge for edge in subject.edges if edge.kind == "recovery"]
    reach = Reach(subject.nexts if edges else {})
    for edge in edges:
        source, task = edge.producer, edge.consumer
        if source == task or reach.leads(task, source):
            why = "itself" if source == task else f"`{source}`, which comes after `{task}`"
            sentence = f"`{task}` cannot recover from {why}: neither could ever end"
            hint = "recover from a literal, or from a task that does not depend on this one"
            yield Diagnostic("NIKA-DAG-004", sentence, edge.span, hint, task=task)
