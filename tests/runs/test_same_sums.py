"""One cost, whoever tells it: panel, tables, ledger and replay, at every moment of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

import nika_nb
from nika_nb.providers import registry
from nika_nb.providers.base import ChatReply, ChatRequest, Say
from nika_nb.trace.overview import overview
from tests.priced import CENT, Priced, priced

__all__ = ["priced"]

CHILD = """\
nika: child
model: mock/echo
permits: { tools: ["nika:prompt"] }
tasks:
  pre: { infer: { prompt: "pre" } }
  house: { infer: { prompt: "h", model: xai/house } }
  fan:
    for_each: { items: ["a", "b"] }
    retry: { max_attempts: 3, backoff_ms: 1, on_codes: [NIKA-INFER-004] }
    infer: { prompt: "fails 1 ${{ item }}" }
  ask: { after: { fan: terminal }, invoke: { tool: "nika:prompt", args: { message: "go?" } } }
  post:
    with: { go: "${{ tasks.ask.output }}" }
    when: ${{ with.go == true }}
    infer: { prompt: "post" }
outputs:
  said: ${{ tasks.pre.output }}
"""
GRANDPARENT = """\
nika: grandparent
permits: { tools: ["nika:prompt"] }
tasks:
  calls:
    for_each: { items: [1, 2] }
    invoke: { workflow: ./parent.nika.yaml }
"""
PARENT = """\
nika: parent
model: mock/echo
permits: { tools: ["nika:prompt"] }
tasks:
  again:
    retry: { max_attempts: 3, backoff_ms: 1, on_codes: [NIKA-INFER-004] }
    infer: { prompt: "fails 2 again" }
  house:
    retry: { max_attempts: 3, backoff_ms: 1, on_codes: [NIKA-INFER-004] }
    infer: { prompt: "fails 1 house", model: xai/house }
  call: { invoke: { workflow: ./child.nika.yaml } }
  broken: { infer: { prompt: "breaks" }, on_error: { recover: "none" } }
  skipped: { infer: { prompt: "breaks" }, on_error: { skip: true } }
"""


class House(Priced):
    """Of what it answers nobody knows the price."""

    async def chat(self, request: ChatRequest, say: Say) -> ChatReply:
        reply = await super().chat(request, say)
        return ChatReply(reply.text, reply.input_tokens, reply.output_tokens)


@pytest.fixture
def house(folder: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    (folder / "child.nika.yaml").write_text(CHILD, encoding="utf-8")
    (folder / "parent.nika.yaml").write_text(PARENT, encoding="utf-8")
    (folder / "grandparent.nika.yaml").write_text(GRANDPARENT, encoding="utf-8")
    provider = House()
    monkeypatch.setitem(registry.MAKERS, "xai", lambda: provider)
    return provider


def told(path: Path) -> tuple[float, int, int]:
    """(dollars, tokens, tasks without a price) of a journal: one and the same, whoever tells it."""
    board, seen = nika_nb.attach(path).board, overview(path)
    assert board.saved == (seen.saved.usd or 0.0, seen.saved.tokens or 0, seen.saved.ms or 0)
    ledger = seen.spent.usd or 0.0, seen.spent.tokens or 0, seen.unpriced
    assert (board.cost_usd, board.tokens, board.unpriced) == ledger
    return ledger


def in_tables(path: Path) -> tuple[float, int, int]:
    trace = nika_nb.read_trace(path)
    [run] = trace.runs[["cost_usd", "tokens", "unpriced"]].to_dict("records")
    assert round(float(trace.tasks["cost_usd"].sum()), 10) == run["cost_usd"]
    assert trace.tasks["tokens"].sum() == run["tokens"]
    return run["cost_usd"], run["tokens"], run["unpriced"]


@pytest.mark.parametrize("name", ["parent", "grandparent"])
def test_a_cost_is_the_same_at_every_door(folder: Path, house: House, priced: Priced, name: str) -> None:
    """Tried again, asked below, cut off at any line, answered and answered again: each cent once."""
    run = nika_nb.run(f"{name}.nika.yaml")
    traces: list[Path] = []
    while True:
        path = Path(run.trace or "")
        traces.append(path)
        assert told(path) == in_tables(path)
        if run.state != "paused":
            break
        run = run.answer({run.prompts[0].key: True})
    assert len(traces) == (2 if name == "parent" else 3)
    paid = round(len(priced.calls) * CENT, 10)
    assert nika_nb.ledger(run).spent.usd == paid
    last = nika_nb.replay(run)[-1]
    assert (last.spent_usd, last.unpriced > 0) == (paid, bool(house.calls))
    assert sum(told(path)[0] for path in traces) == pytest.approx(paid)
    for path in traces:
        for number in range(2, len(lines := path.read_bytes().splitlines(keepends=True)), 2):
            cut = path.with_name("2020-01-01T00-00-00Z-0000.ndjson")
            cut.write_bytes(b"".join(lines[:number]))
            assert nika_nb.replay(cut)[-1].board.cost_usd == told(cut)[0], (path.name, number)


def test_what_a_called_workflow_recalls_is_saved(folder: Path, priced: Priced) -> None:
    """Also where the call runs for another task of it, in an item as well."""
    below = "nika: below\nmodel: mock/echo\ninputs: { n: { type: string, required: true } }\ntasks:\n"
    below += '  kept: { infer: { prompt: "kept" } }\n  new: { infer: { prompt: "${{ inputs.n }}" } }\n'
    (folder / "below.nika.yaml").write_text(below, encoding="utf-8")
    text = "nika: above\ntasks:\n"
    text += '  call: { invoke: { workflow: ./below.nika.yaml, args: { n: "one" } } }\n'
    text += "  calls:\n    for_each: { items: [1, 2] }\n"
    text += '    invoke: { workflow: ./below.nika.yaml, args: { n: "${{ index }} one" } }\n'
    first = nika_nb.run(text)
    again = nika_nb.run(text.replace("one", "two"), resume=first.trace)
    assert told(Path(str(again.trace)))[0] == 3 * CENT
    assert again.board.saved[0] == 3 * CENT


def test_an_answered_run_says_what_it_has_cost_since_it_began(folder: Path, priced: Priced) -> None:
    """Its cap counts that, so a reader has to see it; without a cap the panel tells its own invocation."""
    text = """\
nika: capped
model: mock/echo
permits: { tools: ["nika:prompt"] }
tasks:
  a: { infer: { prompt: "a" } }
  ask: { after: { a: success }, invoke: { tool: "nika:prompt", args: { message: "?" } } }
  b:
    with: { go: "${{ tasks.ask.output }}" }
    when: ${{ with.go == true }}
    infer: { prompt: "b" }
"""
    run = nika_nb.run(text, max_cost_usd=1).answer({"ask": True})
    assert "· $0.01 · $0.02 since the run began ·" in repr(run)
    assert "$0.02 since the run began" in run._repr_mimebundle_()["text/html"]
    assert "since" not in repr(nika_nb.run(text).answer({"ask": True}))
