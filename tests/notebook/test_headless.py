"""Notebooks without a front-end: Restart and Run All by nbclient, parameters by papermill."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import papermill
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

import nika_nb
from tests.doors import marks, newest, program, traces

# -- Restart & Run All -----------------------------------------------------------------------------

NIGHT = """%%nika --resume
nika: night
permits: { exec: ["./say"] }
tasks:
  one: { exec: { command: ["./say", "one"] } }
  two: { with: { o: "${{ tasks.one.output }}" }, exec: { command: ["./say", "two", "${{ with.o }}"] } }
  each: { for_each: { items: ["a", "b", "c"] }, exec: { command: ["./say", "${{ item }}"] } }
"""
DAY = """%%nika --resume
nika: day
permits: { exec: ["./say"] }
tasks: { sun: { exec: { command: ["./say", "sun"] } } }
"""
ASKS = """%%nika --resume --into run
nika: asks
permits: { exec: ["./say"], tools: ["nika:prompt"] }
tasks:
  before: { exec: { command: ["./say", "before"] } }
  ask: { after: { before: success }, invoke: { tool: "nika:prompt", args: { message: "Well?" } } }
"""


def book(folder: Path, *cells: str, tags: str = "") -> Path:
    """A notebook with the extension loaded in its first cell; the next one may carry a tag."""
    path = folder / "book.ipynb"
    made = [nbformat.v4.new_code_cell(text) for text in ("%load_ext nika_nb", *cells)]  # type: ignore[no-untyped-call]
    if tags:
        made[1].metadata["tags"] = [tags]
    spec = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=made, metadata=spec), str(path))  # type: ignore[no-untyped-call]
    return path


def run_all(path: Path) -> CellExecutionError | None:
    """A fresh kernel, every cell in order, saved in place; where it stopped, the error."""
    notebook: Any = nbformat.read(str(path), as_version=4)  # type: ignore[no-untyped-call]
    client = NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(path.parent)}})
    try:
        client.execute()
    except CellExecutionError as failed:
        return failed
    finally:
        nbformat.write(notebook, str(path))  # type: ignore[no-untyped-call]
    return None


def error_of(path: Path) -> dict[str, Any]:
    """The one error that stands in a saved notebook."""
    notebook: Any = nbformat.read(str(path), as_version=4)  # type: ignore[no-untyped-call]
    (found,) = [o for cell in notebook.cells for o in cell.get("outputs", []) if o.output_type == "error"]
    return dict(found)


@pytest.fixture
def stage(folder: Path) -> Path:
    program(folder, "say", 'echo "$1" >> marks\nprintf %s "$1"')
    return folder


def test_run_all_runs_exactly_what_changed(stage: Path) -> None:
    """Once everything, then nothing, then the edited task, what reads it, and the one new item."""
    assert run_all(book(stage, NIGHT, DAY)) is None
    everything = {"one": 1, "two": 1, "a": 1, "b": 1, "c": 1, "sun": 1}
    assert marks(stage / "marks") == everything
    assert run_all(book(stage, NIGHT, DAY)) is None
    assert marks(stage / "marks") == everything
    edited = NIGHT.replace('["./say", "two"', '["./say", "second"').replace('"b"', '"x"')
    assert run_all(book(stage, edited, DAY)) is None
    assert marks(stage / "marks") == everything | {"second": 1, "x": 1}


def test_a_prompt_never_hangs_run_all(stage: Path) -> None:
    """It waits and the cells behind it run; each time it is the same run, with the line that answers it."""
    for _ in range(2):
        path = book(stage, ASKS, DAY)
        assert run_all(path) is None
    assert marks(stage / "marks") == {"before": 1, "sun": 1}
    assert nika_nb.attach(newest(stage)).workflow == "day"
    (paused,) = [path for path in traces(stage) if nika_nb.attach(path).state == "paused"]
    saved = path.read_text(encoding="utf-8")
    assert "still waits for an answer to `ask`: nothing was run" in saved
    assert f"%nika answer {paused.name} ask=yes" in saved
    assert "widget-view+json" not in saved  # a page made of it would show buttons that nobody hears


def test_a_question_that_a_later_cell_answers_stands_answered(stage: Path) -> None:
    """Also where nobody was shown a form: what is saved above does not ask any more."""
    path = book(stage, ASKS, "%nika answer ask=yes")
    assert run_all(path) is None
    saved = path.read_text(encoding="utf-8")
    assert "answered on 2" in saved
    assert "to answer: " not in saved
    assert "widget-view+json" not in saved


def test_a_prompt_stops_run_all_where_that_is_wanted(stage: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NIKA_NB_ON_PAUSE=raise: the job fails there, in a sentence that says how to answer; then it goes on."""
    monkeypatch.setenv("NIKA_NB_ON_PAUSE", "raise")
    path = book(stage, ASKS, DAY)
    assert run_all(path) is not None
    error = error_of(path)
    assert error["traceback"][0].startswith("`asks` waits for an answer to `ask`: %nika answer 2")
    assert len(error["traceback"]) == 1
    assert marks(stage / "marks") == {"before": 1}
    answered = ASKS.replace("--into run", "--answer ask=yes")
    assert run_all(book(stage, answered, DAY)) is None
    assert marks(stage / "marks") == {"before": 1, "sun": 1}


def test_a_failed_workflow_stops_run_all_with_one_line(stage: Path) -> None:
    """No traceback into this package; the panel stands above it, and nothing behind it runs."""
    path = book(
        stage,
        NIGHT.replace('"./say", "two"', '"./say2", "two"').replace('"./say"]', '"./say", "./say2"]', 1),
        DAY,
    )
    program(stage, "say2", "echo no good >&2; exit 3")
    failed = run_all(path)
    error = error_of(path)
    assert error["ename"] == "RunFailed"
    assert len(error["traceback"]) == 1
    assert error["traceback"][0].startswith("`night` failed at `two` (NIKA-EXEC-001")
    assert "nika_nb/" not in str(failed)
    assert "✖ failed" in path.read_text(encoding="utf-8")
    assert "sun" not in marks(stage / "marks")


# -- papermill -------------------------------------------------------------------------------------

PARAMETERS = "topic = 'tea'\nrows = []\nlimit = 1.0"
BRIEF = """%%nika --var topic=$topic --vars rows=rows --max-cost-usd $limit --into brief
nika: brief
model: mock/echo
inputs:
  topic: { type: string, required: true }
  rows: { type: { array: { map: string } }, default: [] }
tasks:
  say: { infer: { prompt: "about ${{ inputs.topic }}" } }
  each:
    for_each: { items: "${{ inputs.rows }}" }
    infer: { prompt: "${{ item.name }}" }
outputs: { said: "${{ tasks.say.output }}", names: "${{ tasks.each.output }}" }
"""
HOSTILE = 'it\'s "quoted"\n--check $topic {limit} ${{ inputs.rows }}'


def papermilled(path: Path, **parameters: Any) -> Path:
    """The notebook as papermill leaves it, executed in its folder."""
    done = path.with_name("done.ipynb")
    papermill.execute_notebook(
        str(path),
        str(done),
        parameters=parameters,
        cwd=str(path.parent),
        progress_bar=False,
        execution_timeout=60,
    )
    return done


@pytest.mark.parametrize("topic", ["007", HOSTILE], ids=["digits", "hostile"])
def test_papermill_parameters_reach_the_inputs(folder: Path, topic: str) -> None:
    """By name, as the values that they are: a text stays one text, a list becomes the rows."""
    path = book(folder, PARAMETERS, BRIEF, "brief.outputs", tags="parameters")
    papermilled(path, topic=topic, rows=[{"name": "Ann"}, {"name": "Bo"}], limit=2.5)
    trace = nika_nb.read_trace(newest(folder))
    run = nika_nb.attach(newest(folder))
    assert run.request.variables == {"topic": topic, "rows": [{"name": "Ann"}, {"name": "Bo"}]}
    assert run.request.max_cost_usd == 2.5
    assert run.outputs == {
        "said": f"mock(echo) · about {topic}",
        "names": ["mock(echo) · Ann", "mock(echo) · Bo"],
    }
    assert trace.state == "completed"


def test_papermill_stops_at_a_failure_and_shows_it_short(stage: Path) -> None:
    """Its error is one sentence of ours, and the executed notebook keeps the panel."""
    program(stage, "say", "exit 3")
    with pytest.raises(papermill.PapermillExecutionError) as failed:
        papermilled(book(stage, DAY))
    assert "`day` failed at `sun` (NIKA-EXEC-001" in str(failed.value)
    assert "nika_nb/" not in str(failed.value)
    assert "✖ failed" in (stage / "done.ipynb").read_text(encoding="utf-8")
