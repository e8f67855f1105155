"""What was fetched never leads to a process, and files are written in an order."""

from __future__ import annotations

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
    Case("a cleanup", HEAD + "  run:\n    after: { get: unwind }\n" + RUN),
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


@pytest.mark.parametrize("case", CASES, ids=str)
def test_order_is_a_law_without_declaration(case: Case) -> None:
    """The order of effects is judged on the graph, whatever the permits say."""
    assert_found(case)
