"""Which traces belong together: who asks, who answered, what a run that goes on still stands on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePath

from nika_nb.errors import NikaError
from nika_nb.trace.folder import Entry, with_head
from nika_nb.trace.reader import frames

FINISHED = frozenset({"completed", "failed", "cancelled"})

# Of traces that ask, those that other runs have the answers to, with the ids of these.
Elsewhere = Callable[[Sequence[Path]], Mapping[Path, str]]


def nowhere(_: Sequence[Path]) -> Mapping[Path, str]:
    """Each run has its own answers."""
    return {}


class Kinship:
    """The traces of one folder, newest first, as they stand to each other.

    led: of a finished trace, the questions of its run that were answered on the way to it, what broke
    off between, and the notes of what had been missing, as well as those of other runs that its run has
    the answers to; they go together, for without the end the questions would wait again. bound: all of
    these. waiting: the paused traces whose question nobody has answered to the end. standing: what may
    not be taken away: questions that wait, the whole run that asks, the one that has begun to answer
    them, runs at work, the newest trace of every workflow, and what any of these resumed from.
    """

    def __init__(self, entries: Iterable[Entry], elsewhere: Elsewhere = nowhere) -> None:
        self.entries = tuple(entries)
        self._known = {entry.path: entry for entry in self.entries}
        self._parents: dict[Path, Entry | None] = {}
        paused = {entry.run for entry in self.entries if entry.state == "paused" and entry.run is not None}
        self._notes = self._noted(paused)
        self.led = self._led(paused)
        self.elsewhere = elsewhere([entry.path for entry in self._unbound()])
        self._lead_elsewhere()
        self.bound = self._bound()
        self.waiting = self._unbound()
        self.standing = self._standing()

    def parent(self, entry: Entry) -> Entry | None:
        """The trace in this folder that one resumed from."""
        if entry.path not in self._parents:
            found = resumed_from(entry.path)
            self._parents[entry.path] = self._known.get(found) if found is not None else None
        return self._parents[entry.path]

    def ancestors(self, entry: Entry) -> Iterator[Entry]:
        """What a trace resumed from, what that one resumed from, and so on."""
        seen = {entry.path}
        found = self.parent(entry)
        while found is not None and found.path not in seen:
            yield found
            seen.add(found.path)
            found = self.parent(found)

    def newest(self) -> Iterator[Entry]:
        """The newest trace of every workflow."""
        seen: set[str | None] = set()
        for entry in self.entries:
            if entry.kind == "workflow_started" and entry.workflow not in seen:
                seen.add(entry.workflow)
                yield entry

    def asked_by(self, entry: Entry) -> tuple[Entry, ...]:
        """The questions that wait, of the run that a trace belongs to."""
        same = [w for w in self.waiting if w.path == entry.path or (w.run is not None and w.run == entry.run)]
        return tuple(same)

    def open(self, entry: Entry) -> tuple[Entry, ...]:
        """Those of them from which the run has not gone on."""
        own = [e for e in self.entries if e.run == entry.run and e.state != "blocked"]
        behind = {earlier.path for e in own for earlier in self.ancestors(e)}
        return tuple(w for w in self.asked_by(entry) if w.path not in behind)

    def answers(self, entry: Entry) -> tuple[Entry, ...]:
        """The questions that a trace and what it goes on from hold the answers to."""
        own = (earlier for earlier in self._before(entry) if earlier.state == "paused")
        others = (e for e in self.entries if self.elsewhere.get(e.path, "") == entry.run)
        return (*own, *others)

    def _bound(self) -> frozenset[Path]:
        return frozenset(entry.path for found in self.led.values() for entry in found)

    def _unbound(self) -> tuple[Entry, ...]:
        bound = self._bound()
        return tuple(e for e in self.entries if e.state == "paused" and e.path not in bound)

    def _led(self, paused: Collection[str]) -> dict[Path, tuple[Entry, ...]]:
        """Only runs that paused are looked into: for the others no file is opened."""
        found: dict[Path, tuple[Entry, ...]] = {}
        taken: set[Path] = set()  # a question that was answered twice goes with the later end
        for entry in self.entries:
            if entry.state in FINISHED and entry.run in paused:
                earlier = tuple(e for e in self._before(entry) if e.path not in taken)
                if any(e.state == "paused" for e in earlier):
                    found[entry.path] = self._with_notes(earlier)
                    taken.update(e.path for e in earlier)
        return found

    def _lead_elsewhere(self) -> None:
        """What another run has the answers to goes with the end of that one."""
        ends = {entry.run: entry.path for entry in reversed(self.entries) if entry.state in FINISHED}
        taken = set(self._bound())
        for entry in self._unbound():
            run = self.elsewhere.get(entry.path)
            end = ends.get(run) if run is not None else None
            if end is not None:
                before = [e for e in (entry, *self._before(entry)) if e.path not in taken]
                taken.update(e.path for e in before)
                self.led[end] = (*self.led.get(end, ()), *self._with_notes(before))

    def _with_notes(self, entries: Iterable[Entry]) -> tuple[Entry, ...]:
        return tuple(one for entry in entries for one in (*self._notes.get(entry.path, ()), entry))

    def _noted(self, paused: Collection[str]) -> dict[Path, list[Entry]]:
        """By question, the notes of the answers to it that had to be refused."""
        found: dict[Path, list[Entry]] = {}
        for entry in self.entries:
            asked = self.parent(entry) if entry.state == "blocked" and entry.run in paused else None
            if asked is not None:
                found.setdefault(asked.path, []).append(entry)
        return found

    def _before(self, entry: Entry) -> Iterator[Entry]:
        """What a trace goes on from in its own run, back to where that had been finished before."""
        for earlier in self.ancestors(entry):
            if earlier.run is None or earlier.run != entry.run or earlier.state in FINISHED:
                return
            yield earlier

    def _standing(self) -> frozenset[Path]:
        asking = {entry.run for entry in self.waiting if entry.run is not None}
        asking |= {self.elsewhere[entry.path] for entry in self.waiting if entry.path in self.elsewhere}
        roots = [e for e in self.entries if e.state == "running" or e.run in asking]
        roots += [*self.waiting, *self.newest()]
        kept = {entry.path for entry in roots}
        for entry in roots:
            if entry.state != "completed":  # a completed run's trace says all there is
                kept.update(earlier.path for earlier in self.ancestors(entry))
        # An answer does not go before its question: the question would wait again.
        return frozenset(
            kept | {path for path, asked in self.led.items() if any(e.path in kept for e in asked)}
        )


def resumed_from(path: Path) -> Path | None:
    """The trace that one resumed from, as its first frame names it: by file, or by head."""
    with suppress(NikaError, OSError):
        first = next(frames(path), None)
        label = first.get("resumed_trace") if first is not None else None
        if isinstance(label, str):
            return path.with_name(label) if label and PurePath(label).name == label else None
        head = first.get("resumed_head") if first is not None else None
        return with_head(path.parent, head) if isinstance(head, str) else None
    return None
