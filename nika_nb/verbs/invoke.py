"""`invoke`: one use of one tool, found by its name, judged, its arguments checked."""

from __future__ import annotations

from nika_nb.authority.permits import judge_tool
from nika_nb.engine.contract import Call, Reply
from nika_nb.errors import Fault
from nika_nb.language.jq import JqWorker
from nika_nb.language.model import Permits
from nika_nb.tools.base import Asking, Tool, Use
from nika_nb.tools.registry import TOOLS
from nika_nb.values import nearest, type_name
from nika_nb.verbs.boundary import report


class Invoke:
    """Runs `invoke` bodies under one boundary; `jq` evaluates the programs that tools are given."""

    def __init__(self, permits: Permits | None, asking: Asking, jq: JqWorker | None = None) -> None:
        self._permits = permits
        self._asking = asking
        self._jq = jq or JqWorker()

    async def run(self, call: Call) -> Reply:
        """The tool's answer. Raises Asks for an open question, and Fault otherwise."""
        if call.body.get("workflow") is not None:
            raise Fault("NIKA-INVOKE-001", "calling a workflow from a workflow is not built in yet")
        name = str(call.body["tool"])
        report(call, judge_tool(self._permits, name))
        tool = _find(name)
        arguments = call.body.get("args") or {}
        if not isinstance(arguments, dict):
            raise Fault("NIKA-INVOKE-002", f"`args:` of `{name}` is an object, not {type_name(arguments)}")
        tool.check(arguments)
        if not tool.asks:
            call.witness(None)
        return Reply(await tool.run(Use(call, self._permits, self._asking, self._jq), arguments))


def _find(name: str) -> Tool:
    tool = TOOLS.get(name)
    if tool is None and name.startswith("mcp:"):
        server = name[4:].split("/")[0]
        raise Fault("NIKA-MCP-001", f"no MCP server `{server}` is configured", transient=False)
    if tool is None:
        hint = nearest(name, TOOLS) or f"this version has {', '.join(TOOLS)}"
        raise Fault("NIKA-INVOKE-001", f"there is no tool `{name}` here; {hint}", details={"tool": name})
    return tool
