"""What was fetched never leads to a process, and files are written in an order."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.check.judging import Case, assert_found

HEAD = """\
nika: o
model: mock/echo
permits: { exec: [a], fs: { write: ['**'] }, net: { http: [a.example] }, tools: ['nika:*'] }
const: { out: ./o.md }
inputs: { name: { type: string } }
tasks:
  get: { invoke: { tool: 'nika:fetch', args: { url: 'https://a.example/' } } }
"""
RUN = "    exec: { command: [a] }\n"


def write(name: str, path: str, more: str = "") -> str:
    return f"  {name}:\n{more}    invoke: {{ tool: 'nika:write', args: {{ path: {path}, content: x }} }}\n"


CASES = [
    Case("aside", HEAD + "  run:\n" + RUN),
    Case(
        "by its content",
        HEAD + "  «run»:\n    with: { x: '${{ tasks.get.output }}' }\n" + RUN,
        ("SEC-015",),
        "nika:jq",
        "get → run",
    ),
    Case("by its state", HEAD + "  «run»:\n    after: { get: terminal }\n" + RUN, ("SEC-015",)),
    Case(
        "on the way",
        HEAD + "  mid:\n    after: { get: success }\n    infer: { prompt: hi }\n"
        "  «run»:\n    after: { mid: success }\n" + RUN,
        ("SEC-015",),
        says="get → mid → run",
    ),
    Case(
        "a process before",
        HEAD + "  run:\n" + RUN + "  more:\n    after: { run: success }\n    infer: { prompt: hi }\n",
    ),
    Case("a cleanup", HEAD + "  «run»:\n    after: { get: unwind }\n" + RUN, ("SEC-015",), says="get → run"),
    Case(
        "a cleanup of a cleanup",
        HEAD + "  mid:\n    after: { get: unwind }\n    infer: { prompt: hi }\n"
        "  «run»:\n    after: { mid: unwind }\n" + RUN,
        ("SEC-015",),
        says="get → mid → run",
    ),
    Case(
        "an edge beside unwind",
        HEAD + "  other: { infer: { prompt: hi } }\n"
        "  «run»:\n    after: { other: unwind, get: failure }\n" + RUN,
        ("SEC-015",),
    ),
    Case(
        "a cleanup that fetches",
        HEAD.replace("get: {", "get: { after: { run: unwind },") + "  run:\n" + RUN,
    ),
    Case(
        "by a recovery",
        HEAD + "  mid:\n    infer: { prompt: hi }\n    on_error: { recover: '${{ tasks.get.output }}' }\n"
        "  «run»:\n    after: { mid: success }\n" + RUN,
        ("SEC-015",),
        says="get → mid → run",
    ),
    Case(
        "a process that had run when it recovered",
        HEAD + "  run:\n    on_error: { recover: '${{ tasks.get.output }}' }\n" + RUN,
    ),
    Case(
        "by a recovery, and by an edge as well",
        HEAD
        + "  «run»:\n    after: { get: success }\n    on_error: { recover: '${{ tasks.get.output }}' }\n"
        + RUN,
        ("SEC-015",),
    ),
    Case("two files", HEAD + write("one", "./a.md") + write("two", "./b.md")),
    Case(
        "one file",
        HEAD + write("one", "./a.md") + write("two", "«./x/../a.md»"),
        ("SEC-012",),
        "write `after: { one: terminal }` in `two`",
    ),
    Case(
        "one file, in order",
        HEAD + write("one", "./a.md") + write("two", "./a.md", "    after: { one: success }\n"),
    ),
    Case(
        "one file by a constant",
        HEAD + write("one", "./o.md") + write("two", "«'${{ const.out }}'»"),
        ("SEC-012",),
    ),
    Case(
        "a file that only the run knows", HEAD + write("one", "'${{ inputs.name }}'") + write("two", "./a.md")
    ),
    Case(
        "a writer that never runs",
        HEAD + write("one", "./a.md") + write("two", "./a.md", "    when: false\n"),
    ),
    Case(
        "one file for every element",
        HEAD + write("all", "«./a.md»", "    for_each: { items: [1, 2] }\n"),
        ("SEC-012",),
        "${{ index }}",
    ),
    Case(
        "a file for each element",
        HEAD + write("all", "'./${{ item }}.md'", "    for_each: { items: [1, 2] }\n"),
    ),
    Case(
        "one after the other",
        HEAD + write("all", "./a.md", "    for_each: { items: [1, 2], max_parallel: 1 }\n"),
    ),
    Case("a single element", HEAD + write("all", "./a.md", "    for_each: { items: [1] }\n")),
]


CLEANUPS = [
    Case(
        "a task and a cleanup of another one",
        HEAD
        + write("one", "./a.md")
        + "  two:\n"
        + RUN
        + write("tidy", "«./a.md»", "    after: { two: unwind }\n"),
        ("SEC-012",),
        "write `after: { one: terminal }` in `tidy`",
    ),
    Case(
        "the cleanup stands first",
        HEAD
        + "  two:\n"
        + RUN
        + write("tidy", "«./a.md»", "    after: { two: unwind }\n")
        + write("one", "./a.md"),
        ("SEC-012",),
        "write `after: { one: terminal }` in `tidy`",
    ),
    Case(
        "two cleanups of two tasks",
        HEAD
        + "  one: { infer: { prompt: hi } }\n  two: { infer: { prompt: hi } }\n"
        + write("tidy", "./a.md", "    after: { one: unwind }\n")
        + write("sweep", "«./a.md»", "    after: { two: unwind }\n"),
        ("SEC-012",),
        "write `after: { tidy: unwind }` in `sweep`",
    ),
    Case(
        "behind what it follows, and before what waits for that",
        HEAD
        + write("one", "./a.md")
        + write("tidy", "./a.md", "    after: { one: unwind }\n")
        + write("sweep", "./a.md", "    after: { one: unwind }\n")
        + write("two", "./a.md", "    after: { one: terminal }\n"),
    ),
    Case(
        "of two tasks, and one of them is waited for",
        HEAD
        + write("one", "./b.md")
        + write("two", "./c.md")
        + write("tidy", "«./a.md»", "    after: { one: unwind, two: unwind }\n")
        + write("next", "./a.md", "    after: { one: terminal }\n"),
        ("SEC-012",),
    ),
    Case(
        "an edge beside unwind",
        HEAD
        + write("one", "./a.md")
        + "  two: { infer: { prompt: hi } }\n"
        + write("tidy", "./a.md", "    after: { two: unwind, one: terminal }\n"),
    ),
]


@pytest.mark.parametrize("case", CLEANUPS, ids=str)
def test_cleanups_write_in_an_order_too(case: Case) -> None:
    """A cleanup runs behind all that it follows; where that is one task, before anybody sees it end."""
    assert_found(case)


CHILDREN = {
    "fetches": "permits: { net: { http: [a.example] }, tools: ['nika:fetch'] }\ntasks:\n"
    "  get: { invoke: { tool: 'nika:fetch', args: { url: 'https://a.example/', mode: raw } } }\n",
    "runs": "permits: { exec: [a] }\ntasks:\n  run: { exec: { command: [a] } }\n",
    "calls": "permits: { exec: [a] }\ntasks:\n  deep: { invoke: { workflow: ./runs.nika.yaml } }\n",
}


def call(name: str, child: str, more: str = "") -> str:
    return f"  {name}:\n{more}    invoke: {{ workflow: ./{child}.nika.yaml }}\n"


BEHIND = "    after: { get: success }\n"


@pytest.mark.parametrize(
    ("tasks", "way"),
    [
        (call("a", "fetches") + "  «b»:\n    after: { a: success }\n" + RUN, "a → b"),
        (call("«b»", "runs", BEHIND), "get → b"),
        (call("«b»", "calls", "    after: { get: unwind }\n"), "get → b"),
        (call("b", "runs") + "  c: { after: { b: success }, infer: { prompt: hi } }\n", ""),
        (call("b", "fetches", BEHIND), ""),
    ],
)
def test_what_a_called_workflow_does_its_call_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tasks: str, way: str
) -> None:
    """A fetch down there is one here, and so is a process, however deep it stands."""
    monkeypatch.chdir(tmp_path)
    for name, text in CHILDREN.items():
        (tmp_path / f"{name}.nika.yaml").write_text(f"nika: {name}\n{text}", encoding="utf-8")
    assert_found(Case("calls", HEAD + tasks, ("SEC-015",) if way else (), says=way))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_order_is_a_law_without_declaration(case: Case) -> None:
    """The order of effects is judged on the graph, whatever the permits say."""
    assert_found(case)
