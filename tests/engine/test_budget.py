"""A run with a cap: what is under way is finished and counted, what has not started never does."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from nika_nb.engine.budget import Budget
from nika_nb.engine.contract import Asks, Call, OverBudget, Prompt, Usage
from nika_nb.errors import Fault
from tests.engine.scripted import Ran, Script, run


def costs(usd: float | None, seconds: float = 0.0) -> Script:
    """A script that takes its time and costs so much."""

    async def script(call: Call) -> str:
        await asyncio.sleep(seconds)
        call.spend(Usage(1, 1, usd))
        return call.task

    return script


def fails_at_cost(usd: float) -> Script:
    def script(call: Call) -> Any:
        call.spend(Usage(1, 1, usd))
        raise Fault("NIKA-INFER-001", "503", transient=True)

    return script


def causes(ran: Ran) -> dict[str, str]:
    return {name: outcome.cause for name, outcome in ran.verdict.tasks.items()}


CHAIN = """
nika: chain
permits: { exec: true }
tasks:
  a: { exec: { command: [x] } }
  b: { after: { a: success }, exec: { command: [x] } }
  c: { after: { b: success }, exec: { command: [x] } }
  d: { after: { b: terminal }, exec: { command: [x] } }
"""


def test_a_budget() -> None:
    """Crossed is more than the cap; a call without a price counts nothing; cents add up to what they are."""
    budget = Budget(0.3)
    for cost in (0.1, None, 0.2):
        budget.add(Usage(cost_usd=cost))
    assert (budget.spent, budget.crossed) == (0.3, False)
    budget.add(Usage(cost_usd=0.0001))
    assert budget.crossed
    assert not Budget(None, 1e9).crossed
    assert Budget(1.0, 1.5).crossed


def test_what_has_not_started_never_does() -> None:
    """Everything behind the crossing is cancelled by the budget, whatever its edges admit; the run fails."""
    ran = run(CHAIN, max_cost_usd=0.05, a=costs(0.06))
    assert causes(ran) == {"a": "normal", "b": "budget", "c": "budget", "d": "budget"}
    assert [call.task for call in ran.calls] == ["a"]
    assert ran.verdict.state == "failed"
    assert ran.verdict.detail is not None
    said = "NIKA-RUN-1704 · the run has cost $0.06, more than its cap of $0.05: 3 tasks were not started"
    assert ran.verdict.detail.startswith(said)
    for name in "bcd":
        assert ran.kinds(name) == ["task_scheduled", "task_cancelled"]
        assert ran.frame("task_cancelled", name).get("note") == "over budget"
    end = ran.frame("workflow_failed")
    assert (end.get("detail"), end.get("total_cost_usd")) == (ran.verdict.detail, 0.06)


def test_what_is_under_way_is_finished_and_counted() -> None:
    """A sibling that works while the cap is crossed comes to its end, and its cost is in the sum."""
    text = CHAIN.replace("  b: { after: { a: success },", "  b: {")
    ran = run(text, max_cost_usd=0.05, a=costs(0.06), b=costs(0.5, seconds=0.05))
    assert causes(ran) == {"a": "normal", "b": "normal", "c": "budget", "d": "budget"}
    assert ran.frame("workflow_failed").get("total_cost_usd") == 0.56


def test_up_to_the_cap_everything_runs() -> None:
    """The whole of it may be used, and a run that had it all done is not failed by its last task."""
    ran = run(CHAIN, max_cost_usd=0.06, a=costs(0.06))
    assert ran.verdict.state == "completed"
    ran = run(CHAIN, max_cost_usd=0.05, c=costs(0.06), d=costs(0.06))
    assert ran.verdict.state == "completed"


def test_without_a_cap_nothing_is_held_back() -> None:
    """No cap, no end."""
    assert run(CHAIN, a=costs(1e6)).verdict.state == "completed"


def test_what_a_failed_attempt_cost_counts() -> None:
    """Every attempt is paid for, also one that came to nothing."""
    policies = "on_error: { skip: true }, retry: { max_attempts: 3, jitter: false }"
    text = CHAIN.replace("  a: {", f"  a: {{ {policies},")
    ran = run(text, max_cost_usd=0.25, a=fails_at_cost(0.1))
    assert causes(ran)["d"] == "budget"
    assert ran.frame("task_skipped", "a").get("cost_usd") == pytest.approx(0.3)
    assert ran.frame("workflow_failed").get("total_cost_usd") == pytest.approx(0.3)


def test_beyond_the_cap_nothing_is_tried_again() -> None:
    """Neither right after the attempt that crossed it, nor where another task crosses it meanwhile."""
    text = CHAIN.replace("  a: {", "  a: { retry: { max_attempts: 3, jitter: false, backoff_ms: 60000 },")
    ran = run(text, max_cost_usd=0.15, a=fails_at_cost(0.1))
    assert [call.attempt for call in ran.calls if call.task == "a"] == [1, 2]
    assert causes(ran)["a"] == "verb_error"
    assert ran.kinds("a").count("task_retrying") == 1
    assert "cap of $0.15, which was passed here" in ran.frame("task_failed", "a").get("warning")
    other = text + "  other: { exec: { command: [x] } }\n"

    async def meanwhile(call: Call) -> None:
        await call.sleep(1)
        call.spend(Usage(1, 1, 0.2))

    ran = run(other, max_cost_usd=0.15, a=fails_at_cost(0.0), other=meanwhile)
    assert [call.attempt for call in ran.calls if call.task == "a"] == [1]
    assert ran.verdict.state == "failed"


def test_a_task_that_is_cut_off_between_two_calls_of_a_model() -> None:
    """It is cancelled by the budget, with what it cost and what it had done; an item cuts its fan-out."""

    def script(call: Call) -> Any:
        call.spend(Usage(1, 1, 0.1))
        assert not call.affords()
        raise OverBudget

    ran = run(CHAIN, max_cost_usd=0.05, a=script)
    assert set(causes(ran).values()) == {"budget"}
    end = ran.frame("task_cancelled", "a")
    assert (end.get("note"), end.get("cost_usd")) == ("over budget", 0.1)
    assert "task_started" in ran.kinds("a")
    ran = run(FAN, max_cost_usd=0.05, each=script)
    assert causes(ran) == {"each": "budget", "after_each": "budget"}


def test_a_cleanup_may_go_on_beyond_the_cap() -> None:
    """Its model is asked as often as it needs."""
    text = CHAIN + "  tidy: { after: { a: unwind }, exec: { command: [x] } }\n"
    ran = run(text, max_cost_usd=0.05, a=costs(0.06), tidy=lambda call: call.affords())
    assert ran.verdict.tasks["tidy"].value is True


def test_cleanups_are_owed() -> None:
    """What was started is tidied up, whatever it cost."""
    text = CHAIN + "  tidy: { after: { a: unwind }, exec: { command: [x] } }\n"
    ran = run(text, max_cost_usd=0.05, a=costs(0.06))
    assert causes(ran)["tidy"] == "normal"
    assert [call.task for call in ran.calls] == ["a", "tidy"]


def test_what_waits_for_a_slot_has_not_started() -> None:
    """A task that was let in but not begun is held back."""
    text = "nika: wide\npermits: { exec: true }\ntasks:\n" + "".join(
        f"  t{n}: {{ exec: {{ command: [x] }} }}\n" for n in range(4)
    )
    ran = run(text, max_cost_usd=0.05, width=1, t0=costs(0.06))
    assert causes(ran) == {"t0": "normal", "t1": "budget", "t2": "budget", "t3": "budget"}
    assert ran.kinds("t1") == ["task_scheduled", "task_cancelled"]


FAN = """
nika: fan
permits: { exec: true }
tasks:
  each:
    for_each: { items: [1, 2, 3, 4, 5], max_parallel: 2 }
    exec: { command: [x, "${{ item }}"] }
  after_each: { after: { each: success }, exec: { command: [x] } }
"""


def test_a_fan_out_is_cut_between_its_items() -> None:
    """Items under way are finished and journaled, so that a resume finds them; the task is cancelled."""
    ran = run(FAN, max_cost_usd=0.05, each=costs(0.1, seconds=0.01))
    items = [event.get("item") for event in ran.events if event.kind == "nb_item_completed"]
    assert sorted(items) == [0, 1]
    assert causes(ran) == {"each": "budget", "after_each": "budget"}
    end = ran.frame("task_cancelled", "each")
    assert (end.get("note"), end.get("cost_usd")) == ("over budget", pytest.approx(0.2))
    assert "task_started" in ran.kinds("each")
    assert ran.frame("workflow_failed").get("total_cost_usd") == pytest.approx(0.2)


def test_a_fan_out_that_got_through_stays_whole() -> None:
    """If the last items crossed the cap, the fan-out has succeeded."""
    ran = run(FAN, max_cost_usd=0.45, each=costs(0.1))
    assert causes(ran) == {"each": "normal", "after_each": "budget"}


def test_a_question_that_no_answer_could_continue() -> None:
    """Over its cap a run does not wait for people: the open question is cancelled with the rest."""

    def asks(call: Call) -> Any:
        raise Asks(Prompt("b", "confirm", "Go on?"))

    text = CHAIN.replace("  b: { after: { a: success },", "  b: {")
    ran = run(text, max_cost_usd=0.05, a=costs(0.06, seconds=0.01), b=asks)
    assert ran.verdict.state == "failed"
    assert causes(ran) == {"a": "normal", "b": "budget", "c": "budget", "d": "budget"}


def test_what_earlier_invocations_cost_counts() -> None:
    """An answered run goes on with what is left of its cap."""
    ran = run(CHAIN, max_cost_usd=0.05, spent_usd=0.04, a=costs(0.02))
    assert causes(ran)["b"] == "budget"
    assert ran.frame("workflow_failed").get("total_cost_usd") == 0.02


def test_a_paused_run_counts_what_its_open_tasks_cost() -> None:
    """What was spent before a question came up is in the totals of the pause."""

    def asks(call: Call) -> Any:
        call.spend(Usage(1, 1, 0.01))
        raise Asks(Prompt("a", "confirm", "Go on?"))

    ran = run(CHAIN, a=asks)
    assert ran.frame("workflow_paused").get("total_cost_usd") == 0.01


def test_unknown_tokens_stay_unknown() -> None:
    """A provider that says nothing of its tokens leaves the field out; known ones are summed beside it."""
    ran = run(CHAIN, a=lambda call: call.spend(Usage()), b=lambda call: call.spend(Usage(2, 3)))
    assert "tokens" not in ran.frame("task_completed", "a").fields
    assert ran.frame("task_completed", "b").get("tokens") == 5
    assert ran.frame("workflow_completed").get("total_tokens") == 5
