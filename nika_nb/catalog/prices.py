"""What models cost by the public lists of their providers: figures of one date, and the pin that names them.

A list price is an upper bound: what a provider takes off for caches and batches is not in it.
A model that is not here has no price, and none is guessed.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from nika_nb.catalog.providers import kind_of

AS_OF = "2026-11"
SCHEMA = "nika-nb/model-pricing@1"  # moves with every figure: a recorded cost is read by its own table

PER = 1_000_000  # tokens


class Price(NamedTuple):
    """USD per million tokens. A call whose input is larger than `beyond` costs the rates after it."""

    input: float
    output: float
    beyond: int | None = None
    input_beyond: float = 0.0
    output_beyond: float = 0.0

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """USD for one call."""
        taken, given = self.input, self.output
        if self.beyond is not None and input_tokens > self.beyond:
            taken, given = self.input_beyond, self.output_beyond
        return round((input_tokens * taken + output_tokens * given) / PER, 10)


_LONG_GPT, _LONG = 272_000, 200_000

PRICES: dict[str, Price] = {
    "anthropic/claude-3-haiku": Price(0.25, 1.25),
    "anthropic/claude-3-5-haiku": Price(0.8, 4),
    "anthropic/claude-3-5-sonnet": Price(3, 15),
    "anthropic/claude-3-7-sonnet": Price(3, 15),
    "anthropic/claude-3-opus": Price(15, 75),
    "anthropic/claude-haiku-4-5": Price(1, 5),
    "anthropic/claude-haiku-5-5": Price(0.1, 0.5, 100_000, 0.5, 2.5),
    "anthropic/claude-sonnet-4-0": Price(3, 15),
    "anthropic/claude-sonnet-4-5": Price(3, 15, _LONG, 6, 22.5),
    "anthropic/claude-sonnet-4-6": Price(3, 15),
    "anthropic/claude-sonnet-5": Price(2, 10),
    "anthropic/claude-sonnet-5-5": Price(2, 10),
    "anthropic/claude-opus-4-1": Price(15, 75),
    "anthropic/claude-opus-4-5": Price(5, 25),
    "anthropic/claude-opus-4-6": Price(5, 25),
    "anthropic/claude-opus-4-7": Price(5, 25),
    "anthropic/claude-opus-4-8": Price(5, 25),
    "anthropic/claude-opus-5": Price(5, 25),
    "anthropic/claude-opus-5-5": Price(4, 20),
    "openai/gpt-4o": Price(2.5, 10),
    "openai/gpt-4o-2024-05-13": Price(5, 15),
    "openai/gpt-4o-mini": Price(0.15, 0.6),
    "openai/gpt-4.1": Price(2, 8),
    "openai/gpt-4.1-mini": Price(0.4, 1.6),
    "openai/gpt-4.1-nano": Price(0.1, 0.4),
    "openai/gpt-5": Price(1.25, 10),
    "openai/gpt-5-mini": Price(0.25, 2),
    "openai/gpt-5-nano": Price(0.05, 0.4),
    "openai/gpt-5.1": Price(1.25, 10),
    "openai/gpt-5.2": Price(1.75, 14),
    "openai/gpt-5.3": Price(1.75, 14),
    "openai/gpt-5.4": Price(2.5, 15, _LONG_GPT, 5, 22.5),
    "openai/gpt-5.4-mini": Price(0.75, 4.5),
    "openai/gpt-5.4-nano": Price(0.2, 1.25),
    "openai/gpt-5.5": Price(5, 30, _LONG_GPT, 10, 45),
    "openai/gpt-5.6-luna": Price(0.2, 1.2, _LONG_GPT, 0.4, 1.8),
    "openai/gpt-5.6-sol": Price(4, 20, _LONG_GPT, 8, 30),
    "openai/gpt-5.6-terra": Price(2, 12, _LONG_GPT, 4, 18),
    "openai/o3": Price(2, 8),
    "openai/o3-mini": Price(1.1, 4.4),
    "openai/o4-mini": Price(1.1, 4.4),
    "gemini/gemini-2.0-flash": Price(0.1, 0.4),
    "gemini/gemini-2.5-flash": Price(0.3, 2.5),
    "gemini/gemini-2.5-flash-lite": Price(0.1, 0.4),
    "gemini/gemini-2.5-pro": Price(1.25, 10, _LONG, 2.5, 15),
    "gemini/gemini-3-flash-preview": Price(0.5, 3),
    "gemini/gemini-3.1-flash-lite": Price(0.25, 1.5),
    "gemini/gemini-3.1-pro-preview": Price(2, 12, _LONG, 4, 18),
    "gemini/gemini-3.5-flash": Price(1.5, 9),
    "gemini/gemini-3.5-flash-lite": Price(0.3, 2.5),
    "gemini/gemini-3.8-flash": Price(1.5, 7.5),
    "mistral/codestral-2508": Price(0.3, 0.9),
    "mistral/mistral-large-2512": Price(0.5, 1.5),
    "mistral/mistral-large-4": Price(0.7, 2.1),
    "mistral/mistral-medium-latest": Price(1.5, 7.5),
    "mistral/mistral-small-2603": Price(0.15, 0.6),
    "mistral/mistral-small-latest": Price(0.15, 0.6),
    "deepseek/deepseek-chat": Price(0.27, 1.1),
    "deepseek/deepseek-reasoner": Price(0.55, 2.19),
    "deepseek/deepseek-v4-flash": Price(0.3, 1.2),
    "deepseek/deepseek-v4-pro": Price(1.32, 3.96),
    "groq/llama-3.1-8b-instant": Price(0.05, 0.08),
    "groq/llama-3.3-70b-versatile": Price(0.59, 0.79),
    "groq/openai/gpt-oss-120b": Price(0.15, 0.6),
    "groq/openai/gpt-oss-20b": Price(0.075, 0.3),
    "moonshot/kimi-k2.6": Price(0.95, 4),
    "moonshot/kimi-k2.7-code": Price(0.95, 4),
    "moonshot/kimi-k2.7-code-highspeed": Price(1.9, 8),
    "moonshot/kimi-k3": Price(3, 15),
    "xai/grok-3": Price(3, 15),
    "xai/grok-3-mini": Price(0.3, 0.5),
    "xai/grok-4-0709": Price(3, 15),
    "xai/grok-4-fast-reasoning": Price(0.2, 0.5),
    "xai/grok-4-1-fast-reasoning": Price(0.2, 0.5),
    "xai/grok-code-fast-1": Price(0.2, 1.5),
}

_DATED = re.compile(r"-20\d{2}-?\d{2}-?\d{2}$")
FREE = "mock_provider"
_UNPRICED = {"test": FREE, "local": "local_provider"}


def price_of(model: str) -> Price | None:
    """The price of `<provider>/<name>`; a dated name costs what its family does, unless it stands here."""
    return PRICES.get(model) or PRICES.get(_DATED.sub("", model))


def cost_of(model: str, input_tokens: int, output_tokens: int) -> float | None:
    """USD for one call, None where the model has no price."""
    price = price_of(model)
    return price.of(input_tokens, output_tokens) if price is not None else None


def why_unpriced(model: str) -> str:
    """Why a model has no price here: `mock_provider`, `local_provider` or `unknown_model`."""
    return _UNPRICED.get(kind_of(model) or "", "unknown_model")


def unknown(unpriced: object) -> bool:
    """Whether a recorded reason of there being no price leaves open what was paid; a mock costs nothing."""
    return unpriced not in (None, FREE)
