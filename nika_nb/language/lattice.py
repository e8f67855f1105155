"""Type expressions as canonical JSON, and how they relate: `⊑`, `~` and `⊑~`.

A canonical expression is a primitive's name, or a mapping with one constructor as people write
it (`{"array": T}`, `{"object": {…}, "additional": true}` …), or `UNKNOWN`.
"""

from __future__ import annotations

from typing import Any

from nika_nb.values import Json, dumps_sorted

UNKNOWN: dict[str, Json] = {"$unknown": True}  # no static information; nobody can write it
_TEXTS = frozenset({"uri", "path", "duration", "timestamp"})
_BOUNDED = ("integer", "number")


def normalize(expr: Json) -> Json:
    """The canonical form: two expressions that admit the same values become the same."""
    if expr is None:
        return "null"
    if isinstance(expr, str) or expr == UNKNOWN:
        return expr
    if "union" in expr:
        return _union([normalize(member) for member in expr["union"]])
    if "object" in expr:
        fields = {name: _slot(slot) for name, slot in expr["object"].items()}
        return {"object": fields} | ({"additional": True} if expr.get("additional") else {})
    [(constructor, inner)] = expr.items()
    if constructor in ("array", "map"):
        return {constructor: normalize(inner)}
    if constructor == "enum":
        return {"enum": list(inner)}
    return {constructor: dict(inner)} if inner else constructor


def _slot(slot: Json) -> Json:
    if isinstance(slot, dict) and "optional" in slot:
        return {"optional": normalize(slot["optional"])}
    return normalize(slot)


def _union(members: list[Json]) -> Json:
    flat: list[Json] = []
    for member in members:
        flat += member["union"] if _is(member, "union") else [member]
    if UNKNOWN in flat:
        return UNKNOWN
    ranked = sorted({_rank(member): member for member in flat}.items())
    kept: list[Json] = []
    for at, (_, member) in enumerate(ranked):
        others = [other for place, (_, other) in enumerate(ranked) if place != at]
        if not any(subtype(member, other) and not _earlier(member, other, kept) for other in others):
            kept.append(member)
    return kept[0] if len(kept) == 1 else {"union": kept}


def _earlier(member: Json, other: Json, kept: list[Json]) -> bool:
    """Of two members that admit the same values the first in rank stays."""
    return subtype(other, member) and other not in kept


def _rank(expr: Json) -> str:
    """The text by which union members are put in order."""
    return dumps_sorted(_ranked(expr))


def _ranked(expr: Json) -> Json:
    if isinstance(expr, str):
        return {"prim": expr}
    if "object" in expr:
        fields = {name: [*_field(slot)] for name, slot in expr["object"].items()}
        ranked = {name: [optional, _ranked(inner)] for name, (optional, inner) in fields.items()}
        return {"object": ranked} | ({"additional": True} if "additional" in expr else {})
    [(constructor, inner)] = expr.items()
    if constructor in ("array", "map"):
        return {constructor: _ranked(inner)}
    if constructor == "union":
        return {"union": [_ranked(member) for member in inner]}
    if constructor == "enum":
        return {"enum": inner}
    return {"base": constructor, **inner} if isinstance(inner, dict) else {constructor: inner}


def _is(expr: Json, constructor: str) -> bool:
    return isinstance(expr, dict) and constructor in expr


def _field(slot: Json) -> tuple[bool, Json]:
    """(optional, type) of a field."""
    return (True, slot["optional"]) if _is(slot, "optional") else (False, slot)


def subtype(left: Json, right: Json) -> bool:
    """`left ⊑ right` for canonical expressions: every left value is a right value."""
    return _below(left, right, gradual=False)


def assignable(left: Json, right: Json) -> bool:
    """`left ⊑~ right`: subtyping that an UNKNOWN leaf on either side never contradicts."""
    return _below(left, right, gradual=True)


def consistent(left: Json, right: Json) -> bool:
    """`left ~ right`: equal as far as both are known. Symmetric, not transitive."""
    if UNKNOWN in (left, right) or left == right:
        return True
    if not isinstance(left, dict) or not isinstance(right, dict):
        return False
    for constructor in ("array", "map"):
        if constructor in left and constructor in right:
            return consistent(left[constructor], right[constructor])
    if "object" in left and "object" in right:
        return _consistent_objects(left, right)
    if "union" in left and "union" in right:
        return _consistent_unions(left["union"], right["union"])
    if "enum" in left and "enum" in right:
        return set(left["enum"]) == set(right["enum"])
    return False


def _consistent_objects(left: dict[str, Any], right: dict[str, Any]) -> bool:
    """Fields that both know agree; width, openness and presence are matters of `⊑`."""
    ours, theirs = left["object"], right["object"]
    return all(
        consistent(_field(ours[name])[1], _field(theirs[name])[1]) for name in ours.keys() & theirs.keys()
    )


def _consistent_unions(left: list[Json], right: list[Json]) -> bool:
    return all(any(consistent(a, b) for b in right) for a in left) and all(
        any(consistent(a, b) for a in left) for b in right
    )


def _below(left: Json, right: Json, gradual: bool) -> bool:
    if left == right:
        return True
    if UNKNOWN in (left, right):
        return gradual
    if _is(left, "union"):
        return all(_below(member, right, gradual) for member in left["union"])
    if _is(right, "union"):
        return any(_below(left, member, gradual) for member in right["union"])
    if isinstance(right, str):
        return _below_primitive(left, right)
    if isinstance(left, str):
        return False
    for constructor in ("array", "map"):
        if constructor in left and constructor in right:
            return _below(left[constructor], right[constructor], gradual)
    if "object" in left and "object" in right:
        return _below_object(left, right, gradual)
    if "enum" in left and "enum" in right:
        return set(left["enum"]) <= set(right["enum"])
    return _below_refined(left, right)


def _below_primitive(left: Json, right: str) -> bool:
    base = left if isinstance(left, str) else next(iter(left))
    if right == "string":
        return base in _TEXTS or base in ("string", "enum")
    if right == "number":
        return base in _BOUNDED
    return isinstance(left, dict) and base == right


def _below_refined(left: dict[str, Any], right: dict[str, Any]) -> bool:
    if "string" in left and "string" in right:
        ours, theirs = left["string"], right["string"]
        if theirs.get("pattern") not in (None, ours.get("pattern")):
            return False  # whether one pattern contains another is never guessed
        return _nests(ours, theirs, "min_len", "max_len")
    for low, high in (("integer", "integer"), ("number", "number"), ("integer", "number")):
        if low in left and high in right:
            return _nests(left[low], right[high], "min", "max")
    return False


def _nests(inner: dict[str, Any], outer: dict[str, Any], low: str, high: str) -> bool:
    if low in outer and (low not in inner or inner[low] < outer[low]):
        return False
    return high not in outer or (high in inner and inner[high] <= outer[high])


def _below_object(left: dict[str, Any], right: dict[str, Any], gradual: bool) -> bool:
    ours, theirs = left["object"], right["object"]
    if "additional" in left and ("additional" not in right or not theirs.keys() <= ours.keys()):
        return False
    if "additional" not in right and not ours.keys() <= theirs.keys():
        return False
    for name, slot in theirs.items():
        optional, wanted = _field(slot)
        if name not in ours:
            if not optional:
                return False
            continue
        may_be_absent, given = _field(ours[name])
        if (may_be_absent and not optional) or not _below(given, wanted, gradual):
            return False
    return True
