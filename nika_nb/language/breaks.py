"""Sentences for YAML that does not parse: what breaks, where, and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from nika_nb.errors import Span
from nika_nb.language.scalars import HALF_A_PAIR

Explained = tuple[str, str, str, Span, tuple[tuple[str, Span], ...]]

_QUOTE_IT = 'put the whole value in quotes: key: "${{ … }}"'

_OPEN_QUOTE = "a quote is opened here and not closed where its text ends", "write the second quote"

# A part of the parser's problem → (our sentence, what to do); the first that fits is taken.
_SENTENCES: tuple[tuple[str, str, str], ...] = (
    ("mapping values are not allowed", "a second `: ` on one line, or a line that is indented too far",
     "put a value that contains `: ` in quotes, or align this line with its siblings"),
    ("block sequence entries are not allowed", "a list cannot start on the line of its key",
     "start it on the next line, or write it as [a, b]"),
    ("',' or ']'",
     "this list in brackets goes wrong here", "close it with `]`, and put commas between its items"),
    ("',' or '}'",
     "this mapping in braces goes wrong here", "close it with `}`, and put commas between its fields"),
    ("could not find expected ':'", "this line is neither `key: value` nor part of the text above it",
     "indent it deeper than its key, or write it as `key: value`"),
    ("expected '-' indicator", "this line stands where a list item should stand",
     "start it with `- `, or indent it as a part of the item above"),
    ("expected key", "this line does not fit into the mapping around it",
     "check its indentation, and the quotes of the value before it"),
    ("node content", "a value is missing here", "write one, in quotes if it is meant as text"),
    ("unknown escape character", "this escape does not exist inside double quotes",
     "write \\\\ for a backslash, or use single quotes"),
    ("invalid Unicode character escape", HALF_A_PAIR,
     'write the character itself, or "\\U0001F600" with eight digits'),
    ("while scanning an alias", "a plain value cannot start with `*`", "put it in quotes"),
    ("while scanning an anchor", "a plain value cannot start with `&`", "put it in quotes"),
    ("incompatible YAML document", "this is not a version of YAML that exists here", "remove the %YAML line"),
    ("cannot start any token", "a plain value cannot start with this character", "put it in quotes"),
    ("<document start>", "this line stands outside of everything above it", "align it with the first key"),
)  # fmt: skip


def explain(error: Any, text: str) -> Explained:
    """(code, sentence, hint, place, related places) of what the YAML parser stumbled over."""
    at = _offset(error, text)
    problem = f"{getattr(error, 'context', None) or ''} {getattr(error, 'problem', None) or ''}"
    opened = getattr(getattr(error, "context_mark", None), "index", None)
    related: tuple[tuple[str, Span], ...] = ()
    if opened is not None and opened < at and ("flow" in problem or "quoted" in problem):
        related = (("opened here", Span(opened, opened + 1)),)
    if "nesting depth" in problem:
        hint = "move the inner structure into a file"
        return "NIKA-YAML-009", "nested far too deep", hint, Span(at, min(at + 1, len(text))), ()
    if "undefined tag handle" in problem:
        return "NIKA-YAML-006", "custom tags do not exist here", "remove the tag", Span(at, at + 1), related
    if _tab_indents(text, at):
        start = text.rfind("\n", 0, at) + 1
        place = text.find("\t", start)
        sentence = "a tab is used for indentation", "indent with blanks: YAML does not count tabs"
        return "NIKA-PARSE-001", *sentence, Span(place, place + 1), ()
    if opened is not None and "unexpected end of stream" in problem:
        return "NIKA-PARSE-001", *_OPEN_QUOTE, Span(opened, opened + 1), ()
    if open_quote := _open_quote(text, at):
        return "NIKA-PARSE-001", *_OPEN_QUOTE, *open_quote
    sentence = _island(text, at, problem) or _beyond(text, at) or _block(text, at) or _sentence(problem)
    return "NIKA-PARSE-001", *sentence, Span(at, min(at + 1, len(text))), related


def _offset(error: Any, text: str) -> int:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    at = mark.index if mark is not None else getattr(error, "position", 0)
    return max(0, min(int(at or 0), len(text)))


def _tab_indents(text: str, at: int) -> bool:
    start = text.rfind("\n", 0, at) + 1
    line = text[start:].split("\n", 1)[0]
    return "\t" in line[: len(line) - len(line.lstrip())]


def _open_quote(text: str, at: int) -> tuple[Span, tuple[tuple[str, Span], ...]] | None:
    """The quote that runs over its line up to the next one, right before `at`: one of the two is too many."""
    last: Any = None
    for token in _tokens(text):
        if token.start_mark.index >= at:
            break
        last = token if getattr(token, "style", None) in ("'", '"') else last
    if last is None or last.start_mark.line == last.end_mark.line:
        return None
    start, end = last.start_mark.index, last.end_mark.index
    if end > at or "\n" in text[end:at]:
        return None
    return Span(start, start + 1), (("the next quote stands here", Span(end - 1, end)),)


def _tokens(text: str) -> Iterator[Any]:
    """The tokens up to the first fault."""
    import yaml

    with suppress(yaml.YAMLError):
        yield from yaml.scan(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def _island(text: str, at: int, problem: str) -> tuple[str, str] | None:
    """The dedicated sentence for `${{ }}` without quotes, where that is what broke."""
    start = text.rfind("\n", 0, at) + 1
    line = text[start:].split("\n", 1)[0]
    if "${{" not in line:
        return None
    if "flow" in problem:
        return "`${{ }}` stands unquoted inside brackets or braces", 'put it in quotes: ["${{ … }}"]'
    if "mapping values" in problem and line.find("${{") < at - start:
        return "`${{ }}` stands unquoted and contains `: `, which YAML reads as a new key", _QUOTE_IT
    return None


def _block(text: str, at: int) -> tuple[str, str] | None:
    """The dedicated sentence for a text in lines where none can stand."""
    if text[at : at + 1] not in ("|", ">"):
        return None
    return (
        "a text in lines cannot stand inside brackets or braces",
        "write the mapping around it in lines, too",
    )


def _beyond(text: str, at: int) -> tuple[str, str] | None:
    """The dedicated sentence for the number of a character that is none."""
    found = re.compile(r"(?<=U)[0-9A-Fa-f]{8}").match(text, at)
    if found is None or int(found[0], 16) < 0x110000:
        return None
    last = 'the last one is "\\U0010FFFF"'
    return f"\\U{found[0]} is not a character", f"{last}: write the character itself, or its own number"


def _sentence(problem: str) -> tuple[str, str]:
    for part, sentence, hint in _SENTENCES:
        if part in problem:
            return sentence, hint
    return "the YAML cannot be read from here on", "check the indentation and the quotes around this place"
