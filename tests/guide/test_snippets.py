"""What the README writes for DataFrames works on a folder as folders are: fresh, resumed and failed runs."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path

import matplotlib
import pandas as pd
import pytest

import nika_nb
from nika_nb.tables.read import FolderTables
from tests.doors import program

README = Path(__file__).resolve().parents[2] / "README.md"
MIXED = """nika: mixed
permits: { exec: ["./say"] }
inputs: { level: { type: string, default: a } }
tasks:
  first: { exec: { command: ["./say", "one"] } }
  second: { with: { f: "${{ tasks.first.output }}" }, exec: { command: ["./say", "${{ inputs.level }}"] } }
  never: { when: false, exec: { command: ["./say", "never"] } }
  behind: { after: { second: success }, exec: { command: ["./say", "behind"] } }
"""


def snippet(marked: str) -> str:
    """The block of Python in the README that holds a phrase."""
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)
    (found,) = [block for block in blocks if marked in block]
    return found


@pytest.fixture
def mixed(folder: Path) -> nika_nb.Run:
    """A project with a fresh run, a resumed one, one that changed in part, and one that failed."""
    project = folder / "project"
    project.mkdir()
    program(folder, "say", 'printf %s "$1"')
    text = project / "mixed.nika.yaml"
    text.write_text(MIXED)
    nika_nb.run(text)
    nika_nb.run(text, resume=True)
    nika_nb.run(text, resume=True, vars={"level": "b"})
    text.write_text(MIXED.replace('"one"', '"two"'))
    (folder / "say").write_text("#!/bin/sh\nexit 3\n")
    failed = nika_nb.run(text)
    assert failed.state == "failed"
    return failed


def test_the_lines_on_traces_run_on_a_mixed_folder(mixed: nika_nb.Run) -> None:
    """As they stand; a plot is drawn, and nothing of it warns."""
    matplotlib.use("agg")
    names: dict[str, object] = {"run": mixed}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(snippet("read_traces("), names)
    runs, ran = names["runs"], names["ran"]
    assert isinstance(runs, FolderTables)
    assert isinstance(ran, pd.DataFrame)
    assert runs.tasks["cached"].any()
    assert runs.tasks["started"].isna().any()
    assert 0 < len(ran) < len(runs.tasks)
    assert isinstance(names["levels"], pd.Series)
    assert list(names["levels"]) == ["a", "a", "b", "a"]


def test_outputs_as_json_fit_into_a_file_of_columns(mixed: nika_nb.Run) -> None:
    """As the README says it: of all columns only values of Python need a form, and come back from it."""
    t = nika_nb.read_traces("project").tasks
    kept = t.assign(output=t["output"].map(json.dumps))
    assert set(kept.drop(columns="output").dtypes.astype(str)) <= {
        "string", "Int64", "Float64", "boolean", "datetime64[ns, UTC]", "timedelta64[ns]",
    }  # fmt: skip
    assert [json.loads(text) for text in kept["output"]] == list(t["output"])
