"""What every provider offers: one request of a conversation in, one reply with its usage out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol


@dataclass(frozen=True, slots=True)
class Picture:
    """An image of a message: an address that the provider fetches itself, or base64 data of a media type."""

    url: str | None = None
    data: str = ""
    media_type: str = ""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool that the model may call. `parameters` is the JSON Schema of its arguments, an object."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that the model asks for.

    id: what its result is matched by. trouble: why the arguments could not be read, else empty.
    """

    id: str
    name: str
    arguments: dict[str, Any]
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation.

    A `user` message may show pictures; an `assistant` one may ask for calls; a `tool` one is the
    result of the call `answers`, and `failed` says that the call went wrong.
    """

    role: Literal["user", "assistant", "tool"]
    text: str
    pictures: tuple[Picture, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    answers: str = ""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Thinking:
    """Extended thinking is asked for; at most so many tokens of it, where that is said."""

    budget_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One call of a model. `model` is the name without its provider.

    messages: the conversation so far; the first is the user's prompt. schema: the JSON Schema that
    the final reply must fit, None for free text. tools: what the model may call, in the order granted.
    """

    model: str
    messages: tuple[Message, ...]
    system: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    schema: dict[str, Any] | None = None
    thinking: Thinking | None = None
    tools: tuple[ToolSpec, ...] = ()

    @property
    def prompt(self) -> str:
        """The text that the conversation began with."""
        return self.messages[0].text


@dataclass(frozen=True, slots=True)
class ChatReply:
    """The reply: text (JSON text where a schema was asked for), and the calls it asks for.

    Tokens as the provider counts them, None where it does not say; thinking counts as output.
    cost_usd: only where the provider bills the call itself; else a price list is asked.
    """

    text: str
    input_tokens: int | None = None
    output_tokens: int | None = None
    calls: tuple[ToolCall, ...] = ()
    cost_usd: float | None = None

    @property
    def counted(self) -> bool:
        """Whether the provider said what the call used."""
        return self.input_tokens is not None and self.output_tokens is not None


Say = Callable[[str], None]  # text of the reply as it comes, for those who watch


class Provider(Protocol):
    """A backend that answers chat requests."""

    async def chat(self, request: ChatRequest, say: Say) -> ChatReply:
        """The reply. Raises Fault NIKA-INFER-001 where the call failed."""
        ...
