"""What nobody knows the price of: told as unknown wherever a run shows what it cost, never as nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

import nika_nb
from nika_nb.providers import registry
from nika_nb.providers.base import ChatReply, ChatRequest, Say
from tests.doors import frames, newest, of
from tests.priced import Priced, priced

__all__ = ["priced"]

HOUSE = "nika: house\nmodel: xai/house\ntasks: { ask: { infer: { prompt: p } } }\n"
MIXED = """\
nika: mixed
model: mock/echo
tasks:
  known: { infer: { prompt: "p" } }
  both: { for_each: { items: ["mock/echo", "xai/house"] }, infer: { prompt: "p", model: "${{ item }}" } }
  nobody: { infer: { prompt: "p", model: ollama/house } }
"""


class House:
    async def chat(self, request: ChatRequest, say: Say) -> ChatReply:
        return ChatReply(request.prompt, 6, 4)


@pytest.fixture(autouse=True)
def house(monkeypatch: pytest.MonkeyPatch) -> None:
    for prefix in ("xai", "ollama"):
        monkeypatch.setitem(registry.MAKERS, prefix, House)


def test_nothing_but_the_unknown(folder: Path) -> None:
    """No door says `$0.00` of a run whose only call has no price."""
    run = nika_nb.run(HOUSE)
    again = nika_nb.reproduce(run, effects=True)
    replay = nika_nb.replay(run)
    drawn = (run, nika_nb.ledger(run), nika_nb.diff(run, run), again, replay, replay[-1])
    for shown in drawn:
        bundle = shown._repr_mimebundle_()
        assert "unpriced" in bundle["text/html"]
        if shown is not replay:  # a listing of steps begins before anything was asked
            assert "$0.00" not in bundle["text/html"] + bundle["text/plain"]
    row = run.board.rows["ask"]
    assert (row.cost_usd, row.unpriced) == (None, True)


def test_beside_what_is_known(folder: Path, priced: Priced) -> None:
    """The sum says how many tasks are not in it; a fan-out of both kinds too, and a local model."""
    run = nika_nb.run(MIXED)
    text, page = repr(run), run._repr_mimebundle_()["text/html"]
    assert "$0.02 + 2 unpriced" in text
    assert "$0.02 + 2 unpriced" in page
    assert "$0.01 + unpriced" in text
    assert "$0.01 + unpriced" in page
    assert "spent $0.02 + 2 unpriced" in repr(nika_nb.ledger(run))
    trace = nika_nb.read_trace(run)
    assert trace.runs["unpriced"].tolist() == [2]
    why = trace.tasks.set_index("task")["unpriced"].dropna().to_dict()
    assert why == {"both": "unknown_model", "nobody": "local_provider"}
    assert trace.items["unpriced"].isna().tolist() == [True, False]
    assert run.table("both")["unpriced"].isna().tolist() == [True, False]


def test_a_mock_costs_nothing(folder: Path) -> None:
    """It is free, and read as that."""
    run = nika_nb.run(HOUSE.replace("xai/house", "mock/echo"))
    assert of(newest(folder), "task_completed")[0]["cost_unpriced"] == "mock_provider"
    assert "$0.00" in repr(run)
    assert "unpriced" not in repr(run) + repr(nika_nb.ledger(run))


def test_the_unknown_beside_a_mock(folder: Path) -> None:
    """Of two reasons for there being no price the one that may cost money is recorded."""
    nika_nb.run(MIXED)
    assert frames(newest(folder))[-1]["unpriced_calls"] == 4
    both = next(frame for frame in of(newest(folder), "task_completed") if frame["task"] == "both")
    assert both["cost_unpriced"] == "unknown_model"


def test_a_local_model_has_no_ceiling(folder: Path) -> None:
    """Nobody knows what it costs: a plan says so and not `at most $0.00`, and a cap cannot see it."""
    text = HOUSE.replace("xai/house", "ollama/house")
    assert "no ceiling (no price is known for ollama/house)" in repr(nika_nb.plan_resume(text, None))
    assert "no price is known for ollama/house" in nika_nb.run(text, max_cost_usd=1).notices[0]
