"""One path at one place of a document, and how what is wrong with it is said."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from nika_nb.check.shapes import Known, Shape, Wrong, walk
from nika_nb.check.subject import Subject
from nika_nb.check.surfaces import Surface
from nika_nb.errors import Diagnostic, Span
from nika_nb.language.cel import Expr, Reference
from nika_nb.language.cel.syntax import Call, children
from nika_nb.language.template import Island

WHOLE = -1  # in place of a step: the whole path


@dataclass(frozen=True, slots=True)
class Read:
    subject: Subject
    surface: Surface
    island: Island
    reference: Reference

    @property
    def name(self) -> str | None:
        """The second word of the path; None where it is computed or missing."""
        return self.reference.name

    def found(
        self, code: str, message: str, hint: str, at: int = 0, related: tuple[tuple[str, Span], ...] = ()
    ) -> Diagnostic:
        """A diagnostic at step `at` of the path (0 is its root)."""
        span = self.reference.span if at == WHOLE else self.subject.word(self.reference, at)
        task = self.surface.task.id if self.surface.task else None
        return Diagnostic(code, message, span, hint, task=task, related=related)

    def path(self, shape: Shape, start: int) -> Iterator[Diagnostic]:
        """NIKA-VAR-003 (or -001 in a value that is known) where the steps from `start` on cannot be taken."""
        wrong = walk(shape, self.reference.steps[start:])
        if not isinstance(wrong, Wrong):
            yield from self._from_behind()
            return
        if isinstance(shape, Known) and _guarded(self.island.expr):
            return
        code = "NIKA-VAR-001" if isinstance(shape, Known) else "NIKA-VAR-003"
        base = Reference(self.reference.root, self.reference.steps[: start + wrong.at], self.reference.span)
        if wrong.likely and _guarded(self.island.expr):
            return
        found = self.found(code, wrong.why.replace("{base}", f"`{base}`"), wrong.hint, start + wrong.at + 1)
        yield replace(found, severity="warning") if wrong.likely else found

    def _from_behind(self) -> Iterator[Diagnostic]:
        """A warning for an index below zero, whatever the list."""
        for at, step in enumerate(self.reference.steps):
            if isinstance(step, int) and step < 0 and not _guarded(self.island.expr):
                sentence = f"`[{step}]` reaches no element: a list is counted from `[0]`"
                hint = f"`nika:jq` counts from the end: `.[{step}]`"
                yield replace(self.found("NIKA-VAR-001", sentence, hint, at + 1), severity="warning")


def _guarded(expr: Expr) -> bool:
    """Whether an expression asks with `has()` what exists: then a missing field is expected."""
    return (isinstance(expr, Call) and expr.name == "has") or any(map(_guarded, children(expr)))
