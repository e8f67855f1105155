"""Files that changed behind a recalled success: told where the hit stands; nothing runs by itself."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

import nika_nb
from nika_nb.engine.memory import Hit
from nika_nb.engine.seen import Seen, changed_said, marks_of
from tests.doors import frames

READING = """nika: reading
permits:
  fs: { read: ["./data/*"], write: ["./data/log.txt"] }
  exec: ["./say", "cat", "sh"]
  tools: ["nika:read"]
tasks:
  read: { invoke: { tool: "nika:read", args: { path: ./data/a.txt } } }
  script: { exec: { command: ["sh", "clean.sh"] } }
  each:
    for_each: { items: ["data/a.txt", "data/b.txt"] }
    exec: { command: ["cat", "${{ item }}"] }
  log: { exec: { command: ["cat", "log.txt"], cwd: data } }
  write: { after: { log: success }, exec: { command: ["sh", "append.sh"] } }
"""


@pytest.fixture
def data(folder: Path) -> Path:
    (folder / "data").mkdir()
    for name in ("a", "b", "log"):
        (folder / f"data/{name}.txt").write_text(f"{name} as it was\n")
    (folder / "clean.sh").write_text("echo clean\n")
    (folder / "append.sh").write_text("echo more >> data/log.txt\n")
    return folder


def edit(path: Path, text: str) -> None:
    """An edit by hand, at this very moment: a file system's own clock may lag behind."""
    path.write_text(text)
    now = time.time_ns()
    os.utime(path, ns=(now, now))


def told(run: nika_nb.Run) -> dict[str, str]:
    return {row.id: row.since for row in run.board.tasks if row.since}


def test_an_edited_file_is_told_beside_the_hit_and_runs_nothing(data: Path) -> None:
    """In the row, the forecast, the repr of the run and in `why`, each with what runs the task again."""
    first = nika_nb.run(READING)
    edit(data / "data/a.txt", "edited\n")
    ahead = nika_nb.plan_resume(READING)
    again = nika_nb.run(READING, resume=True)
    said = "data/a.txt changed since; --from {} runs it again"
    assert told(again) == {name: said.format(name) for name in ("read", "each")}
    assert {row.state for row in again.board.tasks} == {"cached"}
    assert again.tasks["read"].output == first.tasks["read"].output
    assert {task.task for task in ahead.tasks if task.files_changed} == {"read", "each"}
    assert 'data/a.txt changed since; from_="read" runs it again' in repr(ahead)
    assert said.format("read") in repr(again)
    why = nika_nb.why(again)
    assert why["read"].files_changed == ("data/a.txt",)
    assert 'data/a.txt changed since; from_="each" runs it again' in repr(why)
    assert "nothing changed" not in why["read"].sentence


def test_it_is_told_until_the_task_has_run_again(data: Path) -> None:
    """A hit on a hit compares with the run that did the work."""
    nika_nb.run(READING)
    edit(data / "clean.sh", "echo cleaner\n")
    for _ in range(3):
        assert told(nika_nb.run(READING, resume=True)) == {
            "script": "clean.sh changed since; --from script runs it again"
        }
    assert nika_nb.run(READING, resume=True, from_="script").tasks["script"].output == "cleaner"
    assert told(nika_nb.run(READING, resume=True)) == {}


def test_what_the_run_itself_wrote_later_alarms_nobody(data: Path) -> None:
    """`log` read a file that `write` appended to, in the recorded run and in a resume."""
    nika_nb.run(READING)
    assert told(nika_nb.run(READING, resume=True)) == {}
    assert told(nika_nb.run(READING, resume=True, from_="write")) == {}
    assert told(nika_nb.run(READING, resume=True)) == {}
    edit(data / "data/log.txt", "by hand\n")
    assert set(told(nika_nb.run(READING, resume=True))) == {"log"}


def test_the_same_content_written_again_is_no_change(data: Path) -> None:
    """As a cell does that makes the files, or a clone of the whole folder."""
    nika_nb.run(READING)
    for path in (data / "data/a.txt", data / "clean.sh"):
        edit(path, path.read_text())
    assert told(nika_nb.run(READING, resume=True)) == {}


def test_a_file_that_is_not_there_is_not_spoken_of(data: Path) -> None:
    """It may have been a file that goes away each time."""
    nika_nb.run(READING)
    (data / "data/a.txt").unlink()
    assert told(nika_nb.run(READING, resume=True)) == {}


def test_a_words_file_outside_the_boundary_is_not_looked_at(data: Path) -> None:
    """A word of a command counts as a file only where `permits` lets it be read."""
    text = READING.replace('["./data/*"]', '["./data/a.txt"]')
    trace = nika_nb.run(text).trace
    assert trace is not None
    seen = [frame["files_seen"] for frame in frames(trace) if "files_seen" in frame]
    assert not any("b.txt" in names for names in seen)
    assert any("a.txt" in names for names in seen)


def test_a_called_workflow_reads_for_its_call(data: Path) -> None:
    """What its tasks read counts for the one task that called it."""
    (data / "child.nika.yaml").write_text(READING)
    call = READING.partition("tasks:")[0].replace("reading", "calling")
    text = f"{call}tasks:\n  call: {{ invoke: {{ workflow: ./child.nika.yaml }} }}\n"
    nika_nb.run(text)
    edit(data / "clean.sh", "echo cleaner\n")
    assert told(nika_nb.run(text, resume=True)) == {
        "call": "clean.sh changed since; --from call runs it again"
    }


def test_under_a_virtual_clock_nothing_is_said_and_nothing_is_written(data: Path) -> None:
    """There is no moment to compare with, and its journal has to be the same twice."""
    for spec in ("{ clock: virtual }", "{ entropy: { seeded: 1 }, clock: virtual }"):
        text = READING.replace("permits:", f"run: {spec}\npermits:", 1)
        run = nika_nb.run(text)
        edit(data / "data/a.txt", f"edited under {spec}\n")
        again = nika_nb.run(text, resume=run.trace)
        assert told(again) == {}
        assert again.trace is not None
        assert not any("files_seen" in frame for frame in frames(again.trace))


def test_a_few_names_stand_for_many() -> None:
    """The first three are named, the others counted; none is an empty text."""
    names = [f"{n}.csv" for n in range(40)]
    assert (
        changed_said(names, "--from t")
        == "0.csv, 1.csv, 2.csv and 37 more changed since; --from t runs it again"
    )
    assert changed_said([], "--from t") == ""


def test_a_run_looks_at_a_bounded_number_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies beyond the bound counts as unchanged."""
    monkeypatch.setattr("nika_nb.engine.seen._LOOKS", 5)
    looked: list[str] = []
    real = os.stat
    monkeypatch.setattr("nika_nb.engine.seen.os.stat", lambda place: looked.append(place) or real(place))
    for n in range(9):
        (tmp_path / f"{n}").write_text("now")
    files = {f"{n}": (3, 1, "0" * 16) for n in range(9)}
    assert len(Seen(str(tmp_path)).changed(Hit(None, "t", "f", files=files, as_of=2))) == 5
    assert len(looked) == 5


@pytest.mark.parametrize("shape", [{"a": 3}, {"a": [1, 2]}, {"a": ["x", 2, None]}, {"a\0": [1, 2, None]}])
def test_a_mark_of_another_shape_is_none(shape: dict[str, object]) -> None:
    """What a strange journal says of files is passed over."""
    assert marks_of(shape) == {}
