"""Exactly one resume of a run wins, in whatever processes and threads; the others are told who and when."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import nika_nb
from nika_nb import runs
from nika_nb.errors import NikaError, ResumeRefused
from nika_nb.runs.answered import AlreadyAnswered
from tests.doors import (
    PATIENCE,
    ROOT,
    Terminal,
    alive,
    environment,
    frames,
    launch,
    newest,
    of,
    program,
    started,
    wait_for,
)
from tests.durable.project import ASK, GATE, SLOW, Project


@pytest.fixture
def slow(here: Project) -> Project:
    """With a program that works until a file `go` is there."""
    program(here.root, "slow", "echo slow >> marks\nwhile ! test -e go; do sleep 0.02; done\nprintf done")
    return here


def raced(here: Project, *how: str) -> list[dict[str, Any]]:
    """The rounds of `tests.durable.racing`, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.durable.racing", *how],
        cwd=here.root,
        env=environment(PYTHONPATH=str(ROOT), NIKA_TRACE_KEEP="1000"),
        capture_output=True,
        text=True,
        timeout=280,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_8_processes_resume_one_run_100_times_and_exactly_one_wins_each_time(here: Project) -> None:
    """The others learn which process was at it, or when and how it was answered; one file more, whole."""
    rounds = raced(here, "100", "8")
    assert len(rounds) == 100
    for told in (one["told"] for one in rounds):
        (winner,) = [racer for racer in told if racer["won"]]
        assert winner["status"] == "completed"
        for loser in (racer for racer in told if not racer["won"]):
            assert re.search(
                rf"(by|in) process {winner['pid']}:|`ask` (was already answered )?on .* UTC from Python",
                loser["said"],
            ), loser
    for one in rounds:
        assert [c.reason for c in runs.checkpoints(one["run"])] == ["interrupted", "completed"]
    assert len(here.traces) == 200


def test_of_runs_that_took_up_one_pause_exactly_one_gets_its_answer(here: Project) -> None:
    """Also where each is answered at the same moment, in processes of their own; nothing is left behind."""
    rounds = [one["told"] for one in raced(here, "20", "6", "2")]
    assert [sum(racer["won"] for racer in told) for told in rounds] == [1] * 20, rounds
    refused = [racer for told in rounds for racer in told if not racer["won"]]
    assert {racer["kind"] for racer in refused} <= {"AlreadyAnswered", "ResumeRefused", "NotPaused"}
    assert [path.name for path in (here.root / ".nika").iterdir()] == ["traces"]


def test_threads_of_one_process_are_kept_apart_as_well(here: Project) -> None:
    """Eight at once; the losers hear that a thread of their own process was first."""
    for _ in range(5):
        run_id = here.started(ASK).run_id
        ready, told = threading.Barrier(8), list[Any]()

        def resume(run_id: str = run_id, ready: threading.Barrier = ready, told: list[Any] = told) -> None:
            ready.wait()
            try:
                told.append(runs.resume_run(run_id, "yes"))
            except NikaError as error:
                told.append(str(error))

        threads = [threading.Thread(target=resume) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        won = [one for one in told if not isinstance(one, str)]
        assert (len(told), len(won)) == (8, 1)
        for said in (one for one in told if isinstance(one, str)):
            assert "another thread of this process" in said or "was already answered" in said
        assert len(runs.checkpoints(run_id)) == 2


def test_the_loser_is_told_who_while_the_winner_works(slow: Project) -> None:
    """By its process, in every door; and nothing was consumed by the second answer."""
    run_id = slow.started(SLOW).run_id
    paused = slow.traces[0]
    winner = launch("runs", "resume", run_id, "yes", cwd=slow.root)
    try:
        wait_for(started(slow.root, "slow"), "the slow program")
        with pytest.raises(NikaError, match=f"{run_id} is at work in process {winner.pid}"):
            runs.resume_run(run_id, "no")
        with pytest.raises(ResumeRefused, match=f"at work in process {winner.pid}"):
            nika_nb.attach(paused).answer("no")
    finally:
        (slow.root / "go").touch()
        assert winner.wait(PATIENCE) == 0
    assert runs.inspect_run(run_id).output == {"said": "done"}


def test_no_lock_survives_its_holder(slow: Project) -> None:
    """The winner is killed in the middle: the run has broken off, and what it had settled is picked up."""
    run_id = slow.started(SLOW).run_id
    winner = launch("runs", "resume", run_id, "yes", cwd=slow.root)
    wait_for(started(slow.root, "slow"), "the slow program")
    os.kill(winner.pid, signal.SIGKILL)
    winner.wait(PATIENCE)
    (unfinished,) = runs.list_runs().unfinished
    assert (unfinished.summary.run_id, unfinished.state) == (run_id, "incomplete")
    assert runs.inspect_run(run_id).in_flight == ("slow",)
    assert len(runs.checkpoints(run_id)) == 1
    crash = newest(slow.root)
    with pytest.raises(NikaError, match=f'broke off without an end: .* `resume="{crash.name}"`'):
        runs.resume_run(run_id, "yes")
    with pytest.raises(AlreadyAnswered, match=f"went on in {crash.name} and broke off there"):
        nika_nb.attach(slow.traces[0]).answer("yes")
    (slow.root / "go").touch()
    resumed = nika_nb.run(SLOW, resume=crash)
    assert resumed.outputs == {"said": "done"}
    assert of(newest(slow.root), "task_cache_hit")[0]["task"] == "ask"


def test_never_two_writers_in_one_file(slow: Project) -> None:
    """Each invocation has a file of its own: no journal holds lines of two."""
    run_id = slow.started(SLOW).run_id
    winner = launch("runs", "resume", run_id, "yes", cwd=slow.root)
    wait_for(started(slow.root, "slow"), "the slow program")
    for _ in range(3):
        with pytest.raises(NikaError):
            runs.resume_run(run_id, "no")
    (slow.root / "go").touch()
    assert winner.wait(PATIENCE) == 0
    for path in slow.traces:
        assert len({frame["run"] for frame in frames(path)}) == 1


def test_an_already_answered_prompt_says_when_and_by_which_door(here: Project, terminal: Terminal) -> None:
    """Whichever door is tried: the run's id, its trace, the edit door; nothing is consumed."""
    run_id = here.started(ASK).run_id
    paused = here.traces[0]
    assert terminal("answer", paused, "ask=yes").code == 0
    when = time.strftime("%Y-%m-%d", time.gmtime())
    before = here.bytes()
    (here.root / "w.nika.yaml").write_text(ASK, encoding="utf-8")
    for words in (
        ("answer", paused, "ask=no"),
        ("runs", "resume", run_id, "ask=no"),
        ("run", "w.nika.yaml", "--resume", paused, "--answer", "ask=no"),
    ):
        refused = terminal(*words)
        assert refused.code == 3, refused.err
        assert f"`ask` on {when}" in refused.err or f"`ask` was already answered on {when}" in refused.err
        assert "with nika-nb" in refused.err
    for again in (lambda: nika_nb.attach(paused).answer("no"), lambda: runs.resume_run(run_id, "no")):
        with pytest.raises(NikaError, match="with nika-nb"):
            again()
    assert here.bytes() == before


def test_an_old_answer_in_a_run_that_asks_something_else_is_told_as_well(here: Project) -> None:
    """`ask` has its answer; what waits is `name`."""
    run_id = here.started(GATE).run_id
    runs.resume_run(run_id, {"ask": "yes"})
    with pytest.raises(AlreadyAnswered, match=r"`ask` was already answered on .* from Python"):
        runs.resume_run(run_id, {"ask": "no"})
    with pytest.raises(AlreadyAnswered, match="waits for another answer now"):
        nika_nb.attach(here.traces[0]).answer(ask="no")


def test_a_trace_seen_from_another_folder_is_answered_once(here: Project, tmp_path_factory: Any) -> None:
    """Its continuation lies beside it, so that the next one who asks finds it there."""
    here.started(ASK)
    paused = here.traces[0]
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    os.chdir(elsewhere)
    assert nika_nb.attach(paused).answer("yes").state == "completed"
    assert not (elsewhere / ".nika").exists()
    with pytest.raises(AlreadyAnswered):
        nika_nb.attach(paused).answer("yes")


def test_asking_again_is_a_run_of_its_own(here: Project) -> None:
    """--from the question reopens it: another id, which names its parent."""
    run_id = here.started(ASK).run_id
    runs.resume_run(run_id, "yes")
    again = nika_nb.run(ASK, resume=here.traces[0], from_="ask", answer={"ask": "no"})
    assert again.outputs == {"go": False}
    assert again.id != run_id
    assert frames(newest(here.root))[0]["parent_run"] == run_id
    assert runs.inspect_run(run_id).output == {"go": True}


def test_a_killed_resume_leaves_no_child(slow: Project) -> None:
    """What it had started ends with it."""
    run_id = slow.started(SLOW).run_id
    winner = launch("runs", "resume", run_id, "yes", cwd=slow.root)
    wait_for(started(slow.root, "slow"), "the slow program")
    pid = of(newest(slow.root), "verb_invoked", task="slow")[0]["pgid"]
    os.kill(winner.pid, signal.SIGKILL)
    winner.wait(PATIENCE)
    wait_for(lambda: not alive(pid), "the end of the slow program")


def test_a_file_that_is_no_journal_yet_answers_nothing(here: Project) -> None:
    """A continuation that died before its first line has consumed nothing."""
    run_id = here.started(ASK).run_id
    for name, content in (("empty", b""), ("torn", b'{"chain":"')):
        Path(f".nika/traces/2099-01-01T00-00-00Z-{name}.ndjson").write_bytes(content)
    assert runs.resume_run(run_id, "yes").status == "completed"
