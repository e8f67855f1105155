"""Looks a journal over, line by line, and says everything that is wrong with it. Touches nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from nika_nb.catalog.frames import (
    ENGINE_EPOCH,
    ENGINE_VERSION,
    LINE_BOUND,
    RUN_ENDS,
    SEALED,
    TASK_ENDS,
    TRACE_FORMAT,
)
from nika_nb.errors import NikaError
from nika_nb.trace.examination import Examination, Finding, Kind, counted
from nika_nb.trace.fragments import Piece, pieces
from nika_nb.trace.frame import GENESIS_CHAIN, Frame, decode, link
from nika_nb.trace.lines import Line, TraceUnreadable, bounded, lines, open_trace
from nika_nb.trace.memory import JournalMemory
from nika_nb.trace.reader import is_running, read
from nika_nb.trace.trace import AFTER_END, State, state_of

_MARK = b"\xef\xbb\xbf"  # a byte order mark

Alive = Callable[[int, str], bool]  # whether the process group that began at that moment still works


def examine(path: Path, alive: Alive) -> Examination:
    """What is wrong with a journal; takes memory for one small record a line.

    alive: how to tell that a process group still works. Raises UsageError where there is no file.
    """
    look = _Look()
    try:
        with open_trace(path) as stream:
            bounded(path, stream)
            look.running = is_running(path)[0]
            for line in lines(stream):
                look.take(line)
    except TraceUnreadable as error:
        return Examination(path, unreadable=str(error))
    look.close()
    if not look.events:
        return Examination(path, unreadable=look.no_journal())
    state = state_of(look.end, look.running)
    findings = (*look.findings, *_left_running(path, state, alive))
    return Examination(path, state, look.events, findings, tuple(look.notes(state)))


def _left_running(path: Path, state: State, alive: Alive) -> Iterator[Finding]:
    """What a dead engine left at work."""
    if state != "incomplete":
        return
    try:
        flying = JournalMemory(read(path)).running_at_crash()
    except NikaError:
        return
    for left in flying:
        if left.pgid is not None and alive(left.pgid, left.started or ""):
            yield Finding(
                "process",
                f"`{left.key}` still runs (process group {left.pgid}), though its engine is gone: a resume "
                f"ends it before it runs the task again; to end it now: kill -- -{left.pgid}",
            )


@dataclass
class _Look:
    """The state of one look: what was seen, by which line; what is wrong so far."""

    running: bool = False
    findings: list[Finding] = field(default_factory=list)
    events: int = 0
    head: str = GENESIS_CHAIN
    ends: dict[str | None, str] = field(default_factory=dict)  # by invocation, as the settled tasks are
    sealed: bool = False
    first: Frame | None = None
    pending: list[Finding] = field(default_factory=list)  # whether it is a tear shows at the next line
    number: int = 0
    lines_of: dict[str, int] = field(default_factory=dict)  # by hash
    ids: dict[str, int] = field(default_factory=dict)
    settled: dict[tuple[str | None, str], int] = field(default_factory=dict)
    runs: dict[str, int] = field(default_factory=dict)

    @property
    def end(self) -> str | None:
        """The kind of the frame that ended the invocation that the journal began with."""
        return self.ends.get(self.first.run) if self.first is not None else None

    def take(self, line: Line) -> None:
        """Looks at one line."""
        if line.blank:
            return
        self._untorn()
        self.number = line.number
        if line.over:
            what = f"it is {line.size} bytes, beyond the {LINE_BOUND} of a line: nothing of it was looked at"
            self._find("too-long", what)
            return
        found = pieces(line)
        self._damage(line, found)
        for piece in found:
            if piece.frame is not None:
                self._frame(piece, piece.frame)

    def close(self) -> None:
        """There are no more lines: a half one at the end is a tear, or is being written."""
        if not self.running:
            self.findings += self.pending
        self.pending = []
        if self.end and not self.sealed and self.first is not None and "seal_key" in self.first.fields:
            self._find("unsealed", "the run ends, and the seal that its first frame promises is missing")

    def no_journal(self) -> str:
        if not self.number:
            return "it is empty"
        return self.findings[0].sentence if self.findings else "no line of it is a frame"

    def notes(self, state: State) -> Iterator[str]:
        if state == "incomplete":
            yield (
                "no frame ends the run: it was killed, or its end was cut off; a head that was kept, or a "
                "seal, tells which (nika-nb trace verify --expect-head)"
            )
        if state == "running":
            yield "its run is at work: a half line at the end is being written"

    def _find(self, kind: Kind, what: str) -> None:
        self.findings.append(Finding(kind, what, self.number))

    def _untorn(self) -> None:
        """Something follows, so the half line before was no tear at the end."""
        for finding in self.pending:
            if finding.kind == "torn":
                what = "it cannot be read: half a line, or rubbish, with other lines behind it"
                finding = Finding("unreadable", what, finding.line)
            self.findings.append(finding)
        self.pending = []

    def _damage(self, line: Line, found: tuple[Piece, ...]) -> None:
        frames = sum(piece.frame is not None for piece in found)
        halves = [piece for piece in found if piece.frame is None and not piece.zeros]
        zeros = sum(len(piece.data) for piece in found if piece.zeros)
        if zeros:
            self.pending.append(
                Finding("zeros", f"a block of {zeros} NUL bytes, as a lost write leaves it", line.number)
            )
        if frames == 1 and line.data.startswith(_MARK):
            self._find("blanks", "a byte order mark stands before it, as some editors leave it")
        elif frames > 1 or (frames and halves):
            parts = counted(frames, "whole frame") + (
                f" and {counted(len(halves), 'half one')}" if halves else ""
            )
            self._find("fused", f"{parts} on one line: a newline was lost")
        elif halves and line.whole:
            self._find("unreadable", f"it cannot be read: half a line, or rubbish ({_why_not(line)})")
        elif halves:
            size = sum(len(piece.data) for piece in halves)
            what = f"torn: half a line of {size} bytes, as a crash leaves it; what stands before it holds"
            self.pending.append(Finding("torn", what, line.number))
        elif frames and line.data != line.data.strip():
            self._find("blanks", "blanks stand around it, as a change of the line endings leaves them")
        elif not line.whole and not zeros:
            self.pending.append(
                Finding("torn", "torn: the newline at its end is missing, nothing else", line.number)
            )

    def _frame(self, piece: Piece, frame: Frame) -> None:
        self.events += 1
        if frame.id and frame.id in self.ids:
            self._find(
                "repeated", f"it repeats line {self.ids[frame.id]}: the same `{frame.kind}`, the same id"
            )
            return
        self._opening(frame)
        self._chain(piece, frame)
        self._order(frame)
        if frame.id:
            self.ids[frame.id] = self.number

    def _opening(self, frame: Frame) -> None:
        if self.first is None:
            self.first = frame
            self.findings += (Finding("version", what, self.number) for what in _versions(frame))
        if frame.run is not None:
            known = len(self.runs)
            self.runs.setdefault(frame.run, self.number)
            if known and len(self.runs) > known:
                self._find("writers", "another invocation writes from here on: two writers in one file")

    def _chain(self, piece: Piece, frame: Frame) -> None:
        chain = frame.chain
        if chain is None:
            if self.first is frame:
                self._find("unchained", "it carries no chain: nothing can be verified")
            elif self.first is not None and self.first.chain is not None:
                self._find("unchained", "it carries no chain, though the lines before it do")
        elif chain != self.head:
            self._unlinked(chain)
        self.head = link(piece.data)
        self.lines_of[self.head] = self.number

    def _unlinked(self, chain: str) -> None:
        if chain in self.lines_of:
            what = f"it follows line {self.lines_of[chain]}, not the line before it: two writers in one file"
            self._find("writers", what)
        elif chain == GENESIS_CHAIN:
            self._find("writers", "another journal begins here: two were put into one file")
            self.ends.clear()
            self.settled.clear()
        elif self.events == 1:
            self._find("broken", "it is not the beginning of a journal: lines before it are missing")
        else:
            self._find(
                "broken", "it does not follow the line before it: one was changed, or lines are missing"
            )

    def _order(self, frame: Frame) -> None:
        task = frame.get("task")
        if frame.kind in TASK_ENDS and isinstance(task, str):
            whose = frame.run, task
            if whose in self.settled:
                self._find("settled-twice", f"the task settles again, after line {self.settled[whose]}")
            self.settled[whose] = self.number
        if frame.run in self.ends and frame.kind not in AFTER_END:
            self._find("behind-end", f"`{frame.kind}` stands behind the end of the run")
            del self.ends[frame.run]
        self.sealed = frame.kind == SEALED
        if frame.kind in RUN_ENDS and frame.kind not in AFTER_END:
            self.ends[frame.run] = frame.kind


def _why_not(line: Line) -> str:
    """Why a whole line is no frame."""
    try:
        decode(line.data, line.number)
    except ValueError as error:
        return str(error)
    return "it is no line of a journal"


def _versions(first: Frame) -> Iterator[str]:
    """What of a journal's first frame is not known here."""
    written, engine = first.get("trace_format"), first.get("engine_version")
    if written != TRACE_FORMAT:
        said = f"trace_format {written}" if isinstance(written, int) else "no trace_format"
        yield f"{said}: this version reads {TRACE_FORMAT}, and takes from others what it knows"
    if engine != ENGINE_VERSION:
        yield f"{_engine(engine)}; this is {ENGINE_VERSION}: a resume has to name it with --resume-compat"


def _engine(engine: object) -> str:
    if not isinstance(engine, str) or not engine.isprintable():
        return "it names no engine"
    own, _, epoch = engine.partition("/")
    if own == ENGINE_VERSION.partition("/")[0] and epoch.isdecimal() and int(epoch[:9]) > ENGINE_EPOCH:
        return f"a later epoch wrote it ({engine[:80]})"
    return f"another engine wrote it ({engine[:80]})"
