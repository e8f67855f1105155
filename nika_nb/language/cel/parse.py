"""Text → `cel-subset/0.1` expression, refusing everything outside the grammar with its place."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from nika_nb.errors import Fault, Span
from nika_nb.language.cel import slips
from nika_nb.language.cel.syntax import (
    Binary,
    Call,
    Choice,
    Expr,
    Ident,
    Index,
    ListOf,
    Literal,
    Member,
    Not,
    children,
)

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n]+)
      | (?P<float>-?[0-9]+\.[0-9]+)
      | (?P<int>-?[0-9]+)
      | (?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
      | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
      | (?P<op>&&|\|\||==|!=|<=|>=|[<>!?:.,()\[\]])
    """,
    re.VERBOSE,
)
_ESCAPES = {"\\": "\\", "'": "'", '"': '"', "n": "\n", "t": "\t"}
_RELATIONS = frozenset({"==", "!=", "<", "<=", ">", ">=", "in"})
_FUNCTIONS = frozenset({"size", "has"})
_METHODS = {"size": 0, "contains": 1, "startsWith": 1, "endsWith": 1}
_CONSTANTS = {"true": True, "false": False, "null": None}
_MAX_DEPTH = 32  # of parentheses, brackets and conditionals
_MAX_HEIGHT = 200  # of the tree: chains of `&&`, `.`, `!` grow it as well
_MAX_DIGITS = 300  # more may lie beyond what a number can be


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    span: Span


def parse(text: str) -> Expr:
    """The expression, its spans counted in `text`. Raises Fault NIKA-VAR-005 with a span."""
    return _Parser(_tokens(text), len(text)).whole()


def _refuse(message: str, span: Span) -> Fault:
    return Fault("NIKA-VAR-005", message, span=span)


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise _refuse(_unknown_character(text, at), Span(at, at + 1))
        if match.lastgroup != "space":
            found.append(_Token(str(match.lastgroup), match.group(), Span(at, match.end())))
        at = match.end()
    return found


def _unknown_character(text: str, at: int) -> str:
    char = text[at]
    if char == "+":
        side = "texts stand side by side: `${{ a }}${{ b }}`"
        return f"arithmetic (`+`) is not part of an expression: compute it in a task; {side}"
    if char in "-*/%":
        return f"arithmetic (`{char}`) is not part of an expression: compute it in a task"
    if char in "'\"":
        return "a string without its closing quote"
    if char == "|":
        return "`|` is not an operator here: pipes and filters do not exist in `${{ }}`"
    if char in "&=":
        return f"`{char}` alone is not an operator: write `{char}{char}`"
    return f"`{char}` has no meaning in an expression"


class _Parser:
    """One method per production of the grammar, loosest first."""

    def __init__(self, tokens: list[_Token], length: int) -> None:
        self._tokens = tokens
        self._at = 0
        self._end = Span(max(length - 1, 0), length)
        self._depth = 0

    def whole(self) -> Expr:
        if not self._tokens:
            raise _refuse("an empty expression", self._end)
        expr = self._ternary()
        if self._at < len(self._tokens):
            raise _refuse(self._surplus(), self._tokens[self._at].span)
        if _height(expr) > _MAX_HEIGHT:
            raise _refuse(f"a chain of more than {_MAX_HEIGHT} steps", self._end)
        return expr

    def _surplus(self) -> str:
        if slip := self._slip():
            return slip
        text = self._tokens[self._at].text
        if text in _RELATIONS:
            return f"relations do not chain: put the first one in parentheses before `{text}`"
        if text.startswith("-"):
            return "arithmetic (`-`) is not part of an expression: compute it in a task"
        return f"`{text}` does not belong here"

    def _slip(self) -> str | None:
        """A sentence where the next token is a word that is an operator elsewhere."""
        following = self._tokens[self._at + 1].text if self._at + 1 < len(self._tokens) else ""
        return slips.operator(self._peek(), following)

    def _peek(self) -> str:
        """The text of the next token when it is an operator or a word, else ''."""
        if self._at == len(self._tokens):
            return ""
        token = self._tokens[self._at]
        return token.text if token.kind in ("op", "word") else ""

    def _accept(self, *texts: str) -> _Token | None:
        if self._peek() in texts and self._peek():
            self._at += 1
            return self._tokens[self._at - 1]
        return None

    def _expect(self, text: str, inside: str) -> _Token:
        token = self._accept(text)
        if token is None:
            raise _refuse(self._slip() or f"`{text}` is missing in {inside}", self._here())
        return token

    def _here(self) -> Span:
        return self._tokens[self._at].span if self._at < len(self._tokens) else self._end

    def _ternary(self) -> Expr:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise _refuse(f"nested deeper than {_MAX_DEPTH} levels", self._here())
        test = self._junction("||", lambda: self._junction("&&", self._relation))
        if self._accept("?"):
            then = self._ternary()
            self._expect(":", "the conditional `a ? b : c`")
            other = self._ternary()
            test = Choice(test, then, other, Span(test.span.start, other.span.end))
        self._depth -= 1
        return test

    def _junction(self, op: str, operand: Callable[[], Expr]) -> Expr:
        left = operand()
        while self._accept(op):
            right = operand()
            left = Binary(op, left, right, Span(left.span.start, right.span.end))
        return left

    def _relation(self) -> Expr:
        left = self._unary()
        token = self._accept(*_RELATIONS)
        if token is None:
            return left
        right = self._unary()
        return Binary(token.text, left, right, Span(left.span.start, right.span.end))

    def _unary(self) -> Expr:
        bangs: list[_Token] = []
        while (bang := self._accept("!")) is not None:
            bangs.append(bang)
        expr = self._postfix()
        for bang in reversed(bangs):
            expr = Not(expr, Span(bang.span.start, expr.span.end))
        return expr

    def _postfix(self) -> Expr:
        expr = self._primary()
        while True:
            if self._accept("."):
                expr = self._member(expr)
            elif self._accept("["):
                index = self._ternary()
                close = self._expect("]", "the index")
                expr = Index(expr, index, Span(expr.span.start, close.span.end))
            else:
                return expr

    def _member(self, target: Expr) -> Expr:
        name = self._word("a field name after `.`")
        if self._accept("("):
            return self._method(target, name)
        return Member(target, name.text, Span(target.span.start, name.span.end))

    def _word(self, what: str) -> _Token:
        if self._at < len(self._tokens) and self._tokens[self._at].kind == "word":
            self._at += 1
            return self._tokens[self._at - 1]
        raise _refuse(f"{what} is missing", self._here())

    def _method(self, target: Expr, name: _Token) -> Expr:
        if name.text not in _METHODS:
            sentence = f"`.{name.text}()` is not one of .size() .contains() .startsWith() .endsWith()"
            raise _refuse(sentence + slips.method(name.text), name.span)
        args, close = self._arguments(name.text)
        if len(args) != _METHODS[name.text]:
            raise _refuse(f"`.{name.text}()` takes {_METHODS[name.text]} argument(s)", name.span)
        return Call(name.text, (target, *args), Span(target.span.start, close.span.end))

    def _arguments(self, name: str) -> tuple[list[Expr], _Token]:
        args: list[Expr] = []
        while self._peek() != ")":
            args.append(self._ternary())
            if not self._accept(","):
                break
        return args, self._expect(")", f"the call of `{name}`")

    def _primary(self) -> Expr:
        if self._at == len(self._tokens):
            raise _refuse("a value is missing at the end", self._end)
        token = self._tokens[self._at]
        self._at += 1
        match token.kind:
            case "int" | "float":
                return _number(token)
            case "string":
                return Literal(_unquote(token), token.span)
            case "word":
                return self._name(token)
        if token.text == "(":
            inner = self._ternary()
            self._expect(")", "the group")
            return inner
        if token.text == "[":
            return self._list(token)
        raise _refuse(f"a value is expected where `{token.text}` stands", token.span)

    def _name(self, token: _Token) -> Expr:
        if token.text in _CONSTANTS:
            return Literal(_CONSTANTS[token.text], token.span)
        if token.text == "in":
            raise _refuse("`in` needs a value on its left", token.span)
        if slip := slips.operator(token.text):
            raise _refuse(slip, token.span)
        if not self._accept("("):
            return Ident(token.text, token.span)
        if token.text not in _FUNCTIONS:
            sentence = f"`{token.text}()` is not one of the functions size() and has()"
            raise _refuse(sentence + slips.function(token.text), token.span)
        args, close = self._arguments(token.text)
        if len(args) != 1:
            raise _refuse(f"`{token.text}()` takes 1 argument", token.span)
        return Call(token.text, tuple(args), Span(token.span.start, close.span.end))

    def _list(self, opening: _Token) -> Expr:
        items: list[Expr] = []
        while self._peek() != "]":
            items.append(self._ternary())
            if not self._accept(","):
                break
        close = self._expect("]", "the list")
        return ListOf(tuple(items), Span(opening.span.start, close.span.end))


def _number(token: _Token) -> Literal:
    if len(token.text) > _MAX_DIGITS:
        raise _refuse("a number with too many digits", token.span)
    return Literal(int(token.text) if token.kind == "int" else float(token.text), token.span)


def _height(expr: Expr) -> int:
    """The levels of the tree, counted without recursion: a chain may be as long as its text."""
    level: list[Expr] = [expr]
    height = 0
    while level:
        height += 1
        level = [child for node in level for child in children(node)]
    return height


def _unquote(token: _Token) -> str:
    def plain(match: re.Match[str]) -> str:
        if match.group(1) not in _ESCAPES:
            at = token.span.start + 1 + match.start()
            raise _refuse(
                f"`\\{match.group(1)}` is not an escape (\\\\ \\' \\\" \\n \\t are)", Span(at, at + 2)
            )
        return _ESCAPES[match.group(1)]

    return re.sub(r"\\(.)", plain, token.text[1:-1])
