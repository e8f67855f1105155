"""A cache of what many traces say at their ends: rebuilt when missing, stale or broken, never needed."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from typing import TypeVar

from nika_nb.runs import index_tables as tables
from nika_nb.runs.heads import Head, head_of
from nika_nb.runs.index_tables import Due, Listed, Row, Stamp, Stamps
from nika_nb.trace.folder import Entry, look, newest_first, stamp_of
from nika_nb.trace.trace import state_of

WORTH = 200  # files from which on a cache pays
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

Answer = TypeVar("Answer")


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
            stopped = tables.listed(db, which, value, offset, limit)
            return stopped, tables.listed(db, "stopped = ?", False, 0, limit)

        found = self._ask(both, self._glance)
        names = [name for runs, _ in found for summary in runs for name in summary.traces]
        return found if self._as_recorded(names) else self._ask(both, self._refresh)

    def of(self, *runs: str) -> list[Head]:
        """Every trace of these runs: each is what it was, and an unchanged folder holds no other."""

        def heads(db: sqlite3.Connection) -> list[Head]:
            return tables.heads(db, "run", *runs)

        found = self._ask(heads, self._glance)
        return found if self._as_recorded([head.name for head in found]) else self._ask(heads, self._refresh)

    def entries(self, due: Due | None = None) -> list[Entry]:
        """Every trace as a listing of the folder shows it, newest first.

        due: none of them, where nothing is too much; whatever is to go is looked at once more then.
        """

        def rows(db: sqlite3.Connection) -> list[Row]:
            return tables.rows(db) if due is None or tables.too_much(db, due) else []

        found = self._ask(rows, self._refresh if due is None else self._glance)
        return newest_first(filter(None, map(self._entry, found)))

    def of_workflow(self, workflow: str) -> list[Entry]:
        """The traces of a workflow, newest first."""

        def rows(db: sqlite3.Connection) -> list[Row]:
            return tables.rows(db, "WHERE workflow = ? OR facts IS NULL", (workflow,))

        found = newest_first(filter(None, map(self._entry, self._ask(rows, self._glance))))
        return [entry for entry in found if entry.workflow == workflow]

    def resumers(self, names: Sequence[str], heads: Sequence[str]) -> list[Head]:
        """The traces that say that they resumed one of these names, or one that ends with such a hash."""

        def found(db: sqlite3.Connection) -> list[Head]:
            both = [*tables.heads(db, "resumed", *names), *tables.heads(db, "resumed_head", *heads)]
            return list({one.name: one for one in both}.values())

        return self._ask(found, self._glance)

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
        """The answer of a cache that is up to date; a broken one is thrown away and built anew, once.

        All that one query reads is of one moment: what another look takes in meanwhile is not half of it.
        """
        if not self._ours or not self._worth:
            raise Unusable
        for last in (False, True):
            try:
                with closing(self._open()) as db:
                    update(db)
                    db.execute("BEGIN")  # never committed: it only reads
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
            return self.path.exists() or len(list(islice(self._files(), WORTH))) == WORTH
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
            if tables.version(db) != tables.VERSION:
                tables.make(db)
        except BaseException:
            db.close()
            raise
        return db

    def _discard(self) -> None:
        for path in (self.path, self.path.with_name(f"{self.path.name}-journal")):
            with suppress(OSError):
                path.unlink()

    # -- keeping up ------------------------------------------------------------------------

    def _files(self) -> Iterator[os.DirEntry[str]]:
        with suppress(FileNotFoundError, NotADirectoryError), os.scandir(self._traces) as entries:
            yield from (entry for entry in entries if entry.name.endswith(".ndjson"))

    def _listed(self) -> Stamps:
        """The traces as they lie there now."""
        found: Stamps = {}
        for entry in self._files():
            with suppress(OSError):
                found[entry.name] = _stamp(entry.stat())
        return found

    def _glance(self, db: sqlite3.Connection) -> None:
        """Looks at the files without an end only, where the folder itself is what it was."""
        row = db.execute("SELECT mtime FROM folder").fetchone()
        if row is None or row[0] != os.stat(self._traces).st_mtime_ns:
            self._refresh(db)
            return
        known = tables.known(db, "WHERE open")
        self._take(db, known, self._stamps(known), row[0])

    def _refresh(self, db: sqlite3.Connection) -> None:
        """Looks at every file's size, time and inode, and into those that are not what they were."""
        changed, now = os.stat(self._traces).st_mtime_ns, time.time_ns()
        known = tables.known(db)  # before the folder is walked: what it then lacks has been there
        listed = self._listed()
        settled = changed if now - changed > (_FINE if changed % 10**9 else _COARSE) else None
        self._take(db, known, listed, settled)
        if settled is not None and db.execute("SELECT mtime FROM folder").fetchone() != (settled,):
            with suppress(sqlite3.OperationalError):  # it only spares the next look some work
                tables.write(db, {}, [], {}, settled)

    def _take(self, db: sqlite3.Connection, known: Stamps, listed: Stamps, settled: int | None) -> None:
        gone = [name for name in known if name not in listed]
        changed = [name for name, stamp in listed.items() if known.get(name) != stamp]
        if gone or changed:
            rows = {name: self._row(name, listed[name]) for name in changed}
            tables.write(db, known, gone, rows, settled)

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
            return tables.known_of(db, names)

        return not names or self._ask(stamps, lambda db: None) == self._stamps(names)


def _stamp(stat: os.stat_result) -> Stamp:
    return stat.st_size, stat.st_mtime_ns, stat.st_ino
