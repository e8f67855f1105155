"""One sentence, told at every door in the words that can be typed there."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

import nika_nb
from nika_nb.doors import Door, command, install, option, standing_at, together

FLOW = """\
nika: hello
inputs:
  topic: { type: string, required: true }
tasks:
  greet:
    exec: { command: ["echo", "${{ inputs.topic }}"] }
permits: { exec: ["echo"] }
"""

WORDS: list[tuple[str, str, str, str]] = [
    # what is given, at a terminal and in a cell, from Python, through MCP
    ("var", "topic=…", "--var topic=…", 'vars={"topic": …}'),
    ("var", 'topic="…"', "--var 'topic=\"…\"'", 'vars={"topic": "…"}'),
    ("answer", "ask=…", "--answer ask=…", 'answer={"ask": …}'),
    ("answer", "…", "--answer …", "answer={…}"),
    ("resume", "", "--resume", "resume=True"),
    ("resume", "a b.ndjson", "--resume 'a b.ndjson'", 'resume="a b.ndjson"'),
    ("from", "rows[3]", "--from 'rows[3]'", 'from_="rows[3]"'),
    ("ask-in-flight", "", "--ask-in-flight", "ask_in_flight=True"),
    ("resume-unverified", "", "--resume-unverified", "resume_unverified=True"),
    ("max-cost-usd", "", "--max-cost-usd", "max_cost_usd=…"),
    ("yes", "", "--yes", "effects=True"),
]


@pytest.mark.parametrize(("name", "value", "typed", "called"), WORDS, ids=[f"{w[0]} {w[1]}" for w in WORDS])
def test_an_option_is_written_as_the_door_takes_it(name: str, value: str, typed: str, called: str) -> None:
    """With dashes where a line is typed, as an argument where a function is called."""
    assert option(name, value) == called
    for door in ("nika-nb", "%nika", "a form"):
        with standing_at(door):
            assert option(name, value) == typed


def test_a_deployment_s_input_is_written_as_the_door_takes_it() -> None:
    """Each door starts a deployment in its own way."""
    found = {}
    for door in get_args(Door):
        with standing_at(door):
            found[door] = option("input", "topic=…")
    assert found == {
        "Python": 'inputs={"topic": …}',
        "MCP": 'inputs={"topic": …}',
        "%nika": "topic=…",
        "a form": "topic=…",
        "nika-nb": "--var topic=…",
    }


def test_commands_and_packages_are_named_as_the_door_has_them() -> None:
    """What a door has no command for is done in a terminal."""
    assert command("deploy") == "nika_nb.runs.deploy(…)"
    assert command("verify", "x.ndjson") == "nika-nb trace verify x.ndjson"
    assert install("cryptography") == "pip install cryptography"
    assert together([option("resume"), option("yes")]) == "resume=True, effects=True"
    with standing_at("%nika"):
        assert command("verify", "x.ndjson") == "%nika verify x.ndjson"
        assert install("mcp>=2.3,<3") == "%pip install 'mcp>=2.3,<3'"
        assert together([option("resume"), option("yes")]) == "--resume --yes"


CALLS: list[tuple[str, dict[str, object]]] = [
    ("an input that is missing", {}),
    ("a number for a text", {"vars": {"topic": 12}}),
    ("from without resume", {"vars": {"topic": "x"}, "from_": "greet"}),
    ("in flight without resume", {"vars": {"topic": "x"}, "ask_in_flight": True}),
    ("a task that is not there", {"vars": {"topic": "x"}, "resume": True, "from_": "gret"}),
    ("a cap that is none", {"vars": {"topic": "x"}, "max_cost_usd": -1.0}),
    ("an answer to nothing", {"vars": {"topic": "x"}, "answer": {"greet": "yes"}}),
]


@pytest.mark.parametrize(("what", "given"), CALLS, ids=[c[0] for c in CALLS])
def test_python_is_told_nothing_with_dashes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, given: dict[str, object]
) -> None:
    """What is wrong with a call is told as a call is written."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(nika_nb.NikaError) as caught:
        nika_nb.run(FLOW, **given)  # type: ignore[arg-type]
    assert "--" not in str(caught.value)


def test_a_number_for_a_text_is_told_how_it_stays_a_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The value itself is not repeated: what was typed as 1.10 is 1.1 by then."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(nika_nb.UsageError) as caught, standing_at("nika-nb"):
        nika_nb.run(FLOW, vars={"topic": 1.1})
    assert "as a text it is written --var 'topic=\"…\"'" in str(caught.value)
    with pytest.raises(nika_nb.UsageError) as caught, standing_at("nika-nb"):
        nika_nb.run(FLOW, vars={"topic": ["x"]})
    assert "as a text" not in str(caught.value)
