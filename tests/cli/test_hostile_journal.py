"""A journal that a stranger wrote: no field of it steers the terminal that shows it, none breaks a door."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import nika_nb
from nika_nb.trace.frame import GENESIS_CHAIN, link
from tests.doors import Terminal, newest, traces

TEXT = """nika: many
model: mock/echo
permits: { tools: ["nika:prompt", "nika:assert"] }
inputs: { word: { type: string } }
tasks:
  said: { infer: { prompt: "${{ inputs.word }}" } }
  bad: { invoke: { tool: "nika:assert", args: { condition: false, message: "no" } } }
  ask: { invoke: { tool: "nika:prompt", args: { message: "Sure?", mode: choice, choices: [a, b] } } }
outputs: { said: "${{ tasks.said.output }}" }
"""
EVIL = (
    "\x1b]0;title\x07\x1b]8;;http://e\x07L\x1b]8;;\x07\x1b]52;c;eA==\x07\x1b[2J\x9b31m\r\0"
    "\N{RIGHT-TO-LEFT OVERRIDE}\N{ZERO WIDTH SPACE}\N{TAG LATIN CAPITAL LETTER A}"
)
STEERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e0fff]"
)
KEPT = {"trace_format", "engine_version", "workflow_sha256", "def_hash", "input_hash"}
ASKED: list[tuple[str, ...]] = [
    *(("inbox",), ("runs", "list"), ("trace", "ls"), ("show", "T"), ("why", "T"), ("trace", "verify", "T")),
    *(("trace", "doctor", "T"), ("diff", "T", "T"), ("answer", "T", "ask=a"), ("answer", "T", "x")),
    *(("run", "w.nika.yaml", "--resume", "T", "--plan"), ("run", "w.nika.yaml", "--resume", "T")),
]


def made_evil(value: Any) -> Any:
    """With something at the end of every text, of those that are JSON in their texts."""
    if isinstance(value, dict):
        return {key: made_evil(item) for key, item in value.items()}
    if isinstance(value, list):
        return [made_evil(item) for item in value]
    if not isinstance(value, str):
        return value
    try:
        inner = json.loads(value)
    except ValueError:
        return value + EVIL
    return json.dumps(made_evil(inner)) if isinstance(inner, (dict, list, str)) else value + EVIL


def strange(trace: Path, field: str) -> Path:
    """The journal with one field, all of them, or the run's id made evil; its chain is sound."""
    head, lines = GENESIS_CHAIN, []
    for line in trace.read_text(encoding="utf-8").splitlines():
        frame = json.loads(line)
        for one in frame["fields"]:
            if field in (one["key"], "all of them") and one["key"] not in KEPT:
                one["value"] = made_evil(one["value"])
        frame |= {"correlation": frame["correlation"] + EVIL} if field == "the run" else {}
        lines.append(json.dumps(frame | {"chain": head}, ensure_ascii=False))
        head = link(lines[-1].encode())
    path = trace.with_name("2026-01-01T00-00-00Z-aaaa.ndjson")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "field", ["all of them", "the run", "prompts", "outcome", "name", "source_name", "notebook", "task"]
)
def test_no_field_steers_the_terminal(folder: Path, terminal: Terminal, field: str) -> None:
    """Neither its title nor its clipboard, no link, no jump of the cursor, no text that reads otherwise."""
    (folder / "w.nika.yaml").write_text(TEXT, encoding="utf-8")
    nika_nb.run(TEXT, vars={"word": "w"}, interactive=False)
    path = strange(newest(folder), field)
    for words in ASKED:
        done = terminal(*(str(path) if word == "T" else word for word in words))
        for said in (done.out.decode(), done.err):
            found = STEERS.search(said)
            assert found is None, (words, said[max(0, found.start() - 50) : found.end() + 20])
            assert "Traceback" not in said, (words, said)


def test_what_a_run_returns_steers_nothing(folder: Path, terminal: Terminal) -> None:
    """On standard output stands JSON of the same value, in which every character can be seen."""
    (folder / "w.nika.yaml").write_text(TEXT.split("  bad")[0] + "outputs: { said: '${{ inputs.word }}' }\n")
    word = EVIL.replace("\0", "")
    done = terminal("run", "w.nika.yaml", "--var", f"word={word}")
    run = nika_nb.attach(newest(folder)).id
    assert done.outputs == {"said": word}
    for words in (
        ["runs", "read", run, "--start", "0", "--limit", "99"],
        ["runs", "follow", run, "--json"],
        ["runs", "follow", run],
    ):
        done = terminal(*map(str, words))
        assert done.code == 0, done.err
        assert STEERS.search(done.out.decode() + done.err) is None


def test_no_name_of_a_file_steers_the_terminal(folder: Path, terminal: Terminal) -> None:
    """Of sound, torn and foreign files alike, in whatever is said of them or done with them."""
    nika_nb.run(TEXT, vars={"word": "w"}, interactive=False)
    (sound,) = traces(folder)
    names = [f"{kind}\x1b]0;title\x07\N{RIGHT-TO-LEFT OVERRIDE}.ndjson" for kind in ("copy", "torn", "junk")]
    for name, data in zip(names, (sound.read_bytes(), sound.read_bytes()[:-20], b"nothing"), strict=True):
        sound.with_name(name).write_bytes(data)
    told = [
        ("trace", "doctor"),
        ("trace", "ls"),
        ("inbox",),
        *(("show", str(sound.with_name(n))) for n in names),
    ]
    told += [("trace", "rm", "--force", str(sound.with_name(n))) for n in names]
    for words in told:
        done = terminal(*words)
        assert STEERS.search(done.out.decode() + done.err) is None, words
