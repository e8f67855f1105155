"""The `tasks:` mapping: ids, edges, bindings, and one verb each."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from nika_nb.catalog import grammar
from nika_nb.catalog.grammar import Verb
from nika_nb.errors import Span
from nika_nb.language.findings import Findings
from nika_nb.language.model import Action, After, Task
from nika_nb.language.nodes import Entry, Map, Node, Scalar, Seq
from nika_nb.language.policies import (
    read_for_each,
    read_lift,
    read_on_error,
    read_retry,
    read_timeout,
    read_when,
)
from nika_nb.language.shape import Shape, names
from nika_nb.language.template import Value
from nika_nb.language.types import TypeExpr, read_type
from nika_nb.language.verbs import read_action
from nika_nb.language.written import islands_in, value_of

T = TypeVar("T")

_ID = re.compile(r"[a-z][a-z0-9_]*")
_SPELLED = "use lower-case letters, digits and `_`, starting with a letter"


def read_tasks(root: Map, findings: Findings) -> dict[str, Task]:
    """Every task that says what it does; the others are found and left out."""
    found = _mapping(root, findings)
    if found is None:
        return {}
    for key in found.repeated:
        first = found.entries[key.text].key
        sentence = f"two tasks are called `{key.text}`"
        related = ((f"`{key.text}` is first declared here", first.span),)
        findings.error("NIKA-PARSE-007", sentence, key.span, "an id belongs to one task", related)
    tasks: dict[str, Task] = {}
    for name, entry in found.entries.items():
        findings.task = name
        task = _task(name, entry, findings)
        if task is not None:
            tasks[name] = task
    findings.task = None
    return tasks


def _mapping(root: Map, findings: Findings) -> Map | None:
    node = root.get("tasks")
    if isinstance(node, Map) and node.entries:
        return node
    if isinstance(node, Seq):
        hint = "write `tasks:` as a mapping: each task under its id, without `- `"
        findings.error("NIKA-PARSE-022", "`tasks:` is a list, and tasks are a mapping by id", node.span, hint)
    elif "tasks" not in root.entries:
        place = Span(root.span.start, min(root.span.start + 1, root.span.end))
        sentence = "`tasks:` is missing: without tasks this is a project file, not a workflow"
        if not Shape(findings).told(root, "tasks"):
            findings.error("NIKA-PARSE-002", sentence, place, "write `tasks:` with at least one task")
    elif isinstance(node, Map) or (isinstance(node, Scalar) and node.value is None):
        place = root.entries["tasks"].key.span
        findings.error("NIKA-PARSE-002", "`tasks:` is empty", place, "a workflow has at least one task")
    elif node is not None:
        Shape(findings).mapping(node, "`tasks:`")
    return None


def _meant(name: str) -> str:
    """The id that a name would be; empty where there is none."""
    slug = re.sub(r"[^a-z0-9]+", "_", name.lower())[:60].strip("_")
    return f": {slug}" if _ID.fullmatch(slug) else ""


def _task(name: str, entry: Entry, findings: Findings) -> Task | None:
    if not _ID.fullmatch(name):
        findings.error(
            "NIKA-PARSE-006",
            f"`{name[:60]}` cannot be the id of a task: in an expression it would not be one word",
            entry.key.span,
            f"{_SPELLED}{_meant(name)}",
        )
    shape = Shape(findings)
    body = entry.value
    if isinstance(body, Scalar) and body.value is None:
        body = Map({}, entry.key.span)
    found = shape.mapping(body, f"the task `{name}`")
    if found is None:
        return None
    shape.closed(found, grammar.TASK, "a task", grammar.DEAD_TASK)
    return _read(name, entry, found, _Fields(found, shape))


def _read(name: str, entry: Entry, found: Map, fields: _Fields) -> Task | None:
    findings = fields.findings

    def part(key: str, reader: Callable[[Node, Findings], T]) -> T | None:
        node = found.get(key)
        return None if node is None else reader(node, findings)

    task = partial(
        Task,
        id=name,
        span=entry.span,
        key_span=entry.key.span,
        with_=fields.bindings(),
        after=fields.after(),
        group=fields.group(),
        when=part("when", read_when),
        for_each=part("for_each", read_for_each),
        retry=part("retry", read_retry),
        on_error=part("on_error", read_on_error),
        timeout_ms=part("timeout", read_timeout),
        returns=fields.returns(),
        extract=fields.extract(),
        lift=part("lift", read_lift) or (),
        spans={key: item.span for key, item in found.entries.items()},
    )
    action = fields.action(entry)
    return None if action is None else task(action=action)


class _Fields:
    """The fields of one task that stand beside its verb."""

    def __init__(self, found: Map, shape: Shape) -> None:
        self.found = found
        self.shape = shape
        self.findings = shape.findings

    def bindings(self) -> dict[str, Value]:
        found = self._block("with", "write `with: { name: value }`")
        for name, entry in found.items():
            self._reserved(name, entry, "with")
        return {name: value_of(entry.value, self.findings) for name, entry in found.items()}

    def _block(self, key: str, hint: str) -> dict[str, Entry]:
        node = self.found.get(key)
        found = self.shape.mapping(node, f"`{key}:`", hint)
        return found.entries if found else {}

    def _reserved(self, name: str, entry: Entry, block: str) -> bool:
        taken = grammar.RESERVED_PARTS if block == "extract" else grammar.RESERVED_BINDINGS
        if name not in taken:
            return False
        self.findings.error(
            "NIKA-PARSE-013",
            f"`{name}` in `{block}:` is a name that every task has already",
            entry.key.span,
            f"choose another one than {names(taken)}",
        )
        return True

    def after(self) -> tuple[After, ...]:
        made = []
        for producer, entry in self._block("after", "write `after: { task: success }`").items():
            state = self.shape.text(entry.value, f"the state of `{producer}`")
            if state is not None:
                made.append(After(producer, state, entry.span, entry.value.span))
        return tuple(made)

    def group(self) -> str | None:
        node = self.found.get("group")
        name = self.shape.text(node, "`group:`")
        if name is None or node is None or _ID.fullmatch(name):
            return name
        self.shape.refuse(f"`{name[:60]}` cannot name a group", node, _SPELLED)
        return None

    def returns(self) -> TypeExpr | None:
        entry = self.found.entries.get("returns")
        if entry is None:
            return None
        for verb in ("infer", "agent"):
            body = self.found.get(verb)
            if isinstance(body, Map) and "schema" in body.entries:
                self.findings.error(
                    "NIKA-TYPE-003",
                    "`returns:` and `schema:` on one task: the output has one contract",
                    entry.key.span,
                    "keep `returns:`, or `schema:` where the type language is too small",
                    (("`schema:` stands here", body.entries["schema"].key.span),),
                )
        return read_type(entry.value, self.findings)

    def extract(self) -> dict[str, str]:
        programs: dict[str, str] = {}
        for name, entry in self._block("extract", "write `extract: { name: .path }`").items():
            program = self.shape.text(entry.value, f"`extract.{name}`", empty=False)
            if self._reserved(name, entry, "extract") or program is None or self._templated(entry.value):
                continue
            programs[name] = program
        return programs

    def _templated(self, node: Node) -> bool:
        for scalar in islands_in(node):
            self.findings.error(
                "NIKA-VAR-005",
                "`${{ }}` cannot stand inside a jq program",
                scalar.span,
                "a binding sees only its task's output: give the value to the verb, or use `nika:jq`",
            )
            return True
        return False

    def action(self, entry: Entry) -> Action | None:
        written: list[Verb] = [verb for verb in grammar.VERBS if verb in self.found.entries]
        if not written:
            sentence, hint = "this task does nothing: it has no verb", f"write one of {names(grammar.VERBS)}"
            if not self.shape.told(self.found, *grammar.VERBS):
                self.findings.error("NIKA-PARSE-008", sentence, entry.key.span, hint)
            return None
        if len(written) > 1:
            second = self.found.entries[written[1]].key.span
            first = ((f"`{written[0]}:` stands here", self.found.entries[written[0]].key.span),)
            sentence = f"this task has {len(written)} verbs: {names(written)}"
            self.findings.error("NIKA-PARSE-009", sentence, second, "make each one a task of its own", first)
        body = self.found.entries[written[0]].value
        return read_action(written[0], body, self.findings)
