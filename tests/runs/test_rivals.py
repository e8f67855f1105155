"""A bare resume takes the newest trace, and names an older one that would spare more."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import nika_nb
from nika_nb.runs import resumption
from tests.doors import Terminal

CHAIN = """nika: chain
permits: { exec: ["./say", "./missing"] }
inputs: { f: { type: string, default: good } }
tasks:
  check: { exec: { command: ["./say", "${{ inputs.f }}"] }, returns: { enum: [good, fine] } }
  one: { with: { c: "${{ tasks.check.output }}" }, exec: { command: ["./say", "${{ with.c }}"] } }
  two: { after: { one: success }, exec: { command: ["./say", "two"] } }
"""
FANNED = (
    CHAIN
    + """  each:
    for_each: { items: [a, b, c, d] }
    exec: { command: ["./say", "${{ item }}"] }
"""
)


def name(run: nika_nb.Run) -> str:
    assert run.trace is not None
    return run.trace.name


def naming(run: nika_nb.Run) -> list[str]:
    return [notice for notice in run.notices if " would skip " in notice]


def test_a_newest_trace_that_holds_nothing_lets_an_older_one_be_named(say: Path) -> None:
    """A slip in between: the paid work lies in the trace before."""
    paid = nika_nb.run(CHAIN)
    slip = nika_nb.run(CHAIN, vars={"f": "bad"})
    assert slip.state == "failed"
    ahead = nika_nb.plan_resume(CHAIN, vars={"f": "good"})
    again = nika_nb.run(CHAIN, vars={"f": "good"}, resume=True)
    assert f"resuming from {name(slip)}" in again.notices
    (told,) = naming(again)
    took = r"( \([^)]+\))?"  # it may have been quicker than a millisecond
    assert re.fullmatch(rf'{re.escape(name(paid))} would skip 3 tasks{took}: resume="{name(paid)}"', told)
    assert told in ahead.notices
    assert again.board.hits == 0


def test_the_line_that_it_names_does_what_it_says(say: Path) -> None:
    """As many tasks are skipped as it promised."""
    paid = nika_nb.run(CHAIN)
    nika_nb.run(CHAIN, vars={"f": "bad"})
    assert nika_nb.run(CHAIN, vars={"f": "good"}, resume=name(paid)).board.hits == 3


def test_a_terminal_is_told_in_its_own_words(terminal: Terminal, say: Path) -> None:
    """With the option of a line instead of an argument."""
    (say / "chain.nika.yaml").write_text(CHAIN)
    terminal("run", "chain.nika.yaml")
    terminal("run", "chain.nika.yaml", "--var", "f=bad")
    ended = terminal("run", "chain.nika.yaml", "--resume", "--plan", "--var", "f=good")
    assert b" would skip 3 tasks" in ended.out
    assert b": --resume 20" in ended.out


@pytest.mark.parametrize("given", [{}, {"f": "fine"}])
def test_nothing_is_said_where_the_newest_spares_as_much(say: Path, given: dict[str, str]) -> None:
    """Whether all is skipped or the same part of it."""
    nika_nb.run(CHAIN)
    nika_nb.run(CHAIN)
    assert naming(nika_nb.run(CHAIN, vars=given, resume=True)) == []


def test_a_trace_that_is_named_by_hand_is_compared_with_none(say: Path) -> None:
    """Whoever names one has chosen."""
    nika_nb.run(CHAIN)
    slip = nika_nb.run(CHAIN, vars={"f": "bad"})
    assert naming(nika_nb.run(CHAIN, vars={"f": "good"}, resume=slip.trace)) == []


def test_a_fan_out_counts_by_its_items(say: Path) -> None:
    """Those that need not run again are told beside the tasks."""
    paid = nika_nb.run(FANNED)
    nika_nb.run(FANNED.replace("[a, b, c, d]", "[x, y]"))
    (told,) = naming(nika_nb.run(FANNED.replace("[a, b, c, d]", "[a, b, c, d, e]"), resume=True))
    assert told.startswith(f"{name(paid)} would skip 3 tasks and 4 items")


READING = """nika: reading
permits: { exec: ["./say"], fs: { read: ["./notes.md"] }, tools: ["nika:read"] }
inputs: { f: { type: string, default: good } }
tasks:
  notes: { invoke: { tool: "nika:read", args: { path: ./notes.md } } }
  check: { exec: { command: ["./say", "${{ inputs.f }}"] }, returns: { enum: [good] } }
"""


@pytest.mark.parametrize("more", [False, True])
def test_a_record_of_a_file_that_changed_since_spares_nothing(say: Path, more: bool) -> None:
    """A trace is not named for it alone; where it spares other tasks too, it says what changed."""
    text = READING + ('  other: { exec: { command: ["./say", "other"] } }\n' if more else "")
    (say / "notes.md").write_text("one")
    paid = nika_nb.run(text.replace("enum: [good]", "enum: [good, bad]"), vars={"f": "bad"})
    (say / "notes.md").write_text("two")
    slip = READING.replace("./say", "./missing").replace("path: ./notes.md", "path: ./gone.md")
    nika_nb.run(slip.replace('read: ["./notes.md"]', 'read: ["./*.md"]'))
    told = naming(nika_nb.run(text, resume=True))
    saying = f"{name(paid)} would skip 2 tasks, though notes.md changed since: resume="
    assert [re.sub(r" \([^)]+\)", "", one).startswith(saying) for one in told] == ([True] if more else [])


def test_a_trace_that_would_be_refused_is_not_named(say: Path) -> None:
    """A broken chain spares nobody anything."""
    paid = nika_nb.run(CHAIN)
    nika_nb.run(CHAIN, vars={"f": "bad"})
    assert paid.trace is not None
    paid.trace.write_bytes(paid.trace.read_bytes().replace(b"two", b"owt"))
    assert naming(nika_nb.run(CHAIN, vars={"f": "good"}, resume=True)) == []


def test_only_a_few_are_opened(say: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that would spare most lies too far back."""
    nika_nb.run(CHAIN)
    for _ in range(5):
        nika_nb.run(CHAIN, vars={"f": "bad"})
    opened: list[Path] = []
    real = nika_nb.runs.rivals._spared
    monkeypatch.setattr("nika_nb.runs.rivals._spared", lambda *given: opened.append(given[2]) or real(*given))
    assert naming(nika_nb.run(CHAIN, vars={"f": "good"}, resume=True)) == []
    assert len(opened) == 4


def test_the_newest_trace_is_judged_once(say: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The look for a better one goes on from what the resume has read and holds."""
    judged: list[str] = []
    real = resumption.judge

    def judge(path: Path, **more: Any) -> Any:
        judged.append(path.name)
        return real(path, **more)

    paid = nika_nb.run(CHAIN)
    slip = nika_nb.run(CHAIN, vars={"f": "bad"})
    monkeypatch.setattr(resumption, "judge", judge)
    again = nika_nb.run(CHAIN, vars={"f": "good"}, resume=True)
    assert judged == [name(slip), name(paid)]
    assert again.notices.index(f"resuming from {name(slip)}") < again.notices.index(naming(again)[0])
