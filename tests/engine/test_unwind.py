"""Cleanups of several producers, edges beside them, what they read, and runs that end while they are due."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from nika_nb.engine.contract import Asks, Prompt, Usage
from nika_nb.errors import Fault
from tests.engine.scripted import Ran, run

TASK = 'exec: {command: ["run"]}'


def text(*tasks: str) -> str:
    return "nika: unwind\ntasks:\n" + "".join(f"  {task}\n" for task in tasks)


def after(seconds: float, order: list[str]) -> Any:
    async def script(call: Any) -> str:
        await call.sleep(seconds)
        order.append(call.task)
        return str(call.task)

    return script


def fails(call: Any) -> None:
    raise Fault("NIKA-EXEC-001", "no")


def asks(call: Any) -> None:
    raise Asks(Prompt(call.task, "confirm", f"{call.task}?"))


PAIR = text(
    f"p: {{ {TASK} }}",
    f"q: {{ {TASK} }}",
    'c: { after: {p: unwind, q: unwind}, exec: {command: ["${{ tasks.p.status }} ${{ tasks.q.status }}"]} }',
    f"n: {{ after: {{p: success, q: success}}, {TASK} }}",
)


@pytest.mark.parametrize(("p", "q"), [(1, 1), (1, 3), (3, 1)], ids=["together", "q last", "p last"])
def test_a_cleanup_of_two_producers_runs_once_when_both_have_ended(p: float, q: float) -> None:
    """Whichever ends last: it sees the ends of both, and comes before whatever waits for both."""
    order: list[str] = []
    ran = run(PAIR, p=after(p, order), q=after(q, order), c=after(2, order), n=after(0, order))
    assert sorted(order[:2]) == ["p", "q"]
    assert order[2:] == ["c", "n"]
    assert ran.calls[-2].body["command"]["argv"] == ["success success"]
    assert ran.kinds("c").count("task_completed") == 1
    assert ran.statuses() == dict.fromkeys("pqcn", "success")


@pytest.mark.parametrize("late", ["q", "p"])
def test_a_cleanup_runs_though_its_last_producer_never_started(late: str) -> None:
    """One had work to clean up after; where none had, the cleanup is skipped."""
    gate = f"{late}: {{ after: {{slow: failure}}, {TASK} }}"
    other = "p" if late == "q" else "q"
    tasks = [
        f"slow: {{ {TASK} }}",
        gate,
        f"{other}: {{ {TASK} }}",
        f"c: {{ after: {{p: unwind, q: unwind}}, {TASK} }}",
    ]
    order: list[str] = []
    ran = run(text(*tasks), slow=after(2, order), c=after(0, order), **{other: after(1, order)})
    assert order == [other, "slow", "c"]
    assert ran.statuses() == {"slow": "success", late: "cancelled", other: "success", "c": "success"}
    idle = run(text(*tasks[:2], f"{other}: {{ when: false, {TASK} }}", tasks[3]))
    assert idle.statuses()["c"] == "skipped"
    assert idle.frame("task_skipped", "c").get("note") == "unwind · nothing started"


def test_late_cleanups_run_in_the_order_in_which_they_stand() -> None:
    """One after the other, as behind a producer that did start."""
    order: list[str] = []
    tasks = [f"slow: {{ {TASK} }}", f"p: {{ {TASK} }}", f"q: {{ after: {{slow: failure}}, {TASK} }}"]
    tasks += [f"{name}: {{ after: {{p: unwind, q: unwind}}, {TASK} }}" for name in ("a", "b", "c")]

    async def both(call: Any) -> None:
        order.append(f"{call.task} begins")
        await asyncio.sleep(0.01)
        order.append(f"{call.task} ends")

    run(text(*tasks), slow=after(1, []), a=both, b=both, c=both)
    assert order == [f"{name} {word}" for name in "abc" for word in ("begins", "ends")]


@pytest.mark.parametrize(
    ("predicate", "q", "status"),
    [
        ("success", None, "success"),
        ("success", fails, "cancelled"),
        ("failure", fails, "success"),
        ("failure", None, "cancelled"),
        ("terminal", fails, "success"),
    ],
)
def test_an_edge_beside_unwind_has_to_admit_the_cleanup(predicate: str, q: Any, status: str) -> None:
    """It waits for that task to settle, however early the one that it follows has ended."""
    order: list[str] = []

    async def slow(call: Any) -> Any:
        await call.sleep(2)
        order.append("q")
        return q(call) if q else "ok"

    ran = run(
        text(
            f"p: {{ {TASK} }}", f"q: {{ {TASK} }}", f"c: {{ after: {{p: unwind, q: {predicate}}}, {TASK} }}"
        ),
        p=after(0, order),
        q=slow,
        c=after(0, order),
    )
    assert ran.statuses()["c"] == status
    assert order == ["p", "q", "c"][: 3 if status == "success" else 2]


def test_a_cleanup_behind_a_cleanup_and_a_task_waits_for_both() -> None:
    """A chain goes on where its last link is."""
    order: list[str] = []
    ran = run(
        text(
            f"p: {{ {TASK} }}",
            f"q: {{ {TASK} }}",
            f"c: {{ after: {{p: unwind}}, {TASK} }}",
            f"d: {{ after: {{c: unwind, q: unwind}}, {TASK} }}",
        ),
        p=after(0, order),
        q=after(3, order),
        c=after(1, order),
        d=after(0, order),
    )
    assert sorted(order[:3]) == ["c", "p", "q"]
    assert order[3:] == ["d"]
    assert set(ran.statuses().values()) == {"success"}


def test_what_a_cleanup_reads_of_its_producer_is_settled() -> None:
    """Its named bindings stand there, and its output can be recovered from."""
    ran = run(
        text(
            f'p: {{ {TASK}, extract: {{n: ".n"}} }}',
            'c: { after: {p: unwind}, with: {n: "${{ tasks.p.n }}"}, exec: {command: ["${{ with.n }}"]} }',
            f'r: {{ after: {{p: unwind}}, {TASK}, on_error: {{recover: "${{{{ tasks.p.output }}}}"}} }}',
        ),
        p=lambda call: {"n": 7},
        r=fails,
    )
    assert ran.calls[1].body["command"]["argv"] == [7]
    assert ran.verdict.tasks["r"].value == {"n": 7}
    assert ran.verdict.tasks["r"].cause == "recovered"


# -- runs that end before their tasks --------------------------------------------------------------


def stopped(workflow: str, *, at: str, times: int = 1, **scripts: Any) -> Ran:
    """The run is called off as soon as that task works, and once more for each further time."""
    reached = asyncio.Event()

    async def hangs(call: Any) -> None:
        reached.set()
        await asyncio.sleep(60)

    async def stop(engine: Any) -> None:
        await reached.wait()
        for _ in range(times):
            engine.cancel()
            for _ in range(20):
                await asyncio.sleep(0)

    return run(workflow, during=stop, **{at: hangs}, **scripts)


def test_called_off_a_cleanup_comes_when_its_producers_never_will() -> None:
    """One had ended, one is cut off and one has not begun: then it has all that it waits for."""
    tasks = (f"p: {{ {TASK} }}", f"q: {{ {TASK} }}", f"r: {{ after: {{q: success}}, {TASK} }}")
    three = f"c: {{ after: {{p: unwind, q: unwind, r: unwind}}, {TASK} }}"
    beside = f"d: {{ after: {{p: unwind, r: terminal}}, {TASK} }}"
    never = f"e: {{ after: {{p: unwind, r: success}}, {TASK} }}"
    ran = stopped(text(*tasks, three, beside, never), at="q")
    ends = {
        "p": "success",
        "q": "cancelled",
        "r": "cancelled",
        "c": "success",
        "d": "success",
        "e": "cancelled",
    }
    assert ran.statuses() == ends
    assert all(sum(kind in ENDS for kind in ran.kinds(name)) == 1 for name in ends)


def test_called_off_what_stands_open_is_cleaned_up_after() -> None:
    """A question beside the work: its cleanup is due as well."""
    tasks = (f"a: {{ {TASK} }}", f"w: {{ {TASK} }}", f"c: {{ after: {{a: unwind}}, {TASK} }}")
    ran = stopped(text(*tasks), at="w", a=asks)
    assert ran.statuses() == {"a": "cancelled", "w": "cancelled", "c": "success"}
    assert ran.events[-1].kind == "workflow_cancelled"


def test_over_its_cap_a_run_cleans_up_after_an_open_question() -> None:
    """It is cancelled with the rest, and it had begun."""
    tasks = (f"a: {{ {TASK} }}", f"w: {{ {TASK} }}", f"n: {{ after: {{w: success}}, {TASK} }}")
    ran = run(
        text(*tasks, f"c: {{ after: {{a: unwind}}, {TASK} }}"),
        max_cost_usd=0.01,
        a=asks,
        w=lambda call: call.spend(Usage(1, 1, 0.5)),
    )
    causes = {name: outcome.cause for name, outcome in ran.verdict.tasks.items()}
    assert causes == {"a": "budget", "w": "normal", "n": "budget", "c": "normal"}
    assert ran.verdict.state == "failed"


def test_a_cleanup_goes_on_when_the_run_is_called_off_and_ends_when_it_is_again() -> None:
    """It is not begun a second time either."""
    tasks = text(
        f"p: {{ {TASK} }}", f"c: {{ after: {{p: unwind}}, {TASK} }}", f"d: {{ after: {{c: unwind}}, {TASK} }}"
    )
    order: list[str] = []

    async def stop(engine: Any) -> None:
        while "c" not in order:
            await asyncio.sleep(0)
        engine.cancel()

    async def slow(call: Any) -> str:
        order.append(call.task)
        await asyncio.sleep(0.05)
        return "ok"

    once = run(tasks, during=stop, c=slow)
    assert order == ["c"]
    assert (once.statuses()["c"], once.statuses()["d"]) == ("success", "success")
    assert once.verdict.state == "cancelled"
    twice = stopped(tasks, at="c", times=2)
    assert twice.statuses()["c"] == "cancelled"
    assert twice.verdict.state == "cancelled"


ENDS = ("task_completed", "task_failed", "task_skipped", "task_cancelled")
