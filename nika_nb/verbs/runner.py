"""The verbs on this machine: what the engine calls to have a task's work done."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from nika_nb.authority.effects import described
from nika_nb.engine.contract import Answer, Call, Reply
from nika_nb.language.jq import JqWorker
from nika_nb.language.model import Workflow
from nika_nb.plan.graph import downstream
from nika_nb.plan.plan import Plan
from nika_nb.providers.base import Provider
from nika_nb.tools.base import Asking
from nika_nb.verbs.agent import Agent
from nika_nb.verbs.exec import Exec
from nika_nb.verbs.guard import Guard
from nika_nb.verbs.infer import Infer
from nika_nb.verbs.invoke import Invoke
from nika_nb.verbs.models import Models


class LocalVerbs:
    """Runs the four verbs of one invocation; `close` ends what it started.

    model: stands in for a task without its own. interactive: a human can answer. answers: by
    prompt key (`ask`, `ask[3]`). mask: blots out secrets in what people are shown. environ: where
    the environment of children is taken from. jq: the run's own evaluator, closed by its owner.
    providers: beside the built-in ones.
    """

    def __init__(
        self,
        *,
        workflow: Workflow,
        plan: Plan,
        base: str = "",
        model: str | None = None,
        interactive: bool = False,
        answers: Mapping[str, Answer] | None = None,
        mask: Callable[[Any], Any] | None = None,
        environ: Mapping[str, str] | None = None,
        providers: Mapping[str, Provider] | None = None,
        jq: JqWorker | None = None,
    ) -> None:
        self._plan = plan
        self._guard = Guard()
        asking = Asking(interactive, answers or {}, self._gated, mask or (lambda value: value))
        environ = os.environ if environ is None else environ
        self._exec = Exec(workflow.permits, environ, self._guard, workflow.tasks)
        models = Models(model, providers)
        self._infer = Infer(models, workflow.permits)
        self._invoke = Invoke(workflow.permits, asking, jq)
        self._agent = Agent(models, self._invoke.toolbox, plan.skills)

    async def run(self, call: Call) -> Reply:
        """The reply of one attempt. Raises Fault, or Asks where a human has to answer first."""
        if call.verb == "exec":
            return await self._exec.run(call)
        if call.verb == "infer":
            return await self._infer.run(call)
        if call.verb == "invoke":
            return await self._invoke.run(call)
        return await self._agent.run(call)

    def close(self) -> None:
        """End every child that is left, and the watcher."""
        self._guard.close()

    def _gated(self, task: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The tasks that wait for a task, in document order, and what they may do."""
        waiting = downstream(task, self._plan.edges)
        names = tuple(name for name in self._plan.workflow.tasks if name in waiting)
        return names, described(self._plan.workflow.tasks[name].action for name in names)
