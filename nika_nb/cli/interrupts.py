"""An interrupt that comes early: raised within a callback it would be lost, so it is noted as well."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_noted: list[int] = []


@contextmanager
def noted() -> Iterator[None]:
    """Within it SIGINT raises KeyboardInterrupt as ever, and `seen` knows of it, also where that got lost."""
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    told, sys.unraisablehook = sys.unraisablehook, _silent(sys.unraisablehook)
    signal.signal(signal.SIGINT, _note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.unraisablehook = told
        _noted.clear()


def seen() -> bool:
    """Whether an interrupt came, though nothing may have been raised that anybody could catch."""
    return bool(_noted)


def _note(number: int, frame: FrameType | None) -> None:
    _noted.append(number)
    signal.default_int_handler(number, frame)


def _silent(otherwise: Callable[[Any], object]) -> Callable[[Any], object]:
    """What is said of an exception that nobody can catch: of an interrupt nothing, for it is heeded."""

    def hook(lost: Any) -> object:
        return None if issubclass(lost.exc_type, KeyboardInterrupt) else otherwise(lost)

    return hook
