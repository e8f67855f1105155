"""`invoke`: one use of one tool."""

from __future__ import annotations

from collections.abc import Mapping

from nika_nb.engine.contract import Call, Reply
from nika_nb.errors import Fault
from nika_nb.language.jq import JqWorker
from nika_nb.language.model import Permits, Task
from nika_nb.tools.base import Asking
from nika_nb.values import type_name
from nika_nb.verbs.toolbox import Toolbox


class Invoke:
    """Runs `invoke` bodies under one boundary; `jq` evaluates the programs that tools are given.

    tasks: as written, to know which arguments something untrusted decided.
    """

    def __init__(
        self,
        permits: Permits | None,
        asking: Asking,
        jq: JqWorker | None = None,
        tasks: Mapping[str, Task] | None = None,
    ) -> None:
        self.toolbox = Toolbox(permits, asking, jq or JqWorker(), tasks)

    async def run(self, call: Call) -> Reply:
        """The tool's answer. Raises Asks for an open question, and Fault otherwise."""
        name = str(call.body["tool"])
        arguments = call.body.get("args") or {}
        if not isinstance(arguments, dict):
            raise Fault("NIKA-INVOKE-002", f"`args:` of `{name}` is an object, not {type_name(arguments)}")
        return Reply(await self.toolbox.use(call, name, arguments))
