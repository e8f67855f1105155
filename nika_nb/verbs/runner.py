"""The verbs on this machine: what the engine calls to have a task's work done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache

from nika_nb.authority.env import kernel_programs, surroundings
from nika_nb.authority.permits import confined
from nika_nb.engine.contract import Answer, Call, Reply, Verbs
from nika_nb.language.jq import JqWorker
from nika_nb.language.model import Workflow
from nika_nb.plan.plan import Callee, Plan
from nika_nb.providers.base import Provider
from nika_nb.tools.base import NOTHING, Asking, Behind
from nika_nb.verbs.agent import Agent
from nika_nb.verbs.behind import Given, behind
from nika_nb.verbs.calling import Around, Calling, answers_below
from nika_nb.verbs.exec import Exec
from nika_nb.verbs.guard import Guard
from nika_nb.verbs.infer import Infer
from nika_nb.verbs.invoke import Invoke
from nika_nb.verbs.leaving import Leaving
from nika_nb.verbs.models import Models


class LocalVerbs:
    """Runs the four verbs of one invocation; `close` ends what it started.

    model: stands in for a task without its own. interactive: a human can answer. answers: by
    prompt key (`ask`, `ask[3]`, `call/ask`). environ: where the environment of children is taken
    from. jq: the run's own evaluator, closed by its owner. providers: beside the built-in ones.
    around: what called workflows share with this run. given: what is known of its values. beyond: what
    waits for all of this, in the workflow that calls this one; guard and approvals are then its caller's too.
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
        environ: Mapping[str, str] | None = None,
        providers: Mapping[str, Provider] | None = None,
        jq: JqWorker | None = None,
        around: Around | None = None,
        given: Callable[[], Given] = Given,
        beyond: Behind = NOTHING,
        guard: Guard | None = None,
        approvals: set[str] | None = None,
    ) -> None:
        self._plan = plan
        self._permits = workflow.permits
        self._base = base
        self._interactive = interactive
        self._answers = answers or {}
        self._environ = surroundings() if environ is None else environ
        self._providers = providers
        self._jq = jq or JqWorker()
        self._given = given = cache(given)
        self._behind = cache(lambda task: behind(plan, task, given(), beyond))
        self._guard = guard or Guard()
        self._approvals = set() if approvals is None else approvals
        around = around or Around()
        asking = Asking(interactive, self._answers, self._behind, around.masker.mask, self._approvals)
        kernels = around.seed is None and kernel_programs() is not None  # a seeded journal is every machine's
        self._exec = Exec(workflow.permits, self._environ, self._guard, workflow.tasks, kernels)
        models = Models(model, providers)
        self._infer = Infer(models, workflow.permits)
        self._invoke = Invoke(workflow.permits, asking, self._jq, workflow.tasks)
        self._agent = Agent(models, self._invoke.toolbox, plan.skills)
        self._calling = Calling(plan, around, self._called, self._jq, interactive)

    async def run(self, call: Call) -> Reply:
        """The reply of one attempt. Raises Fault, or Asks where a human has to answer first."""
        if call.verb == "exec":
            return await self._exec.run(call)
        if call.verb == "infer":
            return await self._infer.run(call)
        if call.verb == "invoke" and call.body.get("workflow") is not None:
            return await self._calling.run(call)
        if call.verb == "invoke":
            return await self._invoke.run(call)
        return await self._agent.run(call)

    def close(self) -> None:
        """End every child that is left, and the watcher."""
        self._guard.close()

    def _called(self, callee: Callee, call: Call, around: Around) -> Verbs:
        """The verbs of a called workflow: its own boundary within this one, everything else shared."""
        workflow, caller = callee.plan.workflow, self._plan.workflow
        verbs = LocalVerbs(
            workflow=replace(workflow, permits=confined(workflow.permits, self._permits)),
            plan=callee.plan,
            base=self._base,
            model=callee.plan.model,
            interactive=self._interactive,
            answers=answers_below(self._answers, call),
            environ=self._environ,
            providers=self._providers,
            jq=self._jq,
            around=around,
            given=lambda: self._given().below(caller, caller.tasks[call.task], callee),
            beyond=self._behind(call.task),
            guard=self._guard,
            approvals=self._approvals,
        )
        return Leaving(verbs, workflow) if around.called_off else verbs
