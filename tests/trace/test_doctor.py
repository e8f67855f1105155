"""What the doctor says of a journal: every kind of damage by its line, and nothing of a sound one."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nika_nb.catalog.frames import LINE_BOUND
from nika_nb.engine.events import Event
from nika_nb.errors import UsageError
from nika_nb.runs.care import checkup, setting_troubles
from nika_nb.trace.doctor import examine
from nika_nb.trace.examination import Examination
from nika_nb.trace.verify import verify
from nika_nb.trace.writer import Journal
from nika_nb.verbs.sweep import start_time
from tests.doors import rewritten, wait_for
from tests.trace.journals import START, Events, completed, started, story, unchained, uuid_at, write

NOBODY: Callable[[int, str], bool] = lambda group, started: False  # noqa: E731

Damage = Callable[[list[bytes]], list[bytes]]


def damaged(folder: Path, damage: Damage) -> Path:
    """A journal of `story()`, 23 lines, after something happened to the lines, their newlines included."""
    path = write(folder, story())
    lines = path.read_bytes().splitlines(keepends=True)
    assert len(lines) == 23
    path.write_bytes(b"".join(damage(lines)))
    return path


def doctor(path: Path) -> Examination:
    return examine(path, NOBODY)


def replaced(number: int, change: Callable[[bytes], bytes]) -> Damage:
    """The line of that number, counted from 1, is changed."""
    return lambda lines: [*lines[: number - 1], change(lines[number - 1]), *lines[number:]]


def another_journal(lines: list[bytes]) -> list[bytes]:
    """A second run of another invocation, its lines between those of the first."""
    head = "7466341540fd02fca9ec21937862176b7821a52495b86d81bb5f30d16c8462dc"
    mixed: list[bytes] = []
    for number, line in enumerate(lines):
        shape = json.loads(line) | {"chain": head, "run": "call-2", "id": {"uuid": f"other-{number}"}}
        text = json.dumps(shape, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()
        head = hashlib.sha256(text).hexdigest()
        mixed += [line, text + b"\n"]
    return mixed


@dataclass
class Case:
    """What happens to the lines, and the findings: kind and line."""

    name: str
    damage: Damage
    findings: list[tuple[str, int | None]]
    said: str = ""


CASES = [
    Case("nothing", lambda lines: lines, []),
    Case("a cut in the last line", replaced(23, lambda line: line[:-30]), [("torn", 23)], "half a line of"),
    Case("the last newline is missing", replaced(23, lambda line: line[:-1]), [("torn", 23)], "the newline"),
    Case("zeros at the end", lambda lines: [*lines, b"\0" * 512], [("zeros", 24)], "512 NUL bytes"),
    Case("zeros and a newline at the end", lambda lines: [*lines, b"\0" * 512, b"\n"], [("zeros", 24)]),
    Case("zeros before a line", replaced(9, lambda line: b"\0" * 7 + line), [("zeros", 9)], "7 NUL bytes"),
    Case(
        "zeros instead of a line",
        replaced(9, lambda line: b"\0" * (len(line) - 1) + b"\n"),
        [("zeros", 9), ("broken", 10)],
        "one was changed, or lines are missing",
    ),
    Case(
        "two lines fused", replaced(5, lambda line: line[:-1]), [("fused", 5)], "2 whole frames on one line"
    ),
    Case(
        "a half line fused with a whole one",
        replaced(5, lambda line: line[: len(line) // 2]),
        [("fused", 5), ("broken", 5)],
        "1 whole frame and 1 half one on one line",
    ),
    Case(
        "rubbish in the middle",
        replaced(9, lambda line: b"not json\n"),
        [("unreadable", 9), ("broken", 10)],
        "half a line, or rubbish (it is not a whole JSON object)",
    ),
    Case(
        "a whole line at the end that is none",
        lambda lines: [*lines, b"[" * 5000 + b"]" * 5000 + b"\n"],
        [("unreadable", 24)],
        "rubbish (it is nested too deeply)",
    ),
    Case(
        "a byte order mark",
        replaced(1, lambda line: b"\xef\xbb\xbf" + line),
        [("blanks", 1)],
        "a byte order mark stands before it",
    ),
    Case("a line dropped", lambda lines: lines[:4] + lines[5:], [("broken", 5)]),
    Case("the first line dropped", lambda lines: lines[1:], [("version", 1), ("version", 1), ("broken", 1)]),
    Case("a letter changed", replaced(10, lambda line: line.replace(b"shasum", b"shasun")), [("broken", 11)]),
    Case("a line twice", lambda lines: [*lines[:12], lines[11], *lines[12:]], [("repeated", 13)], "line 12"),
    Case(
        "two lines swapped",
        lambda lines: [*lines[:3], lines[4], lines[3], *lines[5:]],
        [("broken", 4), ("writers", 5), ("writers", 6)],
        "it follows line 3, not the line before it",
    ),
    Case(
        "a second journal behind it",
        lambda lines: [*lines, *another_journal(lines)[1::2]],
        [("writers", 24), ("writers", 24)],
        "another journal begins here",
    ),
    Case(
        "other line endings", replaced(9, lambda line: line[:-1] + b"\r\n"), [("blanks", 9)], "line endings"
    ),
    Case("blank lines", lambda lines: [*lines[:5], b"\n", b"  \n", *lines[5:]], []),
    Case(
        "a line too long",
        replaced(9, lambda line: b"x" * (LINE_BOUND + 1) + b"\n"),
        [("too-long", 9), ("broken", 10)],
        f"beyond the {LINE_BOUND} of a line",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_damage_is_found_by_its_line(tmp_path: Path, case: Case) -> None:
    """Kind and line of every finding, in the order of the file; exit code 1 where there is one."""
    found = doctor(damaged(tmp_path, case.damage))
    assert sorted((f.kind, f.line) for f in found.findings) == sorted(case.findings)
    assert found.exit_code == (1 if case.findings else 0)
    assert case.said in "\n".join(found.report())


def test_two_writers_are_told_from_an_edit(tmp_path: Path) -> None:
    """Lines of two invocations in turns: where the second begins, and whom each line follows."""
    found = doctor(damaged(tmp_path, another_journal))
    assert {finding.kind for finding in found.findings} == {"writers"}
    said = list(found.report())
    assert "line 2 · another invocation writes from here on: two writers in one file" in said[1]
    assert any("line 3 · it follows line 1" in line for line in said)
    assert said[-1].strip().startswith("… and ")


def test_two_writers_from_one_line_on(tmp_path: Path) -> None:
    """Both went on from the same line: a fork, whoever wrote it."""
    path = write(tmp_path, story()[:10])
    other = write(tmp_path / "other", [*story()[:10], Event("nb_note", {"text": "b"}, START, uuid_at(777))])
    both = path.read_bytes() + other.read_bytes().splitlines(keepends=True)[-1]
    third = write(tmp_path / "third", story()[:11]).read_bytes().splitlines(keepends=True)[-1]
    path.write_bytes(both + third)
    (finding,) = doctor(path).findings
    assert (finding.kind, finding.line) == ("writers", 12)
    assert "it follows line 10" in finding.sentence


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"engine_version": "nika-nb/2"}, "a later epoch wrote it (nika-nb/2); this is nika-nb/1"),
        ({"engine_version": "0.105.0"}, "another engine wrote it (0.105.0)"),
        ({"engine_version": None}, "it names no engine"),
        ({"engine_version": "\x1b[31m"}, "it names no engine"),
        ({"trace_format": 3}, "trace_format 3: this version reads 2"),
        ({"trace_format": None}, "no trace_format: this version reads 2"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_versions_that_are_not_known(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    """An epoch, an engine or a format of another day is named, with what a resume needs."""

    def changed(shape: dict[str, Any]) -> None:
        if shape["kind"] == "workflow_started":
            shape["fields"] |= change

    (finding,) = doctor(rewritten(write(tmp_path, story()), changed)).findings
    assert finding.kind == "version"
    assert said in finding.sentence


def test_what_the_chain_cannot_show(tmp_path: Path) -> None:
    """A task that settles twice, frames behind the end, a seal that never came: all well chained."""
    make = Events()
    make("workflow_started", **started(seal_key="0" * 64))
    make("task_completed", **completed("a", 1))
    make("task_failed", task="a", note="exec · false")
    make("workflow_completed", workflow="w")
    make("task_completed", **completed("b", 1))
    make("workflow_failed", workflow="w")
    path = write(tmp_path, make.made)
    assert verify(path).verdict == "unsealed"
    found = {(finding.kind, finding.line) for finding in doctor(path).findings}
    assert found == {("settled-twice", 3), ("behind-end", 5), ("unsealed", 6)}


def test_a_journal_without_chains(tmp_path: Path) -> None:
    """Said once where none has one; said of every line where only some do."""
    plain = unchained(write(tmp_path, story()))
    assert [(f.kind, f.line) for f in doctor(plain).findings] == [("unchained", 1)]
    lines = write(tmp_path / "other", story()).read_bytes().splitlines(keepends=True)
    plain.write_bytes(b"".join([*lines[:5], *plain.read_bytes().splitlines(keepends=True)[5:7]]))
    assert [(f.kind, f.line) for f in doctor(plain).findings] == [("unchained", 6), ("unchained", 7)]


def test_a_run_that_was_killed_is_sound(tmp_path: Path) -> None:
    """That no frame ends it is worth a note, and no fault of the file's."""
    found = doctor(write(tmp_path, story()[:12]))
    assert (found.exit_code, found.state, found.events) == (0, "incomplete", 12)
    assert "it was killed, or its end was cut off" in list(found.report())[1]


def test_a_run_at_work_is_sound(tmp_path: Path) -> None:
    """Its half line is being written; once the writer has gone the same bytes are a tear."""
    journal = Journal(tmp_path, run="call-1", correlation="run-1")
    for event in story()[:6]:
        journal(event)
    assert journal.path is not None
    with journal.path.open("ab") as stream:
        stream.write(b'{"chain":"12')
    assert (doctor(journal.path).exit_code, doctor(journal.path).state) == (0, "running")
    journal.close()
    assert [(f.kind, f.line) for f in doctor(journal.path).findings] == [("torn", 7)]


def test_a_process_that_outlived_its_engine(tmp_path: Path) -> None:
    """Named with its group and how to end it; a stranger with the same number is none of ours."""
    child = subprocess.Popen(["sleep", "600"], start_new_session=True)
    try:
        began = wait_for(lambda: start_time(child.pid), "the start time")

        def journal(moment: str) -> Path:
            make = Events()
            make("workflow_started", **started())
            make("verb_invoked", task="pack", item=3, attempt=1, note="exec", pgid=child.pid, started=moment)
            return write(tmp_path, make.made)

        (finding,) = checkup(journal(began)).findings
        assert finding.kind == "process"
        assert finding.sentence.startswith(f"`pack[3]` still runs (process group {child.pid})")
        assert f"kill -- -{child.pid}" in finding.sentence
        assert not checkup(journal("1")).findings
    finally:
        child.kill()
        child.wait(30)
    assert not checkup(journal(began)).findings


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "it is empty"),
        (b"\n \n", "it is empty"),
        (b"hello\n", "half a line"),
        (b"{}\n[]\n", "rubbish"),
        (b"\0" * 4096, "4096 NUL bytes"),
        (b"x" * (LINE_BOUND + 9), "beyond the"),
    ],
    ids=["empty", "blank", "a word", "other json", "zeros", "too long"],
)
def test_a_file_that_is_no_journal(tmp_path: Path, content: bytes, said: str) -> None:
    """Unreadable, exit code 3, with the reason."""
    path = tmp_path / "t.ndjson"
    path.write_bytes(content)
    found = doctor(path)
    (line,) = found.report()
    assert found.exit_code == 3
    assert said in line


def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    """A folder, a pipe that nobody writes to, nothing at all: refused at once."""
    os.mkfifo(tmp_path / "pipe")
    for name in (".", "pipe", "none"):
        with pytest.raises(UsageError):
            doctor(tmp_path / name)
        with pytest.raises(UsageError):
            verify(tmp_path / name)


def test_nothing_in_a_journal_steers_the_terminal(tmp_path: Path) -> None:
    """Names out of a file are shown without escape sequences, marks or newlines."""
    make = Events()
    make("workflow_started", **started())
    make("workflow_failed\x1b]0;title\x07", workflow="w")
    make("workflow_failed", workflow="w")
    make("evil\x1b[2J\u202e\nkind", task="a")
    said = "\n".join(doctor(write(tmp_path, make.made)).report())
    assert "evil" in said
    assert all(sign.isprintable() or sign == "\n" for sign in said)
    assert len(said.splitlines()) == 3


def test_bad_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values that say nothing, and a signing key that is not there, that is none, or that others can read."""
    assert list(setting_troubles()) == []
    monkeypatch.setenv("NIKA_NB_MAX_PARALLEL", "many")
    monkeypatch.setenv("NIKA_NB_DURABILITY", "tape")
    key = tmp_path / "key"
    monkeypatch.setenv("NIKA_NB_SIGN_KEY", str(key))
    said = list(setting_troubles())
    assert said[0] == "NIKA_NB_MAX_PARALLEL='many' is no whole number from 1 on: 32 is used"
    assert said[1].startswith("NIKA_NB_DURABILITY='tape' is neither")
    assert "cannot be read: No such file" in said[2]
    key.write_bytes(b"k" * 31)
    assert "is none: neither PEM" in list(setting_troubles())[2]
    key.write_bytes(b"k" * 32)
    key.chmod(0o644)
    assert list(setting_troubles())[2:] == [f"NIKA_NB_SIGN_KEY: others can read {key}: chmod 600 {key}"]
    key.chmod(0o600)
    assert len(list(setting_troubles())) == 2


def test_every_cut_is_a_tear_or_nothing(tmp_path: Path) -> None:
    """Wherever the writing stopped: between lines the file is sound, inside one it is torn there."""
    whole = write(tmp_path, story()).read_bytes()
    ends = {at + 1 for at, byte in enumerate(whole) if byte == 10}
    path = tmp_path / "cut.ndjson"
    first = min(ends)
    for cut in [*range(first, len(whole), 97), *(end - 1 for end in ends), *ends]:
        path.write_bytes(whole[:cut])
        found = doctor(path)
        line = whole[:cut].count(b"\n") + 1
        expected = [] if cut in ends else [("torn", line)]
        assert [(f.kind, f.line) for f in found.findings] == ([] if cut < first - 1 else expected), cut


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 10**6), st.binary(max_size=3), st.integers(0, 40)), max_size=4))
def test_whatever_the_bytes_are(
    tmp_path_factory: pytest.TempPathFactory, edits: list[tuple[int, bytes, int]]
) -> None:
    """The doctor always has an answer, and calls nothing sound whose chain does not hold."""
    folder = tmp_path_factory.getbasetemp() / "whatever"
    data = write(folder, story()).read_bytes()
    for at, put, dropped in edits:
        at %= len(data) + 1
        data = data[:at] + put + data[at + dropped :]
    path = folder / "edited.ndjson"
    path.write_bytes(data)
    found = doctor(path)
    if found.exit_code == 0:
        assert verify(path).intact
    assert all(line.strip() for line in found.report())
