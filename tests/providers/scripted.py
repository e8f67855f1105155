"""A provider that says what a test wrote down: the loop, the tools and the journal around it are real."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from nika_nb.errors import Fault
from nika_nb.providers.base import ChatReply, ChatRequest, Say, ToolCall

Tokens = tuple[int | None, int | None]  # input, output; None where nothing is said of them
Line = ChatReply | Fault | str | Callable[[ChatRequest], "Line"]


class Scripted:
    """Gives its lines in order and keeps what it was asked. The last line is repeated."""

    def __init__(self, *lines: Line) -> None:
        self.lines = list(lines)
        self.requests: list[ChatRequest] = []

    async def chat(self, request: ChatRequest, say: Say) -> ChatReply:
        self.requests.append(request)
        line = self.lines.pop(0) if len(self.lines) > 1 else self.lines[0]
        while callable(line):
            line = line(request)
        if isinstance(line, Fault):
            raise line
        reply = says(line) if isinstance(line, str) else line
        say(reply.text)
        return reply


def says(text: str, tokens: Tokens = (1, 1), cost: float | None = None) -> ChatReply:
    """A reply in words."""
    return ChatReply(text, *tokens, cost_usd=cost)


def calls(tool: str, text: str = "", tokens: Tokens = (1, 1), **arguments: Any) -> ChatReply:
    """A reply that calls one tool."""
    return together([ToolCall("c1", tool, arguments)], text, tokens)


def together(made: Iterable[ToolCall], text: str = "", tokens: Tokens = (1, 1)) -> ChatReply:
    """A reply with several calls."""
    return ChatReply(text, *tokens, calls=tuple(made))
