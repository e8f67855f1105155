"""The engine's laws, each with scripted verbs."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import pytest

from nika_nb.engine.contract import Asks, Prompt
from nika_nb.engine.memory import Hit, Miss
from nika_nb.engine.retries import backoff_ms
from nika_nb.errors import Fault, Span
from nika_nb.language.model import Retry
from nika_nb.plan.gates import PASS_SETS, STATUSES
from tests.engine.scripted import fails, run

TASK = 'exec: {command: ["x"]}'


@dataclass(frozen=True)
class Gate:
    """An edge as written, and the key of its row in the one table."""

    edge: str
    row: tuple[str, str | None]


GATES = [
    Gate('with: {v: "${{ tasks.p.output }}"}', ("value", None)),
    Gate('with: {v: "${{ tasks.p.status }}"}', ("terminal-observation", None)),
    Gate('with: {v: "${{ tasks.p.error }}"}', ("failure-observation", None)),
    Gate('with: {v: "${{ group.g }}"}', ("fan-in", None)),
    *(Gate(f"after: {{p: {p}}}", ("control", p)) for p in ("success", "failure", "skipped", "terminal")),
]


@pytest.mark.parametrize("gate", GATES, ids=lambda g: str(g.row))
@pytest.mark.parametrize("status", STATUSES)
def test_a_task_is_admitted_exactly_by_its_pass_set(gate: Gate, status: str) -> None:
    """Every edge admits its consumer in the states of its row, and settles it cancelled in the others."""
    when = "false" if status == "skipped" else "true"
    ran = run(
        f"""
nika: gates
tasks:
  seed: {{ {TASK} }}
  p: {{ after: {{seed: success}}, group: g, when: {when}, {TASK} }}
  c: {{ {gate.edge}, {TASK} }}
""",
        seed=fails() if status == "cancelled" else lambda call: 1,
        p=fails() if status == "failure" else lambda call: 1,
    )
    admitted = status in PASS_SETS[gate.row]  # type: ignore[index]
    assert ran.statuses()["p"] == status
    assert ran.statuses()["c"] == ("success" if admitted else "cancelled")


def test_a_dead_path_cancels_transitively_and_names_what_blocked_it() -> None:
    """Cancellation walks the edges that exclude it, and stops at one that admits it."""
    ran = run(
        f"""
nika: dead
tasks:
  a: {{ {TASK} }}
  b: {{ after: {{a: success}}, {TASK} }}
  c: {{ after: {{b: success}}, {TASK} }}
  report: {{ after: {{c: terminal}}, {TASK} }}
""",
        a=fails(),
    )
    assert ran.statuses() == {"a": "failure", "b": "cancelled", "c": "cancelled", "report": "success"}
    assert ran.frame("task_cancelled", "b").get("blocked_by") == "a"
    assert ran.frame("task_cancelled", "b").get("note") == "upstream failed"
    assert ran.verdict.state == "failed"


def test_the_frames_of_a_task_stand_together_at_its_end() -> None:
    """task_started is written with the terminal frame; in between only verb_invoked tells of the work."""
    ran = run(f"nika: order\ntasks:\n  a: {{ {TASK} }}\n")
    assert ran.kinds("a") == ["task_scheduled", "verb_invoked", "task_started", "task_completed"]
    assert ran.events[0].kind == "workflow_started"
    assert ran.events[-1].kind == "workflow_completed"


BOUNDARY = [
    ("a binding that does not resolve", 'with: {v: "${{ inputs.i.nope }}"}'),
    ("a when of the wrong type", 'when: "${{ inputs.i.flag == 3 }}"'),
]


@pytest.mark.parametrize(("name", "line"), BOUNDARY)
def test_boundary_errors_are_outside_on_error(name: str, line: str) -> None:
    """A binding or a `when:` that fails settles the task as failed, whatever on_error says."""
    ran = run(
        f"""
nika: boundary
inputs: {{ i: {{ type: {{ map: string }}, default: {{flag: "x"}} }} }}
tasks:
  a: {{ {line}, on_error: {{recover: 1}}, {TASK} }}
  seen: {{ with: {{e: "${{{{ tasks.a.error }}}}"}}, {TASK} }}
""",
        inputs={"i": {"flag": "x"}},
    )
    assert ran.statuses() == {"a": "failure", "seen": "success"}
    assert "task_started" not in ran.kinds("a")
    assert not [call for call in ran.calls if call.task == "a"]


def test_a_body_that_does_not_render_is_recoverable() -> None:
    """What fails in the body is the task's own failure."""
    ran = run(
        """
nika: body
inputs: { i: { type: { map: string }, default: {} } }
tasks:
  a: { on_error: {recover: saved}, exec: {command: ["x", "${{ inputs.i.nope }}"]} }
outputs: { o: "${{ tasks.a.output }}" }
""",
        inputs={"i": {}},
    )
    assert ran.verdict.outputs == {"o": "saved"}


def test_an_output_too_deep_to_be_walked_fails_its_task_alone() -> None:
    """A value nested beyond every recursion ends its task, with a code, and the run reaches its end."""

    def bottomless(call: Any) -> Any:
        value: Any = []
        for _ in range(5000):
            value = [value]
        return value

    ran = run(
        f"nika: deep\ntasks:\n  a: {{ {TASK} }}\n  b: {{ after: {{a: failure}}, {TASK} }}\n", a=bottomless
    )
    assert ran.statuses() == {"a": "failure", "b": "success"}
    assert "NIKA-TYPE-101" in ran.frame("task_failed", "a").get("detail")


def test_retry_repeats_transient_errors_with_backoff_and_then_succeeds() -> None:
    """Two transient failures, a third attempt that works; every retry is told with its delay."""
    seen: list[int] = []

    def flaky(call: Any) -> str:
        seen.append(call.attempt)
        if call.attempt < 3:
            raise Fault("NIKA-INFER-001", "busy", transient=True)
        return "there"

    ran = run(
        "nika: flaky\ntasks:\n"
        f"  a: {{ retry: {{max_attempts: 5, backoff_ms: 100, jitter: false}}, {TASK} }}\n",
        a=flaky,
    )
    assert seen == [1, 2, 3]
    assert [e.get("delay_ms") for e in ran.events if e.kind == "task_retrying"] == [100, 200]
    assert json.loads(ran.frame("task_completed", "a").get("outcome"))["payload"]["attempts"] == 3


RETRY = [
    ("not transient", "retry: {max_attempts: 3, backoff_ms: 0}", "NIKA-EXEC-001", 1, "verb_error"),
    (
        "listed code",
        "retry: {max_attempts: 3, backoff_ms: 0, on_codes: [NIKA-EXEC-001]}",
        "NIKA-EXEC-001",
        3,
        "retry_exhausted",
    ),
    (
        "unlisted code",
        "retry: {max_attempts: 3, backoff_ms: 0, on_codes: [NIKA-INFER-001]}",
        "NIKA-EXEC-001",
        1,
        "verb_error",
    ),
]


@pytest.mark.parametrize(("name", "retry", "code", "attempts", "cause"), RETRY, ids=[r[0] for r in RETRY])
def test_only_what_may_be_retried_is_retried(
    name: str, retry: str, code: str, attempts: int, cause: str
) -> None:
    """Transient errors, or the listed codes, up to the limit; the cause tells which it was."""
    ran = run(f"nika: r\ntasks:\n  a: {{ {retry}, {TASK} }}\n", a=fails(code))
    assert len(ran.calls) == attempts
    assert ran.verdict.tasks["a"].cause == cause


BACKOFFS: list[tuple[str, dict[str, Any], list[int]]] = [
    ("by default doubled from a second", {}, [1000, 2000, 4000, 8000]),
    ("fixed", {"backoff_ms": 300, "backoff_strategy": "fixed"}, [300, 300, 300, 300]),
    ("linear", {"backoff_ms": 300, "backoff_strategy": "linear"}, [300, 600, 900, 1200]),
    ("exponential", {"backoff_ms": 300, "backoff_strategy": "exponential"}, [300, 600, 1200, 2400]),
    ("capped", {"backoff_ms": 300, "backoff_max_ms": 700}, [300, 600, 700, 700]),
    ("capped by default at a minute", {"backoff_ms": 50_000}, [50_000, 60_000, 60_000, 60_000]),
    ("none", {"backoff_ms": 0}, [0, 0, 0, 0]),
]


def retry(**written: Any) -> Retry:
    """A policy without jitter, as it is written."""
    names = ("backoff_ms", "backoff_strategy", "backoff_max_ms", "on_codes")
    return Retry(**(dict.fromkeys(names) | {"jitter": False, "span": Span(0, 0)} | written))


@pytest.mark.parametrize(("policy", "delays"), [case[1:] for case in BACKOFFS], ids=[c[0] for c in BACKOFFS])
def test_how_long_a_retry_waits(policy: dict[str, Any], delays: list[int]) -> None:
    """The strategy and its cap without jitter; with it, which is the default, anything up to that."""
    chance, plain = random.Random(1), retry(max_attempts=9, **policy)
    for attempt, most in enumerate(delays, 1):
        assert backoff_ms(plain, attempt, chance) == most
        found = [backoff_ms(replace(plain, jitter=None), attempt, chance) for _ in range(200)]
        assert 0 <= min(found) <= max(found) <= most
        assert not most or max(found) - min(found) > most / 2


def test_a_late_retry_waits_no_longer_than_its_cap() -> None:
    """Doubling has an end, also at the thousandth attempt."""
    assert backoff_ms(retry(max_attempts=9999), 1000, random.Random(1)) == 60_000


def test_a_timeout_covers_attempts_and_backoff_and_can_be_recovered() -> None:
    """The clock of a task runs over its retries; the failure is caught by code."""
    policy = (
        "retry: {max_attempts: 9, backoff_ms: 400, backoff_strategy: fixed, jitter: false, "
        "on_codes: [NIKA-EXEC-001]}"
    )
    ran = run(
        f"""
nika: slow
tasks:
  a: {{ timeout: "1s", {policy}, on_error: {{on_codes: [NIKA-TIMEOUT-001], recover: late}}, {TASK} }}
""",
        a=fails(),
    )
    assert ran.verdict.tasks["a"].cause == "recovered"
    assert len(ran.calls) == 3
    assert ran.frame("task_recovered", "a").get("code") == "NIKA-TIMEOUT-001"


def test_skip_on_error_keeps_the_error_readable() -> None:
    """`skip: true` settles skipped, passes value edges as null, and keeps the typed error."""
    ran = run(
        f"""
nika: skip
tasks:
  a: {{ on_error: {{skip: true}}, {TASK} }}
  b:
    with: {{v: "${{{{ tasks.a.output }}}}", e: "${{{{ tasks.a.error }}}}"}}
    exec: {{command: ["${{{{ with.e.code }}}}"]}}
""",
        a=fails(),
    )
    assert ran.statuses() == {"a": "skipped", "b": "success"}
    assert ran.calls[1].body["command"]["argv"] == ["NIKA-EXEC-001"]


def test_recovery_waits_for_a_source_that_still_runs() -> None:
    """A recover reference to a running task is read once that task has settled."""

    async def slow(call: Any) -> str:
        await asyncio.sleep(0.05)
        return "cached"

    ran = run(
        f"""
nika: wait
tasks:
  a: {{ on_error: {{recover: "${{{{ tasks.cache.output }}}}"}}, {TASK} }}
  cache: {{ {TASK} }}
""",
        a=fails(),
        cache=slow,
    )
    assert ran.verdict.tasks["a"].value == "cached"


def test_a_recovery_source_without_a_value_leaves_the_failure() -> None:
    """A failed source cannot give anything: the task fails with its own error."""
    ran = run(
        f"""
nika: none
tasks:
  a: {{ on_error: {{recover: "${{{{ tasks.cache.output }}}}"}}, {TASK} }}
  cache: {{ {TASK} }}
""",
        a=fails("NIKA-EXEC-002"),
        cache=fails(),
    )
    error = ran.verdict.tasks["a"].error
    assert error is not None
    assert error.code == "NIKA-EXEC-002"
    warning = ran.frame("task_failed", "a").get("warning")
    assert warning == "no recovery: `tasks.cache.output` has no value: `cache` ended as failure"


@pytest.mark.parametrize(
    ("verb", "returns", "value", "fits"),
    [
        (TASK, "integer", "3", True),
        (TASK, "integer", "three", False),
        (TASK, "integer", '"${{ inputs.i }}"', False),
        ("infer: {prompt: x}", "{object: {n: integer}}", "{n: three}", False),
        ("infer: {prompt: x}", "{object: {n: integer}}", "{n: 3}", True),
        (TASK, "{object: {n: integer}}", "null", True),
    ],
)
def test_a_recovery_is_held_to_the_declared_type(verb: str, returns: str, value: str, fits: bool) -> None:
    """Whoever reads the task relies on it; null says that there is no value."""
    text = "nika: held\nmodel: mock/echo\ninputs: {i: {type: string}}\ntasks:\n"
    text += f"  a: {{returns: {returns}, on_error: {{recover: {value}}}, {verb}}}\n"
    outcome = run(text, inputs={"i": "text"}, a=fails()).verdict.tasks["a"]
    assert (outcome.status, outcome.cause) == (
        ("success", "recovered") if fits else ("failure", "verb_error")
    )
    if not fits:
        assert outcome.error is not None
        assert outcome.error.code == "NIKA-TYPE-101"
        assert "the recovery does not fit `returns:`" in outcome.error.message
        assert "recovering from NIKA-EXEC-001" in outcome.error.message


FAN = """
nika: fan
inputs: {{ xs: {{ type: {{array: integer}}, default: [] }} }}
tasks:
  a:
    for_each: {{ items: "${{{{ inputs.xs }}}}"{extra} }}
    {policy}
    exec: {{ command: ["x", "${{{{ item }}}}", "${{{{ index }}}}"] }}
outputs: {{ o: "${{{{ tasks.a.output }}}}" }}
"""


def fan(extra: str = "", policy: str = "") -> str:
    return FAN.format(extra=extra, policy=policy)


def even(call: Any) -> int:
    value = int(call.body["command"]["argv"][1])
    if value % 2:
        raise Fault("NIKA-EXEC-001", f"{value} is odd")
    return value


def test_a_fan_out_keeps_the_order_of_its_items() -> None:
    """The output is the array of the items' outputs in input order, each journaled on its own."""

    async def late_first(call: Any) -> int:
        value = int(call.body["command"]["argv"][1])
        await asyncio.sleep(0.03 if value == 10 else 0)
        return value

    ran = run(fan(), inputs={"xs": [10, 20, 30]}, a=late_first)
    assert ran.verdict.outputs == {"o": [10, 20, 30]}
    assert sorted(e.get("item") for e in ran.events if e.kind == "nb_item_completed") == [0, 1, 2]
    assert ran.frame("task_completed", "a").get("note").endswith("3 items")


FOLDS = [
    ("recover", "on_error: {recover: null}", {"o": [2, None, 4]}),
    ("skip", "on_error: {skip: true}", {"o": [2, None, 4]}),
]


@pytest.mark.parametrize(("name", "policy", "outputs"), FOLDS, ids=[f[0] for f in FOLDS])
def test_items_that_failed_and_were_handled_keep_their_place(name: str, policy: str, outputs: Any) -> None:
    """Aligned nulls: what was skipped or recovered stands at its index."""
    assert run(fan(policy=policy), inputs={"xs": [2, 3, 4]}, a=even).verdict.outputs == outputs


def test_without_fail_fast_every_item_runs_and_the_failures_are_listed() -> None:
    """fail_fast: false finishes the batch, then fails with every item's error."""
    ran = run(fan(", fail_fast: false"), inputs={"xs": [1, 2, 3]}, a=even)
    error = ran.verdict.tasks["a"].error
    assert error is not None
    assert [item["item"] for item in error.details["items"]] == [0, 2]
    assert len(ran.calls) == 3


def test_with_fail_fast_the_rest_does_not_start() -> None:
    """The first failing item ends the fan-out: nothing is started after it."""
    ran = run(fan(", max_parallel: 1"), inputs={"xs": [1, 2, 3]}, a=even)
    assert len(ran.calls) == 1
    assert ran.statuses()["a"] == "failure"


def test_max_parallel_bounds_what_works_at_once() -> None:
    """Never more than max_parallel items are at work."""
    now, most = 0, 0

    async def watched(call: Any) -> int:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.005)
        now -= 1
        return 1

    run(fan(", max_parallel: 3"), inputs={"xs": list(range(20))}, a=watched)
    assert most == 3


def test_an_empty_collection_skips_and_a_non_array_fails() -> None:
    """[] settles skipped; anything that is no array is NIKA-VAR-006 at the boundary."""
    assert run(fan(), inputs={"xs": []}).statuses()["a"] == "skipped"
    ran = run(fan(), inputs={"xs": "text"})
    error = ran.verdict.tasks["a"].error
    assert error is not None
    assert error.code == "NIKA-VAR-006"


def test_the_timeout_of_a_fan_out_is_per_item() -> None:
    """One slow item times out; the others keep their values."""

    async def one_hangs(call: Any) -> int:
        value = int(call.body["command"]["argv"][1])
        await asyncio.sleep(5 if value == 2 else 0)
        return value

    text = fan(", fail_fast: false", 'timeout: "50ms"\n    on_error: {recover: late}')
    assert run(text, inputs={"xs": [1, 2, 3]}, a=one_hangs).verdict.outputs == {"o": [1, "late", 3]}


def test_a_when_that_speaks_of_the_item_is_decided_item_by_item() -> None:
    """Items whose `when:` is false are skipped in place."""
    text = fan(policy='when: "${{ item > 1 }}"')
    assert run(text, inputs={"xs": [1, 2]}, a=lambda c: "ran").verdict.outputs == {"o": [None, "ran"]}


def test_cleanups_run_before_the_producers_failure_is_seen() -> None:
    """An unwind task runs first, and its own failure changes nothing."""
    order: list[str] = []

    def note(call: Any) -> str:
        order.append(call.task)
        if call.task in ("work", "tidy"):
            raise Fault("NIKA-EXEC-001", "no")
        return "ok"

    ran = run(
        f"""
nika: unwind
tasks:
  work: {{ {TASK} }}
  tidy: {{ after: {{work: unwind}}, exec: {{command: ["${{{{ tasks.work.status }}}}"]}} }}
  more: {{ after: {{tidy: unwind}}, {TASK} }}
  seen: {{ after: {{work: failure}}, {TASK} }}
""",
        work=note,
        tidy=note,
        more=note,
        seen=note,
    )
    assert order == ["work", "tidy", "more", "seen"]
    assert ran.calls[1].body["command"]["argv"] == ["failure"]
    assert ran.statuses() == {"work": "failure", "tidy": "failure", "more": "success", "seen": "success"}


def test_a_failing_cleanup_does_not_fail_the_run_and_an_idle_one_is_skipped() -> None:
    """The verdict reflects the scheduled tasks alone."""
    ran = run(
        f"""
nika: idle
tasks:
  work: {{ {TASK} }}
  tidy: {{ after: {{work: unwind}}, {TASK} }}
  never: {{ when: false, {TASK} }}
  unused: {{ after: {{never: unwind}}, {TASK} }}
""",
        tidy=fails(),
    )
    assert ran.verdict.state == "completed"
    assert ran.statuses()["unused"] == "skipped"


def test_a_cleanup_runs_after_a_timeout_and_once_after_a_fan_out() -> None:
    """What it cleans up after has begun, however that ended; its own limit is not its producer's."""

    async def slow(call: Any) -> None:
        await call.sleep(2)

    ran = run(
        f"""
nika: limits
tasks:
  work: {{ timeout: "1s", {TASK} }}
  tidy: {{ after: {{work: unwind}}, {TASK} }}
  each: {{ for_each: {{items: [x, y]}}, timeout: "1s", {TASK} }}
  sweep: {{ after: {{each: unwind}}, {TASK} }}
""",
        work=slow,
        each=slow,
        tidy=slow,
        sweep=slow,
    )
    assert {name: outcome.cause for name, outcome in ran.verdict.tasks.items()} == {
        "work": "timeout",
        "tidy": "normal",
        "each": "timeout",
        "sweep": "normal",
    }
    assert [call.task for call in ran.calls].count("sweep") == 1


def test_cancelling_ends_everything_and_still_cleans_up() -> None:
    """A cancel from outside: running work ends, its cleanup runs, the rest settles cancelled."""
    started = asyncio.Event()

    async def hangs(call: Any) -> None:
        started.set()
        await asyncio.sleep(60)

    async def stop(engine: Any) -> None:
        await started.wait()
        engine.cancel()

    ran = run(
        f"""
nika: stop
tasks:
  work: {{ {TASK} }}
  tidy: {{ after: {{work: unwind}}, {TASK} }}
  next: {{ after: {{work: success}}, {TASK} }}
""",
        work=hangs,
        during=stop,
    )
    assert ran.verdict.state == "cancelled"
    assert ran.statuses() == {"work": "cancelled", "tidy": "success", "next": "cancelled"}
    assert [e.kind for e in ran.events][-1] == "workflow_cancelled"


def asks(call: Any) -> None:
    raise Asks(Prompt(call.task, "confirm", f"{call.task}?", item=call.item))


def test_a_prompt_pauses_the_run_after_its_siblings_finished() -> None:
    """Independent work goes on; every open prompt is listed in the one pause frame."""

    async def slow(call: Any) -> str:
        await asyncio.sleep(0.02)
        return "finished"

    ran = run(
        f"""
nika: pause
tasks:
  second: {{ {TASK} }}
  sibling: {{ {TASK} }}
  first: {{ {TASK} }}
  behind: {{ after: {{first: success}}, {TASK} }}
""",
        first=asks,
        second=asks,
        sibling=slow,
    )
    assert ran.verdict.state == "paused"
    assert ran.statuses() == {"sibling": "success"}
    listed = json.loads(ran.frame("workflow_paused").get("prompts"))
    assert [prompt["task"] for prompt in listed] == ["second", "first"]
    assert ran.events[-1].kind == "workflow_paused"


def test_prompts_inside_a_fan_out_pause_item_by_item() -> None:
    """Items that need no human settle and are journaled; the others are listed with their index."""

    def script(call: Any) -> str:
        if call.item == 1:
            asks(call)
        return "ok"

    ran = run(fan(), inputs={"xs": [5, 6, 7]}, a=script)
    assert [(p.key) for p in ran.verdict.prompts] == ["a[1]"]
    assert sorted(e.get("item") for e in ran.events if e.kind == "nb_item_completed") == [0, 2]


def test_a_run_ends_though_it_is_called_off_twice() -> None:
    """The second call strikes while items are still ending, one of them waiting for another task."""

    async def ends_slowly(call: Any) -> None:
        if call.item == 0:
            raise Fault("NIKA-EXEC-001", "no")
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.03)

    async def stop(engine: Any) -> None:
        for _ in range(3):
            await asyncio.sleep(0.01)
            engine.cancel()

    ran = run(waiting(TASK), a=ends_slowly, late=ends_slowly, during=stop)
    assert ran.verdict.state == "cancelled"
    assert ran.statuses() == {"a": "cancelled", "ask": "success", "late": "cancelled"}


def test_every_item_has_its_own_tries_bindings_condition_and_extraction() -> None:
    """All that speaks of the item is read anew for each; named bindings are arrays in the items' order."""
    tried: Counter[int] = Counter()

    def script(call: Any) -> Any:
        tried[call.item] += 1
        if call.item == 1 and tried[1] < 3:
            raise Fault("NIKA-EXEC-001", "not yet", transient=True)
        return {"n": call.body["command"]["argv"][1]}

    ran = run(
        """
nika: each
inputs: { xs: { type: { array: integer }, default: [5, 6, 7] } }
tasks:
  a:
    for_each: { items: "${{ inputs.xs }}" }
    with: { shown: "${{ item }}/${{ index }}" }
    when: ${{ with.shown != '7/2' }}
    retry: { max_attempts: 3, backoff_ms: 1 }
    extract: { n: ".n" }
    exec: { command: ["x", "${{ with.shown }}"] }
outputs: { n: "${{ tasks.a.n }}" }
""",
        inputs={"xs": [5, 6, 7]},
        a=script,
    )
    assert tried == {0: 1, 1: 3}
    assert ran.verdict.outputs == {"n": ["5/0", "6/1", None]}
    assert [event.get("item") for event in ran.events if event.kind == "task_retrying"] == [1, 1]


def test_nobody_is_asked_for_a_fan_out_that_has_failed() -> None:
    """A failed item ends it, open questions of the others included; without `fail_fast` they stay open."""

    def script(call: Any) -> None:
        asks(call) if call.item == 1 else fails()(call)

    ran = run(fan(), inputs={"xs": [5, 6]}, a=script)
    assert ran.statuses()["a"] == "failure"
    assert ran.verdict.state == "failed"
    patient = run(fan(extra=", fail_fast: false"), inputs={"xs": [5, 6]}, a=script)
    assert [prompt.key for prompt in patient.verdict.prompts] == ["a[1]"]


def test_a_recovery_that_waits_behind_a_pause_does_not_hang() -> None:
    """What only waits for a paused task stays open with it."""
    ran = run(
        f"""
nika: parked
tasks:
  a: {{ on_error: {{recover: "${{{{ tasks.late.output }}}}"}}, {TASK} }}
  ask: {{ {TASK} }}
  late: {{ after: {{ask: success}}, {TASK} }}
""",
        a=fails(),
        ask=asks,
    )
    assert ran.verdict.state == "paused"
    assert ran.statuses() == {}


def test_recoveries_that_wait_for_each_other_fail_instead_of_hanging() -> None:
    """Neither source can settle first, so neither has a value: both keep their own errors."""
    ran = run(
        f"""
nika: mutual
tasks:
  a: {{ on_error: {{recover: "${{{{ tasks.b.output }}}}"}}, {TASK} }}
  b: {{ on_error: {{recover: "${{{{ tasks.a.output }}}}"}}, {TASK} }}
""",
        a=fails("NIKA-EXEC-001"),
        b=fails("NIKA-EXEC-002"),
    )
    errors = {name: outcome.error.code for name, outcome in ran.verdict.tasks.items() if outcome.error}
    assert errors == {"a": "NIKA-EXEC-001", "b": "NIKA-EXEC-002"}


def waiting(late: str) -> str:
    """A fan-out whose items recover by what `late` gives."""
    return f"""
nika: items
tasks:
  a: {{ for_each: {{items: [x, y, z]}}, on_error: {{recover: "${{{{ tasks.late.output }}}}"}}, {TASK} }}
  ask: {{ {TASK} }}
  late: {{ {late} }}
"""


async def slowly(call: Any) -> str:
    await asyncio.sleep(0.02)
    return f"{call.task} at last"


def test_items_that_wait_for_one_task_all_get_what_it_gives() -> None:
    """However many wait: the task that they wait for is still at work."""
    ran = run(waiting(TASK), a=fails(), late=slowly)
    assert ran.verdict.tasks["a"].value == ["late at last"] * 3
    assert ran.verdict.state == "completed"


def test_an_item_at_work_is_not_cut_off_by_the_ones_that_wait() -> None:
    """Two items wait behind an open question; the third works on, settles and is journaled."""

    def script(call: Any) -> Any:
        return slowly(call) if call.item == 2 else fails()(call)

    ran = run(waiting(f"after: {{ask: success}}, {TASK}"), a=script, ask=asks)
    assert ran.verdict.state == "paused"
    assert [e.get("item") for e in ran.events if e.kind == "nb_item_completed"] == [2]


def test_items_and_a_task_that_wait_for_each_other_fail_instead_of_hanging() -> None:
    """A ring through a fan-out, with an item that works meanwhile."""

    def script(call: Any) -> Any:
        return slowly(call) if call.item == 2 else fails()(call)

    borrows = f'on_error: {{recover: "${{{{ tasks.a.output }}}}"}}, {TASK}'
    ran = run(waiting(borrows), a=script, late=fails("NIKA-EXEC-002"))
    assert ran.statuses() == {"ask": "success", "a": "failure", "late": "failure"}


def test_a_condition_stands_before_the_collection_it_guards() -> None:
    """A skipped producer gives null, which is no collection: `when:` may say so first."""
    text = f"""
nika: guarded
tasks:
  p: {{ when: false, {TASK} }}
  a:
    with: {{xs: "${{{{ tasks.p.output }}}}"}}
    when: ${{{{ with.xs != null }}}}
    for_each: {{items: "${{{{ with.xs }}}}"}}
    {TASK}
"""
    assert run(text).statuses() == {"p": "skipped", "a": "skipped"}
    unguarded = run(text.replace("    when: ${{ with.xs != null }}\n", ""))
    assert unguarded.verdict.tasks["a"].error.code == "NIKA-VAR-006"  # type: ignore[union-attr]


def test_typed_outputs_are_judged_at_the_end() -> None:
    """An output that does not fit its type fails the run by name."""
    ran = run(
        f"""
nika: typed
tasks:
  a: {{ {TASK} }}
outputs: {{ n: {{ value: "${{{{ tasks.a.output }}}}", type: integer }} }}
""",
        a=lambda call: "text",
    )
    assert ran.verdict.state == "failed"
    assert ran.frame("workflow_failed").get("detail").startswith("NIKA-VAR-009")


def test_a_group_folds_to_records_in_document_order() -> None:
    """`group.x` is an array of member records, failed members included."""
    ran = run(
        f"""
nika: groups
tasks:
  one: {{ group: g, {TASK} }}
  two: {{ group: g, {TASK} }}
  fold: {{ with: {{all: "${{{{ group.g }}}}"}}, exec: {{command: ["x"], stdin: "${{{{ with.all }}}}"}} }}
""",
        two=fails(),
    )
    records = ran.calls[-1].body["stdin"]
    assert [(r["id"], r["status"], r["output"]) for r in records] == [
        ("one", "success", "one done"),
        ("two", "failure", None),
    ]
    assert records[1]["error"]["code"] == "NIKA-EXEC-001"


def test_a_broken_verb_ends_its_task_and_says_that_it_is_a_defect() -> None:
    """An exception that is no typed failure: told with its place, and the run still ends in order."""

    def broken(call: Any) -> None:
        raise ZeroDivisionError("by nothing")

    ran = run(f"nika: broken\ntasks:\n  a: {{ {TASK} }}\n  b: {{ {TASK} }}\n", a=broken)
    error = ran.verdict.tasks["a"].error
    assert error is not None
    assert (error.code, error.category) == ("NIKA-IMPL-001", "internal_error")
    assert "ZeroDivisionError: by nothing (test_engine.py:" in error.message
    assert ran.statuses() == {"a": "failure", "b": "success"}
    assert ran.events[-1].kind == "workflow_failed"


def test_a_thousand_tasks_in_a_chain_and_side_by_side() -> None:
    """Depth and width cost linear work and no recursion."""
    chain = "\n".join(f"  t{i}: {{ after: {{t{i - 1}: success}}, {TASK} }}" for i in range(1, 500))
    wide = "\n".join(f"  w{i}: {{ {TASK} }}" for i in range(500))
    ran = run(f"nika: big\ntasks:\n  t0: {{ {TASK} }}\n{chain}\n{wide}\n")
    assert ran.verdict.state == "completed"
    assert len(ran.calls) == 1000


class Recorded:
    """A memory that knows whole tasks and items by their output, whatever their identity."""

    resuming = True

    def __init__(self, whole: Any, items: dict[int, Any]) -> None:
        self.whole, self.items = whole, items

    def recall(self, identity: Any) -> Hit | Miss:
        return Hit(self.whole, "t.ndjson", "id")

    def recall_item(self, identity: Any, index: int) -> Hit | Miss:
        return Hit(self.items[index], "t.ndjson", f"id{index}") if index in self.items else Miss("new")

    def carried(self, task: str) -> None:
        return None

    def carried_item(self, identity: Any, index: int) -> None:
        return None


def test_a_fan_out_recalled_whole_extracts_and_journals_item_by_item() -> None:
    """Bindings stay arrays of the items' values, and each item can be recalled again next time."""
    text = fan(policy='extract: {n: ".n"}').replace("tasks.a.output", "tasks.a.n")
    values = [{"n": 1}, None, {"n": 3}]
    ran = run(text, inputs={"xs": [1, 2, 3]}, memory=Recorded(values, {0: values[0], 2: values[2]}))
    assert ran.verdict.outputs == {"o": [1, None, 3]}
    assert [e.get("item") for e in ran.events if e.kind == "nb_item_completed"] == [0, 2]
    assert ran.kinds("a")[-1] == "task_cache_hit"
    assert not ran.calls
