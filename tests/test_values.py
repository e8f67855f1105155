"""Values: canonical bytes, digests, text, durations."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from nika_nb.values import (
    LEVELS,
    MARK,
    canonical,
    digest,
    dumps,
    duration_ms,
    loads,
    plural,
    to_text,
    too_deep,
    type_name,
)

texts = st.text(st.characters(exclude_categories=["Cs"]))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=20,
)


def folded(value: Any) -> Any:
    """The recipe's folding, written a second time."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, (int, float)):
        return f"{MARK}num:{json.dumps(value)}{MARK}"
    if isinstance(value, list):
        return [folded(item) for item in value]
    return {key: folded(item) for key, item in value.items()}


@given(values)
def test_canonical_bytes_are_those_of_the_canonicalizer(value: Any) -> None:
    """The fast path writes what RFC 8785 says, astral keys included."""
    assert canonical(value) == rfc8785.dumps(folded(value))


@given(values, values)
def test_equal_digests_mean_equal_values(one: Any, other: Any) -> None:
    """Digests tell values apart, types included; key order does not matter."""

    def same(a: Any, b: Any) -> bool:
        return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)

    assert (digest(one) == digest(other)) is same(one, other)


def test_whole_numbers_beyond_two_to_the_53_stay_apart() -> None:
    """2**53 and 2**53 + 1 are different inputs; so are 1 and 1.0, and true and 1."""
    assert digest(2**53) != digest(2**53 + 1)
    assert len({digest(1), digest(1.0), digest(True), digest("1")}) == 4


def test_no_text_is_taken_for_a_number() -> None:
    """A text that spells a marked number, or a marked text, is neither; every other text stays as it is."""
    number = f"{MARK}num:1{MARK}"
    assert len({digest(value) for value in (1, number, f"{MARK}text:{number}", "1")}) == 4
    assert canonical(f"{MARK}x") == f'"{MARK}x"'.encode()


@pytest.mark.parametrize("value", [math.nan, math.inf, b"x", {1: 2}, object()])
def test_what_is_not_json_has_no_digest(value: Any) -> None:
    """NaN, infinities, bytes and odd keys are refused, never hashed in part."""
    with pytest.raises((TypeError, ValueError)):
        digest(value)


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", "1e400", '{"a":1,"a":2}', r'"\ud800"', "", "{", "01"])
def test_strict_json_refuses(text: str) -> None:
    """No NaN, no duplicate keys, no lone surrogates, no half documents."""
    with pytest.raises(ValueError):  # noqa: PT011 - json and our own checks raise it alike
        loads(text)


@given(values)
def test_json_survives_a_round_trip(value: Any) -> None:
    """What is written can be read back as it was."""
    assert loads(dumps(value)) == value


RENDERED = [
    ("text", "text"),
    (3, "3"),
    (2.5, "2.5"),
    (True, "true"),
    (None, "null"),
    ({"b": 1, "a": [1, "x"]}, '{"a":[1,"x"],"b":1}'),
    ([], "[]"),
]


@pytest.mark.parametrize(("value", "text"), RENDERED)
def test_rendering_into_a_string(value: Any, text: str) -> None:
    """Scalars as they are said, objects and arrays as compact JSON with sorted keys."""
    assert to_text(value) == text


DURATIONS = [
    ("500ms", 500),
    ("30s", 30_000),
    ("1h30m", 5_400_000),
    ("2.5s", 2_500),
    ("1us", 1),
    ("24h", 86_400_000),
    ("25h", None),
    ("30m1h", None),
    ("1s1s", None),
    ("0s", None),
    ("-1s", None),
    ("5", None),
    ("5d", None),
    ("", None),
    (" 5s", None),
]


@pytest.mark.parametrize(("text", "ms"), DURATIONS)
def test_durations(text: str, ms: int | None) -> None:
    """Go durations: descending units, above 0, at most 24 hours."""
    assert duration_ms(text) == ms


def test_types_are_named_as_json_names_them() -> None:
    """true is a boolean and no integer."""
    named = [type_name(v) for v in (None, True, 1, 1.0, "", [], {}, b"")]
    assert named == ["null", "boolean", "integer", "number", "string", "array", "object", "bytes"]


def nested(levels: int) -> Any:
    value: Any = "core"
    for level in range(levels):
        value = [value] if level % 2 else {"in": value}
    return value


def test_how_deep_a_value_may_nest() -> None:
    """Up to the bound everything is taken; a value far beyond what recursion can walk is still judged."""
    assert not too_deep(nested(LEVELS))
    assert too_deep(nested(LEVELS + 1))
    assert too_deep(nested(100_000))
    assert not any(too_deep(flat) for flat in ("x", None, [], {}, ["x"] * 10, b"x"))


def test_a_count_is_told_with_its_noun() -> None:
    """One is one, many have their thousands apart."""
    assert [plural(count, "task") for count in (0, 1, 1200)] == ["0 tasks", "1 task", "1,200 tasks"]
