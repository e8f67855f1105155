"""The names of tools: `nika:<name>` and `mcp:<server>/<tool>`, and what is wrong with any other."""

from __future__ import annotations

import re

_MCP = re.compile(r"mcp:[a-z0-9][a-z0-9-]*/[A-Za-z0-9_/-]+")
_BUILTIN = re.compile(r"nika:[A-Za-z0-9_]+(?:/[A-Za-z0-9_]+)*")


def is_grant(text: str) -> bool:
    """Whether an agent's whitelist may hold this: a name, a pattern of one namespace, or its negation."""
    return text.removeprefix("!").startswith(("nika:", "mcp:"))


def fault(text: str) -> tuple[str, str] | None:
    """(sentence, way out) for what names no tool; None for a name, whether or not it exists."""
    if _MCP.fullmatch(text) or _BUILTIN.fullmatch(text):
        return None
    if "${{" in text:
        return (
            "a tool is named before the run: `${{ }}` cannot stand here",
            "branch with `when:` on two tasks",
        )
    if text.startswith("mcp:"):
        return f"`{text[:60]}` names no tool of its server", "write `mcp:<server>/<tool>`"
    if text.startswith("nika:"):
        return f"`{text[:60]}` is not the name of a builtin", "write `nika:<name>`"
    return f"`{text[:60]}` lies in no namespace that exists", "write `nika:<name>` or `mcp:<server>/<tool>`"
