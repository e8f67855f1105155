"""The words of a line: quotes as in a shell, variables of the notebook put in word by word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nika_nb.errors import UsageError
from nika_nb.runs.inputs import parse_variable
from nika_nb.runs.words import Word, split, told_pair

NAMES: dict[str, Any] = {
    "topic": "two words",
    "quoted": 'it\'s "so"\nand so --check $topic',
    "number": 3,
    "digits": "007",
    "flag": True,
    "nothing": None,
    "rows": [{"a": 1}],
    "path": Path("a b.ndjson"),
    "odd": object(),
}


def value_of(name: str) -> Any:
    if name not in NAMES:
        raise UsageError(f"`{name}` is not defined")
    return NAMES[name]


LINES = [
    ("--a 'b c' \"d e\" f\\ g", ["--a", "b c", "d e", "f g"]),
    ("$topic", ["two words"]),
    ("${topic}s", ["two wordss"]),
    ("about-$topic,$number", ["about-two words,3"]),
    ('"about $topic"', ["about two words"]),
    ("x=$quoted", [f"x={NAMES['quoted']}"]),
    ("$flag $nothing $rows", ["true", "null", '[{"a":1}]']),
    ("--resume $path", ["--resume", "a b.ndjson"]),
    ("--resume=$path --var=x=$number", ["--resume", "a b.ndjson", "--var", "x=3"]),
    ("'$topic' \\$topic $$topic \"\\$topic\"", ["$topic"] * 4),
    ("costs=$5 US$ ${{ x }}", ["costs=$5", "US$", "${{", "x", "}}"]),
    ("{topic} {1+1}", ["{topic}", "{1+1}"]),
    ("\"it's $number\" 'a\"b$number'", ["it's 3", 'a"b$number']),
]


@pytest.mark.parametrize(("line", "words"), LINES, ids=[line for line, _ in LINES])
def test_a_line_is_split_and_filled(line: str, words: list[str]) -> None:
    """A value is never split, never read as an option, never filled again."""
    assert split(line, value_of) == words


def test_what_is_given_whole_is_the_value_itself() -> None:
    """Not its text: a text of digits stays text, a list stays a list, anything at all may be given."""
    words = split("a=$digits b=$rows c=$odd d=$flag e=x$digits", value_of)
    given = dict(told_pair(word, parse_variable) for word in words)
    assert given == {"a": "007", "b": [{"a": 1}], "c": NAMES["odd"], "d": True, "e": "x007"}
    assert isinstance(words[0], Word)


@pytest.mark.parametrize(
    ("line", "told"),
    [("a=$nope", "`nope` is not defined"), ("'open", "No closing quotation"), ("x$odd", "give it whole")],
)
def test_what_cannot_be_put_in_is_told(line: str, told: str) -> None:
    """An undefined name, an open quote, an object in the middle of a text."""
    with pytest.raises(UsageError, match=told):
        split(line, value_of)


def test_a_run_stands_for_its_trace() -> None:
    """`--resume $run` and `attach $run` mean what it wrote."""

    class Ran:
        trace = Path("/x/y.ndjson")

    assert split("--resume $run", lambda name: Ran()) == ["--resume", "/x/y.ndjson"]
