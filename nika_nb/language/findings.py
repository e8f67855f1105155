"""Collects the diagnostics of one document, in the order in which it is read."""

from __future__ import annotations

from collections.abc import Iterable

from nika_nb.errors import Diagnostic, Fault, Source, Span

MOST = 200  # nobody reads further, and a hostile text must not fill the memory


class Findings:
    """What reading a document brings to light.

    task: the id of the task being read; every diagnostic meanwhile carries it. meant: the keys that a
    finding says to write, each with the place of its mapping.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.task: str | None = None
        self.meant: set[tuple[Span, str]] = set()
        self._found: list[Diagnostic] = []

    def error(
        self,
        code: str,
        message: str,
        span: Span | None,
        hint: str = "",
        related: tuple[tuple[str, Span], ...] = (),
    ) -> None:
        if not self.full:
            self._found.append(Diagnostic(code, message, span, hint, task=self.task, related=related))

    @property
    def full(self) -> bool:
        """Whether nothing more is taken up: what is costly to say need not be said."""
        return len(self._found) >= MOST

    def faults(self, faults: Iterable[Fault], hint: str = "") -> None:
        """Faults of expressions, placed in the document already."""
        for fault in faults:
            self.error(fault.code, fault.message, fault.span, hint)

    def __bool__(self) -> bool:
        return bool(self._found)

    def by_place(self) -> tuple[Diagnostic, ...]:
        return tuple(sorted(self._found, key=Diagnostic.sort_key))
