"""Interrupts of the kernel: heard though what they raise was lost, held back where a page is changed."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_ENOUGH = 20  # interrupts, after which nothing is waited for


@contextmanager
def interrupts() -> Iterator[threading.Event]:
    """Set once an interrupt came, though what it raised was lost: in a callback of the garbage collector
    Python prints an exception and goes on. Only the main thread hears of interrupts.
    """
    pressed = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield pressed
        return
    before = signal.getsignal(signal.SIGINT)

    def heard(number: int, frame: Any) -> None:
        pressed.set()
        if callable(before):
            before(number, frame)

    signal.signal(signal.SIGINT, heard)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def raised_once(again: Callable[[], object] = lambda: None) -> Iterator[None]:
    """The first interrupt is raised; each further one calls `again` and cuts nothing short, so that what is
    done about the first comes to its end. Whoever goes on and on is let out.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    pressed: list[int] = []

    def heard(number: int, frame: Any) -> None:
        pressed.append(number)
        if 1 < len(pressed) < _ENOUGH:
            again()
        elif callable(before):
            before(number, frame)

    signal.signal(signal.SIGINT, heard)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def undisturbed() -> Iterator[None]:
    """What is done within is done to its end; an interrupt that comes meanwhile is felt right behind it.

    For what must not stand half done, as a display that was sent and that nobody knows of. Keep it short.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came:
            signal.raise_signal(signal.SIGINT)
