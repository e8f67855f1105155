"""How two runs differ: definitions, inputs, outputs, costs, outcomes, from two files alone."""

from __future__ import annotations

import shutil
from itertools import pairwise
from pathlib import Path

import pytest

import nika_nb
from nika_nb.providers import registry
from nika_nb.providers.base import ChatReply, ChatRequest, Say
from nika_nb.runs.textdiff import text_diff
from nika_nb.tables.columns import TABLES
from tests.doors import program

TEXT = """nika: report
permits: { exec: ["./say"] }
inputs: { topic: { type: string, default: resume } }
tasks:
  load: { exec: { command: ["./say", "one\\ntwo\\nthree"] } }
  count: { with: { l: "${{ tasks.load.output }}" }, exec: { command: ["./say", "${{ with.l }}!"] } }
  topic: { exec: { command: ["./say", "${{ inputs.topic }}"] } }
  rows: { for_each: { items: ["a", "b", "c"] }, exec: { command: ["./say", "${{ item }}"] } }
outputs: { count: "${{ tasks.count.output }}" }
"""


def test_the_same_run_twice_does_not_differ(say: Path) -> None:
    found = nika_nb.diff(nika_nb.run(TEXT), nika_nb.run(TEXT))
    assert (found.differing, found.edits, found.outputs, found.layout) == ((), (), (), False)
    assert "0 differ · 4 the same" in repr(found)


def test_an_edit_is_shown_as_it_was_and_is_with_what_came_of_it(say: Path) -> None:
    """The field, both texts, the lines of the output that moved, and what follows from it."""
    a = nika_nb.run(TEXT)
    b = nika_nb.run(TEXT.replace("two", "2"))
    found = nika_nb.diff(a, b)
    (edit,) = found["load"].edits
    assert edit.name == "exec.command"
    assert edit.before == {"argv": ["./say", "one\ntwo\nthree"]}
    assert edit.after == {"argv": ["./say", "one\n2\nthree"]}
    assert found["load"].output == (" one", "-two", "+2", " three")
    assert found["count"].because == "load: definition changed: exec.command"
    assert found.outputs[-1] == " }"
    assert [task.task for task in found.differing] == ["load", "count"]


def test_the_direction_is_from_a_to_b(say: Path) -> None:
    a, b = nika_nb.run(TEXT), nika_nb.run(TEXT, vars={"topic": "answer"})
    there, back = nika_nb.diff(a, b), nika_nb.diff(b, a)
    assert there.edits[0].sentence == 'inputs.topic: "resume" → "answer"'
    assert back.edits[0].sentence == 'inputs.topic: "answer" → "resume"'
    assert there["topic"].output == ("-resume", "+answer")


def test_tasks_that_came_and_went(say: Path) -> None:
    a = nika_nb.run(TEXT)
    b = nika_nb.run(TEXT.replace("  topic: {", "  title: {"))
    kinds = {task.task: task.kind for task in nika_nb.diff(a, b).differing}
    assert kinds == {"topic": "gone", "title": "new"}


def test_items_that_differ_are_named(say: Path) -> None:
    a = nika_nb.run(TEXT)
    b = nika_nb.run(TEXT.replace('["a", "b", "c"]', '["a", "x", "c", "d"]'))
    rows = nika_nb.diff(a, b)["rows"]
    assert [(item.index, item.reason) for item in rows.items] == [(1, "input"), (3, "new")]
    assert rows.changed == ("for_each.items",)


def test_another_answer_to_the_same_question(say: Path) -> None:
    """Nothing was edited: the world outside answered differently."""
    program(say, "say", 'cat answer 2>/dev/null || printf %s "$1"')
    a = nika_nb.run(TEXT)
    (say / "answer").write_text("42", encoding="utf-8")
    found = nika_nb.diff(a, nika_nb.run(TEXT))
    assert found["load"].kind == "output"
    assert found["load"].sentence == "the same was asked, and another answer came"
    assert found["count"].kind == "input"
    assert found["count"].because == "load: another output"


def test_a_failure_is_told_with_its_edit(say: Path) -> None:
    """A task that failed left no digests: its text, and its upstreams' outputs, tell what differs."""
    a = nika_nb.run(TEXT)
    edited = TEXT.replace("two", "2").replace("load: { exec: {", 'load: { exec: { cwd: "./gone",')
    b = nika_nb.run(edited)
    found = nika_nb.diff(a, b)
    assert found["load"].kind == "definition"
    assert set(found["load"].changed) == {"exec.command", "exec.cwd"}
    assert "success → failure (NIKA-EXEC" in found["load"].sentence
    assert (found["count"].kind, found["count"].changed) == ("input", ("with.l",))
    assert found["count"].sentence.endswith("success → cancelled")


def test_an_outcome_without_an_edit(say: Path) -> None:
    """The same text and inputs, and it failed."""
    a = nika_nb.run(TEXT)
    program(say, "say", "exit 3")
    found = nika_nb.diff(a, nika_nb.run(TEXT))
    assert found["load"].kind == "outcome"
    assert found["load"].b is not None
    assert found["load"].b.state == "failure"
    assert found["load"].b.error_code


class Pricey:
    async def chat(self, request: ChatRequest, say: Say) -> ChatReply:
        return ChatReply(request.prompt, 1, 1, cost_usd=0.01 * len(request.prompt))


def test_costs_are_those_of_making_the_output(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a recalled task, what it cost when it was made; the sum is what each invocation paid itself."""
    monkeypatch.setitem(registry.MAKERS, "mock", Pricey)
    fan = 'fan: { for_each: { items: [1, 2] }, infer: { prompt: "${{ item }}" } }'
    tasks = f'a: {{ infer: {{ prompt: "xx" }} }}, b: {{ infer: {{ prompt: "y" }} }}, {fan}'
    text = f"nika: c\nmodel: mock/echo\ntasks: {{ {tasks} }}\n"
    first = nika_nb.run(text)
    again = nika_nb.run(text.replace("xx", "xxx").replace("[1, 2]", "[1, 2, 3]"), resume=first.trace)
    found = nika_nb.diff(first, again)
    assert [side.cost_usd for side in (found["a"].a, found["a"].b) if side] == pytest.approx([0.02, 0.03])
    assert [side.cost_usd for side in (found["b"].a, found["b"].b) if side] == pytest.approx([0.01, 0.01])
    assert [side.cost_usd for side in (found["fan"].a, found["fan"].b) if side] == pytest.approx([0.02, 0.03])
    assert found.cost_usd == pytest.approx((0.05, 0.04))
    assert "2 differ: $0.04 → $0.06 · 1 the same: $0.01 · paid $0.05 → $0.04" in repr(found)
    table = found.table().set_index("task")
    assert table["cost_usd_b"].to_dict() == pytest.approx({"a": 0.03, "b": 0.01, "fan": 0.03})
    assert table["cached_b"].to_dict() == {"a": False, "b": True, "fan": False}


def test_the_answer_is_a_table(say: Path) -> None:
    """A row per task, the same ones too, typed as the reference says."""
    table = nika_nb.diff(nika_nb.run(TEXT), nika_nb.run(TEXT, vars={"topic": "x"})).table()
    assert [str(kind) for kind in table.dtypes] == [column.dtype for column in TABLES["diff"]]
    assert table.set_index("task")["kind"].to_dict() == {
        "load": "same", "count": "same", "topic": "input", "rows": "same",
    }  # fmt: skip


def test_two_files_suffice(say: Path) -> None:
    """Neither the workflow's file nor the folder it ran in is needed."""
    a, b = nika_nb.run(TEXT), nika_nb.run(TEXT.replace("two", "2"))
    (say / "moved").mkdir()
    paths = [
        shutil.copy(str(run.trace), say / "moved" / f"{name}.ndjson") for run, name in ((a, "a"), (b, "b"))
    ]
    found = nika_nb.diff(*paths)
    assert (found.a, found.b) == ("a.ndjson", "b.ndjson")
    assert found["load"].edits[0].name == "exec.command"


def test_a_torn_trace_is_compared_as_far_as_it_goes(say: Path) -> None:
    a = nika_nb.run(TEXT)
    assert a.trace is not None
    lines = a.trace.read_bytes().splitlines(keepends=True)
    settled = next(at for at, line in enumerate(lines) if b"task_completed" in line)
    (say / "torn.ndjson").write_bytes(b"".join(lines[: settled + 1]) + b'{"half')
    kinds = {task.kind for task in nika_nb.diff(a, say / "torn.ndjson").tasks}
    assert kinds == {"same", "outcome", "input"} or kinds == {"same", "outcome"}


def test_the_reference_engines_journals_compare(conformance: Path) -> None:
    """Journals without digests and texts: tasks, states and outputs still compare."""
    traces = sorted((conformance / "reference-traces").glob("*.ndjson"))
    for a, b in pairwise(traces):
        found = nika_nb.diff(a, b)
        assert repr(found)
        assert not nika_nb.diff(a, a).differing


def test_differences_of_values() -> None:
    """Texts by their lines, other values as indented JSON, very long ones by their sizes."""
    assert text_diff('"a"', '"b"') == ("-a", "+b")
    assert text_diff('{"a":1}', '{"a":2}') == (" {", '- "a": 1', '+ "a": 2', " }")
    assert text_diff("[1]", "[1,2]") == (" [", "  1", "+ 2", " ]")
    assert text_diff("null", None) == ("-null",)
    assert text_diff('"x"', '"x"') == ()
    assert text_diff('""', '"x"') == ("-", "+x")
    long = "[" + ",".join("1" * 3000) + "]"
    assert text_diff(long, "[]") == ("- 6,001 characters", "+ 2 characters")
    far = text_diff('"a\\n' + "x\\n" * 9 + 'b"', '"A\\n' + "x\\n" * 9 + 'B"')
    assert far == ("-a", "+A", " x", " x", "…", " x", " x", "-b", "+B")


def test_the_lines_of_a_difference_add_up_to_its_sum(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In digits enough; what a called task cost stands in its call; what nobody knows is no zero."""

    class Exact:
        def __init__(self, usd: float | None) -> None:
            self.usd = usd

        async def chat(self, request: ChatRequest, say: Say) -> ChatReply:
            return ChatReply(request.prompt, 1, 1, cost_usd=self.usd)

    monkeypatch.setitem(registry.MAKERS, "mock", lambda: Exact(1.004))
    monkeypatch.setitem(registry.MAKERS, "xai", lambda: Exact(None))
    child = "nika: below\nmodel: mock/echo\ninputs: { n: { type: string, required: true } }\ntasks:\n"
    child += '  in: { infer: { prompt: "${{ inputs.n }}" } }\n'
    (folder / "below.nika.yaml").write_text(child, encoding="utf-8")
    text = "nika: c\nmodel: mock/echo\ntasks:\n"
    text += '  a: { infer: { prompt: "one" } }\n  u: { infer: { prompt: "one", model: xai/house } }\n'
    text += '  call: { invoke: { workflow: ./below.nika.yaml, args: { n: "one" } } }\n'
    first = nika_nb.run(text)
    shown = repr(nika_nb.diff(first, nika_nb.run(text.replace("one", "two"), resume=first.trace)))
    cells = [line.split("  ")[1:] for line in shown.splitlines() if line.startswith("  ✔")]
    told = {name: [word for cell in rest if (word := cell.strip())] for name, *rest in map(_words, cells)}
    assert {name: "$1.004" in words for name, words in told.items()} == {
        "a": True, "u": False, "call": True, "call/in": False,
    }  # fmt: skip
    assert "unpriced" in told["u"]
    assert "4 differ: $2.008 + 1 unpriced · 0 the same · paid $2.008 + 1 unpriced ·" in shown


def _words(cells: list[str]) -> list[str]:
    return [word for cell in cells if (word := cell.strip(" ✔"))]
