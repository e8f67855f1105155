"""Expressions: what parses, what a value is, what is an error and where."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nika_nb.errors import Fault
from nika_nb.language import cel

SCOPE: dict[str, Any] = {
    "inputs": {"n": 5, "f": 2.5, "one": 1.0, "s": "héé", "t": True, "none": None, "o": {"k-k": 1, "z": None}},
    "const": {"in_list": [1, 2.0, "a", None], "empty": [], "text": "ab"},
    "with": {"rows": [{"id": 1}, {"id": 2}], "status": "success"},
    "item": {"kind": "article"},
    "index": 0,
}

VALUES: list[tuple[str, Any]] = [
    ("inputs.n", 5),
    ("inputs['n']", 5),
    ("with.rows[1].id", 2),
    ("with.rows[index].id", 1),
    ("inputs.o['k-k']", 1),
    ("const.in_list", [1, 2.0, "a", None]),
    ("[1, 'a', [true]]", [1, "a", [True]]),
    ("[]", []),
    ("42", 42),
    ("-42", -42),
    ("3.25", 3.25),
    ("-0.5", -0.5),
    ("'it\\'s'", "it's"),
    ('"a\\n\\t\\\\"', "a\n\t\\"),
    ("null", None),
    # one number line
    ("1 == 1.0", True),
    ("1 < 2.5", True),
    ("inputs.one == 1", True),
    ("9007199254740993 == 9007199254740992.0", False),
    ("[1] == [1.0]", True),
    ("2 in const.in_list", True),
    # null compares with anything
    ("inputs.n == null", False),
    ("inputs.n != null", True),
    ("null == null", True),
    ("null in const.in_list", True),
    ("inputs.o.z == null", True),
    # ordering
    ("'a' < 'b'", True),
    ("'b' >= 'b'", True),
    ("false < true", True),
    # membership
    ("with.status in ['success', 'skipped']", True),
    ("'n' in inputs", True),
    ("'m' in inputs", False),
    ("1 in inputs", False),
    ("true in [1]", False),
    ("5 in []", False),
    # callables
    ("size('héé')", 3),
    ("'héé'.size()", 3),
    ("size(inputs.o)", 2),
    ("const.empty.size()", 0),
    ("'héé'.contains('é')", True),
    ("inputs.s.startsWith('h')", True),
    ("inputs.s.endsWith('x')", False),
    ("'A'.contains('a')", False),
    # presence: resolves and is not null
    ("has(inputs.n)", True),
    ("has(inputs.none)", False),
    ("has(inputs.missing)", False),
    ("has(inputs.o.z)", False),
    ("has(inputs.o.missing.deeper)", False),
    ("has(with.rows[7])", False),
    ("has(with.rows[0].id)", True),
    # boolean
    ("!inputs.t", False),
    ("!!inputs.t", True),
    ("!(1 == 2) && 2 > 1", True),
    ("true || false && false", True),
    ("(true || false) && false", False),
    # either side of a junction decides, even where the other side fails
    ("inputs.missing || true", True),
    ("true || inputs.missing", True),
    ("inputs.missing && false", False),
    ("false && inputs.missing", False),
    ("1 || true", True),
    # conditional
    ("inputs.t ? 'a' : 1", "a"),
    ("false ? inputs.missing : 2", 2),
    ("false ? 1 : false ? 2 : 3", 3),
    ("true ? false ? 1 : 2 : 3", 2),
    ("1 < 2 ? size('ab') : 0", 2),
]


@pytest.mark.parametrize(("text", "value"), VALUES, ids=[case[0] for case in VALUES])
def test_an_expression_has_a_value(text: str, value: Any) -> None:
    """Values come out with their type: no coercion on the way."""
    result = cel.evaluate(cel.parse(text), SCOPE)
    assert result == value
    assert type(result) is type(value)


FAILURES: list[tuple[str, str, str]] = [
    ("missing.x", "NIKA-VAR-001", "missing"),
    ("inputs.missing", "NIKA-VAR-001", "inputs.missing"),
    ("inputs.n.deeper", "NIKA-VAR-001", "inputs.n.deeper"),
    ("with.rows[2]", "NIKA-VAR-001", "with.rows[2]"),
    ("with.rows[-1]", "NIKA-VAR-001", "with.rows[-1]"),
    ("42 == '42'", "NIKA-VAR-006", "42 == '42'"),
    ("true == 1", "NIKA-VAR-006", "true == 1"),
    ("[1] == 'a'", "NIKA-VAR-006", "[1] == 'a'"),
    ("1 < 'a'", "NIKA-VAR-006", "1 < 'a'"),
    ("null < 1", "NIKA-VAR-006", "null < 1"),
    ("[1] < [2]", "NIKA-VAR-006", "[1] < [2]"),
    ("'a' in 'abc'", "NIKA-VAR-006", "'a' in 'abc'"),
    ("1 && true", "NIKA-VAR-006", "1"),
    ("true && 'x'", "NIKA-VAR-006", "'x'"),
    ("!inputs.n", "NIKA-VAR-006", "inputs.n"),
    ("inputs.n ? 1 : 2", "NIKA-VAR-006", "inputs.n"),
    ("size(1)", "NIKA-VAR-006", "size(1)"),
    ("inputs.n.contains('a')", "NIKA-VAR-006", "inputs.n.contains('a')"),
    ("inputs.s.startsWith(1)", "NIKA-VAR-006", "inputs.s.startsWith(1)"),
    ("with.rows['a']", "NIKA-VAR-006", "with.rows['a']"),
    ("inputs.missing || false", "NIKA-VAR-001", "inputs.missing"),
    ("has(with.rows['a'])", "NIKA-VAR-006", "with.rows['a']"),
]


@pytest.mark.parametrize(("text", "code", "place"), FAILURES, ids=[case[0] for case in FAILURES])
def test_an_evaluation_fails_with_a_place(text: str, code: str, place: str) -> None:
    """What does not resolve is VAR-001, types that do not meet VAR-006; the failing part is shown."""
    with pytest.raises(Fault) as caught:
        cel.evaluate(cel.parse(text), SCOPE)
    assert caught.value.code == code
    assert caught.value.span is not None
    assert text[caught.value.span.start : caught.value.span.end] == place


SLIPS: list[tuple[str, str, str]] = [
    ("a and b", "and", "written `&&`"),
    ("(a or b)", "or", "written `||`"),
    ("[a and b]", "and", "written `&&`"),
    ("a ? b and c : d", "and", "written `&&`"),
    ("not a", "not", "written `!`"),
    ("a && not b", "not", "written `!`"),
    ("a is null", "is", "written `==`"),
    ("a is not null", "is", "written `!=`"),
    ("a not in b", "not", "`!(a in b)`"),
    ("a if b else c", "if", "`test ? this : that`"),
    ("len(a)", "len", "write `size(…)`"),
    ("sum(a)", "sum", "compute it in a task"),
    ("a.startswith('x')", "startswith", "write `.startsWith(…)`"),
    ("a + b", "+", "side by side"),
]


@pytest.mark.parametrize(("text", "place", "sentence"), SLIPS, ids=[case[0] for case in SLIPS])
def test_a_word_of_python_is_told_as_it_is_written_here(text: str, place: str, sentence: str) -> None:
    """The place is that word alone, wherever in an expression it stands."""
    with pytest.raises(Fault) as caught:
        cel.parse(text)
    assert caught.value.code == "NIKA-VAR-005"
    assert sentence in caught.value.message
    assert caught.value.span is not None
    assert text[caught.value.span.start : caught.value.span.end] == place


REFUSED: list[tuple[str, str]] = [
    ("", "empty"),
    ("   ", "empty"),
    ("1 + 1", "not part of an expression"),
    ("a.b * 2", "arithmetic"),
    ("a -1", "arithmetic"),
    ("a % 2", "arithmetic"),
    ("a < b < c", "do not chain"),
    ("a == b == c", "do not chain"),
    ("a = b", "write `==`"),
    ("a & b", "write `&&`"),
    ("a | json", "pipes"),
    ("lower(a)", "not one of the functions"),
    ("a.matches('x')", "not one of"),
    ("a.all(x, x > 1)", "not one of"),
    ("has()", "1 argument"),
    ("size(a, b)", "1 argument"),
    ("a.contains()", "takes 1"),
    ("a.size(1)", "takes 0"),
    ("'open", "closing quote"),
    ("'bad \\q'", "not an escape"),
    ("a.", "missing"),
    ("a[", "missing"),
    ("a[1", "`]` is missing"),
    ("(a", "`)` is missing"),
    ("[1, 2", "`]` is missing"),
    ("a ? b", "`:` is missing"),
    ("a b", "does not belong here"),
    ("in a", "value on its left"),
    ("&& a", "value is expected"),
    ("{'a': 1}", "no meaning"),
    ("a[1:2]", "missing"),
    ("1..2", "missing"),
    ("(" * 50 + "a" + ")" * 50, "nested deeper"),
    ("!" * 500 + "a", "chain"),
    (" && ".join(["a"] * 500), "chain"),
    (".".join(["a"] * 500), "chain"),
    ("1" * 400, "too many digits"),
    ("1" * 5000, "too many digits"),
    ("1" * 400 + ".0", "too many digits"),
    ("é", "no meaning"),
    ("a # b", "no meaning"),
]


@pytest.mark.parametrize(("text", "sentence"), REFUSED, ids=[case[0][:20] for case in REFUSED])
def test_what_lies_outside_the_grammar_is_refused(text: str, sentence: str) -> None:
    """One code, a sentence that names the construct, and a place inside the expression."""
    with pytest.raises(Fault) as caught:
        cel.parse(text)
    assert caught.value.code == "NIKA-VAR-005"
    assert sentence in caught.value.message
    assert caught.value.span is not None
    assert 0 <= caught.value.span.start <= caught.value.span.end <= len(text)


REFERENCES: list[tuple[str, list[str]]] = [
    ("inputs.a", ["inputs.a"]),
    ("tasks.x.output.rows[0].id", ["tasks.x.output.rows[0].id"]),
    ("inputs.a == 1 && with.b", ["inputs.a", "with.b"]),
    ("with.rows[inputs.at].id", ["with.rows", "inputs.at"]),
    ("has(inputs.a) ? inputs.b : const.c", ["inputs.a", "inputs.b", "const.c"]),
    ("[item, index]", ["item", "index"]),
    ("size(with.a.b)", ["with.a.b"]),
    ("inputs.a.contains(with.b)", ["inputs.a", "with.b"]),
    ("inputs['k'].x", ["inputs.k.x"]),
    ("'inputs.a'", []),
]


@pytest.mark.parametrize(("text", "paths"), REFERENCES, ids=[case[0] for case in REFERENCES])
def test_references_are_told_as_paths(text: str, paths: list[str]) -> None:
    """Every path that an expression reads, as far as it is written out."""
    assert [str(reference) for reference in cel.references(cel.parse(text))] == paths


def attempted(work: Callable[[], Any]) -> Any:
    """What the work gives: its value or its fault."""
    try:
        return work()
    except Fault as fault:
        return fault


@given(st.text(max_size=60))
def test_parsing_refuses_or_succeeds_and_nothing_else(text: str) -> None:
    """Any text parses or is refused by its code, at a place inside it."""
    outcome = attempted(lambda: cel.parse(text))
    assert outcome.span is not None
    assert 0 <= outcome.span.start <= outcome.span.end <= len(text)
    assert getattr(outcome, "code", "NIKA-VAR-005") == "NIKA-VAR-005"


_LEAVES = st.sampled_from(
    ["inputs.n", "1", "2.5", "'a'", "true", "null", "[]", "with.rows", "inputs.missing"]
)


def _grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pair = st.tuples(inner, st.sampled_from(["==", "<", "in", "&&", "||"]), inner)
    return st.one_of(
        pair.map(lambda p: f"({p[0]}) {p[1]} ({p[2]})"),
        inner.map(lambda x: f"!({x})"),
        inner.map(lambda x: f"size({x})"),
        inner.map(lambda x: f"has({x})"),
        st.tuples(inner, inner, inner).map(lambda p: f"({p[0]}) ? ({p[1]}) : ({p[2]})"),
    )


@given(st.recursive(_LEAVES, _grow, max_leaves=12))
def test_every_sentence_of_the_grammar_parses_and_ends(text: str) -> None:
    """A well-formed expression parses; evaluating it gives a value or one of two codes."""
    expr = cel.parse(text)
    outcome = attempted(lambda: cel.evaluate(expr, SCOPE))
    assert getattr(outcome, "code", "NIKA-VAR-001") in ("NIKA-VAR-001", "NIKA-VAR-006")
