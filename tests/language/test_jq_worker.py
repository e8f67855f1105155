"""The jq worker: bounded, killable, one process at a time, and never longer alive than its parent."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nika_nb.errors import Fault
from nika_nb.language.jq import JqWorker, Limits
from nika_nb.language.jq.process import Evaluator, Gone

FOREVER = "last(range(1e12))"
PATIENCE = 60.0  # seconds until a test gives up waiting


@pytest.fixture
def make() -> Iterator[Callable[..., JqWorker]]:
    """Workers with the given limits, closed in the end."""
    made: list[JqWorker] = []

    def make(**limits: Any) -> JqWorker:
        made.append(JqWorker(Limits(**({"seconds": PATIENCE} | limits))))
        return made[-1]

    yield make
    for worker in made:
        worker.close()


def run(worker: JqWorker, program: str, value: Any = None) -> list[Any]:
    return asyncio.run(worker.run(program, value))


def refusal(worker: JqWorker, program: str, value: Any = None) -> str:
    with pytest.raises(Fault) as caught:
        run(worker, program, value)
    assert caught.value.code == "NIKA-VAR-004"
    return caught.value.message


def pid(worker: JqWorker) -> int:
    assert worker._evaluator is not None
    return worker._evaluator._process.pid


async def busy(worker: JqWorker) -> int:
    """The process, once it is at work."""
    while worker._current is None or worker._evaluator is None or not worker._evaluator._turn > 2:
        await asyncio.sleep(0.01)
    return pid(worker)


def gone(process: int) -> bool:
    """Whether a process has ended; one that nobody has waited for yet counts."""
    shown = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True)
    return shown.stdout.strip()[:1] in ("", "Z")


def wait_until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def test_ends_what_takes_too_long(make: Callable[..., JqWorker]) -> None:
    """After its deadline an evaluation is ended, and the next one is answered by a new process."""
    worker = make(seconds=0.5)
    assert "took longer than 0.5 s" in refusal(worker, FOREVER)
    assert run(worker, ". + 1", 1) == [2]


def test_time_to_move_a_large_input_is_granted(make: Callable[..., JqWorker]) -> None:
    """The deadline is for computing: a large input alone does not use it up."""
    text = "x" * (64 << 20)
    assert run(make(seconds=0.01), "length", text) == [len(text)]


def test_ends_a_process_that_stands_still(make: Callable[..., JqWorker]) -> None:
    """The deadline holds even for a process that was stopped and cannot end itself."""
    worker = make(seconds=1.0)

    async def stopped() -> None:
        task = asyncio.create_task(worker.run(FOREVER, None))
        os.kill(await busy(worker), signal.SIGSTOP)
        await asyncio.wait_for(task, PATIENCE)

    with pytest.raises(Fault, match="took longer"):
        asyncio.run(stopped())


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS does not bound the address space")
def test_bounds_memory(make: Callable[..., JqWorker]) -> None:
    """A program that fills the memory is refused long before the machine suffers."""
    worker = make(memory=256 << 20)
    assert "more memory than 0.25 GiB" in refusal(worker, "[range(1e9)]")
    assert run(worker, ". + 1", 1) == [2]


def test_bounds_the_size_of_the_values(make: Callable[..., JqWorker]) -> None:
    """Too many bytes are refused, and the process lives on."""
    worker = make(size=1 << 20)
    assert "exceed 1 MiB" in refusal(worker, "[range(1e6)]")
    before = pid(worker)
    assert run(worker, "[range(10)] | length") == [10]
    assert pid(worker) == before


def test_bounds_the_number_of_values(make: Callable[..., JqWorker]) -> None:
    """As many values as allowed pass, one more is refused."""
    worker = make(count=3)
    assert run(worker, "range(3)") == [0, 1, 2]
    assert "more than 3 values" in refusal(worker, "range(4)")


def test_survives_a_crash(make: Callable[..., JqWorker]) -> None:
    """A value nested so deeply that the evaluator crashes fails one evaluation and no more."""
    worker = make()
    assert "crashed its process" in refusal(worker, "reduce range(1000000) as $i (0; [.])")
    assert run(worker, ". + 1", 1) == [2]


def test_survives_a_kill_in_the_middle(make: Callable[..., JqWorker]) -> None:
    """Killed while it computes, the evaluation fails and says so; the next call works."""
    worker = make()

    async def killed() -> str:
        task = asyncio.create_task(worker.run(FOREVER, None))
        os.kill(await busy(worker), signal.SIGKILL)
        with pytest.raises(Fault) as caught:
            await task
        return caught.value.message

    assert "SIGKILL" in asyncio.run(killed())
    assert run(worker, ". + 1", 1) == [2]


def test_survives_a_kill_between_two_calls(make: Callable[..., JqWorker]) -> None:
    """A process that died while nobody asked is replaced without a word."""
    worker = make()
    run(worker, ". + 1", 1)
    os.kill(pid(worker), signal.SIGKILL)
    wait_until(lambda: worker._evaluator is not None and not worker._evaluator.alive)
    assert run(worker, ". + 1", 1) == [2]


def test_a_cancelled_call_ends_its_evaluation(make: Callable[..., JqWorker]) -> None:
    """Cancelling a call kills what it computes, and the worker stays usable."""
    worker = make(seconds=10 * PATIENCE)

    async def cancelled() -> int:
        task = asyncio.create_task(worker.run(FOREVER, None))
        process = await busy(worker)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.wait_for(worker.run(". + 1", 1), PATIENCE) == [2]
        return process

    assert gone(asyncio.run(cancelled()))


def test_a_cancelled_call_in_the_queue_harms_nobody(make: Callable[..., JqWorker]) -> None:
    """Cancelling a call that waits leaves the one at work alone."""
    worker = make()

    async def both() -> list[Any]:
        first = asyncio.create_task(worker.run("[range(3e6)] | length", None))
        second = asyncio.create_task(worker.run(FOREVER, None))
        await busy(worker)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        return await first

    assert asyncio.run(both()) == [3_000_000]


def test_concurrent_calls_are_queued(make: Callable[..., JqWorker]) -> None:
    """Many callers at once each get their own answer, from one process."""
    worker = make()

    async def many() -> list[list[Any]]:
        return await asyncio.gather(*(worker.run(". * 2", number) for number in range(50)))

    assert asyncio.run(many()) == [[2 * number] for number in range(50)]


def test_a_failure_among_concurrent_calls_stays_alone(make: Callable[..., JqWorker]) -> None:
    """When one of two callers is ended, the other is answered."""
    worker = make(seconds=0.5)

    async def two() -> list[Any]:
        return list(
            await asyncio.gather(worker.run(FOREVER, None), worker.run(". + 1", 1), return_exceptions=True)
        )

    slow, quick = asyncio.run(two())
    assert isinstance(slow, Fault)
    assert quick == [2]


def test_works_on_a_loop_in_another_thread(make: Callable[..., JqWorker]) -> None:
    """Event loops in several threads may share one worker."""
    worker = make()
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.extend(run(worker, ". + 1", 1))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [2, 2, 2]


def test_close_ends_the_process_and_what_it_computes(make: Callable[..., JqWorker]) -> None:
    """Closing does not wait for an evaluation; a closed worker may be used again."""
    worker = make()

    async def closed() -> tuple[int, str]:
        task = asyncio.create_task(worker.run(FOREVER, None))
        process = await busy(worker)
        await asyncio.to_thread(worker.close)
        with pytest.raises(Fault) as caught:
            await task
        return process, caught.value.message

    process, message = asyncio.run(closed())
    assert gone(process)
    assert "called off" in message
    assert run(worker, ". + 1", 1) == [2]


def test_an_interrupt_at_the_keyboard_does_not_reach_it(make: Callable[..., JqWorker]) -> None:
    """The process leads a session of its own."""
    worker = make()
    run(worker, ". + 1", 1)
    assert os.getsid(pid(worker)) == pid(worker)


PARENT = """
import asyncio, sys
from nika_nb.language.jq import JqWorker, Limits

async def main():
    worker = JqWorker(Limits(seconds=1))
    await worker.run(". + 1", 1)
    print(worker._evaluator._process.pid, flush=True)
    await worker.run(sys.argv[1], None) if sys.argv[1] else await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.mark.parametrize("program", ["", FOREVER], ids=["waiting", "computing"])
def test_dies_with_its_parent(program: str) -> None:
    """When its parent is killed, the process ends: at once while it waits, by its alarm while it computes."""
    root = Path(__file__).resolve().parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, program], stdout=subprocess.PIPE, cwd=root, text=True
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert not gone(child)
        parent.kill()
    wait_until(lambda: gone(child))


@pytest.mark.parametrize(
    ("program", "said"), [("halt", "exit code 0"), ("def f: 1 + f; f", "crashed its process")]
)
def test_what_the_gate_refuses_would_not_harm_the_parent(program: str, said: str) -> None:
    """Even a program that ends or crashes the process ends nothing but the process."""
    evaluator = Evaluator(Limits(seconds=PATIENCE))
    evaluator.greet()
    with pytest.raises(Gone):
        evaluator.ask(program, b"null")
    assert said in evaluator.reap()


def test_the_process_sees_no_environment() -> None:
    """Nothing of this process's environment is in the evaluator's, whatever a program asks."""
    evaluator = Evaluator(Limits(seconds=PATIENCE))
    evaluator.greet()
    kind, body = evaluator.ask("env | [.PATH, .HOME, .USER]", b"null")
    evaluator.end("done")
    assert (kind, body) == ("v", b"[null,null,null]")
    assert evaluator.reap() == "done"


def test_a_program_that_does_not_compile_is_reported(make: Callable[..., JqWorker], monkeypatch: Any) -> None:
    """Should the gate and the evaluator disagree, the evaluator's report comes back in one line."""
    monkeypatch.setattr("nika_nb.language.jq.worker.parse", lambda program: frozenset())
    with pytest.raises(Fault) as caught:
        run(make(), "nothing_like_it(1)")
    assert caught.value.code == "NIKA-VAR-005"
    assert "undefined filter" in caught.value.message
    assert "\n" not in caught.value.message


def test_says_when_the_evaluator_cannot_start(make: Callable[..., JqWorker], monkeypatch: Any) -> None:
    """Without its package the evaluation fails with a sentence that names it."""
    monkeypatch.setattr("nika_nb.language.jq.process.find_spec", lambda name: None)
    assert "`jaq-rs` is not installed" in refusal(make(), ". + 1", 1)
