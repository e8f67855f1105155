"""How a run ends: the verdict folded from its tasks, and the last frame that says it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from nika_nb.engine.budget import Budget
from nika_nb.engine.contract import Prompt, Usage
from nika_nb.engine.emit import Emitter
from nika_nb.engine.outcome import Outcome
from nika_nb.engine.scope import Scopes
from nika_nb.engine.settle import Settler
from nika_nb.engine.work import usage_fields
from nika_nb.errors import Fault
from nika_nb.language.template import render
from nika_nb.plan.plan import Plan
from nika_nb.values import dumps

RunState = Literal["completed", "failed", "cancelled", "paused"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """How the run stopped. outputs: only of a completed run. prompts: only of a paused one."""

    state: RunState
    outputs: dict[str, Any] | None = None
    prompts: tuple[Prompt, ...] = ()
    detail: str | None = None
    tasks: dict[str, Outcome] = field(default_factory=dict)


class Ending:
    """Closes one run, once."""

    def __init__(
        self, plan: Plan, emitter: Emitter, settler: Settler, scopes: Scopes, budget: Budget
    ) -> None:
        self._plan = plan
        self._emitter = emitter
        self._settler = settler
        self._scopes = scopes
        self._budget = budget
        self._settled: dict[str, Outcome] = {}
        self._prompts: Sequence[Prompt] = ()
        self._usages: Sequence[Usage] = ()

    def close(
        self,
        settled: dict[str, Outcome],
        prompts: Sequence[Prompt],
        usages: Sequence[Usage],
        *,
        cancelled: bool,
    ) -> Verdict:
        """The verdict, with the run's last frame written. `settled` is completed by what was cut off."""
        self._settled, self._prompts, self._usages = settled, prompts, usages
        if cancelled:
            return self._closed_cancelled()
        if self.over_budget(settled):
            return self._closed_over_budget()
        if self._prompts:
            return self._closed_paused()
        failed = any(self._settled[p.task.id].status == "failure" for p in self._plan.scheduled)
        return self._end(Verdict("failed", tasks=self._settled)) if failed else self._closed_completed()

    def _closed_cancelled(self) -> Verdict:
        self._cancel_rest("operator", Outcome("cancelled", "operator"))
        return self._end(Verdict("cancelled", tasks=self._settled))

    def _cancel_rest(self, note: str, outcome: Outcome) -> None:
        for name in self._plan.tasks:
            if name not in self._settled:
                self._settler.cancelled(name, note, None, outcome)
                self._settled[name] = outcome

    def over_budget(self, settled: dict[str, Outcome]) -> bool:
        """Whether the cap kept something from running: a run that had it all done is not failed by it."""
        causes = {outcome.cause for outcome in settled.values()}
        cut_off = "budget" in causes or len(settled) < len(self._plan.tasks)
        return self._budget.crossed and cut_off

    def _closed_over_budget(self) -> Verdict:
        """An open question counts as not started: its answer could start nothing any more."""
        self._cancel_rest("over budget", Outcome("cancelled", "budget"))
        count = sum(1 for outcome in self._settled.values() if outcome.cause == "budget")
        return self._end(Verdict("failed", detail=self._budget.sentence(count), tasks=self._settled))

    def _closed_paused(self) -> Verdict:
        rank = {name: at for at, name in enumerate(self._plan.tasks)}
        prompts = sorted(self._prompts, key=lambda prompt: (rank[prompt.task], prompt.item or 0))
        first = prompts[0]
        self._emitter.emit(
            "workflow_paused",
            workflow=self._plan.workflow.id,
            task=first.task,
            mode=first.mode,
            note="waits for an answer",
            message=first.message,
            choices=dumps(list(first.choices)) if first.choices else None,
            approval_shown_hash=first.shown_hash or None,
            prompts=dumps([prompt.to_json() for prompt in prompts]),
            **self._totals(),
        )
        return Verdict("paused", prompts=tuple(prompts), tasks=self._settled)

    def _closed_completed(self) -> Verdict:
        try:
            outputs = self._outputs()
        except Fault as fault:
            return self._end(Verdict("failed", detail=f"{fault.code} · {fault.message}", tasks=self._settled))
        return self._end(Verdict("completed", outputs=outputs, tasks=self._settled))

    def _outputs(self) -> dict[str, Any]:
        """What the workflow returns. Raises Fault NIKA-VAR-001 or -009."""
        found: dict[str, Any] = {}
        for output in self._plan.workflow.outputs.values():
            with self._scopes.located():
                value = render(output.value, self._scopes.outputs())
            trouble = output.type.conforms(value) if output.type else None
            if trouble:
                raise Fault("NIKA-VAR-009", f"output `{output.name}` does not fit its type: {trouble}")
            found[output.name] = value
        return found

    def _end(self, verdict: Verdict) -> Verdict:
        self._emitter.emit(
            f"workflow_{verdict.state}",
            workflow=self._plan.workflow.id,
            detail=verdict.detail,
            **self._totals(),
            outputs=self._settler.output_text(verdict.outputs),
        )
        return verdict

    def _totals(self) -> dict[str, Any]:
        figures = usage_fields(self._usages)
        return {
            "total_tokens": figures.get("tokens"),
            "total_cost_usd": figures.get("cost_usd"),
            "unpriced_calls": sum(1 for usage in self._usages if usage.unpriced) or None,
        }
