"""Values with islands: found, escaped, placed and rendered."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nika_nb.errors import Fault, Source, Span
from nika_nb.language.findings import Findings
from nika_nb.language.nodes import Map
from nika_nb.language.template import (
    Island,
    Plain,
    Text,
    Value,
    compile_text,
    islands,
    only_island,
    references,
    render,
)
from nika_nb.language.written import value_of
from nika_nb.language.yaml import read

SCOPE = {
    "inputs": {"x": "X", "n": 3, "t": True, "o": {"b": 1, "a": [1.5, None]}, "none": None, "raw": b"\x00"}
}


def compiled(raw: str) -> Plain | Text:
    value, faults = compile_text(raw, Span(0, len(raw)), raw)
    assert faults == []
    return value


def value_in(text: str) -> Value:
    """The value under the key `a` of a YAML text."""
    findings = Findings(Source(text))
    node = read(text, findings)
    assert isinstance(node, Map)
    value = value_of(node.entries["a"].value, findings)
    assert not findings
    return value


RENDERED: list[tuple[str, Any]] = [
    ("plain", "plain"),
    ("", ""),
    ("${{ inputs.x }}", "X"),
    ("${{ inputs.n }}", 3),
    ("${{ inputs.t }}", True),
    ("${{ inputs.none }}", None),
    ("${{ inputs.o }}", {"b": 1, "a": [1.5, None]}),
    (" ${{ inputs.n }}", " 3"),
    ("${{ inputs.n }} ", "3 "),
    ("n=${{ inputs.n }} t=${{ inputs.t }} z=${{ inputs.none }}", "n=3 t=true z=null"),
    ("o=${{ inputs.o }}", 'o={"a":[1.5,null],"b":1}'),
    ("${{ inputs.x }}${{ inputs.x }}", "XX"),
    ("${{inputs.x}}", "X"),
    ("${{ '}}' }}", "}}"),
    ('${{ "a}}b" }}!', "a}}b!"),
    ("${{ 'it\\'s }}' }}", "it's }}"),
    ("$ {{ inputs.x }}", "$ {{ inputs.x }}"),
    ("{{ inputs.x }} $x ${x} }}", "{{ inputs.x }} $x ${x} }}"),
    # an odd run of backslashes escapes the opener, an even one does not; pairs become one
    (r"\${{ inputs.x }}", "${{ inputs.x }}"),
    (r"\\${{ inputs.x }}", r"\X"),
    (r"\\\${{ inputs.x }}", r"\${{ inputs.x }}"),
    (r"\\\\${{ inputs.x }}", r"\\X"),
    (r"a\b\\c ${{ inputs.x }}", r"a\b\\c X"),
    (r"\${{ a }} ${{ inputs.x }} \${{", "${{ a }} X ${{"),
    (r"\${{ never closed", "${{ never closed"),
]


@pytest.mark.parametrize(("raw", "value"), RENDERED, ids=[case[0] for case in RENDERED])
def test_a_text_renders_in_one_pass(raw: str, value: Any) -> None:
    """One island alone keeps its type; among other text values become text; escapes come out literal."""
    result = render(compiled(raw), SCOPE)
    assert result == value
    assert type(result) is type(value)


def test_what_a_value_holds_is_not_read_again() -> None:
    """A rendered value that looks like an island stays text."""
    scope = {"inputs": {"x": "${{ inputs.y }}", "y": "no"}}
    assert render(compiled("<${{ inputs.x }}>"), scope) == "<${{ inputs.y }}>"


def test_bytes_do_not_enter_a_text() -> None:
    """Bytes alone flow on; inside a longer string they are an error."""
    assert render(compiled("${{ inputs.raw }}"), SCOPE) == b"\x00"
    with pytest.raises(Fault) as caught:
        render(compiled("x ${{ inputs.raw }}"), SCOPE)
    assert caught.value.code == "NIKA-VAR-007"


def test_a_failing_island_names_itself_and_its_place() -> None:
    """The fault of a rendered value lies in the document, under the part that failed."""
    raw = "some text ${{ inputs.x == inputs.gone }} more"
    with pytest.raises(Fault) as caught:
        render(compiled(raw), SCOPE)
    assert caught.value.code == "NIKA-VAR-001"
    assert caught.value.span is not None
    assert raw[caught.value.span.start : caught.value.span.end] == "inputs.gone"
    assert "inputs.x == inputs.gone" in caught.value.message


PLACES: list[tuple[str, str, list[str]]] = [
    ("plain", "a: go ${{ inputs.x }} on\n", ["inputs.x"]),
    ("single quotes", "a: 'go ${{ inputs.x }}'\n", ["inputs.x"]),
    ("double quotes", 'a: "go ${{ inputs.x }} ${{ inputs.n }}"\n', ["inputs.x", "inputs.n"]),
    ("a block", "a: |\n  é ${{ inputs.x }}\n  𝄞 ${{ inputs.n }}\n", ["inputs.x", "inputs.n"]),
    ("a folded block", "a: >\n  one ${{ inputs.x }}\n  two\n", ["inputs.x"]),
    ("a list", "a: [ '${{ inputs.x }}', { b: '${{ inputs.n }}' } ]\n", ["inputs.x", "inputs.n"]),
    ("after an escaped one", "a: '\\${{ no }} ${{ inputs.x }}'\n", ["inputs.x"]),
    ("escapes inside", 'a: "${{ inputs.x == \\"q\\" }}"\n', ["${{"]),
    ("an opener made of escapes", 'a: "\\x24{{ inputs.x }}"\n', ['"\\x24{{ inputs.x }}"']),
    ("folded over lines", "a: ${{ inputs.x ==\n  inputs.n }}\n", ["${{"] * 2),
]


@pytest.mark.parametrize(("text", "pointed"), [case[1:] for case in PLACES], ids=[case[0] for case in PLACES])
def test_references_lie_exactly_in_the_document(text: str, pointed: list[str]) -> None:
    """Where the expression stands letter by letter its parts have exact places, else the island's own."""
    shown = [text[found.span.start : found.span.end] for found in references(value_in(text))]
    assert shown == pointed


def test_an_island_spans_its_braces() -> None:
    """The island's own place runs from `${{` to `}}`."""
    text = "a: x ${{ inputs.x }} y\n"
    [island] = islands(value_in(text))
    assert text[island.span.start : island.span.end] == "${{ inputs.x }}"
    assert island.text == "inputs.x"


def test_only_an_island_alone_is_one() -> None:
    """Text around it, or a second one, makes a string of it."""
    assert isinstance(only_island(compiled("${{ inputs.x }}")), Island)
    for raw in ("x", " ${{ inputs.x }}", "${{ inputs.x }}${{ inputs.x }}", r"\${{ inputs.x }}"):
        assert only_island(compiled(raw)) is None


FAULTS: list[tuple[str, str, str]] = [
    ("${{ inputs.x", "NIKA-VAR-008", "${{"),
    ("a ${{ b }} ${{ c", "NIKA-VAR-008", "${{"),
    ("${{ 'open }}", "NIKA-VAR-008", "${{"),
    ("${{", "NIKA-VAR-008", "${{"),
    ("${{ }}", "NIKA-VAR-005", " "),
    ("${{ a + 1 }}", "NIKA-VAR-005", "+"),
    ("x ${{ lower(a) }} y", "NIKA-VAR-005", "lower"),
]


@pytest.mark.parametrize(("raw", "code", "place"), FAULTS, ids=[case[0] for case in FAULTS])
def test_islands_that_do_not_parse_are_faults_with_places(raw: str, code: str, place: str) -> None:
    """A fault, not an exception: other strings of the document are read as well."""
    _, faults = compile_text(raw, Span(0, len(raw)), raw)
    [fault] = faults
    assert fault.code == code
    assert fault.span is not None
    assert raw[fault.span.start : fault.span.end] == place


def test_a_comment_that_cuts_an_island_off_is_told() -> None:
    """` #` inside an unquoted expression starts a comment: the hint says so, and only there."""
    hints = []
    for text in ("a: ${{ inputs.x # y }}\n", "a: ${{ inputs.x\n", "a: '${{ inputs.x' # y\n"):
        findings = Findings(Source(text))
        node = read(text, findings)
        assert isinstance(node, Map)
        value_of(node.entries["a"].value, findings)
        [diagnostic] = findings.by_place()
        hints.append(diagnostic.hint)
    assert ["starts a comment" in hint for hint in hints] == [True, False, False]


def test_every_broken_island_is_found() -> None:
    """Two mistakes in one string are two faults."""
    raw = "${{ a + 1 }} ${{ b - 1 }}"
    _, faults = compile_text(raw, Span(0, len(raw)), raw)
    assert [raw[f.span.start : f.span.end] for f in faults if f.span] == ["+", "-"]


@given(st.text(alphabet="\\${} ax'\"", max_size=40))
def test_any_text_compiles(raw: str) -> None:
    """Compiling never raises; a text without an opener stays itself."""
    value, faults = compile_text(raw, Span(0, len(raw)), raw)
    for fault in faults:
        assert fault.code in ("NIKA-VAR-005", "NIKA-VAR-008")
        assert fault.span is not None
        assert 0 <= fault.span.start <= fault.span.end <= len(raw)
    if "${{" not in raw:
        assert value == Plain(raw, Span(0, len(raw)))
