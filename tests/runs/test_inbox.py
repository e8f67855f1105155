"""What waits in a folder and below it."""

from __future__ import annotations

from pathlib import Path

import pytest

import nika_nb
from nika_nb.runs import below
from nika_nb.runs.below import projects
from nika_nb.runs.inbox import inbox

ASK = """nika: NAME
tasks:
  ask: { invoke: { tool: "nika:prompt", args: { message: "Go on?" } } }
"""


def asking(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> nika_nb.Run:
    """A paused run of a project of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    with monkeypatch.context() as moved:
        moved.chdir(folder)
        return nika_nb.run(ASK.replace("NAME", name))


def test_projects_below_are_asked_as_well(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those first that asked last; each says where it lies."""
    asking(folder, "here", monkeypatch)
    asking(folder / "a b" / "deep", "below", monkeypatch)
    answered = asking(folder / "c", "answered", monkeypatch)
    answered.answer("yes")
    found = inbox(folder)
    assert [(one.summary.workflow, one.where) for one in found.waiting] == [
        ("below", "a b/deep"),
        ("here", ""),
    ]
    assert found.waiting[0].heading.startswith("below · asked 20")
    assert found.waiting[0].heading.endswith(" UTC · in a b/deep")
    assert nika_nb.attach(found.waiting[0].path).prompts[0].message == "Go on?"


def test_what_is_not_a_persons_own_is_passed_over(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hidden folders, installed packages, environments, links, and what lies too deep."""
    for name in (".hidden", "node_modules", "env/lib", "1/2/3/4/5/6"):
        asking(folder / name, "x", monkeypatch)
    (folder / "env" / "pyvenv.cfg").touch()
    asking(folder.parent / "elsewhere", "x", monkeypatch)
    (folder / "link").symlink_to(folder.parent / "elsewhere")
    assert inbox(folder).waiting == ()
    asking(folder / "1/2/3/4/5", "x", monkeypatch)
    assert len(inbox(folder).waiting) == 1


def test_too_many_folders_are_not_all_looked_into(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says so, and the nearest ones come first."""
    for name in ("a", "b", "c/d"):
        (folder / name / ".nika" / "traces").mkdir(parents=True)
    assert projects(folder).roots == (folder / "a", folder / "b", folder / "c/d")
    assert not projects(folder).cut
    monkeypatch.setattr(below, "MOST", 3)
    assert projects(folder).roots == (folder / "a", folder / "b")
    assert projects(folder).cut


def test_a_blocked_run_says_that_something_was_missing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever looks into the inbox knows before clicking."""
    program = folder / "say"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    text = """nika: x
permits: {exec: ["./say"]}
tasks:
  ask: { invoke: { tool: "nika:prompt", args: { message: "Go on?" } } }
  say: { with: {go: "${{ tasks.ask.output }}"}, when: "${{ with.go == true }}", exec: {command: ["./say"]} }
"""
    run = nika_nb.run(text)
    program.unlink()
    with pytest.raises(nika_nb.NikaError):
        run.answer("yes")
    (one,) = inbox(folder).waiting
    assert one.heading.endswith(" · blocked: 1 missing when it was answered last")
