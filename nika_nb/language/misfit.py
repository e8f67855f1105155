"""Why a value does not fit its type, in one sentence: where, what stands there, what to write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nika_nb.errors import hidden
from nika_nb.language import scalars
from nika_nb.values import Json, dumps

_SHOWN = 60  # characters of a value
_NAMED = 6  # fields that are listed
_WRITTEN = {"boolean": "bool", "array": "{ array: … }", "object": "{ object: … }"}


def misfit(error: Any) -> str:
    """`error` is what jsonschema_rs found, with `it` for the value."""
    place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.instance_path)
    what = _what(error)
    return f"at `{place.lstrip('.')}`: {what}" if place else what


def _what(error: Any) -> str:
    value, kind = error.instance, error.kind
    match kind.name:
        case "type":
            return _wrong_type(value, list(kind.types))
        case "additionalProperties":
            return _surplus(list(kind.unexpected))
        case "required":
            hint = "say `{ optional: T }` where it may be missing"
            return f"the field `{hidden(kind.property)[:_SHOWN]}` is missing; {hint}"
        case "anyOf":
            return f"{shown(value)} fits none of the types of the union"
    message = str(error.message)
    return shown(value) + message.removeprefix("it") if message.startswith("it ") else message


def _wrong_type(value: Json, types: list[str]) -> str:
    names = " or ".join(f"`{'bool' if name == 'boolean' else name}`" for name in types)
    said = f"{shown(value)} is not of type {names}{_too_large(value, types)}"
    if value is not None or len(types) != 1:
        return said
    return f"{said}; where null may come write `{{ union: [{_WRITTEN.get(types[0], types[0])}, null] }}`"


def _too_large(value: Json, types: list[str]) -> str:
    """A text that spells a number which no JSON value can hold stays a text: that it does so is told."""
    if not isinstance(value, str) or not {"number", "integer"} & set(types):
        return ""
    try:
        scalars.resolve(value or "x")
    except scalars.NotFinite:
        return f": {scalars.endless(hidden(value))}"
    return ""


def _surplus(found: list[str]) -> str:
    names = ", ".join(f"`{hidden(name)[:_SHOWN]}`" for name in found[:_NAMED])
    more = " …" if len(found) > _NAMED else ""
    are = "is no field" if len(found) == 1 else "are no fields"
    return f"{names}{more} {are} of the type; declare what may come, leave it out, or say `additional: true`"


def shown(value: Json) -> str:
    """A value as a sentence shows it: without the secrets of the run, and cut short."""
    if isinstance(value, Mapping):
        names = ", ".join(f"`{hidden(str(name))[:_SHOWN]}`" for name in list(value)[:_NAMED])
        return f"an object with {names}{' …' if len(value) > _NAMED else ''}" if names else "an empty object"
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}"
    text = dumps(hidden(value)) if isinstance(value, str) else hidden(dumps(value))
    return f"`{text if len(text) <= _SHOWN else text[:_SHOWN] + '…'}`"
