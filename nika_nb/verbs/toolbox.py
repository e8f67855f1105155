"""The tools of one run under its boundary: found by name, judged, their arguments checked, run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nika_nb.authority import globs
from nika_nb.authority.permits import judge_tool
from nika_nb.engine.contract import Call
from nika_nb.errors import Fault
from nika_nb.language.jq import JqWorker
from nika_nb.language.model import Permits, Task
from nika_nb.tools.base import Asking, Tool, Use
from nika_nb.tools.registry import TOOLS
from nika_nb.values import nearest
from nika_nb.verbs.boundary import report

STOPS = "/:"  # what no `*` in the name of a tool crosses


class Toolbox:
    """Gives out no tool that the boundary refuses; `jq` evaluates the programs that tools are given.

    tasks: as written.
    """

    def __init__(
        self, permits: Permits | None, asking: Asking, jq: JqWorker, tasks: Mapping[str, Task] | None = None
    ) -> None:
        self._permits = permits
        self._tasks = tasks or {}
        self._asking = asking
        self._jq = jq

    async def use(self, call: Call, name: str, arguments: Mapping[str, Any], *, in_loop: bool = False) -> Any:
        """The tool's answer. Raises Asks for an open question, and Fault otherwise.

        in_loop: an agent uses it, which has begun already.
        """
        report(call, judge_tool(self._permits, name))
        tool = _find(name)
        tool.check(arguments)
        if not tool.asks and not in_loop:
            call.witness(None)
        task = None if in_loop else self._tasks.get(call.task)
        return await tool.run(Use(call, self._permits, self._asking, self._jq, in_loop, task), arguments)

    def granted(self, patterns: Sequence[str]) -> list[Tool]:
        """The tools that a whitelist lets through, in the order in which it names them."""
        admitted = {name: tool for name, tool in TOOLS.items() if admits(patterns, name)}
        named = (name for pattern in patterns for name in admitted if globs.matches((pattern,), name, STOPS))
        return [admitted[name] for name in dict.fromkeys(named)]

    def admitted(self, tools: Sequence[Tool]) -> list[Tool]:
        """Those of them that the boundary lets through as well."""
        return [tool for tool in tools if judge_tool(self._permits, tool.name).allowed]


def admits(patterns: Sequence[str], name: str) -> bool:
    """Whether a whitelist lets a tool through."""
    return globs.admits(patterns, name, STOPS)


def _find(name: str) -> Tool:
    tool = TOOLS.get(name)
    if tool is None and name.startswith("mcp:"):
        server = name[4:].split("/")[0]
        raise Fault("NIKA-MCP-001", f"no MCP server `{server}` is configured", transient=False)
    if tool is None:
        hint = nearest(name, TOOLS) or f"this version has {', '.join(TOOLS)}"
        raise Fault("NIKA-INVOKE-001", f"there is no tool `{name}` here; {hint}", details={"tool": name})
    return tool
