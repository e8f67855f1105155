"""Which tasks can never run, read from the gate table alone: sound, and silent where it cannot tell."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial, reduce
from itertools import product

from nika_nb.check.kleene import truth
from nika_nb.check.statuses import observed_at, observed_states
from nika_nb.check.subject import Subject
from nika_nb.errors import Diagnostic
from nika_nb.language.cel import Expr
from nika_nb.language.cel.syntax import Binary, ListOf, as_reference, children
from nika_nb.language.model import Task
from nika_nb.language.template import Plain, only_island
from nika_nb.plan.edges import Edge
from nika_nb.plan.gates import ANY_STATE, Status
from nika_nb.plan.graph import topological

# The declared limits of the search; beyond them a gate counts as satisfiable.
MOST_TASKS = 6
MOST_ITEMS = 256

_WIDER = {"control": "write `terminal` to run whatever happened"}

States = frozenset[Status]


def judge(subject: Subject) -> Iterator[Diagnostic]:
    """NIKA-DAG-006, each death reported once, where it begins."""
    states: dict[str, States] = {}
    for task in _in_order(subject):
        death = None if task.id in subject.broken else _death(subject, task, states)
        if death is not None:
            yield death
        states[task.id] = ANY_STATE if death or task.id in subject.broken else reachable(task)


def _in_order(subject: Subject) -> list[Task]:
    """Producers first; a task on a cycle is left to the judgment of the graph."""
    tasks = subject.workflow.tasks
    return [tasks[name] for name in topological(tasks, subject.edges)]


def reachable(task: Task) -> States:
    """The states in which a task may settle, as far as its own text tells."""
    if task.when is False:
        return frozenset({"skipped", "cancelled"})
    states: set[Status] = {"success", "failure", "cancelled"}
    if _may_skip(task):
        states.add("skipped")
    return frozenset(states)


def _may_skip(task: Task) -> bool:
    if task.when not in (None, True) or (task.on_error is not None and task.on_error.skip):
        return True
    if task.for_each is None:
        return False
    items = task.for_each.items
    return not (isinstance(items, Plain) and isinstance(items.raw, list) and items.raw)


def _death(subject: Subject, task: Task, states: dict[str, States]) -> Diagnostic | None:
    admitted: dict[str, States] = {}
    for edge in subject.incoming[task.id]:
        if edge.producer not in states:
            return None
        if subject.workflow.tasks[edge.producer].is_cleanup:
            return _after_cleanup(task, edge)
        before = admitted.get(edge.producer, states[edge.producer])
        admitted[edge.producer] = before & edge.admits
        if not admitted[edge.producer]:
            return _excluded(task, edge, states[edge.producer], before)
    return _closed_gate(task, admitted)


def _after_cleanup(task: Task, edge: Edge) -> Diagnostic:
    why = f"`{edge.producer}` is a cleanup, and nothing in the graph waits for one"
    sentence = f"`{task.id}` can never run: {why}"
    hint = f"wait for the task that `{edge.producer}` cleans up after, or write `{edge.producer}: unwind`"
    return Diagnostic("NIKA-DAG-006", sentence, edge.span, hint, task=task.id)


def _excluded(task: Task, edge: Edge, states: States, before: States) -> Diagnostic:
    wanted = " or ".join(sorted(edge.admits))
    if states & edge.admits:
        sentence = (
            f"`{task.id}` can never run: this edge admits `{edge.producer}` only on {wanted}, "
            f"another one only on {' or '.join(sorted(before))}"
        )
        hint = "keep one of the two edges, or split the task"
    else:
        able = ", ".join(sorted(states - {"cancelled"}))
        sentence = (
            f"`{task.id}` can never run: it waits for `{edge.producer}` to end in {wanted}, and that one "
            f"only ends in {able or 'cancelled'}"
        )
        hint = _WIDER.get(edge.kind, "observe `.status` instead")
    return Diagnostic("NIKA-DAG-006", sentence, edge.span, hint, task=task.id)


def _closed_gate(task: Task, admitted: dict[str, States]) -> Diagnostic | None:
    """A `when:` that is false whatever the observed tasks end in."""
    island = only_island(task.condition)
    if island is None:
        return None
    statuses = observed_states(task)
    read = {statuses[name] for name in _bindings_of(island.expr) if name in statuses}
    if not read or len(read) > MOST_TASKS or _longest_list(island.expr) > MOST_ITEMS:
        return None
    for assignment in _assignments(read, admitted):
        resolve = partial(observed_at, statuses=statuses, assignment=assignment)
        if truth(island.expr, resolve) is not False:
            return None
    shown = ", ".join(f"`{name}`" for name in sorted(read))
    sentence = f"`{task.id}` can never run: its `when:` is false whatever {shown} ends in"
    hint = "a task ends in success, failure, skipped or cancelled, and only in what its edges admit here"
    return Diagnostic("NIKA-DAG-006", sentence, island.span, hint, task=task.id)


def _assignments(read: set[str], admitted: dict[str, States]) -> Iterator[dict[str, str]]:
    order = sorted(read)
    for choice in product(*(sorted(admitted.get(name, ANY_STATE)) for name in order)):
        yield dict(zip(order, choice, strict=True))


def _bindings_of(expr: Expr) -> set[str]:
    """The `with:` names that an expression reads as they are."""
    path = as_reference(expr)
    if path is not None and path.root == "with" and path.name is not None and len(path.steps) == 1:
        return {path.name}
    return reduce(set.union, map(_bindings_of, children(expr)), set())


def _longest_list(expr: Expr) -> int:
    own = len(expr.right.items) if isinstance(expr, Binary) and isinstance(expr.right, ListOf) else 0
    return max([own, *map(_longest_list, children(expr))])
