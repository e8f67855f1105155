"""What mock models are said to cost: counted like money, and never taken for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import nika_nb
from nika_nb.money import apart
from nika_nb.trace.verify import verify
from tests.doors import Terminal, frames, newest, of

BRIEF = """nika: brief
model: mock/echo
tasks:
  fan: { for_each: { items: [1, 2, 3, 4] }, infer: { prompt: "12345678", max_tokens: 100 } }
"""
PRICES = {"echo": {"input": 3, "output": 15}}
CALL = (2 * 3 + 6 * 15) / 1e6


@pytest.fixture
def priced(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which `mock/echo` is said to cost something."""
    (folder / "mock.json").write_text(json.dumps({"prices": PRICES}))
    monkeypatch.setenv("NIKA_NB_MOCK", "mock.json")
    return folder


def test_every_call_is_counted(priced: Path) -> None:
    """The run, its tasks and its tables have the cost of four calls; a resume has saved it."""
    run = nika_nb.run(BRIEF)
    assert of(newest(priced), "workflow_completed")[0]["total_cost_usd"] == pytest.approx(4 * CALL)
    assert run.table("fan")["cost_usd"].sum() == pytest.approx(4 * CALL)
    assert run.resume().table("fan")["saved_usd"].sum() == pytest.approx(4 * CALL)


def test_the_journal_and_the_run_say_that_it_is_made_up(priced: Path) -> None:
    """The prices stand in the first frame, beside the list by which real ones are counted."""
    run = nika_nb.run(BRIEF)
    assert json.loads(frames(newest(priced))[0]["pricing"])["mock"] == {"mock/echo": PRICES["echo"]}
    assert verify(newest(priced)).cost_replay == "replayed"
    assert run.notices == ["the prices of mock/echo are made up: NIKA_NB_MOCK gives them"]
    assert nika_nb.run(BRIEF, model="mock/mock-deterministic").notices == []


def test_a_cap_holds(priced: Path) -> None:
    """A budget can be rehearsed: over the cap nothing more is started."""
    run = nika_nb.run(BRIEF.replace("items:", "max_parallel: 1, items:"), max_cost_usd=1.5 * CALL)
    assert run.state == "failed"
    assert run.table("fan")["cost_usd"].count() == 2


def test_a_plan_tells_what_it_could_cost(priced: Path) -> None:
    """With a price there is a ceiling, as of any model; without one a mock costs nothing."""
    ceiling = nika_nb.plan_resume(BRIEF, None).ceiling
    assert ceiling.usd is not None
    assert ceiling.usd > 4 * CALL
    (priced / "mock.json").write_text("{}")
    assert nika_nb.plan_resume(BRIEF, None).ceiling.usd == 0


def test_prices_that_nobody_can_read(priced: Path) -> None:
    """The run fails at the first call and says why; its journal claims no prices."""
    (priced / "mock.json").write_text('{"prices": {"echo": 3}}')
    run = nika_nb.run(BRIEF)
    assert "mock" not in json.loads(frames(newest(priced))[0]["pricing"])
    assert "NIKA_NB_MOCK=mock.json cannot be used" in str((run.tasks["fan"].error or {}).get("message"))


def test_a_run_that_completes_beyond_its_cap_says_so(priced: Path, terminal: Terminal) -> None:
    """In one line, wherever it is shown; within the cap, and without one, nothing is said."""
    run = nika_nb.run(BRIEF, max_cost_usd=3.5 * CALL)
    assert (run.state, run.board.cost_usd) == ("completed", pytest.approx(4 * CALL))
    paid, cap = apart(4 * CALL, 3.5 * CALL)
    said = f"the run has cost {paid}, more than its cap of {cap}: all was under way by then"
    for shown in (run, nika_nb.attach(run.trace or "")):
        assert repr(shown).count(said) == 1
        assert shown._repr_mimebundle_()["text/html"].count(said) == 1
    (priced / "brief.nika.yaml").write_text(BRIEF, encoding="utf-8")
    for words in ((), ("--quiet",)):
        done = terminal("run", "brief.nika.yaml", "--max-cost-usd", str(3.5 * CALL), *words)
        assert (done.code, done.err.count(said)) == (0, 1)
    assert "its cap" not in repr(nika_nb.run(BRIEF, max_cost_usd=4 * CALL))
    assert "its cap" not in repr(nika_nb.run(BRIEF))
