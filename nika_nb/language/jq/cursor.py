"""Where a parser of a jq program stands among its tokens, and what it says when the next one does not fit."""

from __future__ import annotations

from nika_nb.errors import Fault, Span
from nika_nb.language.jq.tokens import Token, refusal
from nika_nb.language.jq.vocabulary import MISPLACED


class Cursor:
    """The tokens of a program, read one by one. length: of the program's text."""

    def __init__(self, found: list[Token], length: int) -> None:
        self._tokens = found
        self._at = 0
        self.end = Span(max(length - 1, 0), length)

    def step(self) -> None:
        self._at += 1

    def next(self) -> Token | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def peek(self) -> str:
        """The next token where it is an operator or a word, else ''."""
        token = self.next()
        return token.text if token and token.kind in ("op", "word") else ""

    def accept(self, *texts: str) -> bool:
        if self.peek() and self.peek() in texts:
            self.step()
            return True
        return False

    def expect(self, text: str, inside: str) -> None:
        if not self.accept(text):
            raise self.unfit(f"`{text}` is missing in {inside}")

    def take(self, kind: str, what: str) -> Token:
        token = self.next()
        if token is None or token.kind != kind:
            raise self.unfit(f"{what} is missing")
        self.step()
        return token

    def unfit(self, missing: str = "") -> Fault:
        """The refusal of the next token: it cannot follow what was read."""
        token = self.next()
        if token is None:
            return refusal(missing, self.end)
        if token.kind in ("string", "head") and self._tokens[self._at - 1].text == ".":
            missing = 'a key in quotes is read as `.["…"]`'
        sentence = MISPLACED.get(token.text) or missing or f"`{token.text}` does not belong here"
        return refusal(sentence, token.span)
