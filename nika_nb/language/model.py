"""The parsed workflow: frozen facts with their places. Nothing here judges or runs.

`Value` is a value as written (see `template`): `.raw` is its JSON, islands included as text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from nika_nb.catalog.grammar import SecretSource, Verb
from nika_nb.errors import Source, Span
from nika_nb.language.template import Fields, Plain, Value
from nika_nb.language.types import TypeExpr
from nika_nb.values import Json

Entropy = Literal["ambient", "none", "seeded"]
Clock = Literal["system", "virtual"]


@dataclass(frozen=True, slots=True)
class Input:
    """`required` without a default must be supplied by the caller."""

    name: str
    type: TypeExpr
    required: bool
    has_default: bool
    default: Json
    description: str
    span: Span


@dataclass(frozen=True, slots=True)
class Const:
    name: str
    value: Json
    type: TypeExpr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Egress:
    """One destination to which a secret's owner lets it go."""

    to: str
    host: str | None
    host_from_self: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Secret:
    """A reference to a store: `key` is the variable's name (env) or the file's path (file)."""

    name: str
    source: SecretSource
    key: str
    egress: tuple[Egress, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Bound:
    """One literal of the permits block: a path glob, a host, a program, a tool, a variable."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Permits:
    """The declared boundary. `exec` True admits any program; an absent category admits nothing.

    within: the boundary of the workflow that called this one. What is to happen needs both.
    reads, writes: the texts of the path lists, which are asked as often as there are tasks.
    """

    read: tuple[Bound, ...]
    write: tuple[Bound, ...]
    http: tuple[Bound, ...]
    exec: bool | tuple[Bound, ...]
    tools: tuple[Bound, ...]
    env: tuple[Bound, ...]
    raw: Json
    span: Span
    within: Permits | None = None
    reads: tuple[str, ...] = field(init=False, repr=False, compare=False)
    writes: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "reads", tuple(bound.text for bound in self.read))
        object.__setattr__(self, "writes", tuple(bound.text for bound in self.write))


@dataclass(frozen=True, slots=True)
class RunSpec:
    """The declared entropy and clock; `seed` only under `entropy: {seeded: N}`."""

    entropy: Entropy = "ambient"
    clock: Clock = "system"
    seed: int | None = None
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class After:
    """One control edge as written: the producer's id and the state that admits."""

    producer: str
    predicate: str
    span: Span
    predicate_span: Span


@dataclass(frozen=True, slots=True)
class ForEach:
    items: Value
    max_parallel: int | None
    fail_fast: bool | None
    span: Span


@dataclass(frozen=True, slots=True)
class Retry:
    """As written: None where the author wrote nothing (see `defaults` in engine.attempts)."""

    max_attempts: int
    backoff_ms: int | None
    backoff_strategy: str | None
    backoff_max_ms: int | None
    jitter: bool | None
    on_codes: tuple[str, ...] | None
    span: Span


@dataclass(frozen=True, slots=True)
class OnError:
    """Exactly one of `recover` (a value) and `skip`; `on_codes` narrows when it applies."""

    recover: Value | None
    skip: bool
    on_codes: tuple[str, ...] | None
    span: Span


@dataclass(frozen=True, slots=True)
class Lift:
    """An authored door: the law it opens, the binding (law `taint`), the reason."""

    law: str
    origin: str | None
    because: str
    span: Span


@dataclass(frozen=True, slots=True)
class Action:
    """What the task does: its verb and its body in canonical shape.

    `body` is a `Fields` (or `Plain` object) that carries every key of the verb, null where the
    author wrote nothing:

    infer   prompt system model temperature(text) max_tokens schema thinking vision
    exec    command {argv: […]} or {shell: …} · cwd env stdin capture · `decode` only when written
    invoke  tool args · or workflow args
    agent   prompt system model tools skills max_turns max_tokens_total temperature(text) schema

    `spans` places each key that the author wrote.
    """

    verb: Verb
    body: Value
    span: Span
    spans: dict[str, Span] = field(default_factory=dict)

    def get(self, key: str) -> Any:
        """A body field as written (raw JSON), or None."""
        raw = self.body.raw
        return raw.get(key) if isinstance(raw, dict) else None

    @property
    def gives_text(self) -> bool:
        """Whether what its process prints is taken for text."""
        plain = self.verb == "exec" and self.get("capture") != "structured"
        return plain and self.get("decode") in (None, "text")

    def value(self, key: str) -> Value | None:
        """A body field with its islands."""
        if isinstance(self.body, Fields):
            return self.body.fields.get(key)
        raw = self.get(key)
        return None if raw is None else Plain(raw, self.spans.get(key, self.span))

    @property
    def arguments(self) -> dict[str, Value]:
        """The `args` of a call by name, each with its islands; empty where there are none."""
        args = self.value("args")
        if isinstance(args, Fields):
            return args.fields
        raw = args.raw if args is not None else None
        return {name: Plain(value, self.span) for name, value in raw.items()} if isinstance(raw, dict) else {}


@dataclass(frozen=True, slots=True)
class Task:
    """One node of the graph; the map key is its identity. Absent blocks are empty or None."""

    id: str
    action: Action
    span: Span
    key_span: Span
    with_: dict[str, Value] = field(default_factory=dict)
    after: tuple[After, ...] = ()
    group: str | None = None
    when: Value | bool | None = None
    for_each: ForEach | None = None
    retry: Retry | None = None
    on_error: OnError | None = None
    timeout_ms: int | None = None
    returns: TypeExpr | None = None
    extract: dict[str, str] = field(default_factory=dict)
    lift: tuple[Lift, ...] = ()
    spans: dict[str, Span] = field(default_factory=dict)

    @property
    def is_cleanup(self) -> bool:
        """Whether this is an `unwind` task: attached to its producers, never scheduled."""
        return any(edge.predicate == "unwind" for edge in self.after)

    @property
    def condition(self) -> Value | None:
        """What `when:` asks; None where there is none, and where it is plainly true or false."""
        return None if isinstance(self.when, bool) else self.when

    @property
    def called(self) -> str | None:
        """The workflow that the task calls, as written; None where it calls none."""
        target = self.action.get("workflow") if self.action.verb == "invoke" else None
        return target if isinstance(target, str) else None


@dataclass(frozen=True, slots=True)
class Output:
    """One entry of what the workflow returns."""

    name: str
    value: Value
    type: TypeExpr | None
    description: str
    span: Span


@dataclass(frozen=True, slots=True)
class Workflow:
    """A whole document. Maps keep the document's order; `groups` are the tasks under each group's name."""

    id: str
    source: Source
    tasks: dict[str, Task]
    model: str | None = None
    inputs: dict[str, Input] = field(default_factory=dict)
    consts: dict[str, Const] = field(default_factory=dict)
    secrets: dict[str, Secret] = field(default_factory=dict)
    permits: Permits | None = None
    run: RunSpec = RunSpec()
    outputs: dict[str, Output] = field(default_factory=dict)
    spans: dict[str, Span] = field(default_factory=dict)
    groups: dict[str, tuple[str, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        groups: dict[str, list[str]] = {}
        for task in self.tasks.values():
            if task.group is not None:
                groups.setdefault(task.group, []).append(task.id)
        object.__setattr__(self, "groups", {name: tuple(members) for name, members in groups.items()})
