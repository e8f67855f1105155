"""Values as written, with `${{ }}` islands in their strings: found, parsed, rendered in one pass."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from nika_nb.errors import Fault, Span
from nika_nb.language import cel
from nika_nb.values import BYTES_CODE, Json, holds_bytes, to_text

_OPENER = re.compile(r"(?<!\\)(\\*+)\$\{\{")


@dataclass(frozen=True, slots=True)
class Island:
    """One `${{ … }}`: its expression, whose spans count from `origin` in the document.

    `exact` says that the expression's text stands letter for letter at `origin`; where it does
    not (escapes, folded lines) only the island as a whole has a place.
    """

    expr: cel.Expr
    text: str
    span: Span
    origin: int
    exact: bool = True

    def place(self, span: Span | None) -> Span:
        """Where a span of the expression lies in the document."""
        return span.shifted(self.origin) if span and self.exact else self.span

    def references(self) -> Iterator[cel.Reference]:
        for found in cel.references(self.expr):
            yield replace(found, span=self.place(found.span))


@dataclass(frozen=True, slots=True)
class Plain:
    """A value without any island below it."""

    raw: Json
    span: Span


@dataclass(frozen=True, slots=True)
class Text:
    """A string with at least one island, or with an escaped opener."""

    raw: str
    parts: tuple[str | Island, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Items:
    items: tuple[Value, ...]
    span: Span

    @property
    def raw(self) -> Json:
        return [item.raw for item in self.items]


@dataclass(frozen=True, slots=True)
class Fields:
    fields: dict[str, Value]
    span: Span

    @property
    def raw(self) -> Json:
        return {name: value.raw for name, value in self.fields.items()}


Value = Plain | Text | Items | Fields


def leaves(value: Value | None) -> Iterator[Plain | Text]:
    """Every value below one that holds no other, in document order."""
    match value:
        case Plain() | Text():
            yield value
        case Items(items=items):
            for item in items:
                yield from leaves(item)
        case Fields(fields=fields):
            for item in fields.values():
                yield from leaves(item)


def islands(value: Value | None) -> Iterator[Island]:
    """Every island below a value, in document order."""
    for leaf in leaves(value):
        if isinstance(leaf, Text):
            yield from (part for part in leaf.parts if isinstance(part, Island))


def references(value: Value | None) -> Iterator[cel.Reference]:
    """Every namespace path that a value reads, placed in the document."""
    for island in islands(value):
        yield from island.references()


def read_of(value: Value | None, root: str) -> dict[str, None]:
    """What a value reads of one namespace, by name, in document order."""
    found = (ref.name for ref in references(value) if ref.root == root)
    return dict.fromkeys(name for name in found if name is not None)


def only_island(value: Value | None) -> Island | None:
    """The island of a string that consists of nothing else: its value keeps its type."""
    if isinstance(value, Text) and len(value.parts) == 1 and isinstance(value.parts[0], Island):
        return value.parts[0]
    return None


def compile_text(raw: str, span: Span, source: str) -> tuple[Plain | Text, list[Fault]]:
    """A string's parts, and a fault (with its place) for every island that does not parse.

    `span` is where the scalar stands in `source`; islands are placed by finding them there.
    """
    finder = _Finder(source, span)
    parts: list[str | Island] = []
    faults: list[Fault] = []
    at = 0
    for start, slashes, opener in _openers(raw):
        if start < at:
            continue
        place = finder.next_opener()
        parts.append(raw[at:start] + "\\" * (slashes // 2))
        if slashes % 2:
            parts.append("${{")
            at = opener + 3
            continue
        close = _closing(raw, opener + 3)
        if close is None:
            faults.append(Fault("NIKA-VAR-008", "`${{` is never closed by `}}`", span=place))
            return Plain(raw, span), faults
        island = _island(raw[opener + 3 : close], place, finder, faults)
        if island is not None:
            parts.append(island)
        at = close + 2
    parts.append(raw[at:])
    return _assemble(raw, parts, span), faults


def unescaped(raw: str) -> str:
    """A text without islands: of the backslashes before an opener, every pair is one and the odd one goes."""
    return _OPENER.sub(lambda run: "\\" * (len(run.group(1)) // 2) + "${{", raw)


def escaped(text: str) -> str:
    """A text that is meant letter for letter, as it is written where an opener would begin an island."""
    return _OPENER.sub(lambda run: "\\" * (2 * len(run.group(1)) + 1) + "${{", text)


def _openers(raw: str) -> Iterator[tuple[int, int, int]]:
    """(start of the backslash run, its length, position of `${{`) of every opener."""
    for match in _OPENER.finditer(raw):
        yield match.start(), len(match.group(1)), match.end() - 3


def _closing(raw: str, at: int) -> int | None:
    """The position of the `}}` that ends an island, quotes inside it respected."""
    quote = ""
    while at < len(raw):
        char = raw[at]
        if quote:
            at += 1 if char == "\\" else 0
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif raw.startswith("}}", at):
            return at
        at += 1
    return None


def _island(text: str, place: Span, finder: _Finder, faults: list[Fault]) -> Island | None:
    origin = place.start + 3
    exact = finder.stands_at(origin, text)
    span = Span(place.start, origin + len(text) + 2) if exact else place
    try:
        expr = cel.parse(text)
    except Fault as fault:
        inner = fault.span.shifted(origin) if fault.span and exact else span
        faults.append(Fault(fault.code, fault.message, span=inner))
        return None
    return Island(expr, text.strip(), span, origin, exact)


def _assemble(raw: str, parts: list[str | Island], span: Span) -> Plain | Text:
    merged: list[str | Island] = []
    for part in parts:
        if isinstance(part, str) and merged and isinstance(merged[-1], str):
            merged[-1] += part
        elif part != "":
            merged.append(part)
    if merged in ([raw], []):
        return Plain(raw, span)
    return Text(raw, tuple(merged), span)


class _Finder:
    """Places the openers of one scalar, in order, in the text of the document."""

    def __init__(self, source: str, span: Span) -> None:
        self._source = source
        self._span = span
        self._at = span.start

    def next_opener(self) -> Span:
        found = self._source.find("${{", self._at, self._span.end)
        if found < 0:
            return self._span
        self._at = found + 3
        return Span(found, found + 3)

    def stands_at(self, origin: int, text: str) -> bool:
        return origin + len(text) <= self._span.end and self._source.startswith(text, origin)


def render(value: Value, scope: cel.Scope) -> Any:
    """The value with every island resolved, in one pass.

    A string that is one island keeps the island's type; inside a longer string objects and
    arrays become compact JSON with sorted keys. Raises Fault NIKA-VAR-001/-006/-007, placed in
    the document.
    """
    match value:
        case Plain(raw=raw):
            return raw
        case Items(items=items):
            return [render(item, scope) for item in items]
        case Fields(fields=fields):
            return {name: render(item, scope) for name, item in fields.items()}
        case Text(parts=parts):
            if len(parts) == 1 and isinstance(parts[0], Island):
                return resolve(parts[0], scope)
            return "".join(part if isinstance(part, str) else _spliced(part, scope) for part in parts)


def resolve(island: Island, scope: cel.Scope) -> Any:
    """The value of one island. Raises Fault, placed in the document and naming the expression."""
    try:
        return cel.evaluate(island.expr, scope)
    except Fault as fault:
        message = f"{fault.message} (in `${{{{ {island.text} }}}}`)"
        raise Fault(fault.code, message, details=fault.details, span=island.place(fault.span)) from None


def _spliced(island: Island, scope: cel.Scope) -> str:
    value = resolve(island, scope)
    if holds_bytes(value):
        raise Fault(
            BYTES_CODE,
            f"bytes cannot stand inside a string (in `${{{{ {island.text} }}}}`)",
            span=island.span,
        )
    return to_text(value)
