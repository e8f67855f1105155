"""Evaluates jq programs one after the other in a process that can be killed; bounded in every way."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any, NoReturn

from nika_nb.errors import Fault, hidden
from nika_nb.language.jq import paths
from nika_nb.language.jq.gate import parse
from nika_nb.language.jq.process import Evaluator, Gone, Limits, greedy
from nika_nb.language.jq.vocabulary import PRELUDE
from nika_nb.values import BYTES_CODE, LEVELS, dumps, holds_bytes, too_deep

_MESSAGE_LENGTH = 300
_EXCERPT_LENGTH = 60


@dataclass(slots=True)
class _Job:
    program: str
    functions: frozenset[str]
    value: Any
    abandoned: bool = False


class JqWorker:
    """Evaluates programs over JSON values. Calls from any thread and any event loop are queued.

    Where jq and jaq answer differently (`join` over a null, say), the answer is jaq's.

    The process starts at the first program that is more than a plain path, is started anew after
    it had to be killed, and ends with `close`, with this process, or after an evaluation that
    outlives this process by at most its deadline.

    computed: is told of every result, and of what it was made from, before anyone gets it.
    """

    def __init__(
        self, limits: Limits | None = None, computed: Callable[[Any, Any], None] = lambda made, source: None
    ) -> None:
        self._limits = limits or Limits()
        self._computed = computed
        self._mutex = threading.Lock()
        self._executor: ThreadPoolExecutor | None = None
        self._evaluator: Evaluator | None = None
        self._current: _Job | None = None

    async def values(self, program: str, value: Any) -> list[Any]:
        """Every value that the program of an `extract:` emits. Raises Fault NIKA-VAR-004."""
        try:
            return await self.run(program, value)
        except Fault as fault:
            if fault.code != "NIKA-VAR-005":
                raise
            raise Fault("NIKA-VAR-004", fault.message, span=fault.span) from None

    async def run(self, program: str, value: Any) -> list[Any]:
        """Every value that the program emits.

        Raises Fault NIKA-VAR-005 where the program is not one of the language, NIKA-VAR-004 where
        it fails, leaves its bounds, or produces what is not JSON, and NIKA-VAR-007 for bytes.
        """
        functions = parse(program)
        found = paths.read(program, value)
        if holds_bytes(value if found is paths.UNANSWERED else found):
            has = "is" if isinstance(value, bytes) else "holds"
            raise Fault(BYTES_CODE, f"jq reads JSON, and this value {has} bytes: write them to a file")
        if found is not paths.UNANSWERED:
            return [found]
        try:
            results = await self._queued(_Job(program, functions, value))
        except Fault as fault:
            self._computed(fault.message, [program, value])
            raise
        self._computed(results, [program, value])
        return results

    def close(self) -> None:
        """End the process and whatever it is computing. The worker may be used again afterwards."""
        with self._mutex:
            executor, self._executor = self._executor, None
            if self._current is not None:
                self._current.abandoned = True
            if self._evaluator is not None:
                self._evaluator.end("it was called off")
        if executor is not None:
            executor.shutdown(wait=True, cancel_futures=True)
        self._drop()

    async def _queued(self, job: _Job) -> list[Any]:
        future = self._submit(job)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            future.cancel()
            self._abandon(job)
            raise

    def _submit(self, job: _Job) -> Future[list[Any]]:
        with self._mutex:
            if self._executor is None:
                self._executor = ThreadPoolExecutor(1, "nika-jq")
            return self._executor.submit(copy_context().run, self._work, job)

    def _abandon(self, job: _Job) -> None:
        """Nobody waits for this job any more: what it computes must not hold up the next one."""
        with self._mutex:
            job.abandoned = True
            if self._current is job and self._evaluator is not None:
                self._evaluator.end("it was called off")

    # in the executor's one thread

    def _work(self, job: _Job) -> list[Any]:
        with self._mutex:
            self._current = job
        try:
            kind, body = self._ask(job)
        except Gone as gone:
            raise _failed(job, self._drop() or str(gone)) from None
        finally:
            with self._mutex:
                self._current = None
        if kind == "v":
            return _decoded(job, body)
        raise self._trouble(job, kind, body.decode("utf-8"))

    def _ask(self, job: _Job) -> tuple[str, bytes]:
        data = _encoded(job)
        prelude = "".join(text for name, text in PRELUDE.items() if name in job.functions)
        return self._ready(job).ask(prelude + job.program, data)

    def _ready(self, job: _Job) -> Evaluator:
        """A living process, unless the job was abandoned meanwhile."""
        evaluator = self._evaluator
        if evaluator is None or not evaluator.alive:
            self._drop()
            evaluator = Evaluator(self._limits)
            with self._mutex:
                self._evaluator = evaluator
            evaluator.greet()
        with self._mutex:
            if job.abandoned:
                raise Gone("it was called off")
        return evaluator

    def _drop(self) -> str:
        """Let the process go; a sentence about how it ended, '' where there was none."""
        with self._mutex:
            evaluator, self._evaluator = self._evaluator, None
        return evaluator.reap() if evaluator is not None else ""

    def _trouble(self, job: _Job, kind: str, text: str) -> Fault:
        match kind:
            case "c":
                return Fault("NIKA-VAR-005", f"does not compile: {_one_line(text)} · in jq `{_excerpt(job)}`")
            case "e":
                return _failed(job, _reported(text))
            case "m":
                return _failed(job, greedy(self._limits))
            case "s":
                return _failed(
                    job, f"its values exceed {self._limits.size / (1 << 20):g} MiB · take fewer of them"
                )
            case _:
                return _failed(job, f"it emits more than {self._limits.count:,} values · take fewer of them")


def _failed(job: _Job, reason: str) -> Fault:
    return Fault("NIKA-VAR-004", f"{reason} · in jq `{_excerpt(job)}`")


def _excerpt(job: _Job) -> str:
    text = _one_line(job.program)
    return text if len(text) <= _EXCERPT_LENGTH else text[: _EXCERPT_LENGTH - 1] + "…"


def _one_line(text: str) -> str:
    return " ".join(hidden(text).split())[:_MESSAGE_LENGTH]


def _reported(text: str) -> str:
    """What a program reports: `error("…")` as its plain text."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        said = text
    return _one_line(said if isinstance(said, str) else text) or "it failed without a word"


def _encoded(job: _Job) -> bytes:
    try:
        return dumps(job.value).encode("utf-8")
    except RecursionError:
        raise _failed(job, "the value it is given is nested too deeply") from None
    except (TypeError, ValueError) as error:
        raise _failed(job, f"the value it is given is not JSON: {_one_line(str(error))}") from None


def _decoded(job: _Job, body: bytes) -> list[Any]:
    """The values, one a line: line feeds inside strings are escaped."""
    text = f"[{body.decode('utf-8')}]".replace("\n", ",")
    try:
        found: list[Any] = json.loads(text, parse_constant=_not_a_number, parse_float=_finite)
    except json.JSONDecodeError:
        raise _failed(job, "its result is not JSON: a key that is no string, or raw bytes") from None
    except _NotFinite as error:
        raise _failed(
            job, f"its result is not JSON: {error} comes of a division by zero or a huge number"
        ) from None
    except RecursionError:
        raise _failed(job, "its result is nested too deeply") from None
    except ValueError:
        raise _failed(job, "its result holds a number of thousands of digits") from None
    if too_deep(found, LEVELS + 1):  # they stand in a list of their own
        raise _failed(job, "its result is nested too deeply")
    return found


class _NotFinite(ValueError):
    """A number that JSON does not have, by its name."""


def _finite(text: str) -> float:
    number = float(text)
    return number if number - number == 0 else _not_a_number(text)


def _not_a_number(name: str) -> NoReturn:
    raise _NotFinite(name)
