"""Two threads that meet: the second one comes in the very middle of what the first one does."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any


class _Door:
    """A lock that tells when the second thread stands before it."""

    def __init__(self, lock: Any, arrived: threading.Event, who: threading.Thread) -> None:
        self._lock, self._arrived, self._who = lock, arrived, who

    def __enter__(self) -> bool:
        if threading.current_thread() is self._who:
            self._arrived.set()
        return bool(self._lock.__enter__())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.__exit__(kind, error, trace)


class Meeting:
    """Called by the first thread, once: the second one does its work, and is waited for until that is done
    or it stands before one of the doors, that is the locks of these names. `over` waits for its end.
    """

    def __init__(self, second: Callable[[], Any], *doors: tuple[Any, str]) -> None:
        self._arrived = threading.Event()
        self._second = second
        self._thread = threading.Thread(target=self._work)
        self.come = False
        for holder, name in doors:
            monitored = _Door(getattr(holder, name), self._arrived, self._thread)
            setattr(holder, name, monitored)

    def __call__(self, *_: Any) -> None:
        if not self.come:
            self.come = True
            self._thread.start()
            self._arrived.wait()

    def over(self) -> None:
        assert self.come
        self._thread.join()

    def _work(self) -> None:
        try:
            self._second()
        finally:
            self._arrived.set()
