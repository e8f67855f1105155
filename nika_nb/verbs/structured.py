"""A reply in the shape that was asked for: read, judged, and asked for again where it does not fit."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from dataclasses import replace
from typing import Any

from nika_nb import values
from nika_nb.errors import Fault, hidden
from nika_nb.language.schemas import refuse_to_retrieve
from nika_nb.providers.base import ChatReply, ChatRequest, Message

REPAIRS = 2  # how often a misfit is given back before the task fails

_CARRIED = 2000  # characters of a reply that an error carries
_FENCED = re.compile(r"\s*```[a-zA-Z]*\n(.*)\n```\s*", re.DOTALL)


class Misfit(Exception):
    """A value that does not fit its schema, and why."""


class Fit:
    """A JSON Schema ready to judge by. Raises Fault NIKA-INFER-002 for one that cannot be used."""

    def __init__(self, schema: dict[str, Any]) -> None:
        import jsonschema_rs

        self.schema = schema
        try:
            self._validator = jsonschema_rs.validator_for(schema, retriever=refuse_to_retrieve)
        except (ValueError, jsonschema_rs.ReferencingError) as broken:
            why = str(broken).split("\n", 1)[0]
            raise Fault("NIKA-INFER-002", f"the schema itself cannot be used: {why}") from None

    def read(self, text: str) -> Any:
        """The value of a JSON text, with or without a code fence around it. Raises Misfit."""
        fenced = _FENCED.fullmatch(text)
        try:
            value = values.loads(fenced.group(1) if fenced else text)
        except (ValueError, RecursionError) as error:
            raise Misfit(f"it is not JSON ({error})") from None
        return self.judge(value)

    def judge(self, value: Any) -> Any:
        """The value itself. Raises Misfit."""
        if values.too_deep(value):
            raise Misfit(f"it nests deeper than {values.LEVELS} levels")
        error = next(self._validator.iter_errors(value), None)
        if error is None:
            return value
        place = "/".join(str(step) for step in error.instance_path)
        raise Misfit(error.message + (f" (at {place})" if place else ""))


def fitting(
    request: ChatRequest, fit: Fit | None, affords: Callable[[], bool] = lambda: True
) -> Generator[ChatRequest, ChatReply, Any]:
    """The conversation of one `infer`: requests come out, replies go in, the output is returned.

    affords: whether there may be another repair.

    Raises Fault NIKA-INFER-002 when the last repair does not fit either, -004 for an empty answer.
    """
    reply = yield request
    for left in range(REPAIRS, -1, -1):
        if reply.output_tokens and not reply.text.strip():
            raise said_nothing(reply.output_tokens)
        if fit is None:
            return reply.text
        try:
            return fit.read(reply.text)
        except Misfit as misfit:
            if not left or not affords():
                raise unfit(misfit, reply.text, REPAIRS - left) from None
            request = _repair(request, reply, misfit)
        reply = yield request
    raise AssertionError("the last round returns or raises")


def _repair(request: ChatRequest, reply: ChatReply, misfit: Misfit) -> ChatRequest:
    said = Message("assistant", reply.text)
    return replace(request, messages=(*request.messages, said, Message("user", repair_text(misfit))))


def repair_text(misfit: Misfit) -> str:
    """What the model is told about a misfit."""
    return (
        f"Your reply does not fit the JSON Schema that was asked for: {misfit}. "
        "Reply again with the corrected JSON value alone."
    )


def said_nothing(tokens: int) -> Fault:
    """The failure of a model that spent tokens, and whose answer is empty."""
    return Fault(
        "NIKA-INFER-004",
        f"the model spent {tokens} tokens and said nothing, most often because it used them up thinking; "
        "raise `max_tokens:`, or take a model that does not think",
        details={"output_tokens": tokens},
    )


def unfit(misfit: Misfit, text: str, repairs: int = REPAIRS) -> Fault:
    """The failure of a reply that could not be repaired."""
    asked = f"asked {repairs + 1} times" if repairs else "asked once"
    sentence = f"the model's reply does not fit the schema: {misfit} ({asked})"
    return Fault("NIKA-INFER-002", sentence, details={"reply": hidden(text)[:_CARRIED], "repairs": repairs})
