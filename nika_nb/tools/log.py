"""`nika:log`: a line for the people who watch, and for those who read the journal later."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nika_nb.catalog.arguments import ARGUMENTS
from nika_nb.errors import Fault
from nika_nb.tools.base import Tool, Use
from nika_nb.values import to_text

NAME = "nika:log"
_LEVELS = ARGUMENTS[NAME]["level"].of


async def _log(use: Use, arguments: Mapping[str, Any]) -> None:
    message, data = use.asking.mask([arguments.get("message", ""), arguments.get("data")])
    said = {"level": "info", "message": _legible(message)}
    if arguments.get("level") in _LEVELS:
        said["level"] = arguments["level"]
    if data is not None:
        said["data"] = _legible(data)
    use.call.show("log", " · ".join(said.values()) + "\n")
    use.call.attach("nb_log", said)


def _legible(value: Any) -> str:
    try:
        return to_text(value)
    except (Fault, TypeError, ValueError):  # bytes, or a number that JSON does not know
        return repr(value)


TOOL = Tool(
    NAME,
    _log,
    optional=("message", "level", "data"),
    says="Writes a line for the people who watch the run.",
    shapes={"message": {"type": "string"}, "level": {"enum": list(_LEVELS)}},
)
