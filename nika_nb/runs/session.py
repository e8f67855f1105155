"""One invocation at work: the engine on a thread and a loop of its own, its events on a queue."""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from queue import Empty, SimpleQueue

from nika_nb.engine.ending import Verdict
from nika_nb.engine.engine import Engine
from nika_nb.engine.events import Event
from nika_nb.errors import NikaError, hiding, short_of
from nika_nb.interrupts import undisturbed
from nika_nb.runs.assembling import Prepared
from nika_nb.runs.calling_off import called_off
from nika_nb.runs.lack import Lacking, RunBlocked
from nika_nb.runs.prepare import unwritten
from nika_nb.trace.writer import Journal

at_work: set[Session] = set()  # what runs in this process
os.register_at_fork(after_in_child=at_work.clear)  # a copy of it runs nothing, and ends without waiting

_STILLBORN_SECONDS = 1.0  # after which a thread that was told to begin has not been made
_HEED_SECONDS = 0.2  # between looks whether another process asks for the end


_FAREWELL_SECONDS = 3.0  # that runs get to end in when their process does


def end_all(seconds: float = _FAREWELL_SECONDS) -> None:
    """Ends what is at work in this process, whose end it is: each is journaled as cancelled."""
    left = list(at_work.copy())
    for session in left:
        session.cancel()
    until = time.monotonic() + seconds
    for session in left:
        session.done.wait(max(0.0, until - time.monotonic()))


def working(run_id: str) -> list[Session]:
    """What is at work on a durable run in this process."""
    return [session for session in at_work.copy() if session.run_id == run_id]


@cache
def _say_farewell() -> None:
    """Once: with the process its runs end in order. What they started would be ended anyway."""
    atexit.register(end_all)


class Session:
    """Runs a prepared workflow. `start()`, then watch `events` until `done` is set.

    verdict: how it stopped; error: the exception of an engine that broke, which no workflow can
    cause. Both are None until `done`. opened: its first line is where it belongs, or it is over.
    """

    def __init__(self, prepared: Prepared) -> None:
        self.prepared = prepared
        self.events: SimpleQueue[Event] = SimpleQueue()
        self.done = threading.Event()
        self.opened = threading.Event()
        self.verdict: Verdict | None = None
        self.error: BaseException | None = None
        self._engine: Engine | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._cancelled = 0
        self._begun = self._dropped = False
        self._turn = threading.RLock()  # a signal may come while another one is being obeyed
        self._thread = threading.Thread(target=self._work, name="nika-engine", daemon=True)

    @property
    def run_id(self) -> str:
        """The durable run's id."""
        return self.prepared.run_id

    def start(self) -> None:
        """Sets it to work; once more changes nothing.

        Raises Lacking or RunBlocked where nothing has happened because its journal takes no first
        line, and it may not begin without: an answer is consumed by that line.
        """
        if not self._begun:
            self._begun = True
            _say_farewell()
            at_work.add(self)
            self._begin()
        while self.prepared.relied_on and not self.opened.wait(0.05):
            pass
        if isinstance(self.error, (Lacking, RunBlocked)):
            raise self.error

    def _begin(self) -> None:
        try:
            self._thread.start()
        except RuntimeError as error:
            at_work.discard(self)
            self._drop()
            raise NikaError(f"nothing was run: {short_of(error) or error}") from None

    def cancel(self) -> None:
        """Ends the run and its processes; called again, its cleanups too. From any thread."""
        with self._turn:
            self._cancelled += 1
            if self._loop is not None and self._engine is not None and not self.done.is_set():
                with suppress(RuntimeError):  # the loop has closed: the run is as good as over
                    self._engine.ask_to_end(self._loop)

    def wait(self, timeout: float | None = None, meanwhile: Callable[[], object] = bool) -> bool:
        """Whether the run has stopped. Polls, so that an interrupt is felt at once.

        meanwhile: called now and then, to take in what has happened: kept to the end it would be all there
        at once.
        """
        waited = 0.0
        while not self.done.wait(0.05):
            waited += 0.05
            if self._cancelled and self._thread.ident is None and waited > _STILLBORN_SECONDS:
                self._drop()
            if timeout is not None and waited >= timeout:
                return False
            meanwhile()
        return True

    def _drop(self) -> None:
        """An interrupt came before the thread could begin: nothing has happened, and nothing will."""
        self._dropped = True
        self.prepared.close()
        self.done.set()

    def drain(self, take: Callable[[Event], object]) -> Iterator[Event]:
        """Every event since the last call, each once it was taken in: an interrupt loses none."""
        while True:
            with undisturbed():
                try:
                    event = self.events.get_nowait()
                except Empty:
                    return
                take(event)
            yield event

    def _work(self) -> None:
        if self._dropped:
            return
        try:
            with asyncio.Runner() as runner:
                self.verdict = runner.run(self._run())
        except BaseException as error:  # noqa: BLE001 - whoever waits must learn of it
            self.error = error
        finally:
            try:
                self.prepared.close()
            finally:
                at_work.discard(self)
                self.done.set()
                self.opened.set()

    async def _run(self) -> Verdict:
        hiding.set(self.prepared.masker.mask_text)
        engine = Engine(self.prepared.setup(self._sink))
        with self._turn:
            self._engine, self._loop = engine, asyncio.get_running_loop()
            if self._cancelled:
                engine.ask_to_end(self._loop)
        heed = asyncio.ensure_future(self._heed(engine))
        try:
            return await engine.run()
        finally:
            heed.cancel()

    async def _heed(self, engine: Engine) -> None:
        """Ends the run when somebody asks for it from another process."""
        journal = self.prepared.journal
        while True:
            await asyncio.sleep(_HEED_SECONDS)
            if journal is not None and journal.path is not None and called_off(journal.path):
                engine.cancel()

    def _sink(self, event: Event) -> None:
        journal = self.prepared.journal
        if journal is not None:
            journal(event)
        if not self.opened.is_set():
            self._open(journal)
        self.events.put(event)

    def _open(self, journal: Journal | None) -> None:
        """Nothing has happened yet; without its first line nothing does, where somebody relies on it."""
        if self.prepared.relied_on and journal is not None and not journal.written:
            raise unwritten(self.prepared, journal.trouble or "")
        self.prepared.resumption.opening.close()
        self.opened.set()
