"""The gate algebra once more, from the chapter and from nothing in the package: what has to come out."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from tests.runs.graphs import Graph, Node

ANY = {"success", "failure", "skipped", "cancelled"}
PASSES = {state: {state} for state in ANY} | {"terminal": ANY, "fold": ANY, "status": ANY}
PASSES |= {"output": {"success", "skipped"}, "error": {"failure", "skipped"}}
CAUSES = {"ask": "verb_error", "fail": "verb_error", "stubborn": "retry_exhausted", "hang": "timeout"}


class End(NamedTuple):
    """How a task ends, and its output; at_once: it failed before its verb could begin."""

    status: str
    cause: str
    value: Any = None
    at_once: bool = False

    @property
    def worked(self) -> bool:
        """Whether there is something to clean up."""
        return self.cause not in ("upstream", "gate") and not self.at_once

    def __eq__(self, other: object) -> bool:
        return isinstance(other, End) and self[:3] == other[:3]

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self[:2])


def ends(graph: Graph) -> dict[str, End]:
    """How every task ends; each finds the ends of those it waits for."""
    found: dict[str, End] = {}
    for node in graph.nodes:
        found[node.name] = end(node, found)
    return found


def end(node: Node, found: dict[str, End]) -> End:
    if node.unwinds and not any(found[of].worked for of in node.unwinds):
        return End("skipped", "gate")
    if any(found[of].status not in PASSES[how] for of, how in node.awaits):
        return End("cancelled", "upstream")
    if node.when == "no" or (node.when.startswith("t") and found[node.when].status != "success"):
        return End("skipped", "gate")
    given = " ".join(_shown(of, how, found) for of, how in node.reads)
    if node.items is None:
        return unit(node, node.does, f"{node.name}<{given}>", found)
    if isinstance(node.items, str) and not isinstance(found[node.items].value, list):
        return End("failure", "verb_error", at_once=True)
    items = node.items if isinstance(node.items, tuple) else found[node.items].value
    if not items:
        return End("skipped", "gate")
    does = items if isinstance(node.items, tuple) and node.does != "ask" else [node.does for _ in items]
    units = [unit(node, one, f"{node.name}/{at}<{given}>", found) for at, one in enumerate(does)]
    if any(one.status == "failure" for one in units):
        return End("failure", "verb_error")
    cause = "recovered" if any(one.cause == "recovered" for one in units) else "normal"
    return End("success", cause, [one.value for one in units])


def unit(node: Node, does: str, says: str, found: dict[str, End]) -> End:
    """One element, or a task without any."""
    if does not in CAUSES or (does == "ask" and node.handler in ("", "elsewhere")):
        return End("success", "normal", says)
    if node.handler == "skip":
        return End("skipped", "error_skip")
    if node.handler == "recover" or (node.handler == "elsewhere" and does == "hang"):
        return End("success", "recovered", "instead")
    if node.handler.startswith("t") and found[node.handler].status == "success":
        return End("success", "recovered", found[node.handler].value)
    return End("failure", CAUSES[does])


def _shown(of: str, how: str, found: dict[str, End]) -> str:
    """A value of a producer as it stands in a text."""
    if how == "status":
        return found[of].status
    if how == "error":
        return json.dumps(found[of].status != "failure" and found[of].cause != "error_skip")
    value = found[of].value
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
