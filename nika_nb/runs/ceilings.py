"""The most that a task can cost: from its own bounds and the price list, or why there is no such figure."""

from __future__ import annotations

from typing import Any

from nika_nb.board.forecast import Ceiling
from nika_nb.catalog.prices import Price
from nika_nb.catalog.providers import kind_of
from nika_nb.language.model import Task
from nika_nb.runs.pricing import price_of
from nika_nb.values import dumps
from nika_nb.verbs.structured import REPAIRS

NOTHING = Ceiling(0.0)

_FRAMING = 64  # tokens that a provider may add around one message
_MISFIT = 1000  # tokens of the sentence that gives a misfit back, what it quotes of the reply left out


def ceiling(task: Task, body: Any, model: str | None, units: int | None) -> Ceiling:
    """Of everything that still runs of one task.

    body: the action's as far as it is known, its open islands as text. units: how often it runs, None
    where that is not known.
    """
    named = paid_model(task, body, model)
    if named is None:
        return NOTHING
    if "${{" in named:
        return Ceiling(None, "its model is decided by the run")
    price = price_of(named)
    if price is None:
        return Ceiling(None, f"no price is known for {named or 'its model'}")
    if units is None:
        return Ceiling(None, "how many items there are is decided by the run")
    each = _infer(task, body, price) if task.action.verb == "infer" else _agent(body, price)
    attempts = task.retry.max_attempts if task.retry else 1
    return each if each.usd is None else Ceiling(round(each.usd * attempts * units, 10), each.why)


def paid_model(task: Task, body: Any, model: str | None) -> str | None:
    """The model that a task asks, as it is written; None where it asks none, or one that costs nothing."""
    if task.action.verb not in ("infer", "agent"):
        return None
    named = str(body.get("model") or model or "")
    return None if price_of(named) is None and kind_of(named) == "test" else named


def _infer(task: Task, body: Any, price: Price) -> Ceiling:
    """A token is at least one byte; of a picture nobody knows what it is counted as."""
    answer = body.get("max_tokens")
    texts = [str(body.get(key) or "") for key in ("prompt", "system")]
    if not isinstance(answer, int):
        return Ceiling(None, "no `max_tokens:` bounds its answer")
    if any("${{" in text for text in texts) or body.get("vision"):
        return Ceiling(None, "what it sends is decided by the run")
    schema = task.returns.schema if task.returns is not None else body.get("schema")
    texts += [dumps(schema)] if schema is not None else []
    sent = sum(len(text.encode("utf-8", "replace")) for text in texts) + _FRAMING
    rounds = 1 if schema is None else REPAIRS + 1
    costs = (price.of(sent + repair * (2 * answer + _MISFIT), answer) for repair in range(rounds))
    return Ceiling(sum(costs))


def _agent(body: Any, price: Price) -> Ceiling:
    """Its budget counts both ways of a conversation; it is judged between turns."""
    tokens = body.get("max_tokens_total")
    if not isinstance(tokens, int):
        return Ceiling(None, "no `max_tokens_total:` bounds it")
    dearest = max(price.of(tokens, 0), price.of(0, tokens))
    return Ceiling(dearest, "and what its last turn goes beyond its budget")
