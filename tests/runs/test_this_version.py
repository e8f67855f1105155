"""What this version cannot run is said when a workflow is judged, and before anything of it is run."""

from __future__ import annotations

from pathlib import Path

import pytest

import nika_nb
from nika_nb.errors import UsageError
from tests.doors import Terminal

HEAD = """\
nika: later
permits: { exec: [echo], net: { http: [a.example] }, tools: ["nika:fetch"] }
const: { how: article }
inputs: { how: { type: string, default: article } }
secrets: { k: { source: vault, key: kv/k, egress: [{ to: exec }] }, idle: { source: vault, key: kv/i } }
tasks:
"""


def fetch(more: str) -> str:
    return f"  t: {{ invoke: {{ tool: 'nika:fetch', args: {{ url: 'https://a.example/'{more} }} }} }}\n"


LATER = [
    (fetch(""), "`t`: turning a page into markdown, the usual mode, is not part of this version"),
    (fetch(", mode: feed"), "`mode: feed` is not part of this version; write `mode: raw`"),
    (fetch(", mode: '${{ const.how }}'"), "`mode: article` is not part of this version"),
    (fetch(", mode: raw, method: POST, form: { a: 1 }"), "`form:` of `nika:fetch` is not part of"),
    (fetch(", mode: raw, method: POST, multipart: [{ name: a, value: b }]"), "`multipart:` of `nika:fetch`"),
    (fetch(", traverse: { max_pages: 2 }"), "`traverse:` of `nika:fetch`"),
    (
        "  t: { exec: { command: [echo, hi], env: { K: '${{ secrets.k }}' } } }\n",
        "`secrets.k` has no value: no vault can be read in this version; declare `source: env`",
    ),
]


@pytest.mark.parametrize(("tasks", "sentence"), LATER)
def test_it_is_told_by_a_check_and_refused_before_a_run(
    folder: Path, terminal: Terminal, tasks: str, sentence: str
) -> None:
    """The check is green, for the text is right; nothing is run, and no file is made."""
    (folder / "w.nika.yaml").write_text(HEAD + tasks, encoding="utf-8")
    told = terminal("check", "w.nika.yaml")
    assert (told.code, "is sound" in told.out.decode()) == (0, True)
    assert all(part in told.out.decode() for part in sentence.split("; "))
    warned = terminal("check", "w.nika.yaml", "--json").outputs["hints"]
    assert any(sentence.split("; ")[0] in found["message"] for found in warned)
    with pytest.raises(UsageError, match="nothing was run") as refused:
        nika_nb.run(Path("w.nika.yaml"))
    assert sentence in str(refused.value)
    assert not (folder / ".nika").exists()


def test_a_called_workflow_is_looked_into(folder: Path) -> None:
    """What it cannot do, its caller cannot have done."""
    (folder / "child.nika.yaml").write_text(HEAD + fetch(""), encoding="utf-8")
    text = HEAD + "  call: { invoke: { workflow: ./child.nika.yaml } }\n"
    with pytest.raises(UsageError, match=r"child.*turning a page into markdown"):
        nika_nb.run(text)


@pytest.mark.parametrize(
    "tasks",
    [
        fetch(", mode: '${{ inputs.how }}'"),
        fetch(", mode: jq, jq: '.'"),
        "  t: { exec: { command: [echo] } }\n",
        fetch("").replace("https://a.example/", "${{ inputs.how }}"),
    ],
)
def test_what_only_the_run_knows_and_what_nobody_reads_is_not_refused(
    folder: Path, terminal: Terminal, tasks: str
) -> None:
    """A mode or a host that an input decides; a secret in a vault that no task takes."""
    (folder / "w.nika.yaml").write_text(HEAD + tasks, encoding="utf-8")
    told = terminal("check", "w.nika.yaml")
    assert "this version" not in told.out.decode() + told.err


def test_a_builtin_of_a_later_version_is_told_where_it_stands(folder: Path, terminal: Terminal) -> None:
    """A warning with its place, also beside errors; what the check refuses itself is not said twice."""
    tasks = (
        '  a: { invoke: { tool: "nika:hash", args: { content: x } } }\n'
        '  b: { invoke: { tool: "nika:chart", args: {} } }\n'
        '  c: { invoke: { tool: "nika:hsah", args: { content: x } } }\n'
    )
    report = nika_nb.check(HEAD + tasks)
    said = [
        (found.code, found.task) for found in report.warnings if "not part of this version" in found.message
    ]
    assert said == [("NIKA-INVOKE-001", "a"), ("NIKA-INVOKE-001", "b")]
    assert all(found.span is not None and "help tools" in found.hint for found in report.warnings[:1])
    assert [found.message for found in report.errors if found.task == "c"] == [
        "there is no builtin `nika:hsah`"
    ]
