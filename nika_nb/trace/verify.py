"""Walks a journal's chain and says what it proves, in constant memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, Literal

from nika_nb.catalog.frames import FILE_BOUND, LINE_BOUND, PRICING_PINS, RUN_ENDS
from nika_nb.trace.frame import GENESIS_CHAIN, Frame, decode, link
from nika_nb.trace.lines import Line, lines, open_trace, oversize
from nika_nb.values import loads

Finding = Literal[
    "clean", "finding", "incomplete", "torn", "forged", "refused", "unchained", "empty", "unreadable"
]
CostReplay = Literal["unrecorded", "refused", "replayed"]

_EXIT = {"forged": 2, "refused": 2, "unchained": 3, "empty": 3, "unreadable": 3}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the walk found.

    events: the lines that hold. head: the hash of the last of them. line: where the walk objects,
    with the recorded and the computed chain value of a forged line. why: of an unreadable line.
    size: bytes of a refused line or file. prologue: the field names of the first frame.
    cost_replay: whether the pricing table that the run was judged by is known here.
    """

    verdict: Finding
    events: int = 0
    head: str | None = None
    line: int | None = None
    recorded: str | None = None
    computed: str | None = None
    why: str = ""
    size: int | None = None
    prologue: tuple[str, ...] = ()
    cost_replay: CostReplay = "unrecorded"

    @property
    def exit_code(self) -> int:
        return _EXIT.get(self.verdict, 0)

    @property
    def intact(self) -> bool:
        """Every whole line is chained to the one before it."""
        return self.verdict in ("clean", "finding", "incomplete", "torn")

    @property
    def sentence(self) -> str:
        """One line for people."""
        held = f"{self.events} {'event' if self.events == 1 else 'events'} · chain intact"
        match self.verdict:
            case "clean":
                return f"OK — {held} · head {self.head}"
            case "torn":
                tear = "the final line is TORN (a crash mid-write, not tampering)"
                return f"OK — {held} · head {self.head} · {tear}"
            case "incomplete":
                return f"INCOMPLETE — {held} · no frame ends the run: how it ended is unknown"
            case "finding":
                witness = "a command ran and no frame witnesses its permit"
                return f"FINDING — {held} · head {self.head} · {witness}"
            case "forged":
                return (
                    f"BROKEN at line {self.line} — recorded chain {self.recorded or 'none'} · "
                    f"computed {self.computed}"
                )
            case "refused":
                return self._refused()
            case "unchained":
                return f"UNCHAINED — {self.events} events · no line carries a chain: nothing can be verified"
            case "empty":
                return "EMPTY — there is no event in it"
        return f"UNREADABLE at line {self.line} — {self.why}"

    def _refused(self) -> str:
        if self.line is None:
            bound = f"file bound ({FILE_BOUND} bytes)"
            return f"the file is {self.size} bytes — beyond the verifier's {bound}, refused before any parse"
        bound = f"line bound ({LINE_BOUND} bytes)"
        return (
            f"line {self.line} is {self.size} bytes — beyond the verifier's {bound}, refused before any parse"
        )


def verify(path: Path) -> Verdict:
    """The verdict on a journal, whatever is in the file. Raises UsageError where there is none."""
    with open_trace(path) as stream:
        if size := oversize(stream):
            return Verdict("refused", size=size)
        return _Walk().over(stream)


@dataclass
class _Walk:
    """The state of one walk: a few numbers, and the names of the tasks that started a command."""

    events: int = 0
    head: str | None = None
    chained: bool = True
    ended: bool = False
    exec_started: set[str] = field(default_factory=set)
    exec_settled: bool = False
    witnessed: bool = False
    prologue: tuple[str, ...] = ()
    cost_replay: CostReplay = "unrecorded"

    def over(self, stream: BinaryIO) -> Verdict:
        bad: Verdict | None = None
        for line in _content(stream):
            if bad is not None:
                return bad
            if line.over:
                return self._verdict("refused", line=line.number, size=line.size)
            try:
                frame = decode(line.data, line.number)
            except ValueError as error:
                bad = self._verdict("unreadable", line=line.number, why=str(error))
                continue
            broken = self._step(line, frame)
            if broken is not None:
                return broken
        if bad is not None and not self.events:
            return bad
        if bad is not None and self.chained:
            return replace(bad, verdict="torn")
        return self._end()

    def _step(self, line: Line, frame: Frame) -> Verdict | None:
        """Takes a frame in; a verdict where its chain value is not the right one."""
        if self.events == 0:
            self.chained = frame.chain is not None
            self._manifest(frame)
        expected = self.head or GENESIS_CHAIN
        if self.chained and frame.chain != expected:
            return self._verdict("forged", line=line.number, recorded=frame.chain, computed=expected)
        if not self.chained and frame.chain is not None:  # the head of a chained journal was stripped
            return self._verdict("forged", line=1, recorded=None, computed=GENESIS_CHAIN)
        self.head = link(line.data)
        self.events += 1
        self._witness(frame)
        return None

    def _witness(self, frame: Frame) -> None:
        self.ended = frame.kind in RUN_ENDS
        task = frame.get("task")
        if frame.kind == "permit_checked":
            self.witnessed = True
        elif frame.kind == "task_started" and str(frame.get("note")).startswith("exec"):
            self.exec_started.add(str(task))
        elif frame.kind in ("task_completed", "task_failed") and str(task) in self.exec_started:
            self.exec_settled = True

    def _manifest(self, frame: Frame) -> None:
        self.prologue = tuple(frame.fields)
        if "pricing" in frame.fields:
            self.cost_replay = "replayed" if _pin(frame.get("pricing")) in PRICING_PINS else "refused"

    def _end(self) -> Verdict:
        if not self.events:
            return self._verdict("empty")
        if not self.chained:
            return self._verdict("unchained")
        if not self.ended:
            return self._verdict("incomplete")
        return self._verdict("finding" if self.exec_settled and not self.witnessed else "clean")

    def _verdict(self, verdict: Finding, **facts: Any) -> Verdict:
        return Verdict(
            verdict,
            events=self.events,
            head=self.head,
            prologue=self.prologue,
            cost_replay=self.cost_replay,
            **facts,
        )


def _content(stream: BinaryIO) -> Iterator[Line]:
    return (line for line in lines(stream) if not line.blank)


def _pin(pricing: Any) -> str:
    """The name and version of a pricing table, from a field that is JSON text of an object or the name."""
    try:
        shape = loads(pricing) if isinstance(pricing, str) else pricing
    except (ValueError, RecursionError):
        return str(pricing)
    return str(shape.get("schema")) if isinstance(shape, dict) else str(shape)
