"""Cost grows with the work: the same job at two sizes, measured against each other in one run.

No figure here is a number of seconds. What is compared is the processor time of the larger job with
that of the smaller one; a job that grows with the square would be far beyond the bound.
"""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

import nika_nb
from nika_nb.board import board_of, still_html
from nika_nb.board.replay import Replay
from nika_nb.board.tape import Tape
from nika_nb.check.editing.complete import complete
from nika_nb.errors import Source
from nika_nb.runs.acting import acting
from nika_nb.runs.run import Run
from nika_nb.runs.vocabulary import tool_words
from nika_nb.trace.memory import JournalMemory
from nika_nb.trace.reader import read
from nika_nb.trace.verify import verify
from tests.trace.journals import Events, completed, started, write

TIMES = 6  # how much larger the larger job is
SLACK = 2.5  # a square law would show as TIMES, a line as 1

FAN = """nika: fan
model: mock/echo
inputs: { xs: { type: { array: integer }, default: [] } }
tasks:
  a:
    for_each: { items: "${{ inputs.xs }}" }
    infer: { prompt: "item ${{ item }}" }
"""


def fan(count: int) -> Run:
    return nika_nb.run(FAN, vars={"xs": list(range(count))})


def wide(count: int) -> str:
    tasks = "\n".join(f'  t{i}: {{ infer: {{ prompt: "p{i}" }} }}' for i in range(count))
    return f"nika: wide\nmodel: mock/echo\ntasks:\n{tasks}\n"


def chain(count: int) -> str:
    links = (
        f'  t{i}: {{ with: {{ v: "${{{{ tasks.t{i - 1}.output }}}}" }}, infer: {{ prompt: "{i}" }} }}'
        for i in range(1, count)
    )
    return (
        'nika: chain\nmodel: mock/echo\ntasks:\n  t0: { infer: { prompt: "0" } }\n' + "\n".join(links) + "\n"
    )


def spent(work: Callable[[], object]) -> float:
    """The least processor time of three tries; no garbage collection looks through what other tests left."""
    found = []
    gc.collect()
    gc.freeze()
    for _ in range(3):
        before = time.process_time()
        work()
        found.append(time.process_time() - before)
    gc.unfreeze()
    return min(found)


def grows_with_the_work(job: Callable[[int], Callable[[], object]], size: int) -> None:
    small, large = spent(job(size)), spent(job(size * TIMES))
    assert large / small < TIMES * SLACK, f"{TIMES} times the work took {large / small:.1f} times as long"


def test_items(folder: Path) -> None:
    """A fan-out of many items."""
    grows_with_the_work(lambda n: lambda: fan(n), 300)


def test_items_recalled(folder: Path) -> None:
    """A resume in which one item of many changed."""

    def job(count: int) -> Callable[[], object]:
        trace = fan(count).trace
        changed = [-1, *range(1, count)]
        return lambda: nika_nb.run(FAN, vars={"xs": changed}, resume=trace)

    grows_with_the_work(job, 300)


@pytest.mark.parametrize("shape", [wide, chain])
def test_tasks(folder: Path, shape: Callable[[int], str]) -> None:
    """Many tasks side by side, and one behind the other: checked, run, journaled."""
    grows_with_the_work(lambda n: lambda: nika_nb.run(shape(n)), 60)


TOUCHES = "permits: { fs: { read: [%s], write: [%s] }, tools: [nika:read, nika:write] }\ntasks:\n"


def own_permits(count: int) -> str:
    """As many patterns as tasks, each task with one of its own."""
    names = ", ".join(f'"./a{i}/*"' for i in range(count))
    tasks = "".join(
        f'  t{i}: {{ invoke: {{ tool: "nika:read", args: {{ path: "./a{i}/x" }} }} }}\n' for i in range(count)
    )
    return "nika: many\n" + TOUCHES % (names, "") + tasks


def exceptions(count: int) -> str:
    """Patterns that take back, and tasks that none of them concerns."""
    names = ", ".join(f'"!./b{i}/**"' for i in range(count))
    tasks = "".join(
        f'  t{i}: {{ invoke: {{ tool: "nika:read", args: {{ path: "./a{i}" }} }} }}\n' for i in range(count)
    )
    return "nika: many\n" + TOUCHES % (f'"./**", {names}', "") + tasks


def cleanups(count: int) -> str:
    """One task that many cleanups follow, two and two of which write the same file."""
    tasks = "".join(
        f"  u{i}: {{ after: {{ t: unwind }}, invoke: "
        f'{{ tool: "nika:write", args: {{ path: "./a{i % (count // 2)}", content: x }} }} }}\n'
        for i in range(count)
    )
    return "nika: many\n" + TOUCHES % ("", '"./**"') + '  t: { invoke: { tool: "nika:log" } }\n' + tasks


def ring(count: int) -> str:
    """Every task waits for the one before it, the first for the last."""
    tasks = "".join(
        f'  t{i}: {{ after: {{ t{(i - 1) % count}: success }}, invoke: {{ tool: "nika:log" }} }}\n'
        for i in range(count)
    )
    return f"nika: ring\ntasks:\n{tasks}"


def recoveries(count: int) -> str:
    """A chain, each of whose tasks recovers with what one task gave."""
    tasks = "".join(
        f'  t{i}: {{ after: {{ t{i - 1}: success }}, invoke: {{ tool: "nika:assert" }}, '
        f'on_error: {{ recover: "${{{{ tasks.t0.output }}}}" }} }}\n'
        for i in range(1, count)
    )
    return f'nika: recovers\ntasks:\n  t0: {{ invoke: {{ tool: "nika:log" }} }}\n{tasks}'


def groups(count: int) -> str:
    """As many groups as tasks."""
    tasks = "".join(
        f'  t{i}: {{ group: g{i}, invoke: {{ tool: "nika:log" }} }}\n'
        f'  j{i}: {{ with: {{ all: "${{{{ group.g{i} }}}}" }}, invoke: {{ tool: "nika:log" }} }}\n'
        for i in range(count)
    )
    return f"nika: groups\ntasks:\n{tasks}"


@pytest.mark.parametrize("shape", [own_permits, exceptions, cleanups, ring, recoveries, groups])
def test_checks_that_compare(shape: Callable[[int], str]) -> None:
    """Judgments that hold much against much: permits, orders, cycles, groups."""
    grows_with_the_work(lambda n: lambda: nika_nb.check(shape(n)), 300)


@pytest.mark.parametrize("shape", [wide, chain])
def test_check(shape: Callable[[int], str]) -> None:
    """The judgment of a large document."""
    grows_with_the_work(lambda n: lambda: nika_nb.check(shape(n)).ok, 150)


@pytest.mark.parametrize("shape", [wide, chain])
def test_completion(shape: Callable[[int], str]) -> None:
    """Tab at the end of a large document, where every task may follow."""

    def job(count: int) -> Callable[[], object]:
        text = shape(count) + '  new: { with: { a: "${{ tasks.'
        return lambda: complete(text, len(text), tool_words())

    grows_with_the_work(job, 300)


def test_secrets(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many secrets, and all that is written is searched for each of them."""

    def job(count: int) -> Callable[[], object]:
        for at in range(count):
            monkeypatch.setenv(f"KEY_{at}", f"a-secret-value-{at:06}")
        keys = "".join(f"  s{at}: {{ source: env, key: KEY_{at} }}\n" for at in range(count))
        tasks = "".join(f'  t{i}: {{ invoke: {{ tool: "nika:log" }} }}\n' for i in range(10))
        text = f"nika: keys\nsecrets:\n{keys}tasks:\n{tasks}"
        return lambda: nika_nb.run(text)

    grows_with_the_work(job, 60)


def test_a_forecast(folder: Path) -> None:
    """What a resume of a long chain would do."""

    def job(count: int) -> Callable[[], object]:
        trace = nika_nb.run(chain(count)).trace
        return lambda: nika_nb.plan_resume(chain(count), trace)

    grows_with_the_work(job, 60)


def test_what_a_reproduction_would_do(folder: Path) -> None:
    """The effects of many tasks, told before they may happen again."""

    def job(count: int) -> Callable[[], object]:
        ahead = nika_nb.plan_resume(wide(count))
        return lambda: acting(ahead)

    grows_with_the_work(job, 200)


def test_a_long_text_has_its_places_at_once() -> None:
    """Placing diagnostics does not walk the text again and again."""

    def job(count: int) -> Callable[[], object]:
        text = "nika: x\ntasks:\n" + "".join(f"  t{i}: {{ exce: {{}} }}\n" for i in range(count))
        report = nika_nb.check(text)
        return lambda: [found.render(Source(text)) for found in report.diagnostics[:20]]

    grows_with_the_work(job, 500)


def test_reading_a_journal(folder: Path) -> None:
    """Read, verified, remembered, folded and drawn."""

    def job(count: int) -> Callable[[], object]:
        path = fan(count).trace
        assert path is not None

        def work() -> object:
            trace = read(path)
            JournalMemory(trace)
            return verify(path), still_html(board_of(trace.frames))

        return work

    grows_with_the_work(job, 400)


def test_a_replay_there_and_back(folder: Path) -> None:
    """Opened, stepped through to its end and back: no step looks at the whole journal again."""

    def job(count: int) -> Callable[[], object]:
        path = fan(count).trace
        assert path is not None

        def work() -> object:
            steps = nika_nb.replay(path, fine=True)
            return [step.board for step in (*steps, *reversed(steps))]

        return work

    grows_with_the_work(job, 250)


def test_a_replay_holds_no_outputs(tmp_path: Path) -> None:
    """What is kept of a journal does not grow with what its tasks gave back."""

    def held(characters: int) -> int:
        make = Events()
        make("workflow_started", **started())
        for at in range(40):
            make("task_completed", **completed(f"t{at}", "x" * characters))
        path = write(tmp_path / str(characters), make.made)
        tracemalloc.start()
        steps = Replay(Tape([(path, path.name)]))
        read_back = [len(step.outputs[step.task]) for step in steps if step.task]
        found = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        assert read_back == [characters] * 40
        return found

    assert held(200_000) < held(20) * 2


def test_tables_and_answers_of_a_journal(folder: Path) -> None:
    """Every table, why, the comparison with another run, and the ledger."""

    def job(count: int) -> Callable[[], object]:
        first = fan(count)
        changed = nika_nb.run(FAN, vars={"xs": [-1, *range(1, count)]}, resume=first.trace)

        def work() -> object:
            tables = nika_nb.read_trace(changed)
            return (
                [getattr(tables, name) for name in ("tasks", "items", "attempts", "events")],
                nika_nb.why(changed),
                nika_nb.diff(first, changed),
                nika_nb.ledger(changed),
            )

        return work

    grows_with_the_work(job, 100)
