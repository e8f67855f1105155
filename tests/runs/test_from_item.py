"""`--from rows[3]`: one item of a fan-out is rolled again, its neighbours are not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import nika_nb
from nika_nb.errors import UsageError
from tests.doors import Terminal, frames, hits, marks, newest, of, program, ran, reasons

TEXT = """nika: rolls
permits: { exec: ["./say"], tools: ["nika:prompt"] }
tasks:
  before: { exec: { command: ["./say", "before"] } }
  rows:
    after: { before: success }
    for_each: { items: ["x", "y", "z"] }
    exec: { command: ["./say", "${{ item }}"] }
  behind:
    with: { v: "${{ tasks.rows.output }}" }
    exec: { command: ["./say", "behind"] }
  beside: { exec: { command: ["./say", "beside"] } }
outputs: { rows: "${{ tasks.rows.output }}" }
"""


@pytest.fixture
def flow(folder: Path) -> Path:
    program(folder, "say", 'echo "$1" >> marks; echo "$1"')
    path = folder / "flow.nika.yaml"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_exactly_that_item_and_what_is_behind_it_runs(flow: Path, terminal: Terminal) -> None:
    """The other items are hits of their own; what lies before or beside is not touched."""
    terminal("run", flow)
    before = marks(flow.parent / "marks")
    rolled = terminal("run", flow, "--resume", "--from", "rows[1]")
    assert rolled.code == 0
    assert rolled.outputs == {"rows": ["x", "y", "z"]}
    assert marks(flow.parent / "marks") - before == {"y": 1, "behind": 1}
    path = newest(flow.parent)
    assert hits(path) == {"before", "beside"}
    assert ran(path) == {"rows", "behind"}
    assert {frame["item"] for frame in of(path, "nb_item_completed") if "matched" in frame} == {0, 2}
    assert {task: reason for task, (reason, *_) in reasons(path).items()} == {
        "rows": "forced",
        "behind": "forced",
    }
    assert json.loads(frames(path)[0]["forced"]) == ["behind", "rows[1]"]
    assert "forced by --from rows[1]" in rolled.err


def test_a_roll_can_be_rolled_again_from_its_own_trace(flow: Path) -> None:
    """Recalled items are journaled one by one, so the next roll finds them."""
    run = nika_nb.run(flow)
    for item, word in ((0, "x"), (2, "z")):
        before = marks(flow.parent / "marks")
        run = nika_nb.run(flow, resume=run.trace, from_=f"rows[{item}]")
        assert marks(flow.parent / "marks") - before == {word: 1, "behind": 1}


def test_a_roll_that_broke_off_is_still_a_roll(flow: Path) -> None:
    """Killed before it could: the old result of that item does not come back."""
    first = nika_nb.run(flow)
    rolled = Path(str(nika_nb.run(flow, resume=first.trace, from_="rows[1]").trace))
    broken = rolled.with_name("broken.ndjson")
    broken.write_bytes(b"".join(rolled.read_bytes().splitlines(keepends=True)[:3]))
    before = marks(flow.parent / "marks")
    nika_nb.run(flow, resume=broken)
    assert marks(flow.parent / "marks") - before == {"y": 1, "behind": 1}


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("rows[3]", "tells of 3 items of `rows`, the last one is rows[2]"),
        ("before[0]", '`before` has no items, it is no `for_each`: from_="before"'),
        ("rowz[0]", "unknown task, did you mean `rows`?"),
        ("rows[-1]", "unknown task"),
        ("rows[]", "unknown task"),
        ("rows[1", "unknown task"),
    ],
)
def test_an_item_that_is_none_is_refused_and_nothing_is_held(flow: Path, key: str, said: str) -> None:
    """What is wrong and what there is; nothing runs, and the trace is free for the next."""
    first = nika_nb.run(flow)
    before = marks(flow.parent / "marks")
    with pytest.raises(UsageError, match="from_=") as refused:
        nika_nb.run(flow, resume=first.trace, from_=key)
    assert said in str(refused.value)
    assert marks(flow.parent / "marks") == before
    assert nika_nb.run(flow, resume=first.trace).state == "completed"


def test_an_item_of_a_fan_out_that_never_ran_is_no_mistake(flow: Path) -> None:
    """The trace knows no item of it: all of them run, the one that is meant among them."""
    flow.write_text(TEXT.replace('"before"] }', '"before", "x"] }'), encoding="utf-8")
    first = Path(str(nika_nb.run(flow).trace))
    cut = first.with_name("cut.ndjson")
    lines = first.read_bytes().splitlines(keepends=True)
    cut.write_bytes(b"".join(line for at, line in enumerate(lines) if at < 2))
    assert nika_nb.run(flow, resume=cut, from_="rows[9]").state == "completed"


ASKS = """nika: asks
permits: { exec: ["./say"], tools: ["nika:prompt"] }
tasks:
  ask:
    for_each: { items: ["a", "b"], max_parallel: 1 }
    invoke: { tool: "nika:prompt", args: { message: "Take ${{ item }}?" } }
"""


def test_a_decided_item_asks_again(folder: Path) -> None:
    """Rolled again, a question is open anew; the neighbour's answer stays."""
    run = nika_nb.run(ASKS)
    while run.state == "paused":
        run.answer({prompt.key: True for prompt in run.prompts})
    again = nika_nb.run(ASKS, resume=run.trace, from_="ask[1]")
    assert [prompt.key for prompt in again.prompts] == ["ask[1]"]
    rolled = nika_nb.run(ASKS, resume=run.trace, from_="ask[1]", answer={"ask[1]": "no"})
    assert rolled.tasks["ask"].output == [True, False]
