"""The builtins inside whole runs: the run's clock, its retries, its secrets, its journal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import nika_nb
from nika_nb.runs.run import Run
from tests.tools.server import Handler, Server, serving


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as made:
        yield made


def journal(ran: Run) -> str:
    assert ran.trace is not None
    return ran.trace.read_text(encoding="utf-8")


def test_a_wait_of_three_days_on_a_virtual_clock(folder: Path) -> None:
    """Under `clock: virtual` time passes without anyone waiting, and the journal shows it."""
    ran = nika_nb.run(
        "nika: nap\nrun: { entropy: none, clock: virtual }\n"
        "tasks: { nap: { invoke: { tool: 'nika:wait', args: { duration: 72h } } } }\n"
    )
    assert ran.state == "completed"
    assert ran.tasks["nap"].duration_ms == 72 * 3_600_000


def test_a_task_timeout_cuts_a_virtual_wait(folder: Path) -> None:
    """The task's own timeout holds on the same clock."""
    ran = nika_nb.run(
        "nika: nap\nrun: { entropy: none, clock: virtual }\n"
        "tasks: { nap: { timeout: 1h, invoke: { tool: 'nika:wait', args: { duration: 72h } } } }\n"
    )
    assert ran.state == "failed"
    assert "NIKA-TIMEOUT-001" in journal(ran)


def test_data_through_four_builtins(folder: Path) -> None:
    """Text becomes rows, rows are judged, changed and compared; each value keeps its type on the way."""
    ran = nika_nb.run(
        """
nika: pipeline
const: { csv: "id,n\\n1,2\\n2,x\\n" }
tasks:
  rows: { invoke: { tool: "nika:convert", args: { input: "${{ const.csv }}", from: csv, to: json } } }
  judged:
    with: { rows: "${{ tasks.rows.output }}" }
    invoke:
      tool: "nika:validate"
      args: { data: "${{ with.rows }}", schema: { items: { properties: { n: { pattern: "^[0-9]+$" } } } } }
  good:
    with: { rows: "${{ tasks.rows.output }}" }
    invoke:
      tool: "nika:jq"
      args: { input: "${{ with.rows }}", expression: 'map(select(.n != "x") | {id, n: (.n | tonumber)})' }
  changed:
    with: { rows: "${{ tasks.rows.output }}", good: "${{ tasks.good.output }}" }
    invoke: { tool: "nika:json_diff", args: { before: "${{ with.rows }}", after: "${{ with.good }}" } }
outputs:
  valid: ${{ tasks.judged.output.valid }}
  good: ${{ tasks.good.output }}
  changed: ${{ tasks.changed.output }}
"""
    )
    assert ran.outputs == {
        "valid": False,
        "good": [{"id": "1", "n": 2}],
        "changed": [{"op": "replace", "path": "/0/n", "value": 2}, {"op": "remove", "path": "/1"}],
    }


FETCH = """
nika: ask
permits: {{ net: {{ http: ["127.0.0.1"] }}, tools: ["nika:fetch"] }}
inputs: {{ at: {{ type: string }} }}
tasks:
  page:
    {more}
    invoke: {{ tool: "nika:fetch", args: {{ url: "${{{{ inputs.at }}}}", mode: raw }} }}
outputs: {{ page: "${{{{ tasks.page.output }}}}" }}
"""


def ask(url: str, more: str = "timeout: 30s") -> Run:
    return nika_nb.run(FETCH.format(more=more), vars={"at": url})


def test_a_server_that_recovers(folder: Path, server: Server) -> None:
    """A failure that may pass is tried again, one that cannot is not."""
    answers = iter([503, 429, 200])
    server.routes["/a"] = lambda handler: handler.say(next(answers), b"at last", {})
    retry = "retry: { max_attempts: 5, backoff_ms: 1, jitter: false }"
    ran = ask(server.url("/a"), retry)
    assert ran.outputs == {"page": "at last"}
    assert ran.tasks["page"].attempts == 3
    gone = ask(server.url("/nothing"), retry)
    assert gone.state == "failed"
    assert gone.tasks["page"].attempts == 1


def test_a_task_timeout_ends_a_fetch(folder: Path, server: Server) -> None:
    """The task's own timeout holds, and the connection is gone with it."""
    left: list[bytes] = []

    def silent(handler: Handler) -> None:
        left.append(handler.rfile.read(1))
        handler.close_connection = True

    server.routes["/silent"] = silent
    ran = ask(server.url("/silent"), "timeout: 300ms")
    assert "NIKA-TIMEOUT-001" in journal(ran)
    assert left == [b""]


def test_an_artifact_that_runs(folder: Path, server: Server) -> None:
    """An address that only the run knows is judged there; the author's door opens it."""
    url = server.answer("/m.pkl", "model")
    refused = ask(url)
    assert '\\"code\\":\\"NIKA-SEC-004\\"' in journal(refused)
    assert server.seen == []
    lifted = ask(url, 'lift: [{ law: data-as-code, because: "stored, never loaded" }]')
    assert lifted.outputs == {"page": "model"}


def test_a_secret_in_a_header(
    folder: Path, server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It reaches the server, and nobody else: not the journal, not the console, whatever the server says."""
    monkeypatch.setenv("KEY", "hunter22-hunter22")
    server.answer("/a", "no such key: hunter22-hunter22", 401)
    ran = nika_nb.run(
        f"""
nika: ask
permits: {{ net: {{ http: ["127.0.0.1"] }}, tools: ["nika:fetch"] }}
secrets:
  key: {{ source: env, key: KEY, egress: [{{ to: "nika:fetch", host: "127.0.0.1" }}] }}
tasks:
  page:
    invoke:
      tool: "nika:fetch"
      args:
        url: "{server.url("/a")}"
        mode: raw
        headers: {{ authorization: "Bearer ${{{{ secrets.key }}}}" }}
"""
    )
    assert ran.state == "failed"
    assert server.seen[0].headers["authorization"] == "Bearer hunter22-hunter22"
    said = "".join(capsys.readouterr()) + journal(ran) + repr(ran)
    assert "no such key" in said
    assert "hunter22" not in said


def test_the_journal_names_the_hosts(folder: Path, server: Server) -> None:
    """Every host that was asked stands in the journal as a decision at the boundary."""
    ran = ask(server.answer("/a", "x"))
    frames = [json.loads(line) for line in journal(ran).splitlines()]
    decisions = [
        {field["key"]: field["value"] for field in frame["fields"]}
        for frame in frames
        if frame["kind"] == "permit_checked"
    ]
    net = [decision for decision in decisions if decision["plane"] == "net"]
    assert [(decision["gate"], decision["decision"]) for decision in net] == [("127.0.0.1", "allow")]
