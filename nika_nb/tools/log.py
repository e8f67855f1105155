"""`nika:log`: a line for the people who watch, and for those who read the journal later."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nika_nb.tools.base import Tool, Use
from nika_nb.values import to_text

_LEVELS = ("debug", "info", "warn", "error")


async def _log(use: Use, arguments: Mapping[str, Any]) -> None:
    level = arguments.get("level") if arguments.get("level") in _LEVELS else "info"
    message, data = to_text(arguments.get("message", "")), arguments.get("data")
    shown = message if data is None else f"{message} · {to_text(data)}"
    use.call.show("log", f"{level} · {shown}\n")
    use.call.attach("nb_log", {"level": level, "message": message, "data": data})


TOOL = Tool("nika:log", _log, optional=("message", "level", "data"))
