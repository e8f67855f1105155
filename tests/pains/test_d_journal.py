"""Reports (d): a journal that lost events, held no JSON, or counted a cost twice.

Shown by other tests, where a report is not here:
 61  half a line, wherever it was cut; a full disk   trace/test_reader.py, trace/test_writer.py
 62  a bad line in the middle, a block of NULs       trace/test_reader.py, trace/test_trust.py
 65  one write per line, eight writers at once       trace/test_writer.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

import pytest

import nika_nb
from nika_nb.providers.registry import MAKERS
from tests.doors import Terminal, newest, nika, of, program, traces
from tests.providers.scripted import Scripted, says

NUMBERS = """\
nika: numbers
permits: {exec: ["./say"]}
tasks:
  decoded: {exec: {command: ["./say", "WORD"], decode: json}}
  listed: {exec: {command: ["./say", "[1, WORD]"], decode: jsonl}}
  computed: {invoke: {tool: "nika:jq", args: {input: 1, expression: "EXPRESSION"}}}
  extracted:
    exec: {command: ["./say", "1"]}
    extract: {n: "EXPRESSION"}
"""


def strict(text: str | bytes) -> Any:
    """JSON as others read it: no NaN, no Infinity, no number beyond a double's reach."""

    def refuse(name: str) -> NoReturn:
        raise AssertionError(f"{name} stands in a journal")

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize(
    ("word", "expression"),
    [("NaN", "0 / 0"), ("Infinity", "1e308 * 10"), ("-Infinity", "-1e308 * 10"), ("1e999", "1 / 0")],
)
def test_d_68_what_is_no_number_in_json_is_in_no_journal(
    folder: Path, terminal: Terminal, word: str, expression: str
) -> None:
    """A command that says it fails by name; what jq makes of it fails or is a number; every line is JSON."""
    program(folder, "say", 'printf %s "$1"')
    (folder / "w.nika.yaml").write_text(
        NUMBERS.replace("WORD", word).replace("EXPRESSION", expression), encoding="utf-8"
    )
    done = terminal("run", "w.nika.yaml", "--json")
    assert done.code == 1
    for line in done.out.splitlines():
        for pair in strict(line)["fields"]:
            if pair["key"] in ("outcome", "output", "needs", "input_parts", "definition_parts"):
                strict(pair["value"])
    ends = {frame["task"]: frame for frame in of(newest(folder), "task_failed", "task_completed")}
    assert ends["decoded"]["detail"].startswith("NIKA-EXEC-003")
    assert ends["listed"]["detail"].startswith("NIKA-EXEC-003")
    for task in ("computed", "extracted"):
        assert ends[task]["kind"] == "task_failed" or "inf" not in ends[task]["outcome"].lower()


PRICED = """\
nika: priced
model: xai/scripted
permits: {exec: ["false"]}
tasks:
  one: {infer: {prompt: a}}
  each:
    for_each: {items: [1, 2, 3]}
    infer: {prompt: "${{ item }}"}
  two: {after: {each: success}, infer: {prompt: b}}
  last: {after: {two: success}, exec: {command: ["false"]}}
"""


def test_d_70_what_was_spent_and_what_was_saved_are_apart(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hit costs nothing and says what it once cost; over all traces together nothing counts twice."""
    monkeypatch.setitem(MAKERS, "xai", lambda: Scripted(says("x", (100, 10), cost=0.25)))
    run = nika_nb.run(PRICED)
    run = nika_nb.run(PRICED, resume=run.trace)
    nika_nb.run(PRICED.replace("prompt: b", "prompt: c"), resume=run.trace)
    tables = [nika_nb.read_trace(path).tasks.set_index("task") for path in traces(folder)]
    spent = [table["cost_usd"].sum() for table in tables]
    saved = [table["saved_usd"].sum() for table in tables]
    assert spent == [1.25, 0, 0.25]
    assert saved == [0, 1.25, 1.0]
    assert list(tables[1]["cost_usd"].dropna()) == []
    assert tables[1].loc["each", "saved_usd"] == 0.75
    assert tables[1]["tokens"].sum() == 0
    ends = [of(path, "workflow_failed")[0] for path in traces(folder)]
    assert [end.get("total_cost_usd") for end in ends] == [1.25, None, 0.25]


def test_d_61_a_resume_writes_behind_nothing(folder: Path) -> None:
    """A journal with half a line at its end is read and left as it is; the resume writes its own file."""
    program(folder, "say", 'printf %s "$1"')
    text = "nika: t\npermits: {exec: ['./say']}\ntasks: {a: {exec: {command: ['./say', 'a']}}}\n"
    (folder / "w.nika.yaml").write_text(text, encoding="utf-8")
    assert nika("run", "w.nika.yaml", cwd=folder).code == 0
    torn = newest(folder)
    torn.write_bytes(torn.read_bytes()[:-30])
    before = torn.read_bytes()
    assert nika("run", "w.nika.yaml", "--resume", torn, cwd=folder).code == 0
    assert torn.read_bytes() == before
    assert newest(folder) != torn
    assert all(strict(line) for line in newest(folder).read_bytes().splitlines())
