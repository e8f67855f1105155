"""The builtins of this version, by name."""

from __future__ import annotations

from importlib import import_module

from nika_nb.tools.base import Tool

_FILES = (
    *("assertion", "compose", "convert", "done", "fetch", "jq", "json_diff", "log", "prompt", "read"),
    *("validate", "wait", "write"),
)


def _tool(file: str) -> Tool:
    tool: Tool = import_module(f"nika_nb.tools.{file}").TOOL
    return tool


TOOLS: dict[str, Tool] = {tool.name: tool for tool in map(_tool, _FILES)}
