"""Launching a called workflow: what is refused at the door, as a backstop to the check."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from nika_nb.engine.budget import Budget
from nika_nb.engine.contract import Usage
from nika_nb.errors import Fault, Source
from nika_nb.language import load
from nika_nb.plan.plan import Callee, Plan, make_plan
from nika_nb.verbs.calling import Around
from nika_nb.verbs.runner import LocalVerbs
from tests.verbs.calls import Recorder

TEXT = "nika: top\npermits: {}\ntasks: {t: {invoke: {workflow: ./it.nika.yaml}}}\n"


def plan_of(callee: Callee | None) -> Plan:
    workflow = load(Source(TEXT)).workflow
    assert workflow is not None
    return make_plan(workflow, callees={"./it.nika.yaml": callee} if callee else {})


def launch(plan: Plan, tmp_path: Path, around: Around) -> tuple[Fault, Recorder]:
    verbs, recorder = LocalVerbs(workflow=plan.workflow, plan=plan, around=around), Recorder(str(tmp_path))
    call = recorder.call("invoke", {"workflow": "./it.nika.yaml", "args": {}}, task="t")
    with pytest.raises(Fault) as caught:
        asyncio.run(verbs.run(call))
    verbs.close()
    return caught.value, recorder


@pytest.mark.parametrize(
    ("above", "why"),
    [
        (("/top", "/it"), "would launch itself"),
        (("/it",), "would launch itself"),
        (tuple(f"/{n}" for n in range(9)), "calls may be 8 deep"),
    ],
)
def test_a_launch_without_an_end_is_refused(tmp_path: Path, above: tuple[str, ...], why: str) -> None:
    """Itself, whatever is under way above it, and a chain that is too long; witnessed, and nothing begun."""
    callee = Callee("/it", "./it.nika.yaml", plan_of(None), "0" * 64)
    fault, recorder = launch(plan_of(callee), tmp_path, Around(above=above))
    assert fault.code == "NIKA-SEC-003"
    assert why in fault.message
    (decision,) = recorder.decisions
    assert (decision.plane, decision.allowed) == ("workflow", False)
    assert not recorder.processes
    assert not recorder.told


def test_what_is_not_known_is_not_launched(tmp_path: Path) -> None:
    """A call whose target nobody resolved."""
    fault, recorder = launch(plan_of(None), tmp_path, Around())
    assert fault.code == "NIKA-COMP-001"
    assert not recorder.processes


def test_a_childs_costs_are_its_callers() -> None:
    """Counted by the caller at once; the cap is the caller's."""
    budget = Budget(1.0)
    child = budget.below(budget.add)
    below = child.below(child.add)
    below.add(Usage(cost_usd=0.75))
    assert (budget.spent, below.spent, below.crossed) == (0.75, 0.75, False)
    budget.add(Usage(cost_usd=0.5))
    assert below.crossed
    assert not Budget().below(budget.add).crossed
