"""What every provider offers: one chat request in, one reply with its usage out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One call of a model. `model` is the name without its provider.

    schema: the JSON Schema that the reply must fit, None for free text.
    """

    model: str
    prompt: str
    system: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    schema: dict[str, Any] | None = None
    thinking: dict[str, Any] | None = None
    vision: tuple[dict[str, Any], ...] = field(default=())


@dataclass(frozen=True, slots=True)
class ChatReply:
    """The reply as text (JSON text where a schema was asked for), tokens as the provider counts them."""

    text: str
    input_tokens: int
    output_tokens: int
    cost_usd: float | None = None
    unpriced: str | None = None


class Provider(Protocol):
    """A backend that answers chat requests."""

    async def chat(self, request: ChatRequest) -> ChatReply:
        """The reply. Raises Fault NIKA-INFER-001 where the call failed."""
        ...
