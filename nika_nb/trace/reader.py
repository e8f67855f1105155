"""A journal as data: frames as far as they can be read, what is known of the run, what is damaged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path

from nika_nb.catalog.frames import LINE_BOUND
from nika_nb.errors import UsageError
from nika_nb.trace.frame import GENESIS_CHAIN, Frame, decode, link
from nika_nb.trace.lines import Line, TraceUnreadable, bounded, lines, open_trace
from nika_nb.trace.lock import holder
from nika_nb.trace.paging import Asking
from nika_nb.trace.trace import Damage, Trace

_OPENING = frozenset({"nb_source_page", "nb_input_page"})  # what may follow the very first frame


class Frames(Iterator[Frame]):
    """The frames of a file, one at a time; once exhausted it also knows how the file ended.

    lines: how many were looked at. torn: the last line is half a line. damage: an unreadable line
    with others behind it, where the reading stopped. head: the hash of the last line that was read.
    offset: the bytes up to the end of that line, settled: up to where no page waits for its pause.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines = 0
        self.offset = self.settled = 0
        self.torn = False
        self.damage: Damage | None = None
        self.head = GENESIS_CHAIN
        self._source = self._read()

    def __next__(self) -> Frame:
        return next(self._source)

    def _read(self) -> Iterator[Frame]:
        bad: Damage | None = None
        asking = Asking()
        with open_trace(self.path) as stream:
            bounded(self.path, stream)
            for line in lines(stream):
                self.lines = line.number
                if line.blank:
                    continue
                if bad is not None:  # something follows, so it was no tear at the end
                    self.damage = bad
                    return
                try:
                    frame = _frame(line)
                except ValueError as error:
                    bad = Damage(line.number, str(error))
                    continue
                self.head, self.offset = link(line.data), line.end
                found = asking.whole(frame)
                self.settled = self.settled if asking.pages else self.offset
                yield found
        self.torn = bad is not None


def _frame(line: Line) -> Frame:
    if line.over:
        raise ValueError(f"it is {line.size} bytes, beyond the {LINE_BOUND} bytes of a line")
    return decode(line.data, line.number)


def frames(path: Path) -> Frames:
    """The frames of a trace as a stream, for reading once in constant memory."""
    return Frames(path)


def read(path: Path) -> Trace:
    """The whole trace, also of a run that is still going on.

    Damage is described, never raised. Raises UsageError where there is no file, TraceUnreadable
    where the file holds no frame at its beginning or is beyond the bounds.
    """
    held, pid = holder(path)
    stream = frames(path)
    found = tuple(stream)
    if not found:
        raise no_journal(stream)
    running = held and same_writer(pid, found[0].get("pid"))
    made = Trace(
        path=path,
        frames=found,
        lines=stream.lines,
        torn=stream.torn and not running,
        damage=stream.damage,
        head=stream.head,
        size=stream.settled,
        running=running,
    )
    return replace(made, running=False) if made.end else made  # then who holds it goes on from there


def opening(path: Path) -> Trace:
    """The journal's first frames as a trace of their own: what the run was started from. Errors as `read`."""
    stream = frames(path)
    first = next(stream, None)
    if first is None:
        raise no_journal(stream)
    texts = takewhile(lambda frame: frame.kind in _OPENING, stream)
    return Trace(path, (first, *texts), lines=0, torn=False, damage=None, head="", size=0)


def read_run(path: Path) -> Trace:
    """As `read`. Raises UsageError for a note of what kept a run from going on: that is no run's trace."""
    trace = read(path)
    if trace.state != "blocked":
        return trace
    waiting = trace.prologue.get("resumed_trace")
    raise UsageError(
        f"{path.name} is a note of what kept {trace.run_id} from going on, and no run's trace: "
        f"the run waits in {waiting}, give that one"
    )


def no_journal(stream: Frames) -> TraceUnreadable:
    """What to raise for a file that was read to its end and held no frame."""
    if stream.damage:
        why = f"line {stream.damage.line}: {stream.damage.why}"
    elif stream.torn:
        why = "its first line is torn"
    else:
        why = "it is empty"
    return TraceUnreadable(f"{stream.path} cannot be read as a journal: {why}. Give a file from .nika/traces")


def same_writer(pid: int | None, recorded: object) -> bool:
    """Whether the lock's holder can be the writer: a resume holds the same lock."""
    return pid is None or not isinstance(recorded, int) or pid == recorded


def is_running(path: Path) -> tuple[bool, int | None]:
    """Whether the run that writes this trace goes on, and its process where that can be told."""
    held, pid = holder(path)
    if not held:
        return False, None
    first = next(frames(path), None)
    recorded = first.get("pid") if first else None
    if not same_writer(pid, recorded):
        return False, None
    return True, pid if pid is not None else recorded if isinstance(recorded, int) else None


@dataclass(frozen=True, slots=True)
class Tail:
    """What was appended since an offset; offset and line are where the next look starts."""

    frames: tuple[Frame, ...]
    offset: int
    line: int
    damage: Damage | None = None


def tail(path: Path, offset: int = 0, line: int = 0) -> Tail:
    """The whole lines after an offset: for following a journal that grows. Same errors as `read`.

    Pages of prompts are looked at again until the pause that they belong to is there.
    """
    found: list[Frame] = []
    asking, before = Asking(), (0, offset, line)
    with open_trace(path) as stream:
        bounded(path, stream)
        stream.seek(offset)
        for item in lines(stream, offset=offset, number=line):
            if not item.whole:
                break
            if not item.blank:
                try:
                    found.append(asking.whole(_frame(item)))
                except ValueError as error:
                    return Tail(tuple(found), offset, line, Damage(item.number, str(error)))
            offset, line = item.end, item.number
            before = before if asking.pages else (len(found), offset, line)
    count, offset, line = before
    return Tail(tuple(found[:count]), offset, line)


def between(path: Path, start: int, end: int) -> Iterator[tuple[Frame, int]]:
    """The frames of a stretch of a file that was read before, each with the offset behind it.

    start, end: ends of lines. Raises UsageError where the file has gone, TraceUnreadable where it is
    not what it was.
    """
    asking = Asking()
    with open_trace(path) as stream:
        stream.seek(start)
        at = start
        for line in lines(stream, offset=start):
            if line.end > end or not line.whole:
                break
            at = line.end
            if not line.blank:
                try:
                    yield asking.whole(_frame(line)), at
                except ValueError as error:
                    raise _changed(path, str(error)) from None
    if at < end:
        raise _changed(path, "it is shorter than it was")


def _changed(path: Path, why: str) -> TraceUnreadable:
    return TraceUnreadable(f"{path} has changed since it was read ({why}): read it again")
