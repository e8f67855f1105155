"""Nodes → values as written (`template.Value`), their `${{ }}` islands compiled."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nika_nb.language.findings import Findings
from nika_nb.language.nodes import Map, Node, Scalar, Seq
from nika_nb.language.template import Fields, Items, Plain, Text, Value, compile_text, unescaped
from nika_nb.values import Json

_LIVE = re.compile(r"(?<!\\)(?:\\\\)*\$\{\{")  # an even run of backslashes before the opener


def value_of(node: Node, findings: Findings) -> Value:
    """The value of a node; faults of its islands are found, and such a string stays plain."""
    if isinstance(node, Scalar):
        return _scalar(node, findings)
    if isinstance(node, Seq):
        items = tuple(value_of(item, findings) for item in node.items)
        if all(isinstance(item, Plain) for item in items):
            return Plain([item.raw for item in items], node.span)
        return Items(items, node.span)
    for entry in node:
        if has_island(entry.key) and _LIVE.search(entry.key.text):
            hint = "build such an object with `nika:jq`"
            findings.error("NIKA-VAR-005", "`${{ }}` is not resolved in a key", entry.key.span, hint)
    fields = {key: value_of(entry.value, findings) for key, entry in node.entries.items()}
    return fields_of(fields, node)


def fields_of(fields: dict[str, Value], node: Map) -> Plain | Fields:
    if all(isinstance(value, Plain) for value in fields.values()):
        return Plain({key: value.raw for key, value in fields.items()}, node.span)
    return Fields(fields, node.span)


def _scalar(node: Scalar, findings: Findings) -> Plain | Text:
    if not has_island(node):
        return Plain(node.value, node.span)
    value, faults = compile_text(node.text, node.span, findings.source.text)
    findings.faults(faults, _cut_off(node, findings.source.text))
    return value


def literal_of(node: Node) -> Json:
    """The JSON of a node in which nothing is resolved: a backslash that escapes an opener is used up."""
    if isinstance(node, Scalar):
        return unescaped(node.value) if isinstance(node.value, str) else node.value
    if isinstance(node, Seq):
        return [literal_of(item) for item in node.items]
    return {key: literal_of(entry.value) for key, entry in node.entries.items()}


def _cut_off(node: Scalar, source: str) -> str:
    """A hint where YAML took the rest of an unquoted expression for a comment."""
    rest = source[node.span.end : node.span.end + 80].split("\n", 1)[0].lstrip(" \t")
    if node.style == "" and rest.startswith("#") and "}}" not in node.text[node.text.rfind("${{") :]:
        return "` #` starts a comment: put the whole value in quotes"
    return ""


def has_island(node: Node) -> bool:
    return isinstance(node, Scalar) and isinstance(node.value, str) and "${{" in node.value


def islands_in(node: Node) -> Iterator[Scalar]:
    """Every scalar below a node that holds an opener which no backslash escapes."""
    if isinstance(node, Scalar):
        if has_island(node) and _LIVE.search(node.text):
            yield node
    elif isinstance(node, Seq):
        for item in node.items:
            yield from islands_in(item)
    else:
        for entry in node:
            yield from islands_in(entry.value)
