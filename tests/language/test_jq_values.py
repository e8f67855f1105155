"""What jq programs produce: every function once, whole numbers, exact errors, plain paths."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nika_nb.errors import Fault
from nika_nb.language.jq import JqWorker, Limits, paths
from nika_nb.language.jq.vocabulary import FORMATS, FUNCTIONS
from nika_nb.values import dumps
from tests.language.test_jq_gate import PROGRAMS


@pytest.fixture(scope="module")
def worker() -> Iterator[JqWorker]:
    worker = JqWorker(Limits(seconds=60.0))
    yield worker
    worker.close()


def run(worker: JqWorker, program: str, value: Any = None) -> list[Any]:
    return asyncio.run(worker.run(program, value))


def fault(worker: JqWorker, program: str, value: Any = None) -> Fault:
    with pytest.raises(Fault) as caught:
        run(worker, program, value)
    return caught.value


ROWS = [{"k": "b", "n": 2}, {"k": "a", "n": 3}, {"k": "b", "n": 1}]

# function → program, input, the values
RESULTS: dict[str, tuple[str, Any, list[Any]]] = {
    "length": ("[.[] | length]", ["é", [1], {"a": 1}, None, -3], [[1, 1, 1, 0, 3]]),
    "keys": ("keys", {"b": 1, "a": 2}, [["a", "b"]]),
    "values": ("[.[] | values]", [1, None, False], [[1, False]]),
    "has": ('has("a"), has("b")', {"a": None}, [True, False]),
    "type": (
        "[.[] | type]",
        [None, True, 1, "", [], {}],
        [["null", "boolean", "number", "string", "array", "object"]],
    ),
    "not": ("[.[] | not]", [None, 0, False], [[True, False, True]]),
    "empty": ("empty", 1, []),
    "error": ("try error({a: 1}) catch .a", None, [1]),
    "map": ("map(. + 1)", [1, 2], [[2, 3]]),
    "map_values": ("map_values(. + 1)", {"a": 1}, [{"a": 2}]),
    "select": (".[] | select(. > 1)", [1, 2, 3], [2, 3]),
    "add": (
        "[.[] | add]",
        [[1, 2], ["a", "b"], [], [{"a": 1}, {"b": 2}]],
        [[3, "ab", None, {"a": 1, "b": 2}]],
    ),
    "join": ('join("-")', ["a", 1, True], ["a-1-true"]),
    "split": ('split(", ")', "a, b", [["a", "b"]]),
    "flatten": ("flatten, flatten(1)", [1, [2, [3]]], [[1, 2, 3], [1, 2, [3]]]),
    "range": ("[range(3)], [range(1; 3)], [range(9; 0; -4)]", None, [[0, 1, 2], [1, 2], [9, 5, 1]]),
    "sort": ("sort", [{}, "a", 1, None, [], True], [[None, True, 1, "a", [], {}]]),
    "sort_by": ("sort_by(.k, .n) | map(.n)", ROWS, [[3, 1, 2]]),
    "group_by": ("group_by(.k) | map(map(.n))", ROWS, [[[3], [2, 1]]]),
    "unique": ("unique", [2, 1, 2], [[1, 2]]),
    "unique_by": ("unique_by(.k) | map(.n)", ROWS, [[3, 2]]),
    "reverse": ("reverse", [1, 2], [[2, 1]]),
    "first": ("first, first(.[1:][])", [1, 2], [1, 2]),
    "last": ("last, last(.[:1][])", [1, 2], [2, 1]),
    "min": ("min", [2, 1], [1]),
    "max": ("max", [2, 1], [2]),
    "min_by": ("min_by(.n).n", ROWS, [1]),
    "max_by": ("max_by(.n).n", ROWS, [3]),
    "any": ("any, any(. == null), any(.[]; . == 1)", [1, None], [True, True, True]),
    "all": ("all, all(. == null), all(.[]; . != 2)", [1, None], [False, False, True]),
    "to_entries": ("to_entries", {"a": 1}, [[{"key": "a", "value": 1}]]),
    "from_entries": (
        "from_entries",
        [{"key": "a", "value": 1}, {"key": "b", "value": 2}],
        [{"a": 1, "b": 2}],
    ),
    "with_entries": ("with_entries({key: .key, value: (.value + 1)})", {"a": 1}, [{"a": 2}]),
    "del": ("del(.a), del(.b)", {"a": 1, "b": 2}, [{"b": 2}, {"a": 1}]),
    "paths": ("[paths], [paths(. == 1)]", {"a": [1]}, [[["a"], ["a", 0]], [["a", 0]]]),
    "tostring": ("[.[] | tostring]", ["a", 1, [1.5]], [["a", "1", "[1.5]"]]),
    "tonumber": ("[.[] | tonumber]", ["1", "2.5", 3], [[1, 2.5, 3]]),
    "tojson": ("tojson", {"b": "ü", "a": [None]}, ['{"b":"ü","a":[null]}']),
    "fromjson": ("fromjson", '{"a": [1, 2.0]}', [{"a": [1, 2.0]}]),
    "getpath": ('getpath(["a", 1]), getpath(["x", "y"])', {"a": [0, 7]}, [7, None]),
    "setpath": ('setpath(["a", 1]; 7)', {"a": [0, 0]}, [{"a": [0, 7]}]),
    "leaf_paths": ("[leaf_paths]", {"a": [1, {"b": "x"}]}, [[["a", 0], ["a", 1, "b"]]]),
    "ascii_downcase": ("ascii_downcase", "AbÀ", ["abÀ"]),
    "ascii_upcase": ("ascii_upcase", "abà", ["ABà"]),
    "ltrimstr": ('ltrimstr("a")', "aba", ["ba"]),
    "rtrimstr": ('rtrimstr("a")', "aba", ["ab"]),
    "startswith": ('startswith("a")', "ab", [True]),
    "endswith": ('endswith("a")', "ab", [False]),
    "floor": ("floor", 2.7, [2]),
    "ceil": ("ceil", 2.2, [3]),
    "fabs": ("fabs", -2.5, [2.5]),
    "transpose": ("transpose", [[1], [2, 3]], [[[1, 2], [None, 3]]]),
    "contains": ('contains({a: "x"})', {"a": "xyz", "b": 1}, [True]),
    "test": ('test("^\\\\d+$"), test("A"; "i")', "12a", [False, True]),
    "gsub": ('gsub("(?<d>[0-9])"; "<\\(.d)>"), gsub("A"; ""; "i")', "a1", ["a<1>", "1"]),
    "@base64": ("@base64", "hé", ["aMOp"]),
    "@base64d": ("@base64d", "aMOp", ["hé"]),
    "@text": ("@text", [1], ["[1]"]),
    "@json": ("@json", "a", ['"a"']),
    "@csv": ("@csv", [1, 'a"b', None, True], ['1,"a""b",,true']),
    "@tsv": ("@tsv", ["a\tb", 1], ["a\\tb\t1"]),
    "@uri": ("@uri", "a b/é", ["a%20b%2F%C3%A9"]),
}


def test_the_table_knows_every_function_and_format() -> None:
    """No function and no format goes unevaluated."""
    assert RESULTS.keys() == FUNCTIONS.keys() | {f"@{name}" for name in FORMATS}


@pytest.mark.parametrize(("program", "value", "expected"), RESULTS.values(), ids=RESULTS)
def test_evaluates(worker: JqWorker, program: str, value: Any, expected: list[Any]) -> None:
    """Each function has the meaning it has in jq, types of numbers included."""
    assert dumps(run(worker, program, value)) == dumps(expected)


SYNTAX: dict[str, tuple[str, Any, list[Any]]] = {
    "arithmetic": ("1 + 2 * 3 - 4 / 2", None, [5.0]),
    "alternative": (".a // .b // 3", {"a": False}, [3]),
    "a comparison binds tighter than the alternative": (". == 1 // 5", 2, [5]),
    "and, or": ("(true and false) or true", None, [True]),
    "recursive merge": (".[0] * .[1]", [{"a": {"b": 1}}, {"a": {"c": 2}}], [{"a": {"b": 1, "c": 2}}]),
    "optional": ("[.[] | .a?]", [{"a": 1}, 2], [[1]]),
    "slices": (".[1:], .[:-1], .[0:1]", [1, 2, 3], [[2, 3], [1, 2], [1]]),
    "slice of a string": (".[1:2]", "aéb", ["é"]),
    "reduce": ("reduce .[] as $x (0; . + $x)", [1, 2, 3], [6]),
    "binding": (". as [$a, $b] | {a: $b, b: $a}", [1, 2], [{"a": 2, "b": 1}]),
    "condition": ("if . then 1 elif . == false then 2 else 3 end", None, [3]),
    "interpolation": ('"\\(.a) and \\(.b | length)"', {"a": 1.5, "b": [1]}, ["1.5 and 1"]),
    "definition": ("def up: ascii_upcase; map(up)", ["a"], [["A"]]),
    "computed keys": ("{(.[]): 1}", ["a", "b"], [{"a": 1}, {"b": 1}]),
    "flatten an object": (
        '[leaf_paths as $p | {($p | join(".")): getpath($p)}] | add',
        {"a": {"b": 1}, "c": [2]},
        [{"a.b": 1, "c.0": 2}],
    ),
    "unflatten an object": (
        'reduce to_entries[] as $e ({}; setpath($e.key / "."; $e.value))',
        {"a.b": 1, "a.c": 2},
        [{"a": {"b": 1, "c": 2}}],
    ),
    "setpath makes what is missing": ('setpath(["a", 2, "b"]; 1)', None, [{"a": [None, None, {"b": 1}]}]),
    "setpath at the root": ("setpath([]; 1)", {"a": 1}, [1]),
    "chunks": ("[range(0; length; 2) as $i | .[$i:$i + 2]]", [1, 2, 3], [[[1, 2], [3]]]),
    "keys keep their order": (". + {a: 0}", {"z": 1, "b": 2}, [{"z": 1, "b": 2, "a": 0}]),
    "line feeds in values": (".[]", ["a\nb", {"c\nd": "\u2028"}], ["a\nb", {"c\nd": "\u2028"}]),
    "a polynomial regex stays linear": ('test("(a*)*b")', "a" * 5000, [False]),
}


@pytest.mark.parametrize(("program", "value", "expected"), SYNTAX.values(), ids=SYNTAX)
def test_means(worker: JqWorker, program: str, value: Any, expected: list[Any]) -> None:
    """Each form of the grammar means what it means in jq."""
    assert dumps(run(worker, program, value)) == dumps(expected)


@pytest.mark.parametrize("number", [2**53 + 1, -(2**63) - 1, 10**40, 0, 1.0, -0.0, 0.1, 1e22, 1e-7, 1.5e300])
def test_numbers_stay_what_they_are(worker: JqWorker, number: float) -> None:
    """Integers of any size stay whole, floats stay floats, on both roads."""
    for program in (".", ".[]", ".[0] | .", "map(.) | .[0]"):
        [found] = run(worker, program, [number]) if program != "." else run(worker, program, number)
        assert (type(found), repr(found)) == (type(number), repr(number))


def test_arithmetic_on_large_integers_is_exact(worker: JqWorker) -> None:
    """A large integer is not rounded by computing with it."""
    assert run(worker, ". + 1", 2**53) == [2**53 + 1]
    assert run(worker, ". * .", 10**20) == [10**40]


NOT_JSON = {
    "division by zero": ("1 / 0", None, "Infinity"),
    "zero by zero": ("[0 / 0]", None, "NaN"),
    "a literal too large": ("{a: 1e1000}", None, "1e1000"),
    "a text too large": ("tonumber", "1e999", "1e999"),
    "a number as a key": ("{(1): 2}", None, "a key that is no string"),
    "thousands of digits": ("reduce range(6000) as $i (1; . * 10)", None, "digits"),
    "nested deeply": ("reduce range(3000) as $i (0; [.])", None, "nested too deeply"),
    "nested deeper than a value may": ("reduce range(300) as $i (0; [.])", None, "nested too deeply"),
}


@pytest.mark.parametrize(("program", "value", "said"), NOT_JSON.values(), ids=NOT_JSON)
def test_refuses_results_that_are_not_json(worker: JqWorker, program: str, value: Any, said: str) -> None:
    """What no journal could hold is an error of the program, and the sentence says what it was."""
    caught = fault(worker, program, value)
    assert caught.code == "NIKA-VAR-004"
    assert said in caught.message


ERRORS = {
    "field of a string": (".a.b", {"a": "x"}, 'cannot index "x" with "b"'),
    "iteration of a number": (".[]", 1, "cannot use 1 as iterable"),
    "types that do not add": ('1 + "a"', None, 'cannot calculate 1 + "a"'),
    "its own error, on one line": ('error("no\\n  stock")', None, "no stock ·"),
    "its own error, an object": ("error({code: 7})", None, '{"code":7}'),
    "not JSON text": ("fromjson", "{", "cannot parse"),
}


@pytest.mark.parametrize(("program", "value", "said"), ERRORS.values(), ids=ERRORS)
def test_reports_errors_in_one_line(worker: JqWorker, program: str, value: Any, said: str) -> None:
    """A program that fails says jq's own sentence, and which program it was."""
    caught = fault(worker, program, value)
    assert caught.code == "NIKA-VAR-004"
    assert said in caught.message
    assert "in jq `" in caught.message
    assert "\n" not in caught.message


def test_a_long_value_does_not_flood_the_message(worker: JqWorker) -> None:
    """An error that quotes a megabyte is cut."""
    assert len(fault(worker, ".a", "x" * 10**6).message) < 500


def test_bytes_are_not_read(worker: JqWorker) -> None:
    """Bytes are no JSON: neither a plain path nor a program reads them."""
    assert {fault(worker, program, b"x").code for program in (".", ".a", "length")} == {"NIKA-VAR-007"}


def test_input_that_is_not_json_is_refused(worker: JqWorker) -> None:
    """A value that JSON does not have never reaches the evaluator."""
    deep: Any = 0
    for _ in range(100_000):
        deep = [deep]
    for value in (float("nan"), "\ud800", {1, 2}, deep):
        assert fault(worker, "length", value).code == "NIKA-VAR-004"


def test_the_code_says_who_is_wrong(worker: JqWorker) -> None:
    """A program outside the language is NIKA-VAR-005 for a tool and NIKA-VAR-004 for a binding."""
    assert fault(worker, "now").code == "NIKA-VAR-005"
    with pytest.raises(Fault) as caught:
        asyncio.run(worker.values(".a |", {}))
    assert caught.value.code == "NIKA-VAR-004"
    assert caught.value.span is not None
    assert asyncio.run(worker.values(".[]", [1, 2])) == [1, 2]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=3),
    max_leaves=8,
)
STEPS = st.sampled_from([".a", ".b", "[0]", "[1]", "[-1]", "[-3]", '["a"]', '["ab"]', '[""]'])
PATHS = (
    st.lists(STEPS, max_size=3).map("".join).map(lambda text: text if text.startswith(".") else f".{text}")
)


@given(PATHS, JSON)
@settings(max_examples=150, deadline=None)
def test_plain_paths_find_what_the_evaluator_finds(worker: JqWorker, path: str, value: Any) -> None:
    """A plain path read directly gives the evaluator's answer, or leaves the answer to it."""
    found = paths.read(path, value)
    try:
        [expected] = run(worker, f"{path} | .", value)
    except Fault:
        assert found is paths.UNANSWERED
    else:
        assert found is paths.UNANSWERED or repr(found) == repr(expected)


@pytest.mark.parametrize("program", [".a.b[0]", ".", ' .["a b"] ', ".[0]"])
def test_plain_paths_need_no_process(program: str) -> None:
    """Plain paths are answered at once: no process is ever started for them."""
    worker = JqWorker()
    run(worker, program, None)
    assert worker._evaluator is None


@given(PROGRAMS, JSON)
@settings(max_examples=100, deadline=None)
def test_accepted_programs_end_in_values_or_a_fault(worker: JqWorker, program: str, value: Any) -> None:
    """Whatever passes the gate and whatever it is given: JSON comes out, or a Fault."""
    assert code(worker, program, value) in ("", "NIKA-VAR-004")


def code(worker: JqWorker, program: str, value: Any) -> str:
    try:
        dumps(run(worker, program, value))
    except Fault as caught:
        return caught.code
    return ""
