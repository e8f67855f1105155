"""`nika:jq`: one program over one value gives one value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nika_nb.errors import Fault, hidden
from nika_nb.tools.base import Tool, Use, text_of

NAME = "nika:jq"
FAILED_CODE = "NIKA-BUILTIN-JQ-001"


async def one_value(use: Use, program: str, value: Any, code: str) -> Any:
    """The one value that a program emits.

    Raises Fault with `code` where it fails or emits another number of values, NIKA-VAR-005 where it
    is no program, and NIKA-VAR-007 for bytes.
    """
    try:
        found = await use.jq.run(program, value)
    except Fault as fault:
        if fault.code != "NIKA-VAR-004":
            raise
        raise Fault(code, fault.message, transient=False) from None
    if len(found) != 1:
        count = "no value" if not found else f"{len(found)} values"
        hint = "collect them with `[ … ]`, or take `first(…)`"
        shown = " ".join(hidden(program).split())[:60]
        raise Fault(code, f"jq `{shown}` emits {count} where one is needed: {hint}", transient=False)
    return found[0]


async def _jq(use: Use, arguments: Mapping[str, Any]) -> Any:
    program = text_of(arguments, "expression", NAME)
    return await one_value(use, program, arguments.get("input"), FAILED_CODE)


TOOL = Tool(
    NAME,
    _jq,
    required=("expression",),
    optional=("input",),
    says="Evaluates a jq expression over a JSON value and returns the one value that it emits.",
    shapes={"expression": {"type": "string"}},
)
