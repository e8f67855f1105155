"""Type expressions: what is one, its JSON Schema, which values fit, and how two types relate."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nika_nb.errors import Source, hiding
from nika_nb.language import TypeExpr
from nika_nb.language.findings import Findings
from nika_nb.language.lattice import UNKNOWN, assignable, consistent, normalize, subtype
from nika_nb.language.lowering import PRIMITIVES, lower
from nika_nb.language.nodes import Map
from nika_nb.language.schemas import schema_fault
from nika_nb.language.types import read_type
from nika_nb.language.yaml import read
from nika_nb.values import dumps_sorted
from tests.language.reading import codes, under


def typed(text: str) -> tuple[TypeExpr | None, Findings]:
    """The type under the key `t` of a YAML text."""
    findings = Findings(Source(text))
    node = read(text, findings)
    assert isinstance(node, Map)
    return read_type(node.entries["t"].value, findings), findings


def type_of(text: str) -> TypeExpr:
    found, findings = typed(f"t: {text}\n")
    assert not findings, findings.by_place()
    assert found is not None
    return found


def corpus(conformance: Path, kind: str) -> Iterator[dict[str, Any]]:
    with (conformance / "type-corpus/corpus.jsonl").open() as lines:
        for row in map(json.loads, lines):
            if row["kind"] == kind:
                yield row


def test_lowering_is_byte_exact_on_the_corpus(conformance: Path) -> None:
    """400 expressions of the public corpus lower to exactly the recorded JSON Schema."""
    rows = list(corpus(conformance, "type"))
    assert len(rows) == 400
    assert [r["i"] for r in rows if dumps_sorted(lower(normalize(r["expr"]))) != r["lowered"]] == []


def test_relations_agree_with_the_corpus(conformance: Path) -> None:
    """4000 pairs: subtyping, assignability and consistency are what the public corpus records."""
    types = {row["i"]: normalize(row["expr"]) for row in corpus(conformance, "type")}
    relations = {"subtype": subtype, "assignable": assignable, "consistent": consistent}
    wrong = []
    pairs = 0
    for row in corpus(conformance, "pair"):
        pairs += 1
        left, right = types[row["a"]], types[row["b"]]
        wrong += [
            (row["a"], row["b"], name)
            for name, holds in relations.items()
            if holds(left, right) is not row[name]
        ]
    assert pairs == 4000
    assert wrong == []


LOWERED: list[tuple[str, Any]] = [
    ("null", {"type": "null"}),
    ("'null'", {"type": "null"}),
    ("bool", {"type": "boolean"}),
    ("{ array: string }", {"type": "array", "items": {"type": "string"}}),
    ("{ map: integer }", {"type": "object", "additionalProperties": {"type": "integer"}}),
    ("{ integer: {} }", {"type": "integer"}),
    ("{ number: { min: 0.5 } }", {"type": "number", "minimum": 0.5}),
    ("{ union: [string, null] }", {"anyOf": [{"type": "null"}, {"type": "string"}]}),
    ("{ union: [integer, number] }", {"type": "number"}),
    ("{ union: [{ enum: [a] }, string] }", {"type": "string"}),
    ("{ union: [string, string] }", {"type": "string"}),
    ("{ union: [{ union: [string, null] }, bool] }",
     {"anyOf": [{"type": "boolean"}, {"type": "null"}, {"type": "string"}]}),
    ("{ object: {} }", {"type": "object", "properties": {}, "additionalProperties": False}),
    ("{ object: { a: { optional: string } }, additional: true }",
     {"type": "object", "properties": {"a": {"type": "string"}}}),
    ("{ object: { a: string }, additional: false }",
     {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"],
      "additionalProperties": False}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "schema"), LOWERED, ids=[case[0] for case in LOWERED])
def test_a_type_lowers_to_one_schema(text: str, schema: Any) -> None:
    """Unions flatten, deduplicate and absorb; objects are closed; optional is presence, not null."""
    assert type_of(text).schema == schema


def test_a_type_keeps_how_it_was_written() -> None:
    """`raw` is the expression as it stands in the text, untouched by normalization."""
    assert type_of("{ union: [number, integer] }").raw == {"union": ["number", "integer"]}


REFUSED: list[tuple[str, str, str, str]] = [
    ("boolean", "boolean", "NIKA-TYPE-001", "`bool`"),
    ("float", "float", "NIKA-TYPE-001", "`number`"),
    ("str", "str", "NIKA-TYPE-001", "`string`"),
    ("a typo", "strng", "NIKA-TYPE-001", "did you mean `string`?"),
    ("a name", "Report", "NIKA-TYPE-001", "write the type itself"),
    ("a bare constructor", "array", "NIKA-TYPE-001", "{ array: T }"),
    ("brackets", "array<string>", "NIKA-TYPE-001", "{ array: T }"),
    ("a question mark", "string?", "NIKA-TYPE-001", "{ union: [T, null] }"),
    ("any", "any", "NIKA-TYPE-001", "leave the type out"),
    ("a withdrawn name", "money", "NIKA-TYPE-001", "a type is null"),
    ("the reserved constructor", "artifact<image/png>", "NIKA-TYPE-001", "its `path`"),
    ("the same as a mapping", "{ artifact: image/png }", "NIKA-TYPE-001", "its `path`"),
    ("a number", "12", "NIKA-TYPE-001", "a type is null"),
    ("a boolean", "true", "NIKA-TYPE-001", "a type is null"),
    ("JSON as such", "json", "NIKA-TYPE-001", "`decode: json`"),
    ("a word of nowhere", "blob", "NIKA-TYPE-001", "{ array: T }, { map: T }, { object: { field: T } }"),
    ("a list", "[string]", "NIKA-TYPE-001", "{ union:"),
    ("an empty mapping", "{}", "NIKA-TYPE-001", "one of"),
    ("an unknown constructor", "{ list: string }", "NIKA-TYPE-001", "one of"),
    ("two constructors", "{ array: string, map: string }", "NIKA-TYPE-001", "one of"),
    ("the internal form", "{ $unknown: true }", "NIKA-TYPE-001", "one of"),
    ("additional beside an array", "{ array: string, additional: true }", "NIKA-TYPE-001", ""),
    ("another key beside an object", "{ object: { a: string }, required: [a] }", "NIKA-TYPE-001", ""),
    ("additional as text", "{ object: {}, additional: 'yes' }", "NIKA-TYPE-001", ""),
    ("an object of nothing", "{ object: null }", "NIKA-TYPE-001", "object:"),
    ("optional at the root", "{ optional: string }", "NIKA-TYPE-001", "{ union: [T, null] }"),
    ("optional in an array", "{ array: { optional: string } }", "NIKA-TYPE-001", "{ union: [T, null] }"),
    (
        "optional in a union",
        "{ union: [{ optional: string }, bool] }",
        "NIKA-TYPE-001",
        "{ union: [T, null] }",
    ),
    ("optional in optional", "{ object: { a: { optional: { optional: string } } } }", "NIKA-TYPE-001", ""),
    ("a union of one", "{ union: [string] }", "NIKA-TYPE-001", ""),
    ("an empty enum", "{ enum: [] }", "NIKA-TYPE-001", ""),
    ("an enum of numbers", "{ enum: [1, a] }", "NIKA-TYPE-001", "quotes"),
    ("an enum that repeats", "{ enum: [a, a] }", "NIKA-TYPE-001", ""),
    ("bounds that exclude all", "{ integer: { min: 3, max: 2 } }", "NIKA-TYPE-001", ""),
    ("a fraction bounds integers", "{ integer: { min: 0.5 } }", "NIKA-TYPE-001", ""),
    ("a bound as text", "{ number: { min: '1' } }", "NIKA-TYPE-001", ""),
    ("a boolean bound", "{ integer: { min: true } }", "NIKA-TYPE-001", ""),
    ("a negative length", "{ string: { min_len: -1 } }", "NIKA-TYPE-001", ""),
    ("lengths that exclude all", "{ string: { min_len: 3, max_len: 2 } }", "NIKA-TYPE-001", ""),
    ("an unknown limit", "{ string: { length: 3 } }", "NIKA-TYPE-001", "min_len"),
    ("limits that are none", "{ integer: 3 }", "NIKA-TYPE-001", ""),
    ("a pattern that is no text", "{ string: { pattern: 1 } }", "NIKA-TYPE-001", ""),
]


@pytest.mark.parametrize(
    ("text", "code", "hint"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_what_is_no_type_is_refused_with_a_way_out(text: str, code: str, hint: str) -> None:
    """One finding, inside the type's own text, that says what to write."""
    document = f"t: {text}\n"
    found, findings = typed(document)
    assert found is None
    [diagnostic] = findings.by_place()
    assert diagnostic.code == code
    assert hint in diagnostic.hint
    assert under(document, diagnostic) in text


def test_every_mistake_in_a_type_is_found() -> None:
    """Reading goes on past the first wrong field."""
    _, findings = typed("t: { object: { a: strng, b: { array: Thing }, c: integer, d: { enum: [] } } }\n")
    assert codes(findings.by_place()) == ["NIKA-TYPE-001"] * 3


def test_a_type_has_a_size_it_may_not_exceed() -> None:
    """A hostile union costs no quadratic comparison: it is refused once."""
    members = ", ".join(f"{{ enum: [a{n}] }}" for n in range(5000))
    found, findings = typed(f"t: {{ union: [{members}] }}\n")
    assert found is None
    assert codes(findings.by_place()) == ["NIKA-TYPE-001"]


PATTERNS: list[tuple[str, bool]] = [
    ("^[a-z]+$", True),
    (r"^\d{3}-\d{4}$", True),
    (r"[^\s\]]*", True),
    ("(?:a|b)+c?", True),
    ("(a)(b)", True),
    (r"\.\+\\\/\-", True),
    (r"\x41", True),
    ("a{2}", True),
    ("a{2,}", True),
    ("a{2,5}", True),
    ("", True),
    ("é+", True),
    (r"(a)\1", False),
    ("(?=a)", False),
    ("(?!a)", False),
    ("(?<=a)b", False),
    ("(?P<n>a)", False),
    ("(?<n>a)", False),
    ("(?i)a", False),
    ("a*?", False),
    ("a+?", False),
    ("a++", False),
    ("a{2}?", False),
    (r"\bword", False),
    (r"\Bx", False),
    (r"\p{L}", False),
    (r"\k<n>", False),
    (r"\0", False),
    (r"\Z", False),
    ("*a", False),
    ("a**", False),
    ("(*a)", False),
    ("(a", False),
    ("a)", False),
    ("[a", False),
    ("[z-a]", False),
    ("a{5,2}", False),
    ("a" * 512, True),
    ("a" * 513, False),
    (r"\u0041", False),
]


@pytest.mark.parametrize(
    ("pattern", "admitted"), PATTERNS, ids=[case[0][:20] or "empty" for case in PATTERNS]
)
def test_patterns_stay_inside_the_dialect(pattern: str, admitted: bool) -> None:
    """What two engines could read differently is refused by name."""
    found, findings = typed("t:\n  string:\n    pattern: " + json.dumps(pattern, ensure_ascii=False) + "\n")
    assert codes(findings.by_place()) == ([] if admitted else ["NIKA-TYPE-006"])
    assert (found is not None) is admitted


FITS: list[tuple[str, Any, bool]] = [
    ("string", "x", True),
    ("string", 1, False),
    ("string", None, False),
    ("integer", 3, True),
    ("integer", 3.5, False),
    ("integer", True, False),
    ("integer", 10**30, True),
    ("number", 3, True),
    ("number", "3", False),
    ("bool", True, True),
    ("bool", "true", False),
    ("null", None, True),
    ("null", 0, False),
    ("uri", "https://a.example/x", True),
    ("uri", "not a uri", False),
    ("timestamp", "2026-01-02T03:04:05Z", True),
    ("timestamp", "yesterday", False),
    ("duration", "1h30m", True),
    ("duration", "2d", False),
    ("path", "./x", True),
    ("bytes", "aGk=", True),
    ("bytes", b"hi", True),
    ("string", b"hi", False),
    ("{ union: [bytes, null] }", b"hi", True),
    ("{ array: integer }", [1, 2], True),
    ("{ array: integer }", [1, "2"], False),
    ("{ map: integer }", {"a": 1}, True),
    ("{ object: { a: string } }", {"a": "x"}, True),
    ("{ object: { a: string } }", {"a": "x", "b": 1}, False),
    ("{ object: { a: string }, additional: true }", {"a": "x", "b": 1}, True),
    ("{ object: { a: { optional: string } } }", {}, True),
    ("{ object: { a: { optional: string } } }", {"a": None}, False),
    ("{ object: { a: { union: [string, null] } } }", {"a": None}, True),
    ("{ object: { a: { union: [string, null] } } }", {}, False),
    ("{ enum: [a, b] }", "b", True),
    ("{ enum: [a, b] }", "c", False),
    ("{ integer: { min: 1, max: 3 } }", 3, True),
    ("{ integer: { min: 1, max: 3 } }", 4, False),
    ("{ string: { pattern: '^[a-z]+$' } }", "abc", True),
    ("{ string: { pattern: '^[a-z]+$' } }", "abc\n", False),
    ("{ string: { pattern: 'b' } }", "abc", True),
    ("{ string: { pattern: 'a.c' } }", "a\nc", False),
    ("{ string: { pattern: '^\\d+$' } }", "٣٤", True),
    ("{ string: { pattern: '^\\w+$' } }", "naïveté", True),
    ("{ string: { pattern: '^[\\d\\w]+$' } }", "é٣", True),
    ("{ string: { pattern: '^\\W$' } }", "é", False),
    ("{ string: { min_len: 2, max_len: 2 } }", "𝄞𝄞", True),
]


@pytest.mark.parametrize(("text", "value", "fits"), FITS, ids=[f"{case[0]} {case[1]!r}" for case in FITS])
def test_values_are_judged(text: str, value: Any, fits: bool) -> None:
    """Strict typing: nothing is coerced, formats and patterns are checked, classes know every script."""
    assert (type_of(text).conforms(value) is None) is fits


def test_a_misfit_names_its_place_and_its_value_but_no_secret() -> None:
    """The sentence says where, what stands there and what is expected; a secret is blotted out whole."""
    typed = type_of("{ object: { rows: { array: { object: { id: integer } } } } }")
    value = {"rows": [{"id": 1}, {"id": "x" * 50 + "hunter2-hunter2"}]}
    problem = typed.conforms(value)
    assert problem is not None
    assert "rows[1].id" in problem
    assert "`integer`" in problem
    assert "x" * 50 in problem
    before = hiding.set(lambda text: text.replace("hunter2-hunter2", "••••••"))
    try:
        masked = typed.conforms(value)
    finally:
        hiding.reset(before)
    assert masked is not None
    assert "hunter" not in masked


MISFITS: list[tuple[str, Any, str]] = [
    ("integer", "three", '`"three"` is not of type `integer`'),
    ("string", None, "`null` is not of type `string`; where null may come write `{ union: [string, null] }`"),
    ("number", "1e400", '`"1e400"` is not of type `number`: `1e400` is not a finite number: the largest one'),
    ("bool", None, "`{ union: [bool, null] }`"),
    ("string", ["a", "b"], "a list of 2 is not"),
    ("string", {"a": 1}, "an object with `a` is not"),
    ("{ integer: { max: 3 } }", 7, "`7` is greater than the maximum of 3"),
    ("{ union: [string, null] }", 3, "`3` fits none"),
    ("{ object: { a: string } }", {"a": "", "b": 1}, "`b` is no field of the type; declare"),
    ("{ object: { a: string } }", {}, "`a` is missing; say `{ optional: T }`"),
    ("{ array: { object: { a: string } } }", [{"a": None}], "at `[0].a`: `null`"),
]


@pytest.mark.parametrize(("text", "value", "says"), MISFITS, ids=[f"{m[0]} {m[1]!r}" for m in MISFITS])
def test_a_misfit_says_what_stands_there_and_what_to_write(text: str, value: Any, says: str) -> None:
    """In the words of the type language."""
    assert says in str(type_of(text).conforms(value))


def test_a_misfit_is_short_whatever_the_value() -> None:
    """The value, the names of its fields and how many are listed are bounded."""
    typed = type_of("{ object: { a: string } }")
    wide = {f"{n}{'x' * 5000}": n for n in range(5000)}
    for value in ("x" * 10**6, wide, list(range(10**5))):
        assert len(str(typed.conforms(value))) < 700


def test_a_pattern_is_matched_in_linear_time() -> None:
    """A pattern that would explode under backtracking just does not match."""
    assert type_of("{ string: { pattern: '^(a+)+$' } }").conforms("a" * 5000 + "!") is not None


def test_a_schema_reaches_nothing_outside_of_itself(tmp_path: Path) -> None:
    """A reference to a file or a host is refused, and the file is not read."""
    secret = tmp_path / "secret.json"
    secret.write_text('{"type": "string"}')
    for uri in (f"file://{secret}", "https://example.org/schema.json"):
        problem = schema_fault({"$ref": uri})
        assert problem is not None
    assert (
        schema_fault({"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {}}})
        is None
    )
    assert schema_fault({"type": "objet"}) is not None


_NAMES = st.sampled_from(PRIMITIVES)
_ENUMS = st.lists(st.sampled_from("abcd"), min_size=1, max_size=3, unique=True).map(lambda e: {"enum": e})
_RANGES = st.tuples(st.integers(-3, 0), st.integers(1, 3)).map(
    lambda r: {"integer": {"min": r[0], "max": r[1]}}
)


def _types(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    fields = st.dictionaries(
        st.sampled_from("fgh"), st.one_of(inner, inner.map(lambda t: {"optional": t})), max_size=3
    )
    return st.one_of(
        inner.map(lambda t: {"array": t}),
        inner.map(lambda t: {"map": t}),
        st.lists(inner, min_size=2, max_size=3).map(lambda m: {"union": m}),
        st.tuples(fields, st.booleans()).map(lambda p: {"object": p[0], "additional": p[1]}),
    )


TYPES = st.recursive(st.one_of(_NAMES, _ENUMS, _RANGES), _types, max_leaves=8)


@given(TYPES)
def test_normalizing_twice_changes_nothing(expr: Any) -> None:
    """A canonical form is canonical; its lowering is a usable schema."""
    once = normalize(expr)
    assert normalize(once) == once
    assert schema_fault(lower(once)) is None


@given(TYPES, TYPES)
def test_subtyping_is_an_order(left: Any, right: Any) -> None:
    """Reflexive; equal forms are consistent, consistency is symmetric; assignability is never narrower."""
    a, b = normalize(left), normalize(right)
    assert subtype(a, a)
    assert consistent(a, a)
    assert consistent(a, b) is consistent(b, a)
    assert assignable(a, UNKNOWN)
    assert assignable(UNKNOWN, a)
    if subtype(a, b):
        assert assignable(a, b)


@given(TYPES, st.randoms())
def test_the_order_of_union_members_means_nothing(expr: Any, chance: Any) -> None:
    """A shuffled union is the same type."""
    members = [expr, "string", "null", {"enum": ["z"]}, {"array": "integer"}]
    shuffled = list(members)
    chance.shuffle(shuffled)
    assert normalize({"union": shuffled}) == normalize({"union": members})
