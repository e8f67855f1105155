"""The identity of a task, or of one item of its fan-out, at the moment it would run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from nika_nb.engine.emit import Mask
from nika_nb.engine.memory import Hit, Memory, Miss
from nika_nb.engine.scope import Scopes, per_item, reads, stand_in
from nika_nb.errors import Fault
from nika_nb.language.model import Task
from nika_nb.language.template import read_of, references, render
from nika_nb.plan.identity import (
    Identity,
    definition_hash,
    input_hash,
    item_definition,
    item_input_hash,
    part,
)
from nika_nb.plan.plan import TaskPlan
from nika_nb.values import Json


@dataclass(frozen=True, slots=True)
class _Readings:
    """What a task's texts read, found once.

    names: the inputs, constants and secrets, as (root, name). bindings: the `with:` keys that the
    body reads. outer: of those, the ones that are the same for every item. upstream: the keys whose
    values come from other tasks; collected: the collection does.
    """

    names: tuple[tuple[str, str], ...]
    bindings: frozenset[str]
    outer: frozenset[str]
    item: bool
    index: bool
    upstream: frozenset[str]
    collected: bool


class Identifier:
    """Computes identities over the marked scope, in which no secret has a value."""

    def __init__(self, scopes: Scopes, mask: Mask) -> None:
        self._scopes = scopes
        self._mask = mask
        self._readings: dict[str, _Readings] = {}
        self._item_hashes: dict[str, str] = {}
        self._outer_parts: dict[str, dict[str, str]] = {}

    def task(self, planned: TaskPlan) -> Identity:
        """The identity of a task without a fan-out. Raises Fault where a reference does not render."""
        bindings = self._scopes.bindings(planned.task, self._scopes.marked, {})
        parts = self._parts(planned.task, bindings)
        return self._identity(planned, bindings, {}, None, parts)

    def fan_out(self, planned: TaskPlan, items: list[Any]) -> Identity:
        """The identity of a whole fan-out: its collection, and its body over a stand-in item."""
        local = {"item": stand_in(items), "index": 0}
        bindings = self._scopes.bindings(planned.task, self._scopes.marked, local)
        parts = self._parts(planned.task, bindings) | {"for_each.items": part(items)}
        return self._identity(planned, bindings, local, items, parts)

    def in_part(
        self, planned: TaskPlan, bindings: dict[str, Json], items: list[Any] | None = None
    ) -> Identity:
        """The identity as far as these bindings tell it: its input hash is nobody's, its parts are right."""
        _know_all(planned)
        self._keep_secrets(planned.task, bindings, items or [])
        parts = self._parts(planned.task, bindings)
        parts |= {} if items is None else {"for_each.items": part(items)}
        return Identity(planned.task.id, planned.def_hash, "", planned.definition_parts, parts)

    def item(self, planned: TaskPlan, local: dict[str, Any]) -> Identity:
        """The identity of one item: its definition, and what its own references resolve to.

        Bindings that only feed the collection take no part, so that one changed element re-runs
        one item.
        """
        task = planned.task
        _know_all(planned)
        reading = self._reading(task)
        bindings = self._scopes.bindings(task, self._scopes.marked, local)
        parts = self._item_parts(task, reading, bindings)
        action = self._action(task, bindings, local)
        digests = {name: parts[f"with.{name}"] for name in reading.bindings}
        parts |= {name: part(local[name]) for name in ("item", "index") if getattr(reading, name)}
        self._keep_secrets(task, {name: bindings[name] for name in reading.bindings}, [local["item"]])
        return Identity(
            task.id, self._item_hash(planned), item_input_hash(action, digests), input_parts=parts
        )

    def _identity(
        self,
        planned: TaskPlan,
        bindings: dict[str, Json],
        local: dict[str, Any],
        items: list[Any] | None,
        parts: dict[str, str],
    ) -> Identity:
        _know_all(planned)
        action = self._action(planned.task, bindings, local)
        self._keep_secrets(planned.task, bindings, items or [])
        return Identity(
            planned.task.id,
            planned.def_hash,
            input_hash(action, bindings, items),
            planned.definition_parts,
            parts,
        )

    def _keep_secrets(self, task: Task, bindings: dict[str, Json], items: list[Any]) -> None:
        """From a hash a secret can be guessed: none is made of a value that brought one along.

        Raises Fault. A short secret stands in many texts by chance, so only what came from another
        task is searched for those.
        """
        reading = self._reading(task)
        came = [value for name, value in bindings.items() if name in reading.upstream]
        given = [self._scopes.marked["inputs"].get(name) for root, name in reading.names if root == "inputs"]
        if self._mask.found(came + (items if reading.collected else [])) or self._mask.reveals(given + items):
            raise Fault("NIKA-IMPL-001", "a secret stands in its input, and no hash is made of one")

    def _action(self, task: Task, bindings: dict[str, Json], local: dict[str, Any]) -> Json:
        scope = self._scopes.marked | {"with": bindings} | local
        return {task.action.verb: render(task.action.body, scope)}

    def _parts(self, task: Task, bindings: dict[str, Json]) -> dict[str, str]:
        parts = {f"with.{name}": part(value) for name, value in bindings.items()}
        return parts | self._named(task)

    def _named(self, task: Task) -> dict[str, str]:
        """One part per input, constant and secret that the task reads directly."""
        marked = self._scopes.marked
        names = self._reading(task).names
        return {f"{root}.{name}": part(marked[root][name]) for root, name in names if name in marked[root]}

    def _item_parts(self, task: Task, reading: _Readings, bindings: dict[str, Json]) -> dict[str, str]:
        if task.id not in self._outer_parts:
            outer = {f"with.{name}": part(bindings[name]) for name in reading.outer}
            self._outer_parts[task.id] = outer | self._named(task)
        inner = {f"with.{name}": part(bindings[name]) for name in reading.bindings - reading.outer}
        return self._outer_parts[task.id] | inner

    def _item_hash(self, planned: TaskPlan) -> str:
        task = planned.task
        if task.id not in self._item_hashes:
            payload = item_definition(planned.definition)
            self._item_hashes[task.id] = definition_hash(task.id, task.action.verb, payload)
        return self._item_hashes[task.id]

    def _reading(self, task: Task) -> _Readings:
        if task.id not in self._readings:
            self._readings[task.id] = _read(task)
        return self._readings[task.id]


def _know_all(planned: TaskPlan) -> None:
    """What is not known may do anything. Raises Fault NIKA-COMP-001 or NIKA-AGENT-003."""
    for target, known in (planned.definition.get("child_closure") or {}).items():
        if known is None:
            raise Fault("NIKA-COMP-001", f"the called workflow `{target}` is not known")
    for path, text in (planned.definition.get("skills_content") or {}).items():
        if text is None:
            raise Fault("NIKA-AGENT-003", f"the skill `{path}` is not known")


def _read(task: Task) -> _Readings:
    body = (task.action.body, task.condition)
    found = [ref for value in body for ref in references(value)]
    with_refs = [ref for value in task.with_.values() for ref in references(value)]
    outside = [r for r in (*found, *with_refs) if r.root in ("inputs", "const", "secrets")]
    bindings = frozenset(name for value in body for name in read_of(value, "with")) & task.with_.keys()
    inner = per_item(task)
    roots = {r.root for r in found} | {r.root for n in bindings for r in references(task.with_[n])}
    upstream = frozenset(n for n, v in task.with_.items() if reads(v, "tasks") or reads(v, "group"))
    collection = references(task.for_each.items) if task.for_each else ()
    return _Readings(
        tuple(dict.fromkeys((r.root, r.name) for r in outside if r.name is not None)),
        bindings,
        bindings - inner,
        "item" in roots,
        "index" in roots,
        upstream,
        any(r.root == "with" and r.name in upstream for r in collection),
    )


def try_identity(compute: Callable[..., Identity], *args: Any) -> Identity | Fault:
    """The identity, or the fault because of which the task cannot be recognised again."""
    try:
        return compute(*args)
    except Fault as fault:
        return fault
    except (TypeError, ValueError) as trouble:
        return Fault("NIKA-IMPL-001", f"a value cannot be hashed: {trouble}")


def recall(memory: Memory, identity: Identity | Fault) -> Hit | Miss:
    """What the memory holds of an identity; of one that could not be made, nothing."""
    if not isinstance(identity, Fault):
        return memory.recall(identity)
    if memory.resuming:
        return Miss("not-resumable", detail=identity.message)
    return Miss("first-run")
