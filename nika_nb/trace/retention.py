"""Which traces stay: the last of each workflow, for so many days, within a budget for the folder."""

from __future__ import annotations

import fcntl
import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from nika_nb.settings import Settings
from nika_nb.trace.folder import Entry, TraceFolder
from nika_nb.trace.kinship import FINISHED, Elsewhere, Kinship, nowhere

Reason = Literal["rotated", "aged", "over-budget", "empty"]
REASONS: tuple[Reason, ...] = get_args(Reason)

# The setting that decides; an empty file stands for nothing.
SETTING_OF: dict[Reason, str] = {
    "rotated": "trace_keep",
    "aged": "trace_max_age_days",
    "over-budget": "trace_budget_mb",
}

_DAY = 86_400 * 10**9  # nanoseconds
_COLLECTABLE = FINISHED | {"incomplete", "blocked"}


@dataclass(frozen=True, slots=True)
class Limits:
    """keep: finished traces of each workflow. days: since the last line. budget: bytes of a folder."""

    keep: int = 10
    days: int = 30
    budget: int = 256_000_000

    @classmethod
    def of(cls, settings: Settings) -> Limits:
        return cls(settings.trace_keep, settings.trace_max_age_days, settings.trace_budget_mb * 10**6)

    def words(self, reason: Reason) -> str:
        """What a trace is that goes: `more than 10 of one workflow`."""
        return {
            "rotated": f"more than {self.keep} of one workflow",
            "aged": f"older than {self.days} days",
            "over-budget": f"beyond {self.budget // 10**6} MB",
            "empty": "empty",
        }[reason]

    def oldest(self, now: int) -> int:
        """The moment before which a trace is too old. Both in unix nanoseconds."""
        return now - self.days * _DAY


@dataclass(frozen=True, slots=True)
class Removal:
    """A trace that goes, and why."""

    entry: Entry
    reason: Reason


@dataclass(frozen=True, slots=True)
class Collection:
    """What went, how many traces stay and their bytes.

    tried: nothing was touched. trouble: why not. limits: by which they were chosen.
    """

    removed: tuple[Removal, ...] = ()
    kept: int = 0
    size: int = 0
    tried: bool = False
    trouble: str = ""
    limits: Limits = Limits()

    @property
    def reasons(self) -> tuple[Reason, ...]:
        found = {removal.reason for removal in self.removed}
        return tuple(reason for reason in REASONS if reason in found)

    @property
    def sentence(self) -> str:
        """`trace gc · removed 3 (2 older than 30 days · 1 beyond 256 MB) · kept 12 · 41MB`."""
        if self.trouble:
            return f"trace gc · nothing was removed: {self.trouble}"
        counts = Counter(removal.reason for removal in self.removed)
        several = len(counts) > 1
        reasons = " · ".join(
            f"{counts[reason]} {self.limits.words(reason)}" if several else self.limits.words(reason)
            for reason in self.reasons
        )
        verb = "would remove" if self.tried else "removed"
        went = f"{verb} {len(self.removed)} ({reasons})" if reasons else "nothing to remove"
        return f"trace gc · {went} · kept {self.kept} · {_megabytes(self.size)}"


@dataclass(frozen=True, slots=True)
class _Unit:
    """Traces that go together or not at all: a finished one behind the questions it answered."""

    entries: tuple[Entry, ...]

    @property
    def last(self) -> Entry:
        return self.entries[-1]

    @property
    def size(self) -> int:
        return sum(entry.size for entry in self.entries)


def plan(entries: Iterable[Entry], limits: Limits, now: int) -> list[Removal]:
    """What has to go, a question before its answer. entries: newest first; now: unix nanoseconds."""
    chosen = _choose(Kinship(entries), limits, now)
    return [Removal(entry, reason) for unit, reason in chosen for entry in unit.entries]


def collect(
    folder: TraceFolder,
    limits: Limits | None = None,
    *,
    now: int | None = None,
    dry_run: bool = False,
    entries: Sequence[Entry] | None = None,
    elsewhere: Elsewhere = nowhere,
) -> Collection:
    """Removes what has to go and is at rest. Raises nothing: trouble is told, and the rest stays.

    A trace whose lock anybody holds, reading or resuming, stays. entries: the folder's, newest first,
    where they are known. elsewhere: as of `Kinship`.
    """
    limits = limits or Limits()
    try:
        entries = folder.list() if entries is None else entries
        kin = Kinship(entries, elsewhere)
        chosen = _choose(kin, limits, time.time_ns() if now is None else now)
        gone = [*_take_away(chosen, dry_run), *_take_away(_empty(folder), dry_run)]
    except Exception as error:  # noqa: BLE001 - tidying up never stands in the way of a run
        return Collection(trouble=str(error) or type(error).__name__)
    went = {removal.entry.path for removal in gone}
    kept = [entry for entry in entries if entry.path not in went]
    return Collection(tuple(gone), len(kept), sum(entry.size for entry in kept), dry_run, limits=limits)


def _choose(kin: Kinship, limits: Limits, now: int) -> list[tuple[_Unit, Reason]]:
    rotated, oldest = _rotated(kin, limits.keep), limits.oldest(now)
    chosen: list[tuple[_Unit, Reason]] = []
    left: list[_Unit] = []
    for unit in _units(kin):
        if unit.last.path in rotated:
            chosen.append((unit, "rotated"))
        elif unit.last.mtime < oldest:
            chosen.append((unit, "aged"))
        else:
            left.append(unit)
    total = sum(entry.size for entry in kin.entries) - sum(unit.size for unit, _ in chosen)
    for unit in sorted(left, key=lambda unit: unit.last.mtime):
        if total <= limits.budget:
            break
        chosen.append((unit, "over-budget"))
        total -= unit.size
    return chosen


def _units(kin: Kinship) -> Iterator[_Unit]:
    """What may be taken away at all, oldest first."""
    for entry in reversed(kin.entries):
        free = entry.path not in kin.standing and entry.path not in kin.bound
        if free and entry.state in _COLLECTABLE and not entry.path.is_symlink():
            yield _Unit((*reversed(kin.led.get(entry.path, ())), entry))


def _empty(folder: TraceFolder) -> Iterator[tuple[_Unit, Reason]]:
    for entry in folder.left_empty():
        yield _Unit((entry,)), "empty"


def _rotated(kin: Kinship, keep: int) -> frozenset[Path]:
    """The finished traces of each workflow behind its newest `keep`."""
    seen: Counter[str | None] = Counter()
    found: list[Path] = []
    for entry in kin.entries:
        if entry.state in FINISHED:
            seen[entry.workflow] += 1
            if seen[entry.workflow] > keep:
                found.append(entry.path)
    return frozenset(found)


def _take_away(chosen: Iterable[tuple[_Unit, Reason]], dry_run: bool) -> Iterator[Removal]:
    for unit, reason in chosen:
        for entry in unit.entries:
            if not dry_run and not remove(entry):
                break  # what would follow holds the answer to this one
            yield Removal(entry, reason)


def remove(entry: Entry) -> bool:
    """Removes a trace that nobody holds and that is still what it was; whether it went."""
    try:
        fd = os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        found, there = os.fstat(fd), os.stat(entry.path, follow_symlinks=False)
        same = (found.st_dev, found.st_ino) == (there.st_dev, there.st_ino)
        if not same or (found.st_size, found.st_mtime_ns) != (entry.size, entry.mtime):
            return False
        os.unlink(entry.path)
    except OSError:  # held, gone, in a folder that nobody may write to, or on a file system without locks
        return False
    finally:
        os.close(fd)
    return True


def _megabytes(size: int) -> str:
    if size < 10**5:
        return f"{size // 10**3}kB"
    return f"{size / 10**6:.1f}MB" if size < 10**7 else f"{size // 10**6}MB"
