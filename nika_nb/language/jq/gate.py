"""The gate: accepts exactly the jq programs of `jq-subset/0.1`, before any of them is evaluated.

What it lets through ends (no recursion), sees only its input (no environment, clock, file or
further input) and touches nothing. How much it may compute is bounded where it is evaluated.

Beyond the published grammar it admits what workflows of the public suite need, and no more:
`if … then … elif … else … end`, `and`, `or`, `try … catch …`, `… as $x | …` and
`… as [$x, $y] | …`, slices, string interpolation, computed keys `{(…): …}`, the comma, and
`def name: …;` without parameters at the start, which can call only what was defined before it.
The functions admitted so are marked in `vocabulary`.
"""

from __future__ import annotations

from functools import lru_cache

from nika_nb.language.jq.cursor import Cursor
from nika_nb.language.jq.tokens import Token, refusal, tokens
from nika_nb.language.jq.vocabulary import (
    AMBIENT,
    ENDLESS,
    FORMATS,
    FUNCTIONS,
    GRAMMAR,
    KEYWORDS,
    MISPLACED,
    REFUSED,
)
from nika_nb.values import nearest

_COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
_LOOSER = frozenset({"and", "or", "//", ","})  # than a comparison
_OPERATORS = frozenset({"+", "-", "*", "/"}) | _COMPARISONS | _LOOSER
_AMBIENT_VARIABLES = frozenset({"$ENV", "$__loc__", "$__prog_args"})
_MAX_DEPTH = 64


@lru_cache(maxsize=1024)
def parse(program: str) -> frozenset[str]:
    """The functions that the program calls. Raises Fault NIKA-VAR-005 with a span in `program`."""
    return _Parser(tokens(program), len(program)).whole()


class _Parser(Cursor):
    """One method per production. Precedence is left to the evaluator: it changes no verdict."""

    def __init__(self, found: list[Token], length: int) -> None:
        super().__init__(found, length)
        self._depth = 0
        self._bound: list[str] = []
        self._defined: set[str] = set()
        self._defining = ""
        self._used: set[str] = set()

    def whole(self) -> frozenset[str]:
        if self.next() is None:
            raise refusal("an empty program: the value itself is `.`", self.end)
        while self.accept("def"):
            self._definition()
        self._pipeline()
        if self.next() is not None:
            raise self.unfit()
        return frozenset(self._used)

    def _definition(self) -> None:
        name = self.take("word", "a name after `def`")
        if name.text in KEYWORDS or name.text in FUNCTIONS or name.text in REFUSED:
            raise refusal(f"`{name.text}` already has a meaning: define another name", name.span)
        if name.text in self._defined:
            raise refusal(f"`{name.text}` is defined twice", name.span)
        if self.peek() == "(":
            raise self.unfit("a `def` takes no parameters here: it works on `.`")
        self.expect(":", f"the definition of `{name.text}`")
        self._defining = name.text
        self._pipeline()
        self._defining = ""
        self.expect(";", f"the definition of `{name.text}`")
        self._defined.add(name.text)

    def _pipeline(self, *, commas: bool = True) -> None:
        scope = len(self._bound)
        self._segment(commas)
        while self.accept("|"):
            self._segment(commas)
        del self._bound[scope:]

    def _segment(self, commas: bool) -> None:
        """What stands between two pipes: operands with operators, or one term bound by `as`."""
        negated = self.peek() == "-"
        self._operand()
        if not negated and self.accept("as"):
            self._binding()
        else:
            self._operators(commas)

    def _operators(self, commas: bool) -> None:
        compared = False
        while self.peek() in _OPERATORS and (commas or self.peek() != ","):
            compares = self.peek() in _COMPARISONS
            if compares and compared:
                raise self.unfit("comparisons do not chain: put the first one in parentheses")
            compared = compares or (compared and self.peek() not in _LOOSER)
            self.step()
            self._operand()

    def _binding(self) -> None:
        if not self.accept("["):
            self._bound.append(self.take("variable", "a `$name`, or `[$a, $b]`, after `as`").text)
        else:
            self._bound.append(self.take("variable", "a `$name` inside `as [ ]`").text)
            while self.accept(","):
                self._bound.append(self.take("variable", "a `$name` inside `as [ ]`").text)
            self.expect("]", "the names after `as`")
        if self.peek() != "|":
            raise self.unfit("`|` is missing after `as`: a name is bound for the pipe that follows")

    def _operand(self) -> None:
        self.accept("-")
        self._postfix()

    def _postfix(self) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise self.unfit(f"nested deeper than {_MAX_DEPTH} levels")
        self._primary()
        while self._suffix():
            pass
        self._depth -= 1

    def _suffix(self) -> bool:
        token = self.next()
        if token is not None and token.kind == "field":
            self.step()
            return True
        if self.accept("["):
            self._bracket()
            return True
        if self.accept("."):
            raise self.unfit('a field name is missing after `.`: a key of another kind is written `["…"]`')
        return self.accept("?")

    def _bracket(self) -> None:
        """After `[` of a suffix: iteration, an index, or a slice with at least one end."""
        if self.accept("]"):
            return
        from_start = self.peek() == ":"
        if not from_start:
            self._pipeline()
        if self.accept(":") and (from_start or self.peek() != "]"):
            self._pipeline()
        self.expect("]", "the index")

    def _primary(self) -> None:
        token = self.next()
        if token is None:
            raise refusal("a value is missing at the end", self.end)
        if token.kind in ("middle", "tail"):
            raise refusal("a value is missing inside `\\(…)`", token.span)
        if token.kind == "op":
            return self._enclosed(token)
        self.step()
        match token.kind:
            case "string" | "head":
                self._string(token)
            case "variable":
                self._variable(token)
            case "format":
                _format(token)
            case "word":
                self._word(token)
        return None  # a field or a number stands for itself

    def _enclosed(self, token: Token) -> None:
        if self.accept("."):
            return
        if self.accept("("):
            self._pipeline()
            self.expect(")", "the parentheses")
        elif self.accept("["):
            if not self.accept("]"):
                self._pipeline()
                self.expect("]", "the array")
        elif self.accept("{"):
            self._object()
        else:
            raise self.unfit(f"a value is missing before `{token.text}`")

    def _string(self, piece: Token) -> None:
        """A string from its first piece on, with the programs inside it."""
        while piece.kind in ("head", "middle"):
            self._pipeline()
            following = self.next()
            if following is None or following.kind not in ("middle", "tail"):
                raise self.unfit("`)` is missing in the string's `\\(…)`")
            self.step()
            piece = following

    def _object(self) -> None:
        if self.accept("}"):
            return
        self._pair()
        while self.accept(","):
            self._pair()
        self.expect("}", "the object")

    def _pair(self) -> None:
        token = self.next()
        computed = self.accept("(")
        if computed:
            self._pipeline()
            self.expect(")", "the computed key")
        elif token is not None and token.kind in ("string", "head"):
            self.step()
            self._string(token)
        elif token is not None and token.kind == "variable":
            raise self.unfit(f"a key is missing: write `{token.text[1:]}: {token.text}`")
        else:
            self.take("word", 'a key (a name, a "string" or `(…)`)')
        if self.accept(":"):
            self._pipeline(commas=False)
        elif computed:
            raise self.unfit("`:` is missing after the computed key")

    def _variable(self, token: Token) -> None:
        if token.text in self._bound:
            return
        if token.text in _AMBIENT_VARIABLES:
            raise refusal(f"`{token.text}` {AMBIENT}", token.span)
        way = nearest(token.text, self._bound) or "bind it with `… as $name |`"
        raise refusal(f"`{token.text}` is not bound here · {way}", token.span)

    def _word(self, token: Token) -> None:
        productions = {"if": self._if, "try": self._try, "reduce": self._reduce}
        if token.text in productions:
            productions[token.text]()
        elif token.text in self._defined:
            self._arguments(token, (0,))
        elif token.text in FUNCTIONS:
            self._used.add(token.text)
            self._arguments(token, FUNCTIONS[token.text])
        elif token.text not in ("true", "false", "null"):
            raise refusal(self._no_function(token.text), token.span)

    def _no_function(self, name: str) -> str:
        if name in REFUSED:
            return f"`{name}` {REFUSED[name]}"
        if name == self._defining:
            return f"`{name}` calls itself: that {ENDLESS}"
        if name in KEYWORDS:
            return MISPLACED.get(name, f"`{name}` does not belong here")
        way = nearest(name, [*FUNCTIONS, *self._defined]) or f"a field is read as `.{name}`"
        return f"`{name}` is not a function of {GRAMMAR} · {way}"

    def _arguments(self, name: Token, allowed: tuple[int, ...]) -> None:
        count = 0
        if self.accept("("):
            self._pipeline()
            count = 1
            while self.accept(";"):
                self._pipeline()
                count += 1
            self.expect(")", f"the call of `{name.text}`")
        if count not in allowed:
            takes = " or ".join(map(str, allowed)) + (" argument" if allowed == (1,) else " arguments")
            raise refusal(f"`{name.text}` takes {takes}, not {count}", name.span)

    def _if(self) -> None:
        self._condition()
        while self.accept("elif"):
            self._condition()
        if not self.accept("else"):
            raise self.unfit("`else` is missing in `if`: to leave the value as it is write `else . end`")
        self._pipeline()
        self.expect("end", "`if`")

    def _condition(self) -> None:
        self._pipeline()
        self.expect("then", "`if`")
        self._pipeline()

    def _try(self) -> None:
        self._postfix()
        if self.accept("catch"):
            self._postfix()

    def _reduce(self) -> None:
        self._postfix()
        self.expect("as", "`reduce`")
        name = self.take("variable", "a `$name` after `as`").text
        self.expect("(", "`reduce`")
        self._pipeline()
        self.expect(";", "`reduce`")
        self._bound.append(name)
        self._pipeline()
        self._bound.pop()
        self.expect(")", "`reduce`")


def _format(token: Token) -> None:
    if token.text[1:] not in FORMATS:
        known = [f"@{name}" for name in sorted(FORMATS)]
        way = nearest(token.text, known) or f"there are {', '.join(known)}"
        raise refusal(f"`{token.text}` is not a format of {GRAMMAR} · {way}", token.span)
