"""`nika:convert`: twelve ways between four formats, and what each of them cannot hold."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nika_nb.tools.tables import read_csv, write_csv
from tests.tools.using import fault, use
from tests.verbs.calls import Recorder

ROWS = [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]


def convert(recorder: Recorder, source: str, target: str, value: Any, **more: Any) -> Any:
    return use(recorder, "nika:convert", from_=source, to=target, input=value, **more)


CASES: list[tuple[str, str, Any, Any]] = [
    ("json", "csv", ROWS, "a,b\n1,x\n2,y\n"),
    ("json", "csv", '[{"a": 1}]', "a\n1\n"),
    ("csv", "json", "name,n\nAlice,9\nBob,\n", [{"name": "Alice", "n": "9"}, {"name": "Bob", "n": ""}]),
    ("yaml", "json", "a: no\nb: 017\nc: [1, ~]\n", {"a": "no", "b": 17, "c": [1, None]}),
    ("yaml", "json", "base: &b {x: 1}\nother: *b\n", {"base": {"x": 1}, "other": {"x": 1}}),
    ("json", "yaml", {"a": ["no", "1"], "b": None}, 'a:\n- \'no\'\n- "1"\nb: null\n'),
    ("toml", "json", 'a = 1\n[t]\nl = ["x"]\n', {"a": 1, "t": {"l": ["x"]}}),
    ("toml", "json", "at = 2026-05-23T09:00:00Z\n", {"at": "2026-05-23T09:00:00+00:00"}),
    ("toml", "json", "d = 2026-05-23\nt = 09:00:00\n", {"d": "2026-05-23", "t": "09:00:00"}),
    ("json", "toml", {"a": 1, "t": {"l": ["x"]}}, 'a = 1\n\n[t]\nl = [\n    "x",\n]\n'),
    ("csv", "yaml", "a,b\n1,x\n", '- a: "1"\n  b: x\n'),
    ("yaml", "csv", "- {a: 1}\n- {b: true}\n", "a,b\n1,\n,true\n"),
    ("yaml", "toml", "a: [1, 2]", "a = [\n    1,\n    2,\n]\n"),
    ("toml", "yaml", "[a]\nb = 1.5\n", "a:\n  b: 1.5\n"),
    ("toml", "csv", "a = 1", None),
    ("csv", "toml", "a\n1\n", None),
    ("yaml", "json", {"a": 1}, {"a": 1}),
    ("json", "yaml", b'{"a": 1}', "a: 1\n"),
    ("yaml", "json", "", None),
    ("csv", "json", "", []),
]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "target", "value", "expected"), CASES, ids=[f"{c[0]} {c[1]} {c[2]!r}"[:40] for c in CASES]
)
def test_conversions(recorder: Recorder, source: str, target: str, value: Any, expected: Any) -> None:
    """JSON comes out as a value, the others as text; text is parsed, a value is taken as it is."""
    if expected is None and target != "json":
        assert (
            fault(recorder, "nika:convert", from_=source, to=target, input=value).code
            == "NIKA-BUILTIN-CONVERT-002"
        )
    else:
        assert convert(recorder, source, target, value) == expected


UNREADABLE: list[tuple[str, Any, str]] = [
    ("json", '{"a": 1', "the input is no json"),
    ("json", '{"a": 1, "a": 2}', "duplicate key 'a'"),
    ("json", "[NaN]", "NaN is not JSON"),
    ("json", b"\xff", "the input is no json"),
    ("json", {"a": b"x"}, "the input is no json"),
    ("json", "[" * 100_000, "nested too deeply"),
    ("yaml", "a: 1\na: 2", "line 2: the key `a` is written twice"),
    ("yaml", "a: [", "line 2: did not find"),
    ("yaml", "a: !Ref x", "the tag `!Ref` does not fit"),
    ("yaml", "a: .inf", "not a finite number"),
    ("toml", "a = ", "the input is no toml"),
    ("toml", "a = nan", "the input is no toml"),
    ("csv", [1], "CSV is text, and the input is array"),
    ("csv", "a,b\n1\n", "line 2 has 1 cells where the first line has 2"),
    ("csv", 'a\n"open', "line 2"),
    ("csv", "a,a\n1,2\n", "two columns are called `a`"),
]


@pytest.mark.parametrize(
    ("source", "value", "sentence"), UNREADABLE, ids=[f"{c[0]} {c[2]}" for c in UNREADABLE]
)
def test_an_input_that_is_not_what_it_says(
    recorder: Recorder, source: str, value: Any, sentence: str
) -> None:
    """It fails with the place, as far as there is one."""
    target = "yaml" if source != "yaml" else "json"
    found = fault(recorder, "nika:convert", from_=source, to=target, input=value)
    assert found.code == "NIKA-BUILTIN-CONVERT-002"
    assert sentence in found.message


UNWRITABLE: list[tuple[str, Any, str]] = [
    ("toml", [1], "a TOML document is an object, not array"),
    ("toml", {"a": [1, {"b": None}]}, "TOML has no null, and one stands at `a[1].b`"),
    ("csv", {"a": 1}, "CSV is written from a list of rows, not from object"),
    ("csv", [{"a": 1}, [2]], "row 1 is array, and the first row is an object"),
    ("csv", [[1], {"a": 2}], "row 1 is object"),
    ("csv", [1, 2], "row 0 is integer"),
]


@pytest.mark.parametrize(("target", "value", "sentence"), UNWRITABLE, ids=[case[2] for case in UNWRITABLE])
def test_what_a_format_cannot_hold(recorder: Recorder, target: str, value: Any, sentence: str) -> None:
    """It is said, and nothing is left out in silence."""
    found = fault(recorder, "nika:convert", from_="json", to=target, input=value)
    assert found.code == "NIKA-BUILTIN-CONVERT-002"
    assert sentence in found.message


SHAPES: list[tuple[dict[str, Any], str, str]] = [
    ({"from_": "json", "to": "json"}, "NIKA-BUILTIN-CONVERT-001", "converts nothing"),
    ({"from_": "jsn", "to": "csv"}, "NIKA-BUILTIN-CONVERT-001", "did you mean `json`?"),
    ({"from_": "json", "to": "xml"}, "NIKA-BUILTIN-CONVERT-001", "it is one of json, yaml, toml, csv"),
    ({"from_": "json", "to": "csv", "formula_guard": "yes"}, "NIKA-BUILTIN-CONVERT-001", "true or false"),
    ({"from_": "json", "to": "csv", "has_header": 1}, "NIKA-BUILTIN-CONVERT-001", "true or false"),
    ({"to": "csv"}, "NIKA-BUILTIN-001", "needs the argument `from`"),
]


@pytest.mark.parametrize(("arguments", "code", "sentence"), SHAPES, ids=[case[2] for case in SHAPES])
def test_bad_requests(recorder: Recorder, arguments: dict[str, Any], code: str, sentence: str) -> None:
    """A conversion that is none, and formats that are none."""
    found = fault(recorder, "nika:convert", input=[], **arguments)
    assert found.code == code
    assert sentence in found.message


def test_rows_without_a_header(recorder: Recorder) -> None:
    """Lists instead of objects, both ways."""
    assert convert(recorder, "csv", "json", "a,b\n1,2\n", has_header=False) == [["a", "b"], ["1", "2"]]
    assert convert(recorder, "json", "csv", [["a", 1], [None, "x"]]) == "a,1\n,x\n"
    assert convert(recorder, "json", "csv", ROWS, has_header=False) == "1,x\n2,y\n"


def test_cells_as_they_are_written(recorder: Recorder) -> None:
    """Quoted where they must be; objects and lists as JSON; null as nothing."""
    row = [
        {"q": 'say "hi"', "c": "a,b", "n": "x\ny", "r": "x\ry", "o": {"b": 1, "a": [2]}, "z": None, "t": True}
    ]
    written = convert(recorder, "json", "csv", row)
    assert written == 'q,c,n,r,o,z,t\n"say ""hi""","a,b","x\ny","x\ry","{""a"":[2],""b"":1}",,true\n'
    assert convert(recorder, "csv", "json", written)[0]["r"] == "x\ry"


def test_text_from_elsewhere(recorder: Recorder) -> None:
    """A byte order mark, carriage returns, empty lines and a cell as large as a document are all CSV."""
    text = '\ufeffa,b\r\n\r\n"1\r\n2",x\r\n'
    assert convert(recorder, "csv", "json", text) == [{"a": "1\r\n2", "b": "x"}]
    large = "y" * 300_000
    assert convert(recorder, "csv", "json", f"a\n{large}\n") == [{"a": large}]


GUARDED = [
    ("=cmd()", "'=cmd()"),
    ("+1", "'+1"),
    ("@x", "'@x"),
    ("  =x", "'  =x"),
    ("\tx", "'\tx"),
    ("-5", "'-5"),
    ("a=b", "a=b"),
    ("", '""'),
]


@pytest.mark.parametrize(("cell", "written"), GUARDED)
def test_what_a_spreadsheet_would_run(recorder: Recorder, cell: str, written: str) -> None:
    """With the guard a formula becomes text, headers included; without it nothing is touched."""
    guarded = convert(recorder, "json", "csv", [[cell]], formula_guard=True)
    assert guarded == f"{written}\n"
    assert convert(recorder, "csv", "json", convert(recorder, "json", "csv", [[cell]]), has_header=False) == [
        [cell]
    ]
    if cell:
        assert convert(recorder, "json", "csv", [{cell: 1}], formula_guard=True).startswith(written)


def test_a_negative_number_under_the_guard(recorder: Recorder) -> None:
    """The guard alters data, so it is off unless it is asked for."""
    assert convert(recorder, "json", "csv", [[-5, "\rx"]], formula_guard=True) == "'-5,\"'\rx\"\n"
    assert convert(recorder, "json", "csv", [[-5]]) == "-5\n"


CELLS = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=8) | st.text(
    '",\r\n a'
)


@settings(max_examples=300, deadline=None)
@given(st.integers(1, 4).flatmap(lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width))))
def test_what_is_written_reads_back(rows: list[list[str]]) -> None:
    """Every text survives the way into a cell and out again."""
    text = write_csv(list(rows), True, False)
    if rows and rows[0] and rows[0][0].startswith("\ufeff"):
        return  # a byte order mark at the very beginning is one
    assert read_csv(text, False) == rows
