"""`nika:assert`: true, or the task fails with the author's own sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nika_nb.errors import Fault
from nika_nb.tools.base import Tool, Use, as_text
from nika_nb.values import type_name

FAILED_CODE = "NIKA-BUILTIN-ASSERT-001"


async def _assert(use: Use, arguments: Mapping[str, Any]) -> bool:
    condition = arguments["condition"]
    if not isinstance(condition, bool):
        raise Fault(FAILED_CODE, f"`condition:` must be true or false, not {type_name(condition)}")
    if not condition:
        message = arguments.get("message")
        why = "the condition does not hold" if message is None else as_text(message, "`message:`")
        raise Fault(FAILED_CODE, why)
    return True


TOOL = Tool(
    "nika:assert",
    _assert,
    required=("condition",),
    optional=("message",),
    says="Goes on where the condition is true, and fails with the message where it is false.",
    shapes={"condition": {"type": "boolean"}, "message": {"type": "string"}},
)
