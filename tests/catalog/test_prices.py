"""The price list: figures of one date under one name, and nothing made up beside them."""

from __future__ import annotations

import re

import pytest

from nika_nb.catalog import prices
from nika_nb.catalog.frames import PRICING_PINS
from nika_nb.catalog.providers import PROVIDERS, split_model
from nika_nb.values import digest

# The figures behind each name. A changed figure needs a new name: a recorded cost is read by its own table.
PINNED = {
    "nika-nb/model-pricing@1": "9ce515d5ca5f08d7fa134a440848d8d842df9b590fc1ff5cc59f48e352cd4350",
}


def test_a_figure_never_changes_under_its_name() -> None:
    """The table behind the pin that journals carry is the one that was published under it."""
    assert digest({name: list(price) for name, price in prices.PRICES.items()}) == PINNED[prices.SCHEMA]


def test_the_pin_is_known() -> None:
    """What our own journals name, our own verifier can read; so it can the reference's."""
    assert prices.SCHEMA in PRICING_PINS
    assert "nika/model-pricing@1.3" in PRICING_PINS
    assert re.fullmatch(r"20\d\d-\d\d", prices.AS_OF)


@pytest.mark.parametrize("name", prices.PRICES)
def test_every_price_is_one(name: str) -> None:
    """A known cloud provider, a positive rate, and higher rates beyond a bound."""
    price = prices.PRICES[name]
    assert PROVIDERS[split_model(name)[0]] == "cloud"
    assert 0 < price.input <= price.output
    if price.beyond is not None:
        assert price.beyond >= 100_000
        assert price.input_beyond > price.input
        assert price.output_beyond > price.output


def test_what_a_call_costs() -> None:
    """Tokens times the rate; a large input moves the whole call to the rates beyond."""
    assert prices.cost_of("openai/gpt-5-mini", 1_000_000, 1_000_000) == 2.25
    assert prices.cost_of("anthropic/claude-sonnet-4-5", 200_000, 0) == 0.6
    beyond = prices.cost_of("anthropic/claude-sonnet-4-5", 200_001, 1000)
    assert beyond == pytest.approx(200_001 * 6e-6 + 0.0225)
    assert prices.cost_of("openai/gpt-5-nano", 0, 0) == 0.0


def test_a_dated_name_costs_what_its_family_does() -> None:
    """Unless it is listed itself."""
    haiku = prices.PRICES["anthropic/claude-haiku-4-5"]
    assert prices.price_of("anthropic/claude-haiku-4-5-20251001") == haiku
    assert prices.price_of("openai/gpt-4o-2024-08-06") == prices.PRICES["openai/gpt-4o"]
    assert prices.price_of("openai/gpt-4o-2024-05-13") == prices.Price(5, 15)


@pytest.mark.parametrize(
    ("model", "why"),
    [
        ("mock/echo", "mock_provider"),
        ("ollama/qwen3.5:9b", "local_provider"),
        ("openai/house-model", "unknown_model"),
        ("openrouter/anthropic/claude-sonnet-4-6", "unknown_model"),
        ("openai/gpt-5-large", "unknown_model"),
    ],
)
def test_what_has_no_price(model: str, why: str) -> None:
    """No price is no price, with the reason; a name that only begins like another is another."""
    assert prices.cost_of(model, 10, 10) is None
    assert prices.why_unpriced(model) == why
