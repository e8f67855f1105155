"""YAML as data from outside: read under the core schema, written so that every reader agrees."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from nika_nb.language.documents import NotData, read_yaml, write_yaml

READ: list[tuple[str, Any]] = [
    ("", None),
    ("# nothing\n", None),
    ("a: no\nb: yes\nc: on\n", {"a": "no", "b": "yes", "c": "on"}),
    ("[017, 0o17, 0x1f, 1e3, .5]", [17, 15, 31, 1000.0, 0.5]),
    ("[12:30, 1_000, 2024-01-01, =]", ["12:30", "1_000", "2024-01-01", "="]),
    ("[~, null, '', \"\", true, True]", [None, None, "", "", True, True]),
    ("a: &x [1]\nb: *x\n", {"a": [1], "b": [1]}),
    ("base: &b {x: 1}\n<<: *b\n", {"base": {"x": 1}, "<<": {"x": 1}}),
    ("&k key: 1\nother: *k\n", {"key": 1, "other": "key"}),
    ("1: a\ntrue: b\n~: c\n", {"1": "a", "true": "b", "~": "c"}),
    ("!!str 12", "12"),
    ("[!!int '7', !!float 7, !!null '', !!bool true, ! 12]", [7, 7.0, None, True, "12"]),
    ("a: |\n  x\n  y\nb: >\n  x\n  y\n", {"a": "x\ny\n", "b": "x y\n"}),
    ("--- 1\n...\n", 1),
    ("9007199254740993", 9007199254740993),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), READ, ids=[repr(case[0])[:30] for case in READ])
def test_what_a_text_means(text: str, value: Any) -> None:
    """Plain values by the core schema, shared nodes wherever they are used, keys as they are written."""
    assert read_yaml(text) == value
    assert repr(read_yaml(text)) == repr(value)


REFUSED = [
    ("a: [", "line "),
    ("a: 1\nb: 2\na: 3", "line 3: the key `a` is written twice"),
    ("1: a\n'1': b", "line 2: the key `1` is written twice"),
    ("a: *b", "line 1: `*b` stands for nothing that is complete yet"),
    ("a: &a [*a]", "stands for nothing"),
    ("a: !Ref x", "line 1: the tag `!Ref` does not fit"),
    ("!!binary aGk=", "the tag `!!binary` does not fit"),
    ("!!python/object/apply:os.system [x]", "does not fit"),
    ("!!set {a, b}", "the tag `!!set` does not fit"),
    ("!!int x", "does not fit"),
    ("a: .nan", "line 1: `.nan` is not a finite number"),
    ("a: .inf", "`.inf` is not a finite number"),
    ("1e400", "`1e400` is not a finite number: the largest one is about 1.8e308"),
    ("a\n---\nb", "a second document starts here"),
    ("? [a]\n: 1", "a key is text, not a collection"),
    ("? &k {a: 1}\n: 1", "a key is text"),
    ("[" * 101 + "]" * 101, "nested deeper than 100 levels"),
    ("a: \0", "control characters"),
    ("a: \ud800", "half of a surrogate pair"),
    ('"\\ud800"', "line 1"),
]


@pytest.mark.parametrize(("text", "sentence"), REFUSED, ids=[repr(case[0])[:30] for case in REFUSED])
def test_what_no_json_can_hold(text: str, sentence: str) -> None:
    """It is refused with its line, and nothing is ever constructed."""
    with pytest.raises(NotData) as caught:
        read_yaml(text)
    assert sentence in str(caught.value)


def test_aliases_cannot_blow_up() -> None:
    """A few lines that stand for a billion values are refused before they do."""
    lines = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    for number in range(8):
        old, new = chr(97 + number), chr(98 + number)
        lines.append(f"{new}: &{new} [{', '.join([f'*{old}'] * 10)}]")
    with pytest.raises(NotData, match="more than 1,000,000 values"):
        read_yaml("\n".join(lines))


TEXTS = st.text(st.characters(blacklist_categories=["Cs"])) | st.text(
    "ab \n\t:-#'\"|>&*!%@`,[]{}?\\01.eExXoO~\r\x85\u2028"
)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=400, deadline=None)
@given(VALUES)
def test_what_is_written_reads_back(value: Any) -> None:
    """The same value, type by type, whatever its texts look like."""
    assert repr(read_yaml(write_yaml(value))) == repr(value)


TRAPS = [
    *("no", "Yes", "ON", "null", "~", "", "1", "1e3", "0o17", "017", "12:30", "2024-01-01", "1_000", ".5"),
    *("=", "<<", "- a", "a: b", "#x", " x "),
]


@pytest.mark.parametrize("text", TRAPS)
def test_a_text_stays_a_text_for_older_readers(text: str) -> None:
    """What YAML 1.1 reads as something else is quoted too."""
    written = write_yaml([text])
    assert read_yaml(written) == [text]
    assert yaml.safe_load(written) == [text]


def test_how_it_is_written() -> None:
    """Blocks, keys in their order, lines as lines, no anchors for what occurs twice."""
    shared = ["x"]
    value = {"b": shared, "a": shared, "text": "one\ntwo\n", "é": "ü", "long": "word " * 60}
    assert write_yaml(value) == (f"b:\n- x\na:\n- x\ntext: |\n  one\n  two\né: ü\nlong: '{'word ' * 60}'\n")
