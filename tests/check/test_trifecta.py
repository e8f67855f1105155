"""Private data, untrusted content and a way out need a human in between."""

from __future__ import annotations

import pytest

from tests.check.judging import Case, assert_found, judged

FS = "fs: { read: ['./docs/**'] }, "


def flow(fs: str = FS, first: str = "", last: str = "", ask: str = "") -> str:
    return (
        "nika: t\nmodel: mock/echo\n"
        f"permits: {{ {fs}net: {{ http: [a.example] }}, tools: ['nika:*', 'mcp:*/*'] }}\ntasks:\n{ask}"
        f"  get:\n{first}    invoke: {{ tool: 'nika:fetch', args: {{ url: 'https://a.example/' }} }}\n{last}"
    )


def tell(name: str = "tell", message: str = "${{ with.x }}", more: str = "") -> str:
    return (
        f"  {name}:\n    with: {{ x: '${{{{ tasks.get.output }}}}' }}\n{more}"
        f"    invoke: {{ tool: 'nika:notify', args: {{ target: 'https://a.example/', message: "
        f"'{message}' }} }}\n"
    )


ASK = "  ask: { invoke: { tool: 'nika:prompt', args: { message: hi%s } } }\n"
GATE = "    with: { go: '${{ tasks.ask.output }}' }\n    when: ${{ with.go == true }}\n"

CASES = [
    Case("all three, and a flow", flow(last=tell("«tell»")), ("SEC-009",), "nika:prompt", "get → tell"),
    Case("nothing private", flow(fs="", last=tell())),
    Case("no flow", flow(last=tell(message="done"))),
    Case("behind a human", flow(ask=ASK % "", first=GATE, last=tell())),
    Case(
        "behind a human who need not be there",
        flow(ask=ASK % ", default: false", first=GATE, last=tell("«tell»")),
        ("SEC-009",),
    ),
    Case(
        "through a model",
        flow(
            last="  think:\n    with: { x: '${{ tasks.get.output }}' }\n"
            "    infer: { prompt: '${{ with.x }}' }\n" + tell("«tell»").replace("tasks.get", "tasks.think")
        ),
        ("SEC-009",),
        says="get → tell",
    ),
    Case(
        "into a file here",
        flow(
            fs="fs: { read: ['./docs/**'], write: ['./out/**'] }, ",
            last=(
                "  w:\n    with: { x: '${{ tasks.get.output }}' }\n"
                "    invoke: { tool: 'nika:write', args: { path: ./out/a, content: '${{ with.x }}' } }\n"
            ),
        ),
    ),
    Case(
        "into a file elsewhere",
        flow(
            fs="fs: { read: ['./docs/**'], write: ['/srv/**'] }, ",
            last=(
                "  «w»:\n    with: { x: '${{ tasks.get.output }}' }\n"
                "    invoke: { tool: 'nika:write', args: { path: /srv/a, content: '${{ with.x }}' } }\n"
            ),
        ),
        ("SEC-009",),
    ),
    Case(
        "to a server",
        flow(
            last=(
                "  «w»:\n    with: { x: '${{ tasks.get.output }}' }\n"
                "    invoke: { tool: 'mcp:a/b', args: { content: '${{ with.x }}' } }\n"
            )
        ),
        ("SEC-009",),
    ),
    Case(
        "to an agent with hands",
        flow(
            last=(
                "  «w»:\n    with: { x: '${{ tasks.get.output }}' }\n"
                "    agent: { prompt: '${{ with.x }}', tools: ['nika:fetch'] }\n"
            )
        ),
        ("SEC-009",),
    ),
    Case(
        "to an agent without",
        flow(
            last=(
                "  w:\n    with: { x: '${{ tasks.get.output }}' }\n"
                "    agent: { prompt: '${{ with.x }}', tools: ['nika:jq'] }\n"
            )
        ),
    ),
    Case(
        "element by element",
        flow(
            last=(
                "  «w»:\n    with: { x: '${{ tasks.get.output }}' }\n    for_each: { items: "
                "'${{ with.x }}' }\n"
                "    invoke: { tool: 'mcp:a/b', args: { content: '${{ item }}' } }\n"
            )
        ),
        ("SEC-009",),
    ),
    Case("its status alone", flow(last=tell().replace("get.output", "get.status"))),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_three_together_need_a_human(case: Case) -> None:
    """A realized flow without a human before it is refused at the task that could send."""
    assert_found(case)


def test_what_a_process_prints_is_only_warned_of() -> None:
    """Content that a program of this machine printed may be the author's own."""
    report = judged(
        "nika: t\npermits: { exec: [a, b], fs: { read: ['./docs/**'] } }\ntasks:\n"
        "  a: { exec: { command: [a] } }\n"
        "  b:\n    with: { x: '${{ tasks.a.output }}' }\n    exec: { command: [b, '${{ with.x }}'] }\n"
    )
    assert report.ok
    assert [warning.code for warning in report.warnings] == ["NIKA-SEC-009"]
