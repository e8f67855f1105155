"""A cache of what many traces say at their ends: rebuilt when missing, stale or broken, never needed."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from nika_nb.runs.heads import Head, head_of
from nika_nb.runs.records import Summary, fold
from nika_nb.trace.folder import Entry, look, newest_first, stamp_of
from nika_nb.trace.trace import state_of

WORTH = 200  # files from which on a cache pays
_VERSION = 4  # of the tables, and of what the facts in them mean
_FINE, _COARSE = 10**8, 2 * 10**9  # ns after a change in which another one may not show, by the file system
_PATIENCE = 2.0  # seconds to wait for another process that writes
_SPARE = frozenset(
    [
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
    ]
)  # troubles of the moment or of the place: the cache itself may be sound

_TABLES = f"""
CREATE TABLE traces (
  name TEXT PRIMARY KEY, size INTEGER, mtime INTEGER, inode INTEGER, run TEXT, open INTEGER,
  workflow TEXT, kind TEXT, ended TEXT, began INTEGER, resumed TEXT, facts TEXT
) WITHOUT ROWID;
CREATE INDEX by_run ON traces (run);
CREATE INDEX by_resumed ON traces (resumed);
CREATE INDEX by_workflow ON traces (workflow, began);
CREATE INDEX still_open ON traces (open) WHERE open;
CREATE TABLE runs (
  run TEXT PRIMARY KEY, stopped INTEGER, status TEXT, created INTEGER, summary TEXT
) WITHOUT ROWID;
CREATE INDEX newest ON runs (stopped, created DESC, run);
CREATE INDEX newest_of ON runs (status, created DESC, run);
CREATE TABLE folder (mtime INTEGER);
PRAGMA user_version = {_VERSION};
"""

Stamp = tuple[int, int, int]  # size, mtime, inode
Row = tuple[Any, ...]  # of the table of traces
Stamps = dict[str, Stamp]  # by name
Listed = tuple[tuple[Summary, ...], int]  # a page of them, how many there are

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Due:
    """What is too much: finished traces of one workflow, unix nanoseconds of age, bytes in all."""

    keep: int
    oldest: int
    budget: int


class Unusable(Exception):
    """There is no cache here, or none that helps: look at the files."""


class Index:
    """The cache beside one folder of traces. Whatever is asked raises Unusable where it cannot tell.

    What it says of a file holds as long as size, time and inode are what they were.
    """

    def __init__(self, traces: Path) -> None:
        self._traces = traces
        self.path = traces.parent / "index.sqlite3"

    def page(self, offset: int, limit: int, status: str | None) -> tuple[Listed, Listed]:
        """A page of the runs that have stopped, of this status if any; the newest that have not stopped."""

        def both(db: sqlite3.Connection) -> tuple[Listed, Listed]:
            which, value = ("stopped = ?", True) if status is None else ("status = ?", status)
            return _listed(db, which, value, offset, limit), _listed(db, "stopped = ?", False, 0, limit)

        found = self._ask(both, self._glance)
        names = [name for runs, _ in found for summary in runs for name in summary.traces]
        return found if self._as_recorded(names) else self._ask(both, self._refresh)

    def of(self, run: str) -> list[Head]:
        """Every trace of a run: each is what it was, and a folder that has not changed holds no other."""

        def heads(db: sqlite3.Connection) -> list[Head]:
            return _heads(db, "run", run)

        found = self._ask(heads, self._glance)
        return found if self._as_recorded([head.name for head in found]) else self._ask(heads, self._refresh)

    def entries(self, due: Due | None = None) -> list[Entry]:
        """Every trace as a listing of the folder shows it, newest first.

        due: none of them, where nothing is too much.
        """

        def rows(db: sqlite3.Connection) -> list[Row]:
            return _rows(db) if due is None or _too_much(db, due) else []

        return newest_first(filter(None, map(self._entry, self._ask(rows, self._glance))))

    def newest(self, workflow: str) -> Path | None:
        """The newest trace of a workflow that can be resumed."""

        def rows(db: sqlite3.Connection) -> list[Row]:
            return _rows(db, "WHERE workflow = ? OR facts IS NULL", (workflow,))

        found = newest_first(filter(None, map(self._entry, self._ask(rows, self._glance))))
        return next((entry.path for entry in found if entry.workflow == workflow and entry.resumable), None)

    def resumers(self, name: str) -> list[Head]:
        """The traces that say that they resumed this one."""

        def heads(db: sqlite3.Connection) -> list[Head]:
            return _heads(db, "resumed", name)

        return self._ask(heads, self._glance)

    def _entry(self, row: Row) -> Entry | None:
        """A trace without an end is looked at: it may have one by now, and its writer may live."""
        name, size, mtime, run, workflow, kind, ended, began = row
        path = self._traces / name
        if ended is None:
            return look(path)
        state = state_of(ended, False)
        return Entry(path, stamp_of(path), workflow, run, state, size, began, mtime, kind)

    # -- the file --------------------------------------------------------------------------

    def _ask(
        self, query: Callable[[sqlite3.Connection], Answer], update: Callable[[sqlite3.Connection], None]
    ) -> Answer:
        """The answer of a cache that is up to date; a broken one is thrown away and built anew, once."""
        if not self._ours or not self._worth:
            raise Unusable
        for last in (False, True):
            try:
                with closing(self._open()) as db:
                    update(db)
                    return query(db)
            except (sqlite3.Error, TypeError, KeyError, ValueError) as error:
                if last or getattr(error, "sqlite_errorcode", -1) & 0xFF in _SPARE:
                    raise Unusable from None
                self._discard()
            except OSError:
                raise Unusable from None
        raise Unusable

    @property
    def _worth(self) -> bool:
        """Whether there is one, or enough files for one."""
        try:
            return self.path.exists() or len(self._listed()) >= WORTH
        except OSError:
            return False

    @property
    def _ours(self) -> bool:
        """Whether this is a folder of a project, and not one in which journals merely lie."""
        return self._traces.name == "traces" and self._traces.parent.name == ".nika"

    def _open(self) -> sqlite3.Connection:
        new = not self.path.exists()
        db = sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)
        try:
            if new:
                os.chmod(self.path, 0o600)
            if _version(db) != _VERSION:
                _make(db)
        except BaseException:
            db.close()
            raise
        return db

    def _discard(self) -> None:
        for path in (self.path, self.path.with_name(f"{self.path.name}-journal")):
            with suppress(OSError):
                path.unlink()

    # -- keeping up ------------------------------------------------------------------------

    def _listed(self) -> Stamps:
        """The traces as they lie there now."""
        found: Stamps = {}
        with suppress(FileNotFoundError, NotADirectoryError), os.scandir(self._traces) as entries:
            for entry in entries:
                if entry.name.endswith(".ndjson"):
                    with suppress(OSError):
                        found[entry.name] = _stamp(entry.stat())
        return found

    def _glance(self, db: sqlite3.Connection) -> None:
        """Looks at the files without an end only, where the folder itself is what it was."""
        row = db.execute("SELECT mtime FROM folder").fetchone()
        if row is None or row[0] != os.stat(self._traces).st_mtime_ns:
            self._refresh(db)
            return
        known = _known(db, "WHERE open")
        self._take(db, known, self._stamps(known), row[0])

    def _refresh(self, db: sqlite3.Connection) -> None:
        """Looks at every file's size, time and inode, and into those that are not what they were."""
        changed, now = os.stat(self._traces).st_mtime_ns, time.time_ns()
        listed = self._listed()
        settled = changed if now - changed > (_FINE if changed % 10**9 else _COARSE) else None
        self._take(db, _known(db), listed, settled)
        if settled is not None and db.execute("SELECT mtime FROM folder").fetchone() != (settled,):
            with suppress(sqlite3.OperationalError):  # it only spares the next look some work
                _write(db, [], {}, settled)

    def _take(self, db: sqlite3.Connection, known: Stamps, listed: Stamps, settled: int | None) -> None:
        gone = [name for name in known if name not in listed]
        changed = [name for name, stamp in listed.items() if known.get(name) != stamp]
        if gone or changed:
            _write(db, gone, {name: self._row(name, listed[name]) for name in changed}, settled)

    def _row(self, name: str, stamp: Stamp) -> Head | Stamp:
        """What a file says; only its stamp where it is of no run."""
        return head_of(self._traces / name) or stamp

    def _stamps(self, names: Iterable[str]) -> Stamps:
        found: Stamps = {}
        for name in names:
            with suppress(OSError):
                found[name] = _stamp(os.stat(self._traces / name))
        return found

    def _as_recorded(self, names: list[str]) -> bool:
        """Whether what a page was made from is still what the cache knows."""

        def stamps(db: sqlite3.Connection) -> Stamps:
            marks = ",".join("?" * len(names))
            return _known(db, f"WHERE name IN ({marks})", names)

        return not names or self._ask(stamps, lambda db: None) == self._stamps(names)


def _stamp(stat: os.stat_result) -> Stamp:
    return stat.st_size, stat.st_mtime_ns, stat.st_ino


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _make(db: sqlite3.Connection) -> None:
    """Empty tables of this version, whatever stood there; unless another process was faster."""
    db.execute("BEGIN IMMEDIATE")
    if _version(db) == _VERSION:
        db.execute("COMMIT")
        return
    for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        db.execute(f"DROP TABLE {name}")
    for statement in _TABLES.split(";"):
        db.execute(statement)
    db.execute("COMMIT")


def _known(db: sqlite3.Connection, which: str = "", values: Iterable[str] = ()) -> Stamps:
    rows = db.execute(f"SELECT name, size, mtime, inode FROM traces {which}", tuple(values))
    return {name: (size, mtime, inode) for name, size, mtime, inode in rows}


def _heads(db: sqlite3.Connection, column: str, value: str) -> list[Head]:
    rows = db.execute(f"SELECT facts FROM traces WHERE {column} = ?", (value,)).fetchall()
    return [Head.from_json(json.loads(facts)) for (facts,) in rows]


def _rows(db: sqlite3.Connection, which: str = "", values: Iterable[str] = ()) -> list[Row]:
    columns = "name, size, mtime, run, workflow, kind, ended, began"
    return db.execute(f"SELECT {columns} FROM traces {which}", tuple(values)).fetchall()


_TOO_MUCH = (
    "SELECT 1 WHERE (SELECT sum(size) FROM traces) > :budget",
    "SELECT 1 FROM traces WHERE ended IN ('workflow_completed', 'workflow_failed', 'workflow_cancelled') "
    "GROUP BY workflow HAVING count(*) > :keep LIMIT 1",
    # Too old, and neither a question nor the newest of its workflow: these stay.
    "SELECT 1 FROM traces AS old WHERE mtime < :oldest AND ended IS NOT 'workflow_paused' AND "
    "(kind IS NOT 'workflow_started' OR EXISTS (SELECT 1 FROM traces AS new "
    "WHERE new.workflow IS old.workflow AND new.began >= old.began AND new.name != old.name)) LIMIT 1",
)


def _too_much(db: sqlite3.Connection, due: Due) -> bool:
    """Whether anything may have to go; what does is for the rules of retention to say."""
    return any(db.execute(query, asdict(due)).fetchone() for query in _TOO_MUCH)


def _listed(db: sqlite3.Connection, which: str, value: bool | str, offset: int, limit: int) -> Listed:
    total = db.execute(f"SELECT count(*) FROM runs WHERE {which}", (value,)).fetchone()[0]
    rows = db.execute(
        f"SELECT summary FROM runs WHERE {which} ORDER BY created DESC, run LIMIT ? OFFSET ?",
        (value, limit, offset),
    ).fetchall()
    return tuple(Summary.from_fields(json.loads(summary)) for (summary,) in rows), total


def _write(
    db: sqlite3.Connection, gone: list[str], changed: dict[str, Head | Stamp], settled: int | None
) -> None:
    """Takes in what became of some files, and folds the runs that are touched by it."""
    db.execute("BEGIN IMMEDIATE")
    touched = {run for name in (*gone, *changed) for (run,) in _run_of(db, name) if run}
    db.executemany("DELETE FROM traces WHERE name = ?", [(name,) for name in gone])
    rows = [_values(name, found) for name, found in changed.items()]
    db.executemany(f"INSERT OR REPLACE INTO traces VALUES ({','.join('?' * 12)})", rows)
    touched |= {found.run for found in changed.values() if isinstance(found, Head)}
    for run in touched:
        _fold(db, run)
    db.execute("DELETE FROM folder")
    db.execute("INSERT INTO folder VALUES (?)", (settled,))
    db.execute("COMMIT")


def _run_of(db: sqlite3.Connection, name: str) -> list[tuple[str | None]]:
    return db.execute("SELECT run FROM traces WHERE name = ?", (name,)).fetchall()


def _values(name: str, found: Head | Stamp) -> tuple[object, ...]:
    if not isinstance(found, Head):
        return (name, *found, None, True, *[None] * 6)  # it may yet become one
    told = (found.workflow or None, found.kind, found.end, found.created, found.resumed_trace)
    return (name, *found.stamp, found.run, found.end is None, *told, json.dumps(found.to_json()))


def _fold(db: sqlite3.Connection, run: str) -> None:
    record = fold(_heads(db, "run", run))
    if record is None:
        db.execute("DELETE FROM runs WHERE run = ?", (run,))
        return
    summary = record.summary
    status = summary.status
    values = (run, status is not None, status, summary.created, json.dumps(asdict(summary)))
    db.execute("INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?)", values)
