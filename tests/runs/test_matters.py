"""What is open in a folder is told in lines, and what was left running is found and ended."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

import nika_nb
from nika_nb.runs import matters
from nika_nb.runs.matters import open_matters
from nika_nb.runs.orphans import sweep
from nika_nb.trace.folder import TraceFolder
from nika_nb.verbs.sweep import start_time
from tests.doors import Terminal, alive, launch, newest, rewritten, started, traces, wait_for

CHAIN = """\
nika: {name}
permits: {{exec: [echo, sleep, "false"]}}
tasks:
  one: {{exec: {{command: [echo, "1"]}}}}
  two: {{after: {{one: success}}, exec: {{command: [echo, "2"]}}}}
  three: {{after: {{two: success}}, exec: {{command: {last}}}}}
  four: {{after: {{three: success}}, exec: {{command: [echo, "4"]}}}}
"""
ASK = """\
nika: {name}
permits: {{tools: ["nika:prompt"]}}
tasks:
  ask: {{invoke: {{tool: "nika:prompt", args: {{message: "Go on?"}}}}}}
  also: {{invoke: {{tool: "nika:prompt", args: {{message: "And?"}}}}}}
"""


def lines(folder: Path) -> list[str]:
    return list(open_matters(TraceFolder(folder)))


def test_nothing_is_open_where_nothing_was_run(folder: Path) -> None:
    """No folder, no line; nor after a run that completed."""
    assert lines(folder) == []
    nika_nb.run(CHAIN.format(name="fine", last='[echo, "3"]'))
    assert lines(folder) == []


def test_a_run_that_failed_tells_how_far_it_came(folder: Path) -> None:
    """What a resume would skip stands in its journal; once it went on to the end, nothing is open."""
    nika_nb.run(CHAIN.format(name="nightly", last='["false"]'))
    assert lines(folder) == ["nightly failed at 2/4; `--resume` would skip 2"]
    nika_nb.run(CHAIN.format(name="nightly", last='[echo, "3"]'), resume=True)
    assert lines(folder) == []


def test_items_of_a_fan_out_that_broke_off_are_counted(folder: Path) -> None:
    """Its task had not settled, but most of its items had: a resume skips those."""
    fan = """
nika: fan
permits: { exec: ["test"] }
tasks:
  each:
    for_each: { items: ["a", "b", "", "c"], fail_fast: false }
    exec: { command: ["test", "${{ item }}"] }
"""
    assert nika_nb.run(fan).state == "failed"
    assert lines(folder) == ["fan failed at 0/1; `--resume` would skip 3 items of `each`"]
    plan = nika_nb.plan_resume(fan)
    assert "3 of 4 items recorded" in str(plan)


def test_a_resume_saves_what_was_spent(folder: Path) -> None:
    """Money is told where a recorded success had cost some."""
    nika_nb.run(CHAIN.format(name="nightly", last='["false"]'))

    def spends(shape: dict[str, object]) -> None:
        fields = shape["fields"]
        assert isinstance(fields, dict)
        if shape["kind"] == "task_completed" and fields["task"] == "one":
            fields["cost_usd"] = 0.31

    rewritten(newest(folder), spends, newest(folder).name)
    assert lines(folder) == ["nightly failed at 2/4; `--resume` would skip 2 and save $0.31"]


def test_open_questions_are_counted_over_all_runs(folder: Path) -> None:
    """Every prompt of every run that waits; answered ones wait no more."""
    first = nika_nb.run(ASK.format(name="one"), interactive=True)
    nika_nb.run(ASK.format(name="two"), interactive=True)
    assert lines(folder) == ["4 prompts wait: `%nika inbox`"]
    first.answer({"ask": "yes", "also": "no"})
    assert lines(folder) == ["2 prompts wait: `%nika inbox`"]


def test_a_run_at_work_is_named_with_its_process(folder: Path) -> None:
    """It stopped nowhere: it can be watched."""
    run = nika_nb.run(CHAIN.format(name="live", last='[sleep, "60"]'), background=True)
    try:
        wait_for(started(folder, "three"), "the third task at work")
        assert lines(folder) == [
            f"live is at work in process {os.getpid()}: `%nika attach {newest(folder).name}`"
        ]
    finally:
        run.cancel()
        run.wait()
    assert lines(folder) == ["live was cancelled at 2/4; `--resume` would skip 2"]


@pytest.fixture
def orphan(folder: Path) -> subprocess.Popen[bytes]:
    """A process of a killed engine, whose watcher was killed as well."""
    (folder / "w.nika.yaml").write_text(CHAIN.format(name="nightly", last='[sleep, "97"]'), encoding="utf-8")
    engine = launch("run", "w.nika.yaml", cwd=folder)
    wait_for(started(folder, "three"), "the third task at work")
    for watcher in _watchers_of(engine.pid):
        os.kill(watcher, signal.SIGKILL)
    os.kill(engine.pid, signal.SIGKILL)
    engine.wait()
    return engine


def _watchers_of(engine: int) -> list[int]:
    wanted = f"watcher.py\0{engine}\0".encode()
    found = [int(path.parent.name) for path in Path("/proc").glob("[0-9]*/cmdline") if _holds(path, wanted)]
    assert found
    return found


def _holds(path: Path, wanted: bytes) -> bool:
    try:
        return wanted in path.read_bytes()
    except OSError:
        return False


def _group(folder: Path) -> int:
    from tests.doors import of

    return int(of(newest(folder), "verb_invoked", task="three")[0]["pgid"])


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="the watcher is found in /proc")
def test_what_a_dead_run_left_is_told_and_ended(
    folder: Path, orphan: subprocess.Popen[bytes], terminal: Terminal
) -> None:
    """One line with the command that ends it; the command does, and only once."""
    group = _group(folder)
    assert alive(group)
    told = lines(folder)
    assert told == [
        "1 process of a dead run still runs (`three`): `%nika sweep` ends it",
        "nightly stopped at 2/4; `--resume` would skip 2",
    ]
    swept = terminal("trace", "sweep")
    assert f"`three` of nightly still ran (process group {group}) and was ended" in swept.out.decode()
    assert not alive(group)
    assert sweep(folder / ".nika" / "traces") == []
    assert terminal("trace", "sweep").out.decode().strip() == "no process of a dead run still runs"
    assert lines(folder) == told[1:]


def test_a_stranger_is_never_ended(folder: Path) -> None:
    """A process that only has the number of one that a journal knew is somebody else's."""
    other = subprocess.Popen(["sleep", "60"], start_new_session=True)
    try:
        nika_nb.run(CHAIN.format(name="nightly", last='["false"]'))

        def theirs(shape: dict[str, object]) -> bool:
            fields = shape["fields"]
            assert isinstance(fields, dict)
            if shape["kind"] == "verb_invoked" and fields["task"] == "three":
                fields |= {"pgid": other.pid, "started": start_time(other.pid) + "0"}
            return shape["kind"] not in ("task_failed", "task_cancelled", "workflow_failed")

        broken = rewritten(newest(folder), theirs, newest(folder).name)
        assert nika_nb.attach(broken).state == "incomplete"
        assert sweep(folder / ".nika" / "traces") == []
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_many_traces_are_told_in_few_lines(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each workflow by its newest run, five of them, then how many more; few files are read for it."""
    for number in range(8):
        nika_nb.run(CHAIN.format(name=f"w{number}", last='["false"]'), gc=False)
    one = traces(folder)[0]
    for number in range(300):
        (one.parent / f"2026-01-01T00-00-00Z-{number:04x}.ndjson").write_bytes(one.read_bytes())
    looked: list[Path] = []
    real = matters.read
    monkeypatch.setattr(matters, "read", lambda path: looked.append(path) or real(path))
    told = lines(folder)
    assert len(told) == 6
    assert told[-1] == "… and 3 runs more that stopped: `%nika runs`"
    assert len(looked) == 5
