"""What a client says wrongly is told in the product's words, by every tool; nothing is done then."""

from __future__ import annotations

from typing import Any

import pytest
from mcp import ClientSession

from nika_nb import runs
from nika_nb.errors import UsageError
from nika_nb.server.arguments import fitted
from tests.durable.project import ASK, GATE, Project
from tests.durable.talking import said, talked

SCHEMA = {
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "description": "what it is called"},
        "many": {"type": "integer", "description": "how many"},
        "few": {"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "how few"},
        "sure": {"type": "boolean", "description": "whether"},
        "kind": {"enum": ["a", "b"], "type": "string", "description": "which"},
        "given": {
            "anyOf": [
                {"type": "object", "additionalProperties": True},
                {"type": "array", "items": {"type": "string"}},
                {"type": "null"},
            ],
            "description": "what is given",
        },
    },
}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"name": 5}, "tool: `name` is a text, not 5 (what it is called)"),
        ({"name": None}, "tool: `name` is a text, not null (what it is called)"),
        ({"many": True}, "tool: `many` is a whole number, not true (how many)"),
        ({"many": 1.5}, "tool: `many` is a whole number, not 1.5 (how many)"),
        ({"many": "1.5"}, 'tool: `many` is a whole number, not "1.5" (how many)'),
        ({"many": None}, "tool: `many` is a whole number, not null (how many)"),
        ({"few": "x"}, 'tool: `few` is a whole number, not "x" (how few)'),
        ({"sure": "perhaps"}, 'tool: `sure` is true or false, not "perhaps" (whether)'),
        ({"sure": 1}, "tool: `sure` is true or false, not 1 (whether)"),
        ({"kind": "c"}, 'tool: `kind` is `a` or `b`, not "c" (which)'),
        ({"given": [1]}, "tool: `given` is an object or a list of texts, not [1] (what is given)"),
        ({"given": "yes"}, 'tool: `given` is an object or a list of texts, not "yes" (what is given)'),
        ({"cnd": "a"}, "tool takes no `cnd`; there are `name`, `many`, `few`, `sure`, `kind`, `given`"),
        ({"mny": 1}, "did you mean `many`?"),
    ],
)
def test_an_argument_that_does_not_fit_is_told_with_what_would(given: dict[str, Any], told: str) -> None:
    """Unknown, of another kind, none of the words."""
    with pytest.raises(UsageError) as refused:
        fitted("tool", SCHEMA, {"name": "x"} | given)
    assert told in str(refused.value)
    assert str(refused.value).endswith("Nothing was done")


def test_all_that_is_wrong_is_told_at_once() -> None:
    """What is missing first; a client corrects it in one go."""
    with pytest.raises(UsageError) as refused:
        fitted("tool", SCHEMA, {"many": "x", "mny": 1})
    first, *more = str(refused.value).split("\n")
    assert (first, len(more)) == ("tool needs `name`: what it is called", 3)


def test_a_long_value_is_not_given_back_whole() -> None:
    """A sentence stays one that can be read."""
    with pytest.raises(UsageError) as refused:
        fitted("tool", SCHEMA, {"name": "x", "many": "y" * 100_000})
    assert len(str(refused.value)) < 200


def test_a_text_that_holds_what_fits_stands_for_it() -> None:
    """Some clients write every argument as a text; whole numbers may come with a point."""
    given = {"name": "5", "many": "7", "few": "null", "sure": "true", "given": '{"ask": "yes"}'}
    assert fitted("tool", SCHEMA, given) == {
        "name": "5", "many": 7, "few": None, "sure": True, "given": {"ask": "yes"},
    }  # fmt: skip
    many = fitted("tool", SCHEMA, {"name": "x", "many": 7.0})["many"]
    assert (many, type(many)) == (7, int)


def test_every_tool_tells_what_it_cannot_take(here: Project) -> None:
    """In its own name, without a word of what reads the arguments; a range by the names that it has there."""
    here.deployed()
    asks = here.started(ASK).run_id
    before = here.bytes()
    wrong: list[tuple[str, dict[str, Any], str]] = [
        ("run_deployment", {}, "run_deployment needs `deployment`"),
        ("run_deployment", {"deployment": "gate", "input": {}}, "did you mean `inputs`?"),
        ("run_deployment", {"deployment": "gate", "inputs": [1]}, "`inputs` is an object, not [1]"),
        ("run_deployment", {"deployment": "gate", "version": 0}, "a version is a whole number from 1 on"),
        ("run_deployment", {"deployment": "gate", "trace_start": -1}, "trace_start counts from 0"),
        ("run_deployment", {"deployment": "gate", "trace_limit": 0}, "trace_limit is how many are wanted"),
        ("list_runs", {"ofset": 1}, "list_runs takes no `ofset`"),
        ("list_runs", {"offset": -1}, "offset counts from 0"),
        ("list_runs", {"limit": 1001}, "a page has at most 1000 runs"),
        ("list_runs", {"status": "paused"}, "`interrupted` or `completed` or `failed`"),
        ("inspect_run", {"run_id": 7}, "`run_id` is a text, not 7"),
        ("read_run_trace", {"run_id": asks}, "read_run_trace needs `start`"),
        (
            "read_run_trace",
            {"run_id": asks, "start": 0, "limit": True},
            "`limit` is a whole number, not true",
        ),
        ("resume_run", {"run_id": asks, "answer": {}}, "did you mean `answers`?"),
        ("resume_run", {"run_id": asks, "answers": "yes"}, "by prompt key"),
        ("resume_run", {"run_id": asks, "outcome": "later"}, "`submitted` or `declined`"),
        ("cancel_run", {}, "cancel_run needs `run_id`"),
        ("end_run", {"run_id": asks}, "there is no tool `end_run`; there are `run_deployment`"),
    ]

    async def talk(client: ClientSession) -> None:
        for tool, arguments, told in wrong:
            result = await client.call_tool(tool, arguments)
            text = str(result.content[0].text)
            assert (result.is_error, told in text) == (True, True), text
            assert not [word for word in ("pydantic", "validation error", "Error executing") if word in text]

    talked(here.root, talk)
    assert here.bytes() == before


def test_cancel_run_ends_a_run_that_waits(here: Project) -> None:
    """What it asked can be answered no more; then there is nothing to cancel."""
    run_id = here.started(GATE).run_id

    async def talk(client: ClientSession) -> None:
        ended = await said(client, "cancel_run", run_id=run_id)
        assert (ended["status"], ended["outcome"]) == ("failed", "cancelled")
        assert "prompts" not in ended
        again = await client.call_tool("cancel_run", {"run_id": run_id})
        assert again.is_error
        assert "nothing of" in str(again.content[0].text)
        unknown = await client.call_tool("cancel_run", {"run_id": "gate-00000000"})
        assert "`list_runs` shows what is" in str(unknown.content[0].text)

    talked(here.root, talk)
    assert runs.list_runs().runs[0].outcome == "cancelled"
