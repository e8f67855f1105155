"""What an ordinary run will miss is told before it starts, and stops nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

import nika_nb
from nika_nb.runs.lack import Lacking
from tests.doors import Terminal

LATE = """nika: late
permits: { exec: ["./say", "shazam"], env: [] }
secrets: { key: { source: env, key: NO_SUCH_KEY } }
inputs: { go: { type: bool, default: true } }
tasks:
  first: { exec: { command: ["./say", "one"] } }
  last: { after: { first: success }, exec: { command: ["shazam"] } }
"""
PROGRAM = (
    "missing: `last`: the program `shazam` is not on the PATH; install it, or put its folder on the PATH"
)


def missing(notices: object) -> list[str]:
    assert isinstance(notices, (list, tuple))
    return [notice for notice in notices if notice.startswith("missing: ")]


def test_a_program_that_is_not_there_is_named_with_its_task(say: Path) -> None:
    """By the forecast and by the run, which begins all the same."""
    assert missing(nika_nb.plan_resume(LATE, None).notices) == [PROGRAM]
    run = nika_nb.run(LATE)
    assert missing(run.notices) == [PROGRAM]
    assert run.tasks["first"].state == "success"


def test_a_secret_that_is_not_there_is_named(say: Path) -> None:
    """With the line that sets it."""
    reading = LATE.replace('"one"', '"${{ secrets.key }}"')
    reading = reading.replace("NO_SUCH_KEY }", "NO_SUCH_KEY, egress: [{ to: exec }] }")
    told = missing(nika_nb.plan_resume(reading, None).notices)
    assert any("`first`" in line and "NO_SUCH_KEY is not set" in line and "export" in line for line in told)
    assert PROGRAM in told


def test_what_is_recorded_misses_nothing(say: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what may run is looked at."""
    (say / "bin").mkdir()
    (say / "bin/shazam").write_text("#!/bin/sh\n")
    (say / "bin/shazam").chmod(0o755)
    with monkeypatch.context() as within:
        within.setenv("PATH", f"{say / 'bin'}:/bin:/usr/bin")
        assert nika_nb.run(LATE).state == "completed"
    assert missing(nika_nb.run(LATE, resume=True).notices) == []
    assert missing(nika_nb.run(LATE, resume=True, from_="last").notices) == [PROGRAM]


def test_a_task_that_says_what_becomes_of_it_misses_nothing(say: Path) -> None:
    """A failure that is handled is no surprise."""
    handled = LATE.replace("after: { first: success },", "on_error: { skip: true },")
    assert missing(nika_nb.run(handled).notices) == []


def test_many_are_counted(say: Path) -> None:
    """The first five are named."""
    tasks = "".join(f'  t{n}: {{ exec: {{ command: ["shazam"] }} }}\n' for n in range(8))
    told = missing(nika_nb.plan_resume(LATE.partition("  first:")[0] + tasks, None).notices)
    assert len(told) == 6
    assert told[-1] == "missing: 3 more"


def test_a_terminal_is_told_before_the_run(terminal: Terminal, say: Path) -> None:
    """In the same words as a caller from Python."""
    (say / "late.nika.yaml").write_text(LATE)
    ended = terminal("run", "late.nika.yaml")
    assert f"nika-nb: {PROGRAM}" in ended.err


def test_a_builtin_of_the_language_is_not_taken_for_another(say: Path) -> None:
    """What is not part of this version is named as that; a guess would send its reader elsewhere."""
    with pytest.raises(Lacking) as refused:
        nika_nb.run('nika: ids\ntasks: { id: { invoke: { tool: "nika:uuid" } } }\n')
    assert "the tool `nika:uuid` is not part of this version" in str(refused.value)
    assert "did you mean" not in str(refused.value)
