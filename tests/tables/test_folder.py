"""Many traces as tables: one after the other, in memory that the result alone decides."""

from __future__ import annotations

import gc
import shutil
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

import nika_nb
from nika_nb.errors import UsageError
from nika_nb.tables import TABLES, FolderTables
from tests.priced import CENT, Priced
from tests.tables.test_read import ASKS, PINNED, TEXT, dtypes

KEYS = ["trace", "run_id", "workflow"]
FAN = """nika: fan
model: mock/echo
inputs: { xs: { type: { array: integer }, default: [1, 2] } }
tasks:
  each: { for_each: { items: "${{ inputs.xs }}" }, infer: { prompt: "item ${{ item }}" } }
"""


@pytest.fixture
def several(folder: Path, priced: Priced) -> FolderTables:
    """A failed run, its resume, a paused one, and another workflow's."""
    nika_nb.run(TEXT).resume()
    nika_nb.run(ASKS, interactive=False)
    nika_nb.run(FAN)
    return nika_nb.read_traces()


@pytest.mark.parametrize("table", PINNED)
def test_three_columns_say_whose_a_row_is(several: FolderTables, table: str) -> None:
    """trace, run_id and workflow stand first, then the same columns as of one trace."""
    names = list(getattr(several, table).columns)
    assert names[:3] == KEYS
    expected = [column.name for column in TABLES[table]]
    assert names == (expected if table == "runs" else [*KEYS, *expected])
    found = dtypes(getattr(several, table))
    assert {name: found[name] for name in expected} == PINNED[table]


def test_the_rows_are_those_of_each_trace(several: FolderTables) -> None:
    """Nothing is added, lost or mixed up."""
    for name in several.runs["trace"]:
        one = nika_nb.read_trace(name)
        for table in PINNED:
            many = getattr(several, table)
            own = many[many["trace"] == name].reset_index(drop=True)
            alone = getattr(one, table)
            assert own[list(alone.columns)].equals(alone), (name, table)


def test_a_row_per_run_the_oldest_first(several: FolderTables) -> None:
    """How each ended, what it ran and recalled, what that cost."""
    runs = several.runs
    assert list(runs["workflow"]) == ["table", "table", "asks", "fan"]
    assert list(runs["state"]) == ["failed", "failed", "paused", "completed"]
    assert list(runs["hits"]) == [0, 4, 0, 0]
    assert runs["started"].is_monotonic_increasing
    assert runs.loc[1, "resumed"] == runs.loc[0, "trace"]
    assert runs.loc[1, "saved_usd"] == pytest.approx(runs.loc[0, "cost_usd"])
    assert runs.loc[3, "cost_usd"] == pytest.approx(2 * CENT)
    assert len(several) == 4
    assert not several.skipped


def test_what_cannot_be_read_is_named_and_left_out(several: FolderTables, folder: Path) -> None:
    """A foreign file, an empty one and a folder that looks like a trace do not cost the others."""
    traces = folder / ".nika" / "traces"
    (traces / "notes.ndjson").write_text("to do\n", encoding="utf-8")
    (traces / "empty.ndjson").touch()
    (traces / "folder.ndjson").mkdir()
    (traces / "torn.ndjson").write_bytes(next(traces.glob("2*.ndjson")).read_bytes()[:-30])
    found = nika_nb.read_traces(folder)
    assert {skipped.name for skipped in found.skipped} == {"notes.ndjson", "empty.ndjson", "folder.ndjson"}
    assert all(skipped.why for skipped in found.skipped)
    assert "notes.ndjson" in repr(found)
    assert len(found) == 5
    assert found.runs.set_index("trace").loc["torn.ndjson", "torn"]
    assert len(found.tasks) > len(several.tasks)


def test_a_trace_that_goes_away_takes_only_itself(several: FolderTables, folder: Path) -> None:
    """Retention may remove what had been listed."""
    before = len(several.runs)
    (folder / ".nika" / "traces" / several.runs.loc[0, "trace"]).unlink()
    assert set(several.tasks["trace"]) == set(several.runs["trace"][1:])
    assert len(several.runs) == before


def test_a_folder_may_be_the_traces_themselves_or_a_list(several: FolderTables, folder: Path) -> None:
    """A project, its folder of traces, any folder with journals; or names, paths and Runs."""
    traces = folder / ".nika" / "traces"
    shutil.copytree(traces, folder / "kept")
    for where in (folder, str(folder), traces, folder / "kept"):
        assert list(nika_nb.read_traces(where).runs["trace"]) == list(several.runs["trace"])
    run = nika_nb.run(FAN)
    assert run.trace is not None
    listed = nika_nb.read_traces([run, run.trace, several.runs.loc[0, "run_id"]])
    assert list(listed.runs["trace"]) == [several.runs.loc[0, "trace"], run.trace.name]


def test_where_there_is_nothing(folder: Path) -> None:
    """An empty folder has empty tables; one that is not there is a mistake, and so is a single trace."""
    found = nika_nb.read_traces()
    assert (len(found), len(found.tasks), len(found.runs)) == (0, 0, 0)
    with pytest.raises(UsageError, match="nowhere is no folder"):
        nika_nb.read_traces("nowhere")
    with pytest.raises(UsageError, match=r"^a Run is no folder: `read_trace` reads one trace"):
        nika_nb.read_traces(nika_nb.run(FAN))


def measured(work: Callable[[], object]) -> tuple[int, int]:
    """(the most bytes that Python held at once while working, those that it holds with the result)."""
    work()  # imports are no memory of a reading
    gc.collect()
    tracemalloc.start()
    try:
        result = work()
        held, most = tracemalloc.get_traced_memory()
        assert result is not None
        return most, held
    finally:
        tracemalloc.stop()


@pytest.fixture
def crowded(folder: Path) -> Path:
    """Two folders of the same trace, twice and twenty times: one task, many items."""
    trace = nika_nb.run(FAN, vars={"xs": list(range(60))}).trace
    assert trace is not None
    for name, count in (("few", 2), ("many", 20)):
        (folder / name).mkdir()
        for at in range(count):
            shutil.copy(trace, folder / name / f"{at}.ndjson")
    return folder


@pytest.mark.parametrize("table", ["runs", "tasks"])
def test_memory_is_that_of_the_result(crowded: Path, table: str) -> None:
    """Ten times the traces, and no more memory than the rows that come of them: no trace is held."""
    few, few_held = measured(lambda: getattr(nika_nb.read_traces(crowded / "few"), table))
    many, many_held = measured(lambda: getattr(nika_nb.read_traces(crowded / "many"), table))
    traces = sum(file.stat().st_size for file in (crowded / "many").iterdir())
    assert many - few < 2 * (many_held - few_held) + traces / 20


def test_the_memory_of_a_large_table_grows_with_it(crowded: Path) -> None:
    """Ten times the rows, ten times the memory."""
    few, _ = measured(lambda: nika_nb.read_traces(crowded / "few").items)
    many, _ = measured(lambda: nika_nb.read_traces(crowded / "many").items)
    assert many < 12 * few
