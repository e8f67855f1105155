"""The tools of this version as words for an editor."""

from __future__ import annotations

from functools import cache

from nika_nb.check.editing.places import ToolWords
from nika_nb.tools.registry import TOOLS


@cache
def tool_words() -> dict[str, ToolWords]:
    """Every builtin by its name, with its arguments."""
    return {
        name: ToolWords(name, tool.says, tool.required, tool.optional, tool.shapes)
        for name, tool in TOOLS.items()
    }
