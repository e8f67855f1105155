"""The resume story: a real run killed with SIGKILL in the middle of a pack, picked up from its journal."""

from __future__ import annotations

import os
import re
import subprocess
import time
from pathlib import Path

import pytest

import nika_nb
from tests.doors import alive, hits, kinds, nika, of, ran, reasons, traces, wait_for
from tests.story.conftest import NIGHTLY, Crashed, Night

EDITED = NIGHTLY.replace('"256"', '"512"')


def uninterrupted(night: Night, text: str) -> bytes:
    """What a run that nobody interrupts prints."""
    night.workflow.write_text(text, encoding="utf-8")
    done = nika("run", night.workflow.name, cwd=night.folder, PATH=night.path)
    assert done.code == 0, done.err
    return done.out


def rows(console: str) -> list[str]:
    """The console without what differs from run to run: durations become `0ms`."""
    plain = re.sub(r"\b\d+ms\b|\b\d+\.\d+s\b", "0ms", console)
    return [re.sub(r"0ms ─+", "0ms ─", line) for line in plain.splitlines()]


def test_what_the_crash_left_in_the_journal(crashed: Crashed) -> None:
    """1 workflow_started, 4 task_scheduled, 2 task_started, 2 task_completed, and other kinds beside them."""
    found = kinds(crashed.trace)
    wanted = ("workflow_started", "task_scheduled", "task_started", "task_completed")
    assert {kind: found[kind] for kind in wanted} == dict(zip(wanted, (1, 4, 2, 2), strict=True))
    assert {f["task"] for f in of(crashed.trace, "task_completed")} == {"hash_notes", "count_notes"}
    assert not [kind for kind in found if kind.startswith("workflow_") and kind != "workflow_started"]
    assert crashed.night.ran == {"shasum": 1, "wc": 1, "gzip": 1}


def test_the_journal_can_be_read_with_grep(crashed: Crashed) -> None:
    """The line of the story itself counts the kinds: the file is plain text, a line an event."""
    line = f'grep -o \'"kind":"[a-z_]*"\' {crashed.trace} | sort | uniq -c'
    said = subprocess.run(line, shell=True, capture_output=True, text=True, check=True).stdout
    counts = {kind: int(count) for count, kind in re.findall(r'(\d+) "kind":"([a-z_]+)"', said)}
    assert (counts["task_scheduled"], counts["task_started"], counts["task_completed"]) == (4, 2, 2)


def test_what_the_console_had_shown(crashed: Crashed) -> None:
    """The header, the boundary, a row per settled task, and nothing of the pack."""
    shown = rows(crashed.console)
    assert shown[0] == "  🦋 nika · nightly-archive · 4 tasks"
    assert shown[1].startswith("     permits ✓ declared boundary")
    settled = {line.removesuffix(" ∥") for line in shown[2:] if line}
    assert settled == {"  ✔  hash_notes   exec · shasum  0ms", "  ✔  count_notes  exec · wc  0ms"}


def test_the_pack_died_with_its_engine(crashed: Crashed) -> None:
    """No gzip works on, and its half archive is not written on by anybody."""
    archive = crashed.night.folder / "assets.bin.gz"
    pids = crashed.night.gzips[:1]
    wait_for(lambda: not any(map(alive, pids)), "the end of gzip")
    before = archive.stat() if archive.exists() else None
    time.sleep(0.3)
    after = archive.stat() if archive.exists() else None
    assert (before and (before.st_size, before.st_mtime_ns)) == (after and (after.st_size, after.st_mtime_ns))
    whole = subprocess.run(["gzip", "-t", str(archive)], capture_output=True, check=False)
    assert whole.returncode != 0, "the pack was already done: it was not killed in flight"


def test_the_crashed_journal_is_incomplete_and_intact(crashed: Crashed) -> None:
    """What the crash left is no tampering: the chain holds, the end is missing."""
    verdict = nika("trace", "verify", crashed.trace, cwd=crashed.night.folder)
    assert (verdict.code, verdict.out.split()[0]) == (0, b"INCOMPLETE")


def test_resume_runs_the_remainder_and_only_that(crashed: Crashed, quiet_night: Night) -> None:
    """Two tasks hit, loudly; the pack and what follows run; the outputs are those of an undisturbed run."""
    night = crashed.night
    night.workflow.write_text(NIGHTLY, encoding="utf-8")
    before = night.ran
    crash = crashed.trace.read_bytes()
    resumed = nika("run", night.workflow.name, "--resume", crashed.trace, cwd=night.folder, PATH=night.path)
    assert resumed.code == 0, resumed.err
    shown = rows(resumed.err)
    assert "  ↷  hash_notes   cache hit (resume)" in shown
    assert "  ↷  count_notes  cache hit (resume)" in shown
    assert "  ✔  pack_assets  exec · gzip  0ms" in shown
    assert "  ✔  manifest     exec · echo  0ms" in shown
    assert "  ── 4/4 done · $0.00 · elapsed 0ms ─" in shown
    assert "  resumed · 2 skipped (cache hit) · 2 ran live" in shown
    after = {name: count - before.get(name, 0) for name, count in night.ran.items()}
    assert after == {"shasum": 0, "wc": 0, "gzip": 1, "echo": 1}
    assert resumed.out == uninterrupted(quiet_night, NIGHTLY)
    assert crashed.trace.read_bytes() == crash, "the crashed journal is evidence: nothing is added to it"
    subprocess.run(["gzip", "-t", str(night.folder / "assets.bin.gz")], check=True)


def test_an_edited_task_runs_again_and_its_sibling_does_not(crashed: Crashed, quiet_night: Night) -> None:
    """256 → 512, resumed from the same crash: one hit, three live, each with its reason."""
    night = crashed.night
    night.workflow.write_text(EDITED, encoding="utf-8")
    before, known = night.ran, set(traces(night.folder))
    resumed = nika("run", night.workflow.name, "--resume", crashed.trace, cwd=night.folder, PATH=night.path)
    assert resumed.code == 0, resumed.err
    assert "  resumed · 1 skipped (cache hit) · 3 ran live" in resumed.err
    lines = resumed.err.partition("ran live\n")[2].splitlines()
    whys = [line.split(None, 1) for line in lines if not line.startswith("  saved ")][:3]  # 0ms saved nothing
    assert dict(whys) == {
        "hash_notes": "definition changed: exec.command",
        "pack_assets": "not recorded: was running",
        "manifest": "not recorded: never started",
    }
    (trace,) = set(traces(night.folder)) - known
    assert hits(trace) == {"count_notes"}
    assert ran(trace) == {"hash_notes", "pack_assets", "manifest"}
    assert reasons(trace)["hash_notes"] == ("definition", "exec.command")
    after = {name: count - before.get(name, 0) for name, count in night.ran.items()}
    assert {name: count for name, count in after.items() if count} == {"shasum": 1, "gzip": 1, "echo": 1}
    assert resumed.out == uninterrupted(quiet_night, EDITED)
    assert resumed.out != uninterrupted(quiet_night, NIGHTLY)


def test_the_same_from_python(crashed: Crashed, monkeypatch: pytest.MonkeyPatch, quiet_night: Night) -> None:
    """`nika_nb.run(…, resume=…)` tells the same story; a hit names the record it stands on."""
    monkeypatch.chdir(crashed.night.folder)
    monkeypatch.setenv("PATH", crashed.night.path)
    crashed.night.workflow.write_text(NIGHTLY, encoding="utf-8")
    run = nika_nb.run(crashed.night.workflow, resume=crashed.trace)
    assert run.state == "completed"
    assert {name: task.state for name, task in run.tasks.items()} == {
        "hash_notes": "cached", "count_notes": "cached", "pack_assets": "success", "manifest": "success",
    }  # fmt: skip
    recorded = {frame["task"]: frame["uuid"] for frame in of(crashed.trace, "task_completed")}
    for frame in of(Path(str(run.trace)), "task_cache_hit"):
        assert frame["matched"] == f'{{"trace":"{crashed.trace.name}","frame":"{recorded[frame["task"]]}"}}'
    assert "resumed · 2 skipped (cache hit) · 2 ran live" in repr(run)
    quiet = nika_nb.run(quiet_night.folder / _restored(quiet_night))
    assert run.outputs == quiet.outputs


def _restored(night: Night) -> str:
    night.workflow.write_text(NIGHTLY, encoding="utf-8")
    os.chdir(night.folder)
    return night.workflow.name


def test_the_pair_moves_to_another_folder(crashed: Crashed, quiet_night: Night, tmp_path: Path) -> None:
    """The plan and the journal are two files: elsewhere they know as well what is done."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    plan, journal = elsewhere / "night.nika.yaml", elsewhere / "journal.ndjson"
    plan.write_text(NIGHTLY, encoding="utf-8")
    journal.write_bytes(crashed.trace.read_bytes())
    (elsewhere / "assets.bin").write_bytes(b"little")
    resumed = nika("run", plan.name, "--resume", journal.name, cwd=elsewhere, PATH=crashed.night.path)
    assert resumed.code == 0, resumed.err
    assert "resumed · 2 skipped (cache hit) · 2 ran live" in resumed.err
    assert resumed.out == uninterrupted(quiet_night, NIGHTLY)
