"""A trace as tables: stable columns and types, on finished, running, torn and foreign journals."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import nika_nb
from nika_nb.tables.read import EVENT_COLUMNS, TASK_COLUMNS, TraceTables

TEXT = """nika: table
model: mock/echo
permits: { tools: ["nika:assert"] }
tasks:
  good: { infer: { prompt: "hello" } }
  bad: { invoke: { tool: "nika:assert", args: { condition: false, message: "no" } } }
  dead: { after: { bad: success }, infer: { prompt: "never" } }
  never: { when: false, infer: { prompt: "never" } }
  fan: { for_each: { items: [1, 2, 3] }, infer: { prompt: "item ${{ item }}" } }
"""


@pytest.fixture
def tables(folder: Path) -> TraceTables:
    run = nika_nb.run(TEXT)
    assert run.trace is not None
    return nika_nb.read_trace(run.trace)


def test_the_columns_and_their_types_are_pinned(tables: TraceTables) -> None:
    """Strings, nullable integers, UTC nanoseconds, timedeltas: whatever the rows hold."""
    assert {name: str(kind) for name, kind in tables.tasks.dtypes.items()} == dict(TASK_COLUMNS)
    assert {name: str(kind) for name, kind in tables.events.dtypes.items()} == dict(EVENT_COLUMNS)


def test_a_row_per_task_with_what_became_of_it(tables: TraceTables) -> None:
    """States, causes, codes, items, outputs, in document order."""
    rows = tables.tasks.set_index("task")
    assert list(rows.index) == ["good", "bad", "dead", "never", "fan"]
    assert list(rows["state"]) == ["success", "failure", "cancelled", "skipped", "success"]
    assert list(rows["cause"]) == ["normal", "verb_error", "upstream", "gate", "normal"]
    assert rows.loc["bad", "error_code"] == "NIKA-BUILTIN-ASSERT-001"
    assert rows.loc["good", "output"] == '"mock(echo) · hello"'
    assert rows.loc["fan", "items"] == 3
    assert pd.isna(rows.loc["dead", "started"])


def test_moments_keep_their_nanoseconds(tables: TraceTables) -> None:
    """A timestamp in the table is the journal's own number."""
    frames = tables.trace.frames
    assert [moment.value for moment in tables.events["time"]] == [frame.timestamp for frame in frames]


def test_a_torn_tail_loses_only_itself(tables: TraceTables, folder: Path) -> None:
    """Half a line at the end: the rest is a table."""
    torn = folder / "torn.ndjson"
    torn.write_bytes(tables.path.read_bytes()[:-40])
    found = nika_nb.read_trace(torn)
    assert len(found.events) == len(tables.events) - 1
    assert found.trace.torn
    assert found.state == "incomplete"


def test_an_empty_trace_has_empty_typed_tables(tables: TraceTables, folder: Path) -> None:
    """Types do not depend on rows."""
    first = tables.path.read_bytes().splitlines(keepends=True)[0]
    (folder / "short.ndjson").write_bytes(first)
    found = nika_nb.read_trace(folder / "short.ndjson")
    assert len(found.tasks) == 0
    assert {name: str(kind) for name, kind in found.tasks.dtypes.items()} == dict(TASK_COLUMNS)


def test_the_reference_engines_journals_are_tables_too(conformance: Path) -> None:
    """All 61 journals of another engine read into rows whose tasks have states."""
    traces = sorted((conformance / "reference-traces").glob("*.ndjson"))
    assert len(traces) == 61
    for path in traces:
        found = nika_nb.read_trace(path)
        assert len(found.events) > 0
        assert set(found.tasks["state"]) <= {
            "success",
            "failure",
            "skipped",
            "cancelled",
            "pending",
            "running",
        }
