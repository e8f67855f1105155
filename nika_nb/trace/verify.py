"""Walks a journal's chain and says what it proves, in constant memory."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from nika_nb.catalog.frames import FILE_BOUND, PRICING_PINS, RUN_ENDS, SEALED
from nika_nb.errors import UsageError
from nika_nb.trace.frame import GENESIS_CHAIN, Frame, decode, link
from nika_nb.trace.lines import Line, lines, open_trace, oversize
from nika_nb.trace.paging import PAGE
from nika_nb.trace.verdict import CostReplay, Finding, Verdict
from nika_nb.values import loads

if TYPE_CHECKING:
    from nika_nb.trace.keys import PublicKey
    from nika_nb.trace.seal import Seal


@dataclass(frozen=True, slots=True)
class Demands:
    """What the caller knows besides the file.

    expect_head: the head that was kept when the run ended, 64 hex characters. public_key: whose seal
    it has to be. sealed: a journal without a seal is refused.
    """

    expect_head: str | None = None
    public_key: PublicKey | None = None
    sealed: bool = False

    def __post_init__(self) -> None:
        if self.expect_head is not None and not re.fullmatch(r"[0-9a-f]{64}", self.expect_head):
            raise UsageError(
                "--expect-head is the whole head, 64 hex digits, as it was printed after `chain`"
            )
        if self.sealed and self.public_key is None:
            raise UsageError(
                "--require-seal proves nothing while nobody says whose seal it has to be: "
                "give --public-key FILE, or set NIKA_NB_SIGN_KEY"
            )


def verify(path: Path, demands: Demands | None = None) -> Verdict:
    """The verdict on a journal, whatever is in the file. Raises UsageError where there is none."""
    with open_trace(path) as stream:
        if size := oversize(stream):
            return Verdict("refused", size=size)
        return _Walk(demands or Demands()).over(stream)


@dataclass
class _Walk:
    """The state of one walk: a few numbers, and the names of the tasks that started a command.

    items: of every fan-out so far, whether one of its items had to run.
    """

    demands: Demands
    events: int = 0
    head: str | None = None
    last: Frame | None = None
    chained: bool = True
    ended: bool = False
    exec_started: set[str] = field(default_factory=set)
    exec_settled: bool = False
    items: dict[str, bool] = field(default_factory=dict)
    witnessed: bool = False
    manifest: dict[str, Any] = field(default_factory=dict)
    cost_replay: CostReplay = "unrecorded"
    expected_at: int | None = None  # the number of the line whose hash was expected as the head
    seal: Seal | None = None
    behind_seal: bool = False
    outputs: str | None = None  # the digest of the workflow's outputs
    pages: Any = None  # the running digest of outputs that stand in pages

    def over(self, stream: BinaryIO) -> Verdict:
        bad: Verdict | None = None
        whole = False  # of the line that is no frame: what a crash tears has no newline
        for line in _content(stream):
            if bad is not None:
                return bad
            if line.over:
                return self._verdict("refused", line=line.number, size=line.size)
            if line.end > FILE_BOUND:  # it grew while it was read
                return self._verdict("refused", size=line.end)
            try:
                frame = decode(line.data, line.number)
            except ValueError as error:
                bad = self._verdict("unreadable", line=line.number, why=str(error))
                whole = line.whole
                continue
            broken = self._step(line, frame)
            if broken is not None:
                return broken
        if bad is not None and (whole or not self.events):
            return bad
        if bad is not None and self.chained:
            return self._judged(replace(bad, verdict="torn", why=""))
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
        self._take_seal(line, frame)
        self.last = frame
        self.head = link(line.data)
        self.events += 1
        if self.head == self.demands.expect_head:
            self.expected_at = self.events
        self._witness(frame)
        self._take_outputs(frame)
        return None

    def _witness(self, frame: Frame) -> None:
        self.ended = frame.kind in RUN_ENDS
        task = str(frame.get("task"))
        if frame.kind == "permit_checked":
            self.witnessed = True
        elif frame.kind == "nb_item_completed":
            self.items[task] = self.items.get(task, False) or "matched" not in frame.fields
        elif frame.kind == "task_started" and str(frame.get("note")).startswith("exec"):
            if self.items.get(task, True):  # else every item was recalled, and no command ran
                self.exec_started.add(task)
        elif frame.kind in ("task_completed", "task_failed") and task in self.exec_started:
            self.exec_settled = True

    def _take_seal(self, line: Line, frame: Frame) -> None:
        self.behind_seal = self.seal is not None
        if frame.kind != SEALED or self.seal is not None or self.last is None:
            return
        from nika_nb.trace.seal import Seal, facts

        workflow, engine = self.manifest.get("workflow_sha256"), self.manifest.get("engine_version")
        before = facts(self.head, self.events, workflow, engine, self.outputs)
        self.seal = Seal(frame, line.data, self.last, before)

    def _take_outputs(self, frame: Frame) -> None:
        """The digest of the outputs, that of their pages where they are too large for a line."""
        if frame.kind == PAGE and frame.get("task") is None:
            if frame.get("page") == 0:
                self.pages = hashlib.sha256()
            if self.pages is not None:
                self.pages.update(str(frame.get("text", "")).encode("utf-8", "replace"))
        elif frame.kind == "workflow_completed":
            text = frame.get("outputs")
            if isinstance(text, str):
                self.pages = hashlib.sha256(text.encode("utf-8", "replace"))
            self.outputs = self.pages.hexdigest() if self.pages is not None else None

    def _manifest(self, frame: Frame) -> None:
        self.manifest = frame.fields
        if "pricing" in frame.fields:
            self.cost_replay = "replayed" if _pin(frame.get("pricing")) in PRICING_PINS else "refused"

    def _end(self) -> Verdict:
        if not self.events:
            return self._verdict("empty")
        if not self.chained:
            return self._verdict("unchained")
        if not self.ended:
            return self._judged(self._verdict("incomplete"))
        return self._judged(self._verdict("finding" if self._unwitnessed else "clean"))

    def _judged(self, found: Verdict) -> Verdict:
        """The verdict on an intact chain, in the light of its seal and of what the caller knows."""
        expected = self.demands.expect_head
        if expected is not None and self.head != expected:
            return self._elsewhere(found, expected)
        if self.seal is None:
            return self._unsealed(found)
        fault = self._seal_fault(self.seal)
        key = self.demands.public_key
        fault = fault or (self.seal.refused_by(key) if key is not None else "")
        if fault:
            return replace(found, verdict="seal-broken", why=fault)
        if key is None:
            return found
        return replace(found, verdict="sealed" if found.verdict != "torn" else "torn", checked=True)

    def _seal_fault(self, seal: Seal) -> str:
        if self.behind_seal:
            return "frames stand behind the seal"
        if self.manifest.get("seal_key", seal.key) != seal.key:
            return "the seal was made with another key than the first frame promises"
        return seal.fault()

    def _elsewhere(self, found: Verdict, expected: str) -> Verdict:
        if self.expected_at is None:
            why = f"{expected} was expected: its end was cut off, or it is another journal"
            return replace(found, verdict="cut", why=why)
        why = f"the expected head is that of event {self.expected_at}: what stands behind it was added"
        return replace(found, verdict="grown", why=why)

    def _unsealed(self, found: Verdict) -> Verdict:
        promised = "seal_key" in self.manifest
        ends = found.verdict in ("clean", "finding")
        if self.demands.sealed or (promised and ends):
            what = "its first frame promises a seal, and" if promised else "a seal is required, and"
            return replace(
                found, verdict="unsealed", why=f"{what} there is none: its end was cut off, or never came"
            )
        if promised:
            return replace(found, why="its first frame promises a seal, which never came")
        return replace(found, why="there is NO SEAL to check") if self.demands.public_key else found

    @property
    def _unwitnessed(self) -> bool:
        return self.exec_settled and not self.witnessed

    def _verdict(self, verdict: Finding, **facts: Any) -> Verdict:
        return Verdict(
            verdict,
            events=self.events,
            head=self.head,
            prologue=tuple(self.manifest),
            cost_replay=self.cost_replay,
            unwitnessed=self._unwitnessed,
            key=self.seal.key if self.seal is not None else None,
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
