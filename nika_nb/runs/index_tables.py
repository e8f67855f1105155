"""The tables of the cache of traces: made, read, written. What stands in them is for `index` to judge."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, starmap
from typing import Any

from nika_nb.runs.heads import Head
from nika_nb.runs.records import Summary, fold, grouped

VERSION = 9  # of the tables, and of what the facts in them mean

_TABLES = f"""
CREATE TABLE traces (
  name TEXT PRIMARY KEY, size INTEGER, mtime INTEGER, inode INTEGER, run TEXT, open INTEGER,
  workflow TEXT, kind TEXT, ended TEXT, began INTEGER, resumed TEXT, resumed_head TEXT,
  facts TEXT
) WITHOUT ROWID;
CREATE INDEX by_run ON traces (run);
CREATE INDEX by_resumed ON traces (resumed) WHERE resumed IS NOT NULL;
CREATE INDEX by_head ON traces (resumed_head) WHERE resumed_head IS NOT NULL;
CREATE INDEX by_workflow ON traces (workflow, began);
CREATE INDEX still_open ON traces (open) WHERE open;
CREATE TABLE runs (
  run TEXT PRIMARY KEY, stopped INTEGER, status TEXT, created INTEGER
) WITHOUT ROWID;
CREATE INDEX newest ON runs (stopped, created DESC, run);
CREATE INDEX newest_of ON runs (status, created DESC, run);
CREATE TABLE folder (mtime INTEGER);
PRAGMA user_version = {VERSION};
"""

_AT_ONCE = 500  # values in one query

Stamp = tuple[int, int, int]  # size, mtime, inode
Row = tuple[Any, ...]  # of the table of traces
Stamps = dict[str, Stamp]  # by name
Listed = tuple[tuple[Summary, ...], int]  # a page of them, how many there are


@dataclass(frozen=True, slots=True)
class Due:
    """What is too much: finished traces of one workflow, unix nanoseconds of age, bytes in all."""

    keep: int
    oldest: int
    budget: int


def version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def make(db: sqlite3.Connection) -> None:
    """Empty tables of this version, whatever stood there; unless another process was faster."""
    db.execute("BEGIN IMMEDIATE")
    if version(db) == VERSION:
        db.execute("COMMIT")
        return
    for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        db.execute(f"DROP TABLE {name}")
    for statement in _TABLES.split(";"):
        db.execute(statement)
    db.execute("COMMIT")


def known(db: sqlite3.Connection, which: str = "", values: Iterable[str] = ()) -> Stamps:
    rows = db.execute(f"SELECT name, size, mtime, inode FROM traces {which}", tuple(values))
    return {name: (size, mtime, inode) for name, size, mtime, inode in rows}


def known_of(db: sqlite3.Connection, names: Sequence[str]) -> Stamps:
    """The same of these traces, as far as they are known."""
    rows = _among(db, "SELECT name, size, mtime, inode FROM traces WHERE name IN", names)
    return {name: (size, mtime, inode) for name, size, mtime, inode in rows}


def heads(db: sqlite3.Connection, column: str, *values: str) -> list[Head]:
    """The traces that have one of these values there."""
    rows = _among(db, f"SELECT facts FROM traces WHERE {column} IN", values)
    return [Head.from_json(json.loads(facts)) for (facts,) in rows]


def rows(db: sqlite3.Connection, which: str = "", values: Iterable[str] = ()) -> list[Row]:
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


def too_much(db: sqlite3.Connection, due: Due) -> bool:
    """Whether anything may have to go; what does is for the rules of retention to say."""
    return any(db.execute(query, asdict(due)).fetchone() for query in _TOO_MUCH)


def listed(db: sqlite3.Connection, which: str, value: bool | str, offset: int, limit: int) -> Listed:
    """A page of runs, folded from their traces as these tables know them."""
    total = db.execute(f"SELECT count(*) FROM runs WHERE {which}", (value,)).fetchone()[0]
    page = f"SELECT run FROM runs WHERE {which} ORDER BY created DESC, run LIMIT ? OFFSET ?"
    names = [run for (run,) in db.execute(page, (value, limit, offset))]
    of_run = _of_runs(db, names)
    records = (fold(of_run[run]) for run in names)
    return tuple(record.summary for record in records if record is not None), total


def write(
    db: sqlite3.Connection,
    before: Stamps,
    gone: list[str],
    changed: dict[str, Head | Stamp],
    settled: int | None,
) -> None:
    """Takes in what became of some files, and folds the runs that are touched by it.

    before: what these tables said when the look began. Of a file that another look has taken in since,
    the later state stands, whichever of the two looks was the slower.
    """
    db.execute("BEGIN IMMEDIATE")
    rows = _among(db, "SELECT name, run, size, mtime, inode FROM traces WHERE name IN", [*gone, *changed])
    now = {name: (run, tuple(stamp)) for name, run, *stamp in rows}
    gone = [name for name in gone if _stamp(now, name) == before.get(name)]
    changed = {
        name: found
        for name, found in changed.items()
        if _stamp(now, name) == before.get(name) or _later(found, _stamp(now, name))
    }
    heads = [found for found in changed.values() if isinstance(found, Head)]
    touched = {now[name][0] for name in (*gone, *changed) if name in now} | {head.run for head in heads}
    db.executemany(
        "DELETE FROM traces WHERE name = ?", [(name,) for name in (*gone, *changed) if name in now]
    )
    _fold(db, touched - {None}, heads)
    marks = ",".join("?" * 13)
    db.executemany(f"INSERT INTO traces VALUES ({marks})", sorted(starmap(_values, changed.items())))
    db.execute("DELETE FROM folder")
    db.execute("INSERT INTO folder VALUES (?)", (settled,))
    db.execute("COMMIT")


def _among(db: sqlite3.Connection, query: str, values: Sequence[str]) -> Iterator[Row]:
    """The rows of a query that ends with `IN`, for however many values."""
    for at in range(0, len(values), _AT_ONCE):
        some = values[at : at + _AT_ONCE]
        yield from db.execute(f"{query} ({','.join('?' * len(some))})", some).fetchall()


def _stamp(rows: Mapping[str, tuple[str | None, Stamp]], name: str) -> Stamp | None:
    return rows[name][1] if name in rows else None


def _later(found: Head | Stamp, recorded: Stamp | None) -> bool:
    size, mtime, _ = found.stamp if isinstance(found, Head) else found
    return recorded is None or (mtime, size) > (recorded[1], recorded[0])


def _of_runs(db: sqlite3.Connection, runs: Sequence[str]) -> dict[str, list[Head]]:
    """Every trace of these runs, by run."""
    rows = _among(db, "SELECT facts FROM traces WHERE run IN", runs)
    return grouped(Head.from_json(json.loads(facts)) for (facts,) in rows)


def _values(name: str, found: Head | Stamp) -> tuple[object, ...]:
    if not isinstance(found, Head):
        return (name, *found, None, True, *[None] * 7)  # it may yet become one
    resumed = (found.resumed_trace, found.resumed_head)  # a reproducible one names no file
    told = (found.workflow or None, found.kind, found.end, found.created, *resumed)
    return (name, *found.stamp, found.run, found.end is None, *told, json.dumps(found.to_json()))


def _fold(db: sqlite3.Connection, runs: Collection[str], added: Iterable[Head]) -> None:
    """Folds runs from the traces that stand in the tables and those that are about to."""
    heads = grouped([*chain(*_of_runs(db, [*runs]).values()), *added])
    summaries = [record.summary for record in map(fold, heads.values()) if record is not None]
    lost = set(runs).difference(summary.run_id for summary in summaries)
    db.executemany("DELETE FROM runs WHERE run = ?", [(run,) for run in lost])
    rows = [(one.run_id, one.status is not None, one.status, one.created) for one in summaries]
    db.executemany("INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?)", rows)
