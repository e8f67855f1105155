"""The body of one verb, read field by field: what is not written stands there as null."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal

from nika_nb.catalog.grammar import Verb
from nika_nb.errors import Span
from nika_nb.language.findings import Findings
from nika_nb.language.nodes import Map, Scalar
from nika_nb.language.schemas import schema_fault
from nika_nb.language.shape import Shape
from nika_nb.language.template import Plain, Value
from nika_nb.language.written import has_island, islands_in, literal_of, value_of

_REQUIRED = "NIKA-PARSE-018"


@dataclass(frozen=True, slots=True)
class Body:
    """Readers of the fields that verbs have in common. example: how such a body is written."""

    verb: Verb
    found: Map
    shape: Shape
    example: str

    @property
    def findings(self) -> Findings:
        return self.shape.findings

    def within(self, inner: Map) -> Body:
        """The same for a mapping inside of it."""
        return replace(self, found=inner)

    def has(self, key: str) -> bool:
        """Whether what the verb cannot do without is there; finds that it is missing."""
        if key in self.found.entries:
            return True
        self.missing(f"`{self.verb}:` has no `{key}:`", key)
        return False

    def missing(self, sentence: str, *keys: str) -> None:
        Shape(self.findings, _REQUIRED).lacks(self.found, keys, sentence, self.example)

    def nothing(self, value: list[None] | dict[str, None] | None = None) -> Plain:
        return Plain(value, Span(self.found.span.start, self.found.span.start))

    def text(self, key: str) -> Value:
        node = self.found.get(key)
        if node is None or self.shape.text(node, f"`{key}`") is None:
            return self.nothing()
        return value_of(node, self.findings)

    def word(self, key: str, known: tuple[str, ...]) -> Value:
        node = self.found.get(key)
        word = self.shape.one_of(node, f"`{key}`", known)
        return Plain(word, node.span if node is not None else self.nothing().span)

    def count(self, key: str) -> Value:
        node = self.found.get(key)
        if node is None:
            return self.nothing()
        if has_island(node):
            return value_of(node, self.findings)
        return Plain(self.shape.whole(node, f"`{key}`", 1), node.span)

    def temperature(self) -> Value:
        """The number as display text, so that 0.3 and 1.0 have one spelling in an identity."""
        node = self.found.get("temperature")
        if node is None:
            return self.nothing()
        if has_island(node):
            return value_of(node, self.findings)
        number = node.value if isinstance(node, Scalar) else None
        if isinstance(number, (int, float)) and not isinstance(number, bool) and 0 <= number <= 2:
            return Plain(_display(number), node.span)
        hint = "write it without quotes" if isinstance(number, str) else ""
        self.shape.refuse("`temperature` is a number from 0 to 2", node, hint)
        return self.nothing()

    def schema(self) -> Value:
        node = self.found.get("schema")
        if node is None or self.shape.mapping(node, "`schema`", "write a JSON Schema") is None:
            return self.nothing()
        schema = literal_of(node)
        for scalar in islands_in(node):
            sentence = "a schema is a literal: `${{ }}` is not resolved here"
            self.findings.error("NIKA-VAR-005", sentence, scalar.span, "write the schema out")
        problem = schema_fault(schema)
        if problem:
            self.shape.refuse(
                f"this is not a JSON Schema: {problem}", node, "`returns:` is the shorter way to a type"
            )
        return Plain(schema, node.span)


def _display(number: int | float) -> str:
    text = format(Decimal(repr(number)), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
