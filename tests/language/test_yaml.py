"""The YAML profile: what plain data means, what is refused, and where."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from nika_nb.errors import Source, Span
from nika_nb.language import load, load_bytes
from nika_nb.language.encoding import DOCUMENT_CAP
from nika_nb.language.findings import Findings
from nika_nb.language.nodes import Map, Scalar, Seq, to_json
from nika_nb.language.yaml import DEPTH_CAP, SCALAR_CAP, read
from tests.language.reading import codes, found, parsed, under

SCALARS: list[tuple[str, Any]] = [
    ("no", "no"),
    ("yes", "yes"),
    ("on", "on"),
    ("Off", "Off"),
    ("y", "y"),
    ("true", True),
    ("True", True),
    ("FALSE", False),
    ("tRue", "tRue"),
    ("null", None),
    ("~", None),
    ("Null", None),
    ("NULL", None),
    ("", None),
    ("nULL", "nULL"),
    ("0755", 755),
    ("017", 17),
    ("08", 8),
    ("0o17", 15),
    ("0x1F", 31),
    ("0b101", "0b101"),
    ("+12", 12),
    ("-0", 0),
    ("1_000", "1_000"),
    ("12:30", "12:30"),
    ("3:22:01", "3:22:01"),
    ("2024-01-01", "2024-01-01"),
    ("2024-01-01T10:00:00Z", "2024-01-01T10:00:00Z"),
    ("1e3", 1000.0),
    ("1.5E-2", 0.015),
    (".5", 0.5),
    ("5.", 5.0),
    ("1.10", 1.1),
    ("1.2.3", "1.2.3"),
    ("+", "+"),
    (".", "."),
    ("e3", "e3"),
    ("0x", "0x"),
    ("=", "="),
    ("<<", "<<"),
    ("9007199254740993", 9007199254740993),
    ("'12'", "12"),
    ('"true"', "true"),
    ("!!str 12", "12"),
    ("!!int '12'", 12),
    ("!!float 12", 12.0),
    ("!!bool 'true'", True),
    ("!!null ''", None),
]


@pytest.mark.parametrize(("text", "value"), SCALARS)
def test_scalars_follow_the_core_schema(text: str, value: Any) -> None:
    """A scalar means what YAML 1.2 says: no surprise booleans, octals, clock times or dates."""
    read_value, problems = parsed(f"a: {text}\n")
    assert problems == []
    assert read_value == {"a": value}
    assert type(read_value["a"]) is type(value)


KEYS_THAT_STAY_TEXT = ["on", "yes", "no", "y", "12:30", "2024-01-01", "1_000", '"1"', '"true"', '"<<"']


@pytest.mark.parametrize("key", KEYS_THAT_STAY_TEXT)
def test_words_of_old_yaml_are_ordinary_keys(key: str) -> None:
    """`on:` is the key "on", and a quoted key is always text."""
    value, problems = parsed(f"{key}: 1\n")
    assert problems == []
    assert value == {key.strip('"'): 1}


REFUSED: list[tuple[str, str, str]] = [
    ("an anchor", "a: &x 1\n", "NIKA-YAML-001"),
    ("an anchor on a mapping", "a: &x\n  b: 1\n", "NIKA-YAML-001"),
    ("an anchor on a list", "a: &x [1]\n", "NIKA-YAML-001"),
    ("an anchor on a key", "&x a: 1\n", "NIKA-YAML-001"),
    ("an alias", "a: *x\n", "NIKA-YAML-002"),
    ("an alias as a key", "*x : 1\n", "NIKA-YAML-002"),
    ("a merge key", "<<: {a: 1}\n", "NIKA-YAML-003"),
    ("a key twice", "a: 1\nb: 2\na: 3\n", "NIKA-YAML-004"),
    ("a key twice in braces", "a: {b: 1, b: 2}\n", "NIKA-YAML-004"),
    ("a key twice, quoted once", "a: 1\n'a': 2\n", "NIKA-YAML-004"),
    ("a custom tag", "a: !thing 1\n", "NIKA-YAML-006"),
    ("a custom tag on a mapping", "a: !thing {b: 1}\n", "NIKA-YAML-006"),
    ("a verbatim tag", "a: !<tag:example.org,2000:x> 1\n", "NIKA-YAML-006"),
    ("the non-specific tag", "a: ! 1\n", "NIKA-YAML-006"),
    ("a tag of a language", "a: !!python/object:os.system {}\n", "NIKA-YAML-006"),
    ("a date tag", "a: !!timestamp 2024-01-01\n", "NIKA-YAML-006"),
    ("a set", "a: !!set {b}\n", "NIKA-YAML-006"),
    ("a tag that does not fit", "a: !!int abc\n", "NIKA-YAML-006"),
    ("an undefined tag handle", "a: !e!x 1\n", "NIKA-YAML-006"),
    ("a number as a key", "1: a\n", "NIKA-YAML-007"),
    ("a boolean as a key", "true: a\n", "NIKA-YAML-007"),
    ("null as a key", "~: a\n", "NIKA-YAML-007"),
    ("no key", "?\n", "NIKA-YAML-007"),
    ("a list as a key", "? [a]\n: 1\n", "NIKA-YAML-007"),
    ("a mapping as a key", "{a: 1}: 2\n", "NIKA-YAML-007"),
    ("NaN", "a: .nan\n", "NIKA-YAML-008"),
    ("infinity", "a: .inf\n", "NIKA-YAML-008"),
    ("minus infinity", "a: -.Inf\n", "NIKA-YAML-008"),
    ("a float beyond a double", "a: 1e400\n", "NIKA-YAML-008"),
    ("an integer beyond a double", f"a: {'9' * 400}\n", "NIKA-YAML-008"),
    ("a hexadecimal beyond a double", f"a: 0x{'f' * 400}\n", "NIKA-YAML-008"),
    ("a BOM", "\ufeffa: 1\n", "NIKA-YAML-011"),
    ("a BOM on a later line", "a: 1\n\ufeffb: 2\n", "NIKA-YAML-011"),
    ("letters not in normal form", "a: e\u0301\n", "NIKA-YAML-011"),
    ("a control character", "a: \x07\n", "NIKA-PARSE-001"),
    ("a NUL", "a: \x00\n", "NIKA-PARSE-001"),
    ("a lone surrogate", "a: \ud800\n", "NIKA-PARSE-001"),
    ("a lone surrogate as an escape", 'a: "\\uD800"\n', "NIKA-PARSE-001"),
    ("two documents", "a: 1\n---\nb: 2\n", "NIKA-PARSE-001"),
]


@pytest.mark.parametrize(("text", "code"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_the_profile_refuses(text: str, code: str) -> None:
    """What is not plain data has a code of its own, at a place inside the text."""
    findings = Findings(Source(text))
    read(text, findings)
    hits = [d for d in findings.by_place() if d.code == code]
    assert hits
    for diagnostic in findings.by_place():
        assert diagnostic.span is not None
        assert 0 <= diagnostic.span.start <= diagnostic.span.end <= len(text)


@pytest.mark.parametrize(("text", "code"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_the_pure_parser_gives_the_same_codes(text: str, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where libyaml is missing the profile still holds."""
    monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    assert code in parsed(text)[1]


def test_scalars_do_not_depend_on_libyaml(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values and places are the same with the pure parser."""
    text = (
        "é𝄞: 'ü𝄞'\nb: |\n  héé\n  x\n\nc: plain\n  more # no\nd:\n- 1\n- {a: b, c: [x, y]}\ne: >-\n  f\n  g\n"
    )
    trees = []
    for _ in range(2):
        trees.append(read(text, Findings(Source(text))))
        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    assert trees[0] == trees[1]


def test_an_integer_keeps_every_digit() -> None:
    """Integers beyond 2**53 are not rounded."""
    assert parsed(f"a: {2**53 + 1}\nb: {10**300}\n")[0] == {"a": 2**53 + 1, "b": 10**300}


def test_a_key_written_twice_names_both_places() -> None:
    """Two codes at the second writing, and the first writing named beside it; the first value counts."""
    text = "nika: x\nconst: 1\nconst: 2\n"
    findings = Findings(Source(text))
    node = read(text, findings)
    first, second = findings.by_place()
    assert {first.code, second.code} == {"NIKA-PARSE-017", "NIKA-YAML-004"}
    assert first.span == Span(text.index("const: 2"), text.index("const: 2") + 5)
    assert first.related[0][1] == Span(text.index("const: 1"), text.index("const: 1") + 5)
    assert node is not None
    assert to_json(node) == {"nika": "x", "const": 1}


def test_reading_goes_on_after_a_refusal() -> None:
    """One text, many findings, each at its place."""
    text = "a: &x 1\nb: *x\n<<: 1\n1: 2\nc: .nan\nd: !t 1\n"
    assert parsed(text)[1] == [f"NIKA-YAML-{n}" for n in ("001", "002", "003", "007", "008", "006")]


def test_caps_are_exact() -> None:
    """64 KiB per value, 64 levels, 1 MiB per text: the last admitted and the first refused size."""
    fits = "x" * SCALAR_CAP
    assert parsed(f"a: {fits}\n")[1] == []
    assert parsed(f"a: {fits}x\n")[1] == ["NIKA-YAML-005"]
    wide = "é" * (SCALAR_CAP // 2)
    assert parsed(f"a: {wide}\n")[1] == []
    assert parsed(f"a: {wide}é\n")[1] == ["NIKA-YAML-005"]
    for depth, problems in ((DEPTH_CAP, []), (DEPTH_CAP + 1, ["NIKA-YAML-009"])):
        assert parsed("[" * depth + "]" * depth)[1] == problems
    ballast = "# " + "x" * (DOCUMENT_CAP - len("a: 1\n# \n")) + "\n"
    assert parsed(f"a: 1\n{ballast}")[1] == []
    assert parsed(f"a: 1\n#{ballast}")[1] == ["NIKA-YAML-010"]
    assert parsed("a: " + "é" * (DOCUMENT_CAP // 2) + "\n")[1] == ["NIKA-YAML-010"]


BREAKS: list[tuple[str, str, str, str]] = [
    ("a tab as indentation", "a:\n\tb: 1\n", "a tab is used for indentation", "\t"),
    ("a tab after blanks", "a:\n  b: 1\n \tc: 2\n", "a tab is used for indentation", "\t"),
    ("a tab on an empty line", "a: 1\n\t\nb: 2\n", "a tab is used for indentation", "\t"),
    (
        "an island with a ternary",
        'when: ${{ x ? "b" : "c" }}\n',
        "`${{ }}` stands unquoted and contains `: `",
        ":",
    ),
    ("an island in brackets", "a: [${{ x }}]\n", "`${{ }}` stands unquoted inside brackets", "{"),
    ("an island in braces", "a: {b: ${{ x }}}\n", "`${{ }}` stands unquoted inside brackets", "{"),
    ("two colons on a line", "a: b: c\n", "a second `: ` on one line", ":"),
    ("too deep a line", "a: 1\n b: 2\n", "a second `: ` on one line, or a line that is indented", ":"),
    ("a list on its key's line", "a: - b\n", "a list cannot start on the line of its key", "-"),
    ("an open bracket", "a: [1, 2\nb: 1\n", "this list in brackets goes wrong here", ":"),
    ("an open brace", "a: {b: 1\n", "this mapping in braces goes wrong here", ""),
    ("an open quote", 'a: "x\n', "a quote is opened here and not closed", '"'),
    ("one in a list", 'a: ["x", "y]\nb:\n  c: "${{ z }}"\n', "a quote is opened here and not closed", '"'),
    ("a plain one", "a: 'x\nb: 'y'\n", "a quote is opened here and not closed", "'"),
    (
        "text under a block",
        "key: |\n text\nmore\n",
        "this line is neither `key: value` nor part of the text",
        "",
    ),
    ("a list turned mapping", "- a\nb: 1\n", "this line stands where a list item should stand", "b"),
    ("text after a quote", "a: 'it's'\n", "this line does not fit into the mapping around it", "s"),
    ("a comma as a value", "a: ,\n", "a value is missing here", ","),
    ("an unknown escape", 'a: "\\q"\n', "this escape does not exist inside double quotes", "\\"),
    ("half a pair", 'a: "\\uD83D\\uDE00"\n', "half of a surrogate pair", ""),
    ("a number beyond", 'a: "\\U00110000"\n', "\\U00110000 is not a character", ""),
    ("a reserved sign", "a: @x\n", "a plain value cannot start with this character", "@"),
    (
        "lines in braces",
        "a: {b: |\n  x\n  }\n",
        "a text in lines cannot stand inside brackets or braces",
        "|",
    ),
    ("lines in brackets", "a: [\n  >-\n  x]\n", "a text in lines cannot stand inside", ">"),
    ("a bare star", "a: *\n", "a plain value cannot start with `*`", ""),
    ("a bare ampersand", "a: &\n", "a plain value cannot start with `&`", ""),
    ("an odd directive", "%YAML 2.0\n---\na: 1\n", "this is not a version of YAML that exists here", "%"),
    ("a line outside", "  a: 1\n b: 2\n", "this line stands outside of everything above it", "b"),
]


@pytest.mark.parametrize(
    ("text", "sentence", "pointed"), [case[1:] for case in BREAKS], ids=[case[0] for case in BREAKS]
)
def test_broken_yaml_is_explained(text: str, sentence: str, pointed: str) -> None:
    """What does not parse gets a sentence of ours, a way out, and a place."""
    [diagnostic] = found(text)
    assert diagnostic.code == "NIKA-PARSE-001"
    assert diagnostic.message.startswith(sentence)
    assert diagnostic.hint
    if pointed:
        assert under(text, diagnostic).startswith(pointed)


def test_an_odd_character_is_named_as_it_is_to_be_written() -> None:
    """Its own number stands in the hint."""
    [diagnostic] = found("a: \0\n")
    assert diagnostic.message == "the character U+0000 cannot stand in a workflow"
    assert "\\u0000" in diagnostic.hint


def test_an_open_bracket_names_where_it_was_opened() -> None:
    """The place of the mistake and the place of the bracket are both told."""
    [diagnostic] = found("a: [1, 2\nb: 1\n")
    assert [(text, span.start) for text, span in diagnostic.related] == [("opened here", 3)]


def test_lines_count_from_where_people_count() -> None:
    """In a cell the first line is the magic, so a tab on the second line is on line 3."""
    source = Source("a:\n\tb: 1\n", "cell 4", first_line=2)
    [diagnostic] = load(source).diagnostics
    assert diagnostic.span is not None
    assert source.position(diagnostic.span.start) == (3, 1)
    assert "line 3, column 1" in diagnostic.render(source)


NO_WORKFLOW = [
    ("nothing", "", "the text is empty"),
    ("a comment", "# hello\n", "the text is empty"),
    ("a bare document", "---\n", "the text is empty"),
    ("a list", "- a\n- b\n", "this text is a list"),
    ("a sentence", "just some words\n", "this text is text"),
    ("a number", "42\n", "this text is a number"),
]


@pytest.mark.parametrize(
    ("text", "sentence"), [case[1:] for case in NO_WORKFLOW], ids=[case[0] for case in NO_WORKFLOW]
)
def test_what_is_no_workflow_says_so(text: str, sentence: str) -> None:
    """An empty text, a list and a scalar at the root each get a clear sentence."""
    result = load(Source(text))
    [diagnostic] = result.diagnostics
    assert diagnostic.code == "NIKA-PARSE-002"
    assert sentence in diagnostic.message
    assert result.workflow is None


def test_places_count_characters() -> None:
    """Letters beyond ASCII and beyond the BMP count as one character each, in every style of scalar."""
    text = "é𝄞: 'ü𝄞'\nб: plain 𝄞 text # note\nc: |\n  line 𝄞\n\nd: [𝄞, {𝄞: ж}]\n"
    node = read(text, Findings(Source(text)))
    assert isinstance(node, Map)
    shown = {key: text[entry.value.span.start : entry.value.span.end] for key, entry in node.entries.items()}
    assert shown == {"é𝄞": "'ü𝄞'", "б": "plain 𝄞 text", "c": "|\n  line 𝄞", "d": "[𝄞, {𝄞: ж}]"}
    assert text[node.span.start : node.span.end] == text.rstrip()


def test_block_collections_end_with_their_last_child() -> None:
    """A block's place does not reach into the blank lines and comments that follow."""
    text = "a:\n  - 1\n  - b: 2\n\n# note\nc: 3\n"
    node = read(text, Findings(Source(text)))
    assert isinstance(node, Map)
    items = node.entries["a"].value
    assert isinstance(items, Seq)
    assert text[items.span.start : items.span.end] == "- 1\n  - b: 2"
    assert isinstance(items.items[0], Scalar)


def test_windows_line_ends_are_read() -> None:
    """CRLF ends a line; the text inside a block has plain newlines."""
    assert parsed("a: 1\r\nb: |\r\n  x\r\n  y\r\n") == ({"a": 1, "b": "x\ny\n"}, [])


def test_bytes_that_are_no_text() -> None:
    """A file that is not UTF-8, has a BOM or is too large is refused before anything is read."""
    for raw in (b"\xff\xfen\x00", b"nika: \xe9\n", b"\xef\xbb\xbfnika: x\n"):
        source, result = load_bytes(raw, "odd.nika.yaml")
        assert codes(result.diagnostics) == ["NIKA-YAML-011"]
        assert result.workflow is None
        assert "odd.nika.yaml" in result.diagnostics[0].render(source)
    _, result = load_bytes(b"#" * (DOCUMENT_CAP + 1), "large")
    assert codes(result.diagnostics) == ["NIKA-YAML-010"]


def test_the_place_of_a_bad_byte_counts_characters() -> None:
    """After letters of several bytes the caret still stands under the bad one."""
    source, result = load_bytes("nika: é".encode() + b"\xe9\n", "odd")
    assert result.diagnostics[0].span is not None
    assert source.position(result.diagnostics[0].span.start) == (1, 8)


def test_the_profile_corpus(conformance: Path) -> None:
    """The 13 invalid texts of the public profile give the code of their header, the 4 valid ones none."""
    invalid = sorted((conformance / "yaml-profile/invalid").glob("*.yaml"))
    valid = sorted((conformance / "yaml-profile/valid").glob("*.yaml"))
    assert (len(invalid), len(valid)) == (13, 4)
    for path in invalid:
        raw = path.read_bytes()
        expected = raw.split(b"# Expected: ", 1)[1].split()[0].decode()
        assert expected in codes(load_bytes(raw, path.name)[1].diagnostics), path.name
    for path in valid:
        assert load_bytes(path.read_bytes(), path.name)[1].diagnostics == (), path.name
