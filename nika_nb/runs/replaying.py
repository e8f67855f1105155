"""The replay of a run: all of its journals, in the order in which they continue each other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nika_nb.board.replay import Replay
from nika_nb.board.stops import Reel
from nika_nb.board.tape import Tape
from nika_nb.runs.heads import Head, head_of
from nika_nb.runs.provenance import proof_and_doubts
from nika_nb.runs.recorded import shown_path
from nika_nb.runs.records import fold
from nika_nb.runs.shelf import Shelf
from nika_nb.runs.traced import Traced, trace_of
from nika_nb.trace.reader import read_run


def replay(trace: Traced, *, fine: bool = False) -> Replay:
    """The run that a trace belongs to, to be stepped through; nothing is executed.

    trace: a path, a name in .nika/traces, a run's id, or a Run. fine: every item of a fan-out and every task
    of a called workflow is a step as well. Whatever is wrong with a journal is said in `.notes`, and it
    is replayed as far as it can be read. Raises UsageError where there is no such trace, TraceUnreadable
    for a file that is none.
    """
    return replay_of(trace_of(trace), fine=fine)


def replay_of(path: Path, *, fine: bool = False) -> Replay:
    """The replay of the run that a journal belongs to."""
    tape = Tape([(file, shown_path(file)) for file in _line(path)])
    proofs, notes = [], []
    for reel in tape.reels:
        proof, doubts = proof_and_doubts(reel)
        proofs.append(_of(reel, proof, tape.reels))
        notes += [_of(reel, doubt, tape.reels) for doubt in doubts]
    return Replay(tape, list(dict.fromkeys(notes)), proofs, fine=fine)


def _of(reel: Reel, sentence: str, reels: Sequence[Reel]) -> str:
    """The sentence, and of which journal it is where there are several."""
    return sentence if len(reels) == 1 else f"{reel.path.name}: {sentence}"


def _line(path: Path) -> list[Path]:
    """The journals of the run that one belongs to: what it continues, itself, and what continues it."""
    head = head_of(path)
    if head is not None and head.blocked:
        read_run(path)  # says what it is instead
    if head is None or _alone(head):
        return [path]
    heads = [other for other in Shelf(path.parent).heads(head.run) if not other.blocked]
    record = fold(heads)
    names = [other.name for other in record.invocations] if record else []
    if path.name not in names:  # another one answered first, or it is a copy
        names = _back(head, heads)
    return [path.with_name(name) for name in names]


def _alone(head: Head) -> bool:
    """Whether it neither goes on with a run nor stopped where one may go on."""
    return head.sequence in (None, 1) and head.end != "workflow_paused"


def _back(head: Head, heads: Sequence[Head]) -> list[str]:
    """The names of what one continues, oldest first, and its own."""
    found = [head]
    while earlier := next((h for h in heads if h not in found and found[-1].continues(h)), None):
        found.append(earlier)
    return [head.name for head in reversed(found)]
