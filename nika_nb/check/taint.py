"""Where secrets flow: from a reference through bindings and outputs, path by path, source first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from nika_nb.errors import Span
from nika_nb.language.cel import Reference
from nika_nb.language.model import Task, Workflow
from nika_nb.language.template import Fields, Value, references
from nika_nb.plan.edges import Edge
from nika_nb.plan.gates import FIELD_ROLES
from nika_nb.plan.graph import topological

Trail = tuple[str, ...]  # secrets.api_key → with.tok → tasks.call.output
Trails = dict[str, Trail]  # secret → the first path by which it gets there
_MOST_ROUNDS = 20

# Of an error, what the engine itself says; the rest may hold what a program or a tool said.
_OWN_WORDS = frozenset({"code", "category", "transient", "task_id", "attempt"})


@dataclass(frozen=True, slots=True)
class Arrival:
    """A secret at a place: by which way it came, and where it enters there."""

    secret: str
    trail: Trail
    span: Span


class Flow:
    """The secrets in every task's output, and in anything a task reads.

    A model's reply is no echo of its prompt, so the output of `infer` and `agent` carries nothing;
    what a program or a tool gives back, or says as it fails, may hold whatever went in.
    """

    def __init__(self, workflow: Workflow, edges: Iterable[Edge]) -> None:
        self._workflow = workflow
        self._outputs: dict[str, Trails] = {}
        self._errors: dict[str, Trails] = {}
        self._bindings: dict[str, dict[str, Trails]] = {}
        order = [name for name in topological(workflow.tasks, edges) if not workflow.tasks[name].is_cleanup]
        order += [task.id for task in workflow.tasks.values() if task.is_cleanup]
        for _ in range(_MOST_ROUNDS):  # a recovery may read a task that comes later
            before = {name: set(trails) for name, trails in self._outputs.items()}
            for name in order:
                self._enter(workflow.tasks[name])
            if before == {name: set(trails) for name, trails in self._outputs.items()}:
                return

    def _enter(self, task: Task) -> None:
        bound: dict[str, Trails] = {}
        for _ in range(2):  # an element is bound in the second round, after its collection
            found = {name: self._trails(value, task, bound) for name, value in task.with_.items()}
            bound = {name: _longer(trails, f"with.{name}") for name, trails in found.items()}
        self._bindings[task.id] = bound
        trails: Trails = {}
        if task.action.verb in ("exec", "invoke"):
            for arrival in self.into_body(task):
                trails.setdefault(arrival.secret, arrival.trail)
        self._errors[task.id] = _longer(trails, f"tasks.{task.id}.error")
        if task.on_error is not None and task.on_error.recover is not None:
            for secret, trail in self._trails(task.on_error.recover, task, bound).items():
                trails.setdefault(secret, trail)
        self._outputs[task.id] = _longer(trails, f"tasks.{task.id}.output")

    def into_body(self, task: Task) -> Iterator[Arrival]:
        """Every secret that a task hands to its verb, each once."""
        yield from self._arrivals(_payload(task), task)

    def into_output(self, value: Value) -> Iterator[Arrival]:
        """Every secret in an entry of the workflow's `outputs:`."""
        yield from self._arrivals(value, None)

    def _arrivals(self, value: Value, task: Task | None) -> Iterator[Arrival]:
        seen: set[str] = set()
        bindings = self._bindings.get(task.id, {}) if task is not None else {}
        for reference in references(value):
            for secret, trail in self._read(reference, task, bindings).items():
                if secret not in seen:
                    seen.add(secret)
                    yield Arrival(secret, trail, reference.span)

    def _trails(self, value: Value, task: Task | None, bindings: Mapping[str, Trails]) -> Trails:
        found: Trails = {}
        for reference in references(value):
            for secret, trail in self._read(reference, task, bindings).items():
                found.setdefault(secret, trail)
        return found

    def _read(self, reference: Reference, task: Task | None, bindings: Mapping[str, Trails]) -> Trails:
        """The secrets in what one path denotes."""
        name = reference.name
        match reference.root:
            case "secrets":
                declared = self._workflow.secrets
                read = declared if name is None else declared.keys() & {name}
                return {known: (f"secrets.{known}",) for known in read}
            case "with":
                return _merged(bindings.values()) if name is None else bindings.get(name, {})
            case "item" if task is not None and task.for_each is not None:
                return _longer(self._trails(task.for_each.items, None, bindings), "item")
            case "tasks" if len(reference.steps) > 1 and reference.steps[1] not in FIELD_ROLES:
                return self._outputs.get(str(name), {})
            case "tasks" if _tells(reference.steps[1:]):
                return self._errors.get(str(name), {})
            case "group" if name is not None:
                members = self._workflow.groups.get(name, ())
                return _merged(self._outputs.get(member, {}) for member in members)
        return {}


def _tells(field: tuple[str | int, ...]) -> bool:
    """Whether a field of a task's record holds what was said when it failed."""
    return field[:1] == ("error",) and not _OWN_WORDS.intersection(field[1:2])


def _payload(task: Task) -> Value:
    """What the verb is given. The key that signs never leaves the builtin that signs with it."""
    args = task.action.value("args")
    if task.action.get("tool") == "nika:hash" and isinstance(args, Fields) and args.raw.get("op") == "sign":
        return Fields({name: value for name, value in args.fields.items() if name != "key"}, args.span)
    return task.action.body


def _longer(trails: Trails, step: str) -> Trails:
    return {secret: (*trail, step) for secret, trail in trails.items()}


def _merged(found: Iterable[Trails]) -> Trails:
    merged: Trails = {}
    for trails in found:
        for secret, trail in trails.items():
            merged.setdefault(secret, trail)
    return merged
