"""What went wrong, and where: spans in a text, diagnostics, faults, refusals.

Every sentence that reaches a person is put together here: code, what, where (line, column,
caret), what to do.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Severity = Literal["error", "warning", "hint"]


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of character offsets in a source text."""

    start: int
    end: int

    def shifted(self, by: int) -> Span:
        return Span(self.start + by, self.end + by)


@dataclass(frozen=True)
class Source:
    """A text that people wrote, and how its lines are numbered for them.

    `first_line` is the number people see on the first line: 2 inside a notebook cell, whose
    first line is the magic itself.
    """

    text: str
    name: str = "workflow"
    first_line: int = 1
    _starts: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        starts = [0]
        starts.extend(i + 1 for i, char in enumerate(self.text) if char == "\n")
        object.__setattr__(self, "_starts", tuple(starts))

    def position(self, offset: int) -> tuple[int, int]:
        """The (line, column) of an offset; columns count characters from 1."""
        row = bisect_right(self._starts, max(offset, 0)) - 1
        return row + self.first_line, offset - self._starts[row] + 1

    def line(self, offset: int) -> str:
        row = bisect_right(self._starts, max(offset, 0)) - 1
        return self.text[self._starts[row] :].split("\n", 1)[0].rstrip("\r")


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding about a text: its registered code, a sentence, a place, a way out."""

    code: str
    message: str
    span: Span | None = None
    hint: str = ""
    severity: Severity = "error"
    task: str | None = None
    related: tuple[tuple[str, Span], ...] = ()

    def sort_key(self) -> tuple[int, str]:
        return (self.span.start if self.span else -1, self.code)

    def to_json(self, source: Source) -> dict[str, Any]:
        """{code, message, severity, hint, task, line, column, end_line, end_column}."""
        shape: dict[str, Any] = {"code": self.code, "message": self.message, "severity": self.severity}
        if self.hint:
            shape["hint"] = self.hint
        if self.task:
            shape["task"] = self.task
        if self.span:
            shape["line"], shape["column"] = source.position(self.span.start)
            shape["end_line"], shape["end_column"] = source.position(self.span.end)
        return shape

    def render(self, source: Source) -> str:
        """The diagnostic as people read it, with the line and a caret under the place."""
        lines = [f"{self.code} · {self.message}"]
        if self.span:
            lines += _excerpt(source, self.span)
        for text, span in self.related:
            line, column = source.position(span.start)
            lines.append(f"  {text} (line {line}, column {column})")
        if self.hint:
            lines.append(f"  → {self.hint}")
        return visible("\n".join(lines))


# The laws that one key written twice breaks, the most telling first.
_ONE_SLIP = ("NIKA-PARSE-007", "NIKA-PARSE-017", "NIKA-YAML-004")


def told(found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """What people are told: a slip that breaks several laws at one place is one problem to them."""
    laws: dict[Span | None, list[Diagnostic]] = {}
    for one in (found := tuple(found)):
        if one.code in _ONE_SLIP:
            laws.setdefault(one.span, []).append(one)
    chief = {span: min(broken, key=lambda one: _ONE_SLIP.index(one.code)) for span, broken in laws.items()}
    kept = (one for one in found if one.code not in _ONE_SLIP or one is chief[one.span])
    return tuple(_with_the_others(one, laws[one.span]) if one.code in _ONE_SLIP else one for one in kept)


def _with_the_others(chief: Diagnostic, broken: list[Diagnostic]) -> Diagnostic:
    codes = ", ".join(one.code for one in broken if one is not chief)
    return replace(chief, message=f"{chief.message} ({codes})") if codes else chief


def excerpt(source: Source, span: Span) -> str:
    """A place in a text as an error of a run tells it: line, column, caret."""
    line, column = source.position(span.start)
    return visible("\n".join([f"  line {line}, column {column}", *_excerpt(source, span)[1:]]))


def _excerpt(source: Source, span: Span) -> list[str]:
    line, column = source.position(span.start)
    text = source.line(span.start)
    shown, indent = _window(text, column - 1)
    width = max(1, min(span.end - span.start, len(text) - column + 1, 60))
    gutter = f"{line:>4} │ "
    return [
        f"  {source.name}, line {line}, column {column}",
        f"  {gutter}{shown}",
        f"  {'':>4} │ {' ' * indent}{'^' * width}",
    ]


def _window(text: str, column: int, width: int = 100) -> tuple[str, int]:
    """At most `width` characters of a line around a column, tabs as single blanks."""
    text = text.replace("\t", " ")
    start = 0 if column < width - 20 else column - 40
    shown = text[start : start + width]
    return ("…" + shown[1:] if start else shown), column - start


def short_of(error: BaseException) -> str | None:
    """What this process ran short of and what to do about it; None for an error of another kind."""
    if isinstance(error, MemoryError):
        return (
            "the memory that this process may use is exhausted: raise its limit, lower `max_parallel`, or "
            "let large data go through files"
        )
    if isinstance(error, RuntimeError) and "start new thread" in str(error):
        return "the system grants this process no further thread: raise `ulimit -u`, or end something"
    return None


# What blots out the secrets of the run at work here; without a run there are none to be known.
hiding: ContextVar[Callable[[str], str]] = ContextVar("nika_hiding", default=str)


def hidden(text: str) -> str:
    """A foreign text without the secrets of the run, for whoever is about to cut it short.

    Half a secret is recognised by nobody afterwards.
    """
    return hiding.get()(text)


_LONGEST_LINE, _HEAD, _TAIL = 2000, 600, 400  # characters of a line of an error

# Controls, halves of surrogate pairs, what turns the direction of a text, and what nobody sees.
UNSHOWN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)


def visible(text: str) -> str:
    """The text with one sign for each character that steers a terminal or that none can show."""
    return UNSHOWN.sub("\ufffd", text)


def curt(text: str) -> str:
    """A sentence of which no line goes on without end: whatever was given is not given back whole."""
    if len(text) <= _LONGEST_LINE:
        return text
    return "\n".join(map(_curt, hidden(text).split("\n")))


def _curt(line: str) -> str:
    if len(line) <= _LONGEST_LINE:
        return line
    return f"{line[:_HEAD]} … ({len(line) - _HEAD - _TAIL:,} characters left out) … {line[-_TAIL:]}"


def spoken(error: BaseException) -> str:
    """An error where no traceback can be shown: one that we raise as it is, any other with its type."""
    return str(error) if isinstance(error, NikaError) else f"{type(error).__name__}: {error}"


class NikaError(Exception):
    """Base of everything nika_nb raises on purpose; shown in a notebook without a traceback."""

    exit_code = 1

    def __str__(self) -> str:
        return visible(curt(super().__str__()))

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class UsageError(NikaError):
    """The request itself cannot be carried out: a wrong option, a path that is not there."""

    exit_code = 3


class NoSuchName(UsageError, KeyError):
    """Something is asked for by a name that nothing has; also a KeyError, for it is asked for with `[]`."""

    def __str__(self) -> str:
        return visible(curt(str(self.args[0])))


class CheckRefused(NikaError):
    """The workflow did not pass the check, so nothing was run."""

    exit_code = 2

    def __init__(self, diagnostics: Sequence[Diagnostic], source: Source) -> None:
        self.diagnostics = tuple(diagnostics)
        self.source = source
        super().__init__(self._sentence())

    def _sentence(self) -> str:
        errors = [d for d in told(self.diagnostics) if d.severity == "error"]
        count = "1 problem" if len(errors) == 1 else f"{len(errors)} problems"
        body = "\n\n".join(d.render(self.source) for d in errors)
        return f"{self.source.name} was not run: {count} found\n\n{body}{_further(errors)}"


# Where a page of help says what a hint has no room for.
_PAGES = {"NIKA-VAR-005": "expressions", "NIKA-TYPE-001": "types", "NIKA-INVOKE-001": "tools"}


def _further(diagnostics: Sequence[Diagnostic]) -> str:
    """A last line with the way to that page; empty where none says more."""
    from nika_nb.doors import command  # it needs this module itself

    pages = dict.fromkeys(_PAGES[one.code] for one in diagnostics if one.code in _PAGES)
    return f"\n\n`{command('help', *pages)}` says more" if pages else ""


class ResumeRefused(NikaError):
    """The trace cannot be resumed as asked; nothing was run and nothing was consumed."""

    def __init__(self, message: str, exit_code: int = 3) -> None:
        self.exit_code = exit_code
        super().__init__(message)


class NotPaused(UsageError):
    """An answer was given to something that is not waiting for one."""


class RunFailed(NikaError):
    """A run ended in failure where the caller asked for its outputs."""


class RunUnfinished(NikaError):
    """A run is still at work where the caller asked for its outputs."""


class RunPaused(NikaError):
    """A run waits for an answer where the caller asked for its outputs."""

    exit_code = 4


class Fault(Exception):
    """A typed failure of work in progress: what a task's `error` record is made from.

    `transient` is None where the code's own default decides (see `catalog.codes`).
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        details: Mapping[str, Any] | None = None,
        transient: bool | None = None,
        span: Span | None = None,
    ) -> None:
        self.code = code
        self.message = message
        self.details = dict(details or {})
        self.transient = transient
        self.span = span
        super().__init__(f"{code} · {message}")
