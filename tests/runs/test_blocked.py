"""What kept a task from running is said as it was: in the row, in `why`, in the tables, in the journal."""

from __future__ import annotations

from pathlib import Path

import pytest

import nika_nb
from nika_nb.board.state import board_of
from nika_nb.board.text import said
from nika_nb.errors import UsageError
from nika_nb.runs.results import sections_of
from nika_nb.tables.read import read_trace
from tests.board.scripted import Script

FLOW = """\
nika: flow
permits: {{ exec: ["echo", "false", "sleep"] }}
inputs: {{ go: {{ type: bool, default: false }} }}
tasks:
  first: {{ exec: {{ command: ["false"] }} }}
  gate: {{ {gate} }}
  use: {{ after: {{gate: {needs}}}, exec: {{ command: ["echo", "used"] }} }}
"""
ECHO = 'exec: { command: ["echo", "x"] }'

ENDS = [
    ("failed", 'exec: { command: ["false"] }', "success", "gate failed"),
    ("timed-out", 'timeout: "20ms", exec: { command: ["sleep", "60"] }', "success", "gate timed out"),
    ("skipped", f"when: '${{{{ inputs.go == true }}}}', {ECHO}", "success", "gate was skipped"),
    (
        "skipped-on-error",
        'on_error: { skip: true }, exec: { command: ["false"] }',
        "success",
        "gate was skipped after an error",
    ),
    ("blocked", f"after: {{first: success}}, {ECHO}", "success", "gate was blocked"),
    ("succeeded", ECHO, "failure", "gate succeeded"),
]


@pytest.mark.parametrize(("name", "gate", "needs", "how"), ENDS, ids=[end[0] for end in ENDS])
def test_a_blocked_task_says_how_the_other_one_ended(
    folder: Path, name: str, gate: str, needs: str, how: str
) -> None:
    """One sentence for every way in which a gate can end."""
    run = nika_nb.run(FLOW.format(gate=gate, needs=needs))
    assert said(run.board.rows["use"]) == f"blocked · {how}"
    assert nika_nb.why(run)["use"].sentence == f"blocked · {how}"
    row = read_trace(run).tasks.set_index("task").loc["use"]
    assert (row["state"], row["cause"], row["detail"]) == ("cancelled", "upstream", how)
    assert run.trace is not None
    with pytest.raises(UsageError, match=f"holds no output of `use`: blocked · {how}"):
        sections_of(run.trace, "use")


@pytest.mark.parametrize(
    ("note", "how"),
    [
        ("upstream failed", "failed"),
        ("upstream skipped", "was skipped"),
        ("upstream cancelled", "was cancelled"),
        ("upstream success", "succeeded"),
        ("", "failed"),
    ],
)
def test_older_journals_are_told_alike(note: str, how: str) -> None:
    """They name the status alone."""
    script = Script("w").task("a", "exec · x").task("b", "exec · y", "a")
    script.say("task_cancelled", task="b", note=note, blocked_by="a")
    assert said(board_of(script.events).rows["b"]) == f"blocked · a {how}"
