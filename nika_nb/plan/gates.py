"""The gate algebra in one table: which producer states admit a consumer, per kind of edge.

The checker decides liveness from it, the engine admits by it; there is no second copy.
"""

from __future__ import annotations

from typing import Literal, get_args

Status = Literal["success", "failure", "skipped", "cancelled"]
EdgeKind = Literal[
    "value", "terminal-observation", "failure-observation", "fan-in", "control", "recovery", "finally"
]

STATUSES: tuple[Status, ...] = get_args(Status)
ANY_STATE: frozenset[Status] = frozenset(STATUSES)

# What a `with:` binding observes decides the role of its edge; any other field is a value.
FIELD_ROLES: dict[str, EdgeKind] = {
    "status": "terminal-observation",
    "duration_ms": "terminal-observation",
    "started_at": "terminal-observation",
    "ended_at": "terminal-observation",
    "cause": "terminal-observation",
    "error": "failure-observation",
}

PASS_SETS: dict[tuple[EdgeKind, str | None], frozenset[Status]] = {
    ("value", None): frozenset({"success", "skipped"}),
    ("terminal-observation", None): ANY_STATE,
    ("failure-observation", None): frozenset({"failure", "skipped"}),
    ("fan-in", None): ANY_STATE,
    ("control", "success"): frozenset({"success"}),
    ("control", "failure"): frozenset({"failure"}),
    ("control", "skipped"): frozenset({"skipped"}),
    ("control", "terminal"): ANY_STATE,
}

# What `after:` can say of a producer: a state to wait for, or that this task cleans up after it.
PREDICATES: tuple[str, ...] = (*(word for kind, word in PASS_SETS if kind == "control" and word), "unwind")


def pass_set(kind: EdgeKind, predicate: str | None = None) -> frozenset[Status]:
    """The settled producer states that admit a consumer over this edge."""
    return PASS_SETS[kind, predicate]


def role_of(field: str) -> EdgeKind:
    """The role of a `with:` reference `tasks.X.<field>`."""
    return FIELD_ROLES.get(field, "value")
