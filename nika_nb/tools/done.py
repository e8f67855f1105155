"""`nika:done`: how an agent says that it has finished; on its own it ends nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nika_nb.errors import Fault
from nika_nb.tools.base import Tool, Use

NAME = "nika:done"
ALONE_CODE = "NIKA-BUILTIN-DONE-001"


async def _done(use: Use, arguments: Mapping[str, Any]) -> Any:
    if use.in_loop:
        return arguments.get("result")
    raise Fault(
        ALONE_CODE,
        f"`{NAME}` ends an agent's loop, and this task is no agent; a workflow ends by itself: remove the "
        'task, or grant the tool to an agent: `tools: ["nika:done"]`',
    )


TOOL = Tool(
    NAME,
    _done,
    optional=("result",),
    says="Call this once the task is complete. `result` becomes the output of the task.",
)
