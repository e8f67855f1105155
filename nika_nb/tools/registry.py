"""The builtins of this version, by name."""

from __future__ import annotations

from nika_nb.tools import assertion, log, prompt, read, write
from nika_nb.tools.base import Tool

TOOLS: dict[str, Tool] = {
    tool.name: tool for tool in (assertion.TOOL, log.TOOL, prompt.TOOL, read.TOOL, write.TOOL)
}
