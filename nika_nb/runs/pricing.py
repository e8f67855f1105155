"""By which prices a run counts: the dated list, and what NIKA_NB_MOCK says that mock models cost."""

from __future__ import annotations

from nika_nb.catalog import prices
from nika_nb.catalog.prices import Price
from nika_nb.errors import Fault
from nika_nb.providers import rehearsal
from nika_nb.values import dumps


def pricing() -> str:
    """The `pricing` of a journal's first frame: the list by its name, made-up prices in full."""
    made_up = {model: {"input": price.input, "output": price.output} for model, price in mocked().items()}
    told = {"as_of": prices.AS_OF, "schema": prices.SCHEMA}
    return dumps({**told, "mock": made_up} if made_up else told)


def price_of(model: str) -> Price | None:
    """USD per million tokens, None where nothing is known."""
    return prices.price_of(model) or mocked().get(model)


def mocked() -> dict[str, Price]:
    """Nothing where the file cannot be read: every call of a mock model fails with the reason then."""
    try:
        return rehearsal.prices()
    except Fault:
        return {}
