"""Type expressions: read with their places, lowered to JSON Schema, and values judged against them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nika_nb.errors import Span
from nika_nb.language import dialect
from nika_nb.language.findings import Findings
from nika_nb.language.lattice import normalize
from nika_nb.language.lowering import PRIMITIVES, lower
from nika_nb.language.nodes import Map, Node, Scalar, Seq, kind_of, to_json
from nika_nb.language.schemas import judge
from nika_nb.values import Json, nearest

_CONSTRUCTORS = ("array", "map", "object", "union", "enum", "integer", "number", "string", "optional")
_NAMES = (
    f"a type is {', '.join(PRIMITIVES)}, or {{ array: T }}, {{ map: T }}, {{ object: {{ field: T }} }}, "
    "{ enum: [a, b] }, { union: [T, null] }"
)
_RESERVED = "`artifact` is reserved by the language, and not yet a part of it"
_FILES = "a task that makes a file returns its `path`"
_ANYTHING = "leave the type out at an output or `returns:`; an input says what may come"
_PARTS = 1000  # of one expression; relations between types cost the product of their sizes
_FOREIGN = {
    "boolean": "bool", "str": "string", "text": "string", "int": "integer", "float": "number",
    "double": "number", "datetime": "timestamp", "date": "timestamp", "url": "uri", "file": "path",
    "any": "", "list": "{ array: T }", "array": "{ array: T }", "dict": "{ map: T }", "map": "{ map: T }",
    "object": "{ object: { field: T } }", "enum": "{ enum: [a, b] }", "union": "{ union: [T, null] }",
    "optional": "{ union: [T, null] }", "none": "null",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class TypeExpr:
    """One type: as written (`raw`), canonical (see `lattice`), and its JSON Schema 2020-12."""

    raw: Json
    schema: dict[str, Any]
    span: Span
    canonical: Json = None

    def conforms(self, value: Json) -> str | None:
        """None when the value fits, else a sentence that names where it does not and why."""
        return judge(self.schema, value)


def read_type(node: Node, findings: Findings) -> TypeExpr | None:
    """The type that a node spells; None, with NIKA-TYPE-001 or -006 found, where it spells none."""
    reader = _Reader(findings)
    if not reader.expression(node):
        return None
    raw = to_json(node)
    canonical = normalize(raw)
    return TypeExpr(raw, lower(canonical), node.span, canonical)


class _Reader:
    """Judges an expression form by form; every method says whether its part is sound."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._parts = 0

    def _refuse(self, message: str, node: Node, hint: str = "", code: str = "NIKA-TYPE-001") -> bool:
        self._findings.error(code, message, node.span, hint)
        return False

    def expression(self, node: Node) -> bool:
        if not self._fits(node, 1):
            return False
        if isinstance(node, Scalar):
            return self._name(node)
        if isinstance(node, Seq):
            return self._refuse("a list is not a type", node, "write `{ union: [T, …] }` or `{ array: T }`")
        return self._form(node)

    def _fits(self, node: Node, parts: int) -> bool:
        """Counts parts; says once that there are too many."""
        before, self._parts = self._parts, self._parts + parts
        if before <= _PARTS < self._parts:
            hint = "describe the outer shape only"
            return self._refuse(f"a type with more than {_PARTS} parts", node, hint)
        return self._parts <= _PARTS

    def _name(self, node: Scalar) -> bool:
        if node.value is None or node.value in PRIMITIVES:
            return True
        if not isinstance(node.value, str):
            return self._refuse(f"{kind_of(node)} is not a type", node, _NAMES)
        if _is_reserved(node.value):
            return self._refuse(_RESERVED, node, _FILES)
        return self._refuse(f"`{node.text[:60]}` is not a type", node, _teach(node.value))

    def _form(self, node: Map) -> bool:
        found = [key for key in node.entries if key in _CONSTRUCTORS]
        if not found and "artifact" in node.entries:
            return self._refuse(_RESERVED, node, _FILES)
        if len(found) != 1:
            return self._refuse(_not_one(node, found), node, f"one of {', '.join(_CONSTRUCTORS[:-1])}")
        [constructor] = found
        sound = True
        for key, entry in node.entries.items():
            if key != constructor and not (key == "additional" and constructor == "object"):
                sound = self._refuse(f"`{key}` does not belong beside `{constructor}`", entry.key)
        return self._inner(constructor, node) and sound

    def _inner(self, constructor: str, node: Map) -> bool:
        inner = node.entries[constructor].value
        match constructor:
            case "array" | "map":
                return self.expression(inner)
            case "object":
                return self._object(inner) and self._additional(node)
            case "union":
                return self._union(inner)
            case "enum":
                return self._enum(inner)
            case "string":
                return self._text(inner)
            case "optional":
                return self._misplaced(inner)
        return self._bounds(inner, constructor)

    def _misplaced(self, node: Node) -> bool:
        return self._refuse(
            "`optional` says that a field may be absent, so it stands only at a field of an object",
            node,
            "for a value that may be null write `{ union: [T, null] }`",
        )

    def _additional(self, node: Map) -> bool:
        extra = node.get("additional")
        if extra is None or (isinstance(extra, Scalar) and isinstance(extra.value, bool)):
            return True
        return self._refuse("`additional` is true or false", extra)

    def _object(self, node: Node) -> bool:
        if not isinstance(node, Map):
            return self._refuse(
                f"`object` takes its fields, not {kind_of(node)}", node, "`object: { name: string }`"
            )
        sound = True
        for entry in node:
            sound = self._field(entry.value) and sound
        return sound

    def _field(self, node: Node) -> bool:
        if isinstance(node, Map) and node.entries.keys() == {"optional"}:
            return self.expression(node.entries["optional"].value)
        return self.expression(node)

    def _union(self, node: Node) -> bool:
        if not isinstance(node, Seq) or len(node.items) < 2:
            return self._refuse("`union` takes a list of at least two types", node)
        sound = True
        for item in node.items:
            sound = self.expression(item) and sound
        return sound

    def _enum(self, node: Node) -> bool:
        if not isinstance(node, Seq) or not node.items:
            return self._refuse("`enum` takes a list of at least one text", node)
        if not self._fits(node, len(node.items)):
            return False
        seen: set[str] = set()
        sound = True
        for item in node.items:
            value = item.value if isinstance(item, Scalar) else None
            if not isinstance(value, str):
                sound = self._refuse(f"`enum` lists texts, not {kind_of(item)}", item, "put it in quotes")
            elif value in seen:
                sound = self._refuse(f"`{value}` stands twice in this `enum`", item)
            seen.add(str(value))
        return sound

    def _bounds(self, node: Node, constructor: str) -> bool:
        values = self._limits(node, constructor, ("min", "max"))
        if values is None:
            return False
        kinds = (int,) if constructor == "integer" else (int, float)
        for key, entry in values.items():
            value = entry.value if isinstance(entry, Scalar) else None
            if isinstance(value, bool) or not isinstance(value, kinds):
                return self._refuse(f"`{key}` of `{constructor}` is a number of that type", entry)
        return self._ordered(values, "min", "max")

    def _text(self, node: Node) -> bool:
        values = self._limits(node, "string", ("pattern", "min_len", "max_len"))
        if values is None:
            return False
        for key in ("min_len", "max_len"):
            value = getattr(values.get(key), "value", 0)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                return self._refuse(f"`{key}` is a whole number, at least 0", values[key])
        if "pattern" in values and not self._pattern(values["pattern"]):
            return False
        return self._ordered(values, "min_len", "max_len")

    def _pattern(self, node: Node) -> bool:
        if not isinstance(node, Scalar) or not isinstance(node.value, str):
            return self._refuse("`pattern` is a text", node, "put it in quotes")
        fault = dialect.fault(node.value)
        if fault is None:
            return True
        hint = "literals, classes, groups, `|`, `^`, `$` and greedy quantifiers exist"
        return self._refuse(f"this pattern lies outside the dialect: {fault}", node, hint, "NIKA-TYPE-006")

    def _limits(self, node: Node, constructor: str, keys: tuple[str, ...]) -> dict[str, Node] | None:
        if not isinstance(node, Map):
            self._refuse(
                f"`{constructor}` takes its limits, not {kind_of(node)}", node, f"`{constructor}: {{}}`"
            )
            return None
        for key, entry in node.entries.items():
            if key not in keys:
                self._refuse(
                    f"`{key}` is not a limit of `{constructor}`", entry.key, f"{', '.join(keys)} are"
                )
                return None
        return {key: entry.value for key, entry in node.entries.items()}

    def _ordered(self, values: dict[str, Node], low: str, high: str) -> bool:
        least, most = (getattr(values.get(key), "value", None) for key in (low, high))
        if least is None or most is None or least <= most:
            return True
        return self._refuse(f"`{low}` lies above `{high}`: no value fits", values[low])


def _not_one(node: Map, found: list[str]) -> str:
    if found:
        return f"`{found[0]}` and `{found[1]}` in one type: a type has one constructor"
    first = next(iter(node.entries), None)
    return f"`{first}` makes no type" if first is not None else "an empty mapping is not a type"


def _is_reserved(name: str) -> bool:
    """`artifact` alone, or `artifact<mime>`."""
    return name.partition("<")[0].strip() == "artifact"


def _teach(name: str) -> str:
    simple = name.strip().lower()
    if simple.rstrip("?") != simple:
        return "for a value that may be null write `{ union: [T, null] }`"
    if "<" in name or "[" in name:
        return "write `{ array: T }` or `{ map: T }`; other constructors with brackets do not exist"
    if simple == "json":
        return f"a program that prints JSON is read with `decode: json` in `exec:`; {_NAMES}"
    if simple in _FOREIGN:
        known = _FOREIGN[simple]
        return f"write `{known}`" if known else _ANYTHING
    if name[:1].isupper():
        return "types have no names: write the type itself here"
    return nearest(name, PRIMITIVES) or _NAMES
