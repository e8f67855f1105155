"""What a client hands a tool, judged by the schema that the tool shows; refused in the product's words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from jsonschema_rs import is_valid

from nika_nb.errors import UsageError
from nika_nb.values import among, loads

Shape = dict[str, Any]

_SAID = {
    "string": "a text",
    "integer": "a whole number",
    "boolean": "true or false",
    "object": "an object",
    "array": "a list of texts",
}
_MOST = 60  # characters of a value that is shown


def fitted(tool: str, schema: Shape, given: Shape) -> Shape:
    """The arguments as the tool takes them: a text that holds JSON of a kind that fits stands for that.

    schema: JSON Schema of an object. Raises UsageError that tells all that is wrong with them.
    """
    known: Shape = schema["properties"]
    found = {name: _fitting(known[name], value) if name in known else value for name, value in given.items()}
    wrong = list(_wrong(tool, schema, found))
    if wrong:
        raise UsageError("\n".join([*wrong, "Nothing was done"]))
    return found


def no_tool(name: str, known: Iterable[str]) -> UsageError:
    return UsageError(f"there is no tool `{name}`; {among(name, known)}")


def _wrong(tool: str, schema: Shape, given: Shape) -> Iterator[str]:
    known: Shape = schema["properties"]
    for name in schema.get("required", ()):
        if name not in given:
            yield f"{tool} needs `{name}`: {known[name]['description']}"
    for name, value in given.items():
        if name not in known:
            yield f"{tool} takes no `{name}`; {among(name, known)}"
        elif not is_valid(known[name], value):
            said = f"{tool}: `{name}` is {_kind(known[name])}, not {_shown(value)}"
            yield f"{said} ({known[name]['description']})"


def _fitting(schema: Shape, value: Any) -> Any:
    """Some clients write every argument as a text."""
    if isinstance(value, str) and not is_valid(schema, value):
        with suppress(ValueError, RecursionError):
            meant = loads(value)
            return meant if is_valid(schema, meant) else value
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _kind(schema: Shape) -> str:
    if "anyOf" in schema:
        return " or ".join(_kind(one) for one in schema["anyOf"] if one["type"] != "null")
    if "enum" in schema:
        return " or ".join(f"`{one}`" for one in schema["enum"])
    return _SAID[schema["type"]]


def _shown(value: Any) -> str:
    """A value as a sentence shows it, in one line of a bearable length."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MOST else f"{text[:_MOST]}…"
