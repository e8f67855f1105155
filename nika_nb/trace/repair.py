"""A copy of a damaged journal: the longest chain that can be proved, and what had to be left out."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from nika_nb.catalog.frames import TASK_SUCCESSES
from nika_nb.errors import NikaError, UsageError
from nika_nb.trace.examination import plain
from nika_nb.trace.fragments import Piece, pieces
from nika_nb.trace.frame import GENESIS_CHAIN, Frame, link
from nika_nb.trace.lines import Line, bounded, lines, open_trace

_TOLD = 10  # frames and tasks that are named one by one


class NothingToSalvage(NikaError):
    """No frame of a file follows from the beginning of a journal."""

    exit_code = 3


@dataclass(frozen=True, slots=True)
class Salvage:
    """What became of a repair.

    copied: the frames in the copy; head: the hash of the last of them. lost: the whole frames that
    stand in the original and follow from nothing that was kept, as (line, kind, task). damaged: lines
    that hold something that is no frame. unfused: lines that hold more than one frame. chained: the
    copy proves its order. live: the tasks that a resume of the copy runs, as far as the journal knew them.
    """

    copy: Path
    copied: int
    head: str
    lost: tuple[tuple[int, str, str], ...]
    damaged: tuple[int, ...]
    unfused: tuple[int, ...]
    live: tuple[str, ...]
    chained: bool = True

    def report(self) -> Iterator[str]:
        proof = f"chain intact · head {self.head}" if self.chained else "it carries no chain"
        yield f"{self.copy} · {self.copied} of {self.copied + len(self.lost)} whole frames · {proof}"
        if self.unfused:
            yield f"  taken apart: {_listed('line', map(str, self.unfused))}, where a newline was lost"
        if self.damaged:
            yield f"  left out: what is no frame on {_listed('line', map(str, self.damaged))}"
        for number, kind, task in self.lost[:_TOLD]:
            what = plain(f"{kind} {task}".strip())
            yield f"  left out: line {number} · {what}, which follows from nothing that was kept"
        if len(self.lost) > _TOLD:
            kinds = Counter(kind for _, kind, _ in self.lost[_TOLD:]).most_common(_TOLD)
            yield f"  left out: {plain(', '.join(f'{count} {kind}' for kind, count in kinds))} more"
        if self.live:
            yield f"  a resume of the copy runs {_listed('task', (f'`{plain(name)}`' for name in self.live))}"
        else:
            yield "  every task that it knows of has settled"


@dataclass(frozen=True, slots=True)
class _Node:
    """A frame by where it stands, and the frame that it follows."""

    parent: str
    depth: int
    start: int
    size: int
    line: int
    kind: str
    task: str


@dataclass
class _Tree:
    """The frames of a file, each hung on the one it follows; the deepest leaf ends the longest chain."""

    nodes: dict[str, _Node] = field(default_factory=dict)
    deepest: str = GENESIS_CHAIN
    loose: list[_Node] = field(default_factory=list)
    plain: list[_Node] = field(default_factory=list)  # frames without a chain, up to the first damage
    damaged: list[int] = field(default_factory=list)
    unfused: list[int] = field(default_factory=list)
    chained: bool = False  # something in the file carries a chain

    def take(self, line: Line) -> None:
        found = pieces(line)
        frames = [piece for piece in found if piece.frame is not None]
        if line.over or len(frames) < len(found):
            self.damaged.append(line.number)
        if len(frames) > 1:
            self.unfused.append(line.number)
        for piece in frames:
            if piece.frame is not None:
                self._hang(piece, piece.frame)

    def _hang(self, piece: Piece, frame: Frame) -> None:
        name, parent = link(piece.data), frame.chain
        self.chained = self.chained or parent is not None
        if name in self.nodes:  # the same line once more: nothing is lost with it
            return
        above = self.nodes.get(parent) if parent is not None else None
        begins = parent == GENESIS_CHAIN and not self.nodes  # a second beginning is another journal
        depth = above.depth + 1 if above is not None else 1
        task = str(frame.get("task") or "")
        node = _Node(parent or "", depth, piece.start, len(piece.data), frame.line, frame.kind, task)
        if above is not None or begins:
            self.nodes[name] = node
            if self.deepest == GENESIS_CHAIN or depth > self.nodes[self.deepest].depth:
                self.deepest = name
        elif parent is None and not self.damaged and not self.loose:
            self.plain.append(node)
        else:
            self.loose.append(node)

    def longest(self) -> list[_Node]:
        """The frames of the longest chain, in order; of a journal without chains, those up to the damage."""
        if not self.chained:
            return self.plain
        found: list[_Node] = []
        at = self.deepest
        while at != GENESIS_CHAIN:
            found.append(self.nodes[at])
            at = self.nodes[at].parent
        return found[::-1]

    def every(self) -> list[_Node]:
        """Every frame once, in the order of the file."""
        return sorted([*self.nodes.values(), *self.loose, *self.plain], key=lambda node: node.start)


def repair(path: Path, copy: Path) -> Salvage:
    """Writes the longest chain of a journal into a new file; the original is only read.

    Frames that were fused on one line, or lie between zeros or another writer's lines, are taken where
    the chain proves them. Raises UsageError where there is no trace or the copy's name is taken;
    TraceUnreadable or NothingToSalvage where there is nothing to copy.
    """
    tree = _Tree()
    with open_trace(path) as stream:
        bounded(path, stream)
        for line in lines(stream):
            if not line.blank:
                tree.take(line)
        kept = tree.longest()
        if not kept:
            raise NothingToSalvage(
                f"{path} cannot be repaired: no frame of it follows from the beginning of a journal"
            )
        head = _write(copy, (_bytes(stream.fileno(), node) for node in kept))
    return _salvage(copy, tree, kept, head)


def _salvage(copy: Path, tree: _Tree, kept: list[_Node], head: str) -> Salvage:
    every, taken = tree.every(), {node.start for node in kept}
    done = {node.task for node in kept if node.kind in TASK_SUCCESSES}
    scheduled = dict.fromkeys(node.task for node in every if node.kind == "task_scheduled")
    return Salvage(
        copy=copy,
        copied=len(kept),
        head=head,
        lost=tuple((node.line, node.kind, node.task) for node in every if node.start not in taken),
        damaged=tuple(tree.damaged),
        unfused=tuple(tree.unfused),
        live=tuple(task for task in scheduled if task not in done),
        chained=tree.chained,
    )


def _bytes(fd: int, node: _Node) -> bytes:
    return os.pread(fd, node.size, node.start)


def _write(copy: Path, frames: Iterable[bytes]) -> str:
    """Writes a new file; the hash of its last line."""
    head = GENESIS_CHAIN
    try:
        fd = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise UsageError(f"{copy} is there already: a repair writes a new file and nothing else") from None
    except OSError as error:
        raise UsageError(f"{copy} cannot be written: {error.strerror}") from None
    try:
        with os.fdopen(fd, "wb") as stream:
            for frame in frames:
                stream.write(frame + b"\n")
                head = link(frame)
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        copy.unlink(missing_ok=True)
        raise UsageError(f"{copy} cannot be written: {error.strerror}") from None
    return head


def _listed(what: str, names: Iterable[str]) -> str:
    """`line 3`, `lines 3, 5`, and the first of many."""
    found = list(names)
    more = f" and {len(found) - _TOLD} more" if len(found) > _TOLD else ""
    return f"{what}{'s' if len(found) > 1 else ''} {', '.join(found[:_TOLD])}{more}"
