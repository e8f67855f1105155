"""The tree of a YAML text: scalars, sequences and mappings, each with its place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from nika_nb.errors import Span
from nika_nb.values import Json


@dataclass(slots=True)
class Scalar:
    """One scalar: its resolved value, its text, and the quote or block sign it was written with."""

    value: bool | int | float | str | None
    text: str
    style: str
    span: Span


@dataclass(slots=True)
class Seq:
    items: list[Node]
    span: Span


class Entry(NamedTuple):
    key: Scalar
    value: Node

    @property
    def span(self) -> Span:
        """From the key to the end of the value."""
        return Span(self.key.span.start, max(self.value.span.end, self.key.span.end))


@dataclass(slots=True)
class Map:
    """A mapping in document order. Of a key written twice the first value counts.

    `repeated` holds every further writing of a key.
    """

    entries: dict[str, Entry]
    span: Span
    repeated: list[Scalar] = field(default_factory=list)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries.values())

    def get(self, key: str) -> Node | None:
        entry = self.entries.get(key)
        return entry.value if entry else None


Node = Scalar | Seq | Map


def to_json(node: Node) -> Json:
    """The JSON value that a node denotes."""
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Seq):
        return [to_json(item) for item in node.items]
    return {key: to_json(entry.value) for key, entry in node.entries.items()}


def kind_of(node: Node) -> str:
    """What a node is, as people say it: `a list`, `a mapping`, `text`, `a number` …"""
    if isinstance(node, Seq):
        return "a list"
    if isinstance(node, Map):
        return "a mapping"
    if node.value is None:
        return "nothing"
    if isinstance(node.value, bool):
        return "true or false"
    return "text" if isinstance(node.value, str) else "a number"
