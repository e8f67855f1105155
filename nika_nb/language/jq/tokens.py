"""A jq program → its tokens, each with its place; refuses what is no token of the language."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nika_nb.errors import Fault, Span
from nika_nb.language.scalars import HALF_A_PAIR

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n]+)
      | (?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)
      | (?P<field>\.[A-Za-z_][A-Za-z0-9_]*)
      | (?P<variable>\$[A-Za-z_][A-Za-z0-9_]*)
      | (?P<format>@[A-Za-z_][A-Za-z0-9_]*)
      | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
      | (?P<op>\?//|//=|\|\||[|+\-*/%]=|\.\.|//|==|!=|<=|>=|[<>=|,+\-*/%()\[\]{}:;?.])
    """,
    re.VERBOSE,
)
_CHARACTERS = re.compile(r'(?:[^"\\\ud800-\udfff]|\\["\\/bfnrt]|\\u(?![dD][89a-fA-F])[0-9A-Fa-f]{4})*')
_JOINED = re.compile(r"[A-Za-z0-9_.]")


@dataclass(frozen=True, slots=True)
class Token:
    """One token. kind: number field variable format word op, or a piece of a string.

    A plain string is one `string`; one with `\\(…)` in it is a `head`, the tokens of the inner
    program, any number of `middle`s with theirs, and a `tail`.
    """

    kind: str
    text: str
    span: Span


def refusal(message: str, span: Span) -> Fault:
    return Fault("NIKA-VAR-005", message, span=span)


def tokens(program: str) -> list[Token]:
    """The tokens without the blanks between them. Raises Fault NIKA-VAR-005 with a span."""
    return _Lexer(program).run()


class _Lexer:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._found: list[Token] = []
        self._open: list[int] = []  # for each open `\(`: the parentheses open inside it

    def run(self) -> list[Token]:
        while self._at < len(self._text):
            if self._text[self._at] == '"':
                self._string("string", "head")
            elif self._closes_interpolation():
                self._open.pop()
                self._string("tail", "middle")
            else:
                self._plain()
        return self._found

    def _closes_interpolation(self) -> bool:
        return bool(self._open) and self._text[self._at] == ")" and self._open[-1] == 0

    def _plain(self) -> None:
        match = _TOKEN.match(self._text, self._at)
        if match is None:
            raise refusal(_stranger(self._text, self._at), Span(self._at, self._at + 1))
        if match.lastgroup == "number":
            self._stands_alone(match)
        if self._open:
            self._open[-1] += {"(": 1, ")": -1}.get(match.group(), 0)
        if match.lastgroup != "space":
            self._add(str(match.lastgroup), match.end())
        self._at = match.end()

    def _stands_alone(self, number: re.Match[str]) -> None:
        if _JOINED.match(self._text, number.end()):
            span = Span(number.start(), number.end() + 1)
            raise refusal(f"`{self._text[span.start : span.end]}` is not a number", span)

    def _add(self, kind: str, end: int) -> None:
        self._found.append(Token(kind, self._text[self._at : end], Span(self._at, end)))

    def _string(self, closed: str, opens: str) -> None:
        """From a quote, or from the `)` that ends an inner program, to the next end or `\\(`."""
        match = _CHARACTERS.match(self._text, self._at + 1)
        assert match is not None
        end = match.end()
        if self._text.startswith('"', end):
            self._add(closed, end + 1)
            self._at = end + 1
        elif self._text.startswith("\\(", end):
            self._add(opens, end + 2)
            self._open.append(0)
            self._at = end + 2
        else:
            raise self._broken_string(end)

    def _broken_string(self, at: int) -> Fault:
        if at >= len(self._text) or self._text[at:] == "\\":
            return refusal("a string without its closing quote", Span(self._at, self._at + 1))
        if self._text[at] != "\\":
            return refusal(HALF_A_PAIR, Span(at, at + 1))
        if self._text[at + 1 : at + 2] == "u":
            span = Span(at, min(at + 6, len(self._text)))
            return refusal("`\\u` takes four digits, and no half of a pair: write the character itself", span)
        return refusal(f"`{self._text[at : at + 2]}` is not an escape of a string", Span(at, at + 2))


_STRANGERS = {
    "'": "a string stands in double quotes",
    "#": "a program carries no comment: write it in the workflow's own text",
    "&": "there is no `&`: write `and`",
    "!": "there is no `!`: write `| not`",
    "$": "a variable's name is missing after `$`; `${{ }}` does not belong inside a jq program",
    "@": "a format's name is missing after `@`",
}


def _stranger(text: str, at: int) -> str:
    return _STRANGERS.get(text[at], f"{text[at]!r} has no meaning in a jq program")
