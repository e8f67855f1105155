"""The options of a `%nika` line that answers a run or declines to."""

from __future__ import annotations

from dataclasses import dataclass, replace

from nika_nb.errors import UsageError
from nika_nb.runs.options import unknown
from nika_nb.runs.request import NOT_VOUCHED, Vouched
from nika_nb.runs.run import Run

GC, UNVERIFIED, COMPAT = "--no-gc", "--resume-unverified", "--resume-compat"


@dataclass(frozen=True, slots=True)
class GoingOn:
    """How a run goes on: whether old traces make room, and what is declared of its trace."""

    gc: bool = True
    vouched: Vouched = NOT_VOUCHED

    def about(self, run: Run) -> Run:
        """The run, told whether old traces make room."""
        run.request = replace(run.request, gc=run.request.gc and self.gc)
        return run


def going_on(words: list[str], line: str) -> tuple[GoingOn, list[str]]:
    """The options, and the words that are none. line: how it begins. Raises UsageError."""
    found, rest, left = GoingOn(), list[str](), list(words)
    while left:
        word = left.pop(0)
        name, sign, value = word.partition("=")
        if word == GC:
            found = replace(found, gc=False)
        elif word == UNVERIFIED:
            found = replace(found, vouched=replace(found.vouched, unverified=True))
        elif name == COMPAT and (sign or left):
            compat = value if sign else left.pop(0)
            found = replace(found, vouched=replace(found.vouched, compat=compat))
        elif name == COMPAT:
            raise UsageError(f"{line}: {COMPAT} takes the version that the trace names")
        elif word.startswith("--"):
            raise UsageError(f"{line}: {unknown(word, (GC, UNVERIFIED, COMPAT))}")
        else:
            rest.append(word)
    return found, rest
