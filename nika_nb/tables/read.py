"""One trace as two tables: what became of every task, and every event in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nika_nb.tables.rows import event_rows, task_rows
from nika_nb.trace.reader import read
from nika_nb.trace.trace import Trace

if TYPE_CHECKING:
    import pandas as pd

_CENTURIES = 9 * 10**12  # milliseconds: what a nanosecond timedelta can hold

# Column → dtype. Ids and hashes stay strings; counts are nullable integers; moments are UTC
# nanoseconds; durations are timedeltas; money is US dollars.
TASK_COLUMNS: Mapping[str, str] = {
    "task": "string",
    "verb": "string",
    "note": "string",
    "state": "string",
    "cause": "string",
    "cached": "boolean",
    "reason": "string",
    "parts": "string",
    "started": "datetime64[ns, UTC]",
    "ended": "datetime64[ns, UTC]",
    "duration": "timedelta64[ns]",
    "attempts": "Int64",
    "items": "Int64",
    "tokens": "Int64",
    "cost_usd": "Float64",
    "saved_usd": "Float64",
    "saved": "timedelta64[ns]",
    "output": "string",
    "error_code": "string",
    "error_message": "string",
    "def_hash": "string",
    "input_hash": "string",
}

EVENT_COLUMNS: Mapping[str, str] = {
    "line": "Int64",
    "time": "datetime64[ns, UTC]",
    "kind": "string",
    "task": "string",
    "item": "Int64",
    "attempt": "Int64",
    "note": "string",
    "detail": "string",
    "id": "string",
    "run": "string",
    "run_id": "string",
    "fields": "string",
}


class TraceTables:
    """A trace to explore: `.tasks` (a row per task) and `.events` (a row per frame).

    trace: what was read, with `.state`, `.run_id`, `.outputs`, `.torn`. Reading a trace that is
    still being written, or that broke off, gives what is there.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    @property
    def path(self) -> Path:
        return self.trace.path

    @property
    def state(self) -> str:
        return self.trace.state

    @property
    def outputs(self) -> dict[str, Any] | None:
        return self.trace.outputs

    @cached_property
    def tasks(self) -> pd.DataFrame:
        """One row per task in document order; columns as in TASK_COLUMNS."""
        return _frame(task_rows(self.trace), TASK_COLUMNS)

    @cached_property
    def events(self) -> pd.DataFrame:
        """One row per frame in journal order; columns as in EVENT_COLUMNS, all fields as JSON text."""
        return _frame(event_rows(self.trace), EVENT_COLUMNS)

    def __repr__(self) -> str:
        trace = self.trace
        torn = " · torn tail" if trace.torn else ""
        facts = f"{trace.workflow} · {trace.state} · {len(trace.frames)} events{torn}"
        return f"TraceTables({trace.path.name} · {facts})"


def read_trace(path: str | Path) -> TraceTables:
    """The tables of one journal. Raises UsageError where there is none, TraceUnreadable for another file."""
    return TraceTables(read(Path(path)))


def _frame(rows: Iterable[Mapping[str, Any]], columns: Mapping[str, str]) -> pd.DataFrame:
    import pandas as pd

    listed = list(rows)
    series = {name: _series([row.get(name) for row in listed], dtype) for name, dtype in columns.items()}
    return pd.DataFrame(series, columns=list(columns))


def _series(values: list[Any], dtype: str) -> Any:
    import pandas as pd

    if dtype.startswith("datetime64"):
        # By way of strings or floats a moment would lose its nanoseconds.
        moments = pd.array(
            [pd.NaT if v is None else pd.Timestamp(v, unit="ns") for v in values], dtype="datetime64[ns]"
        )
        return pd.Series(moments).dt.tz_localize("UTC")
    if dtype.startswith("timedelta64"):
        spans = [pd.NaT if v is None or abs(v) > _CENTURIES else pd.Timedelta(v, unit="ms") for v in values]
        return pd.Series(spans, dtype="timedelta64[ns]")
    return pd.Series([pd.NA if v is None else v for v in values], dtype=dtype)
