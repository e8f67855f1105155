"""The report: what people and programs read."""

from __future__ import annotations

import json

from nika_nb.check import check
from nika_nb.errors import Source

SOUND = "nika: r\nmodel: mock/echo\ntasks:\n  a: { infer: { prompt: hi } }\n"
BROKEN = (
    "nika: r\ninputs: { topic: { type: string } }\ntasks:\n"
    "  a: { infer: { prompt: '${{ inputs.topik }}', model: nobody/x } }\n"
    "  b: { exec: { command: [echo] } }\n"
)


def test_a_sound_workflow_is_ok() -> None:
    """Nothing found: ok, and one line that says so."""
    report = check(Source(SOUND, "tea"))
    assert report.ok
    assert report.workflow is not None
    assert str(report) == "✔ tea is sound: 1 task"


def test_what_is_found_comes_in_the_order_of_the_text() -> None:
    """Several judgments' findings are merged by place."""
    report = check(Source(BROKEN, "tea"))
    assert not report.ok
    assert [error.code for error in report.errors] == ["NIKA-VAR-001", "NIKA-PROVIDER-001", "NIKA-AUTH-006"]
    assert report.diagnostics == tuple(sorted(report.diagnostics, key=lambda found: found.sort_key()))


def test_people_read_the_line_the_caret_and_the_way_out() -> None:
    """The rendered report shows each place and what to write."""
    shown = check(Source(BROKEN, "tea", first_line=2)).render()
    assert shown.startswith("✖ tea is refused: 3 problems")
    assert "NIKA-VAR-001 · `inputs.topik` is not declared\n  tea, line 5, column 37" in shown
    assert "^^^^^\n  → did you mean `topic`?" in shown


def test_programs_read_arrays_by_kind() -> None:
    """Errors lie in the array of their namespace, with place and task; `errors` carries categories."""
    shape = check(Source(BROKEN, "tea")).to_json()
    assert json.loads(json.dumps(shape)) == shape
    assert (shape["clean"], shape["valid"]) == (False, False)
    assert [entry["code"] for entry in shape["conformance"]] == ["NIKA-VAR-001"]
    assert [entry["code"] for entry in shape["model_findings"]] == ["NIKA-PROVIDER-001"]
    assert [entry["code"] for entry in shape["findings"]] == ["NIKA-AUTH-006"]
    assert shape["skill_findings"] == shape["hints"] == []
    entry = shape["conformance"][0]
    assert {key: entry[key] for key in ("line", "column", "task", "why")} == {
        "line": 4,
        "column": 37,
        "task": "a",
        "why": "did you mean `topic`?",
    }
    assert shape["errors"][0] == {
        "code": "NIKA-VAR-001",
        "namespace": "NIKA-VAR",
        "category": "variable_error",
        "detail": "`inputs.topik` is not declared",
    }


def test_warnings_and_hints_keep_nothing_from_running() -> None:
    """A workflow with a warning is clean; the warning is still told."""
    report = check(Source(SOUND.replace("model: mock/echo\n", ""), "tea"))
    assert report.ok
    assert str(report).startswith("✔ tea is sound: 1 task · 1 warning")
    shape = report.to_json()
    assert shape["clean"]
    assert shape["errors"] == []
    assert shape["conformance"] == shape["findings"] == shape["model_findings"] == []
    assert [entry["severity"] for entry in shape["hints"]] == ["warning"]


def test_a_text_without_a_workflow_is_refused() -> None:
    """No workflow at all is not ok either."""
    report = check(Source("", "nothing"))
    assert not report.ok
    assert report.workflow is None
    assert [error.code for error in report.errors] == ["NIKA-PARSE-002"]
