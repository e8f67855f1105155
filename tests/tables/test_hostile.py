"""Journals that somebody made up or broke: no table and no answer breaks over one, and none shows markup."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import nika_nb
from nika_nb.errors import NikaError
from tests.tables.test_read import PINNED

CHILD = "nika: child\nmodel: mock/echo\ntasks: { in: { infer: { prompt: p } } }\n"
TEXT = """nika: many
model: mock/echo
permits: { tools: ["nika:prompt", "nika:assert"], fs: { read: ["./child.nika.yaml"] } }
inputs: { rows: { type: { array: integer }, default: [1, 2] } }
tasks:
  a: { infer: { prompt: "hello" } }
  b: { with: { a: "${{ tasks.a.output }}" }, infer: { prompt: "${{ with.a }}" } }
  fan: { for_each: { items: "${{ inputs.rows }}" }, infer: { prompt: "${{ item }}" } }
  call: { invoke: { workflow: ./child.nika.yaml } }
  bad:
    retry: { max_attempts: 2, backoff_ms: 1, on_codes: [NIKA-BUILTIN-ASSERT-001] }
    invoke: { tool: "nika:assert", args: { condition: false, message: "no" } }
  ask: { invoke: { tool: "nika:prompt", args: { message: "Sure?" } } }
outputs: { a: "${{ tasks.a.output }}" }
"""
SECRET = "tok-9f8e7d6c5b"

STRANGE: list[Any] = [
    None, True, -1, 2**63, -(2**63), 1e300, "", "[]", "{}", [], {}, "\ud800", '"\\ud800"', "9" * 5000,
    '{"payload":3}', '{"class":"success","cause":3,"payload":{"error":7,"attempts":"x"}}',
    '["with.a (from "]', "<img src=x onerror=alert(1)>\x1b[31m\u202e",
]  # fmt: skip


@pytest.fixture
def journal(folder: Path) -> Path:
    """A journal of everything: a resume with an item recalled, a call, a retry, an open question."""
    (folder / "child.nika.yaml").write_text(CHILD, encoding="utf-8")
    first = nika_nb.run(TEXT, interactive=False)
    run = nika_nb.run(
        TEXT.replace("hello", "hi"), vars={"rows": [1, 3]}, resume=first.trace, interactive=False
    )
    assert run.trace is not None
    return run.trace


def everything(path: Path, other: Path) -> list[Callable[[], Any]]:
    """All that can be asked about a trace."""
    return [
        lambda: [getattr(nika_nb.read_trace(path), name) for name in PINNED],
        lambda: nika_nb.read_trace(path).table("fan", unpack=True),
        lambda: (nika_nb.why(path).table(), json.dumps(nika_nb.why(path).to_json())),
        lambda: (nika_nb.diff(other, path).table(), json.dumps(nika_nb.diff(path, other).to_json())),
        lambda: (nika_nb.ledger(path).table(), nika_nb.ledger(path).task_table()),
    ]


def drawn(path: Path, other: Path) -> list[dict[str, str]]:
    return [
        found._repr_mimebundle_()
        for found in (nika_nb.why(path), nika_nb.diff(other, path), nika_nb.ledger(path))
    ]


def broken(lines: list[Any], chance: random.Random) -> list[Any]:
    """A copy in which a few things are something else, missing, twice or elsewhere."""
    found = json.loads(json.dumps(lines))
    for _ in range(4):
        frame = chance.choice(found)
        match chance.randrange(8):
            case 0:
                frame["timestamp"] = chance.choice(STRANGE)
            case 1:
                frame["kind"] = chance.choice(found)["kind"]
            case 2:
                found.insert(chance.randrange(1, len(found)), chance.choice(found))
            case 3 if len(found) > 2:
                found.remove(frame)
            case _ if frame["fields"]:
                chance.choice(frame["fields"])["value"] = chance.choice(STRANGE)
    return found


@pytest.mark.parametrize("seed", range(12))
def test_whatever_a_journal_says(journal: Path, seed: int) -> None:
    """Answered or refused in one sentence, whatever stands where something else should."""
    lines = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    path = journal.with_name("broken.ndjson")
    text = "\n".join(json.dumps(line) for line in broken(lines, random.Random(seed)))
    path.write_text(text + "\n", encoding="utf-8")
    for ask in everything(path, journal):
        with suppress(NikaError):
            ask()


@pytest.mark.parametrize(
    "field", ["note", "detail", "error", "parts", "task", "workflow", "output", "message"]
)
def test_markup_and_controls_are_inert(journal: Path, field: str) -> None:
    """What a journal holds in its words is shown as words."""
    evil = "<img src=x onerror=alert(1)>\x1b[31m\u202e"
    lines = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    for frame in lines:
        for pair in frame["fields"]:
            if pair["key"] == field:
                pair["value"] = (
                    json.dumps([evil])
                    if field == "parts"
                    else json.dumps(evil)
                    if field == "output"
                    else evil
                )
    path = journal.with_name("evil.ndjson")
    path.write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    for shown in drawn(path, journal):
        assert "<img src=x" not in shown["text/html"]
        assert not {"\x1b", "\u202e"} & set(shown["text/plain"] + shown["text/html"])


LEAKY = """nika: leaky
secrets: { token: { source: env, key: LEAKY_TOKEN, egress: [{ to: exec }] } }
permits: { exec: ["sh"], env: ["TOKEN"] }
tasks:
  says:
    exec: { command: ["sh", "-c", "printf %s $TOKEN"], env: { TOKEN: "${{ secrets.token }}" } }
  fails:
    exec: { command: ["sh", "-c", "echo $TOKEN >&2; exit 3"], env: { TOKEN: "${{ secrets.token }}" } }
"""


def test_no_secret_in_any_table_or_answer(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither what a task said, nor its error, nor a difference between two values of a secret."""
    monkeypatch.setenv("LEAKY_TOKEN", SECRET)
    first = nika_nb.run(LEAKY)
    assert [task.state for task in first.tasks.values()] == ["success", "failure"]
    monkeypatch.setenv("LEAKY_TOKEN", SECRET[::-1])
    second = nika_nb.run(LEAKY, resume=first.trace)
    told = [getattr(nika_nb.read_traces(), name).to_csv() for name in PINNED]
    for found in (nika_nb.why(second), nika_nb.diff(first, second), nika_nb.ledger()):
        told += [json.dumps(found.to_json()), found.table().to_csv(), *found._repr_mimebundle_().values()]
    assert "NIKA-EXEC" in told[list(PINNED).index("tasks")]
    assert not [text for text in told if SECRET in text or SECRET[::-1] in text]
