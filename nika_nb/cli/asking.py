"""Questions on a terminal: asked once the pause is on the disk, answered over the trace just written."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Callable, Iterator
from typing import Any

from nika_nb.board import question
from nika_nb.cli.console import Plain, how_to_answer, say
from nika_nb.errors import NikaError, UsageError
from nika_nb.runs.answers import judged
from nika_nb.runs.run import Prompt, Run, interactive
from nika_nb.runs.ticket import STALE, mint

_MISSES = 3


class Left(Exception):
    """The question is left as it stands: the run stays paused."""


def attended() -> bool:
    """Whether somebody sits at the terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def can_ask(run: Run) -> bool:
    """Whether the run may ask somebody here."""
    return attended() and interactive(run.request)


def converse(run: Run, show: Callable[[], Plain], follow: Callable[[Run, Plain], int]) -> int:
    """Follows a run; asks what it asks, one question after the other. The exit code of its last stop."""
    code = follow(run, show())
    try:
        with _Leaving() as leaving:
            while run.prompts and can_ask(run):
                _answer(run, leaving)
                code = follow(run, show())
    except Left:
        say("")
    except NikaError as error:
        say(str(error))
    if run.prompts and can_ask(run):
        say(*how_to_answer(run))
    return code


def _answer(run: Run, leaving: _Leaving) -> None:
    """Asks the first open question and starts the run anew with the answer."""
    prompt = run.prompts[0]
    with leaving.open():
        value = _ask(prompt)
    run.answer({prompt.key: value}, wait=False, shown={prompt.key: prompt.shown_hash})
    if leaving.wanted:
        run.stop()


class _Leaving:
    """An interrupt and a request to end leave the question that is asked; wanted: one came behind it."""

    def __init__(self) -> None:
        self.wanted = False
        self._asked = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> _Leaving:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._leave)
        return self

    def __exit__(self, *ended: Any) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @contextlib.contextmanager
    def open(self) -> Iterator[None]:
        """While a question stands there."""
        self._asked = True
        try:
            yield
        finally:
            self._asked = False

    def _leave(self, *_: Any) -> None:
        self.wanted = True
        if self._asked:
            raise Left


def _ask(prompt: Prompt) -> Any:
    """The answer, as the prompt takes it. Raises Left at the end of the input and after three misses."""
    text, sign = question.asked(prompt)
    say("")
    _forget_what_was_typed()
    ticket, shown, misses = mint(prompt), text + sign, 0
    while misses < _MISSES:
        typed = _typed(shown)
        if ticket.stale:
            say(f"  {STALE}", "")
            ticket, shown = mint(prompt), text + sign
            continue
        try:
            return judged(prompt, _meant(prompt, typed))
        except UsageError as miss:
            say(f"  {miss}")
            shown, misses = sign.lstrip(), misses + 1
    raise Left


def _typed(shown: str) -> str:
    sys.stderr.write(shown)
    sys.stderr.flush()
    raw = sys.stdin.buffer.readline()
    if not raw.endswith(b"\n"):
        raise Left
    return raw.decode("utf-8", "replace").strip()


def _meant(prompt: Prompt, typed: str) -> Any:
    """What stands for the typed text: a choice for its number, the default for nothing."""
    if not typed and prompt.has_default:
        return prompt.default
    if not typed and prompt.mode == "confirm":
        return False
    if prompt.mode == "choice" and typed not in prompt.choices and typed.isdecimal():
        number = int(typed)
        return prompt.choices[number - 1] if 1 <= number <= len(prompt.choices) else typed
    if not typed:
        how = f" (nika-nb answer … {prompt.key}= gives an empty text)" if prompt.mode == "input" else ""
        raise UsageError(f"`{prompt.key}` needs an answer{how}; it still waits")
    return typed


def _forget_what_was_typed() -> None:
    """Nobody answers a question before it was shown."""
    import termios

    with contextlib.suppress(termios.error):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
