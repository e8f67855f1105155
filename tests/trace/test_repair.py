"""A repaired copy: what the chain proves and nothing else, and the original as it was."""

from __future__ import annotations

import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nika_nb.catalog.frames import LINE_BOUND
from nika_nb.engine.events import Event
from nika_nb.errors import UsageError
from nika_nb.trace.repair import NothingToSalvage, Salvage, repair
from nika_nb.trace.verify import verify
from tests.trace.journals import START, story, unchained, uuid_at, write
from tests.trace.test_doctor import another_journal


def lines_of(folder: Path) -> list[bytes]:
    return write(folder, story()).read_bytes().splitlines(keepends=True)


def repaired(folder: Path, data: bytes) -> tuple[Salvage, bytes]:
    """The report and the copy's bytes; the original is held to be what it was."""
    path, copy = folder / "damaged.ndjson", folder / "copy.ndjson"
    path.write_bytes(data)
    copy.unlink(missing_ok=True)
    before = path.stat().st_mtime_ns
    found = repair(path, copy)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == (data, before)
    return found, copy.read_bytes()


@dataclass
class Case:
    """What happened to 23 lines, how many frames the copy holds, and what its report says."""

    name: str
    damage: Callable[[list[bytes]], bytes]
    frames: int
    said: tuple[str, ...] = ()


def joined(lines: list[bytes]) -> bytes:
    return b"".join(lines)


CASES = [
    Case("nothing", joined, 23, ("23 of 23 whole frames · chain intact · head ",)),
    Case("a torn tail", lambda lines: joined(lines)[:-30], 22, ("left out: what is no frame on line 23",)),
    Case("no last newline", lambda lines: joined(lines)[:-1], 23),
    Case("zeros at the end", lambda lines: joined(lines) + b"\0" * 4096, 23, ("no frame on line 24",)),
    Case("zeros between", lambda lines: joined([*lines[:9], b"\0" * 99, *lines[9:]]), 23, ("line 10",)),
    Case(
        "newlines lost",
        lambda lines: joined([line.strip() if n in (3, 4, 8) else line for n, line in enumerate(lines)]),
        23,
        ("taken apart: lines 4, 7, where a newline was lost",),
    ),
    Case("every newline lost", lambda lines: joined(lines).replace(b"\n", b""), 23, ("taken apart: line 1",)),
    Case("a line twice", lambda lines: joined([*lines[:9], lines[8], *lines[9:]]), 23, ("23 of 23",)),
    Case("other line endings", lambda lines: joined(lines).replace(b"\n", b"\r\n"), 23, ("23 of 23",)),
    Case(
        "another writer between",
        lambda lines: joined(another_journal(lines)),
        23,
        ("line 2 · workflow_started", "more"),
    ),
    Case("another journal behind", lambda lines: joined([*lines, *another_journal(lines)[1::2]]), 23),
    Case(
        "half a line fused with the next",
        lambda lines: joined([*lines[:8], lines[8][:40], *lines[9:]]),
        8,
        ("left out: line 9 · task_started hash", "which follows from nothing that was kept"),
    ),
    Case("a letter changed", lambda lines: joined(lines).replace(b'"shasum"', b'"shasun"', 1), 11),
    Case("a line dropped", lambda lines: joined([*lines[:20], *lines[21:]]), 20, ("20 of 22 whole frames",)),
    Case(
        "a line too long",
        lambda lines: joined([*lines[:6], b"x" * (LINE_BOUND + 1) + b"\n", *lines[6:]]),
        23,
        ("left out: what is no frame on line 7",),
    ),
    Case("rubbish before it", lambda lines: b"what is this\n" + joined(lines), 23, ("no frame on line 1",)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_longest_chain_is_copied(tmp_path: Path, case: Case) -> None:
    """As many of the writer's own lines as follow from the beginning, byte for byte."""
    lines = lines_of(tmp_path / "original")
    data = case.damage(lines)
    found, copy = repaired(tmp_path, data)
    if case.name != "a letter changed":
        assert copy == joined(lines[: case.frames])
    assert (found.copied, found.head) == (case.frames, verify(tmp_path / "copy.ndjson").head)
    assert verify(tmp_path / "copy.ndjson").intact
    said = "\n".join(found.report())
    assert all(part in said for part in case.said), said


def test_of_a_fork_the_longer_branch_is_taken(tmp_path: Path) -> None:
    """Two writers went on from one line: the one who wrote more has the journal."""
    long = joined(lines_of(tmp_path / "a"))
    short = write(tmp_path / "b", [*story()[:9], Event("nb_note", {"text": "b"}, START, uuid_at(900))])
    stray = short.read_bytes().splitlines(keepends=True)[-1]
    lines = long.splitlines(keepends=True)
    found, copy = repaired(tmp_path, joined([*lines[:9], stray, *lines[9:]]))
    assert copy == long
    assert [(line, kind) for line, kind, _ in found.lost] == [(10, "nb_note")]


def test_of_two_journals_the_first_is_taken(tmp_path: Path) -> None:
    """A longer one behind it is another run's, whoever put them together."""
    lines = lines_of(tmp_path / "a")
    found, copy = repaired(tmp_path, joined([*lines[:9], *another_journal(lines)[1::2]]))
    assert copy == joined(lines[:9])
    assert len(found.lost) == 23


def test_what_a_resume_will_run(tmp_path: Path) -> None:
    """The tasks whose success is not in the copy, also those that settled behind the damage."""
    lines = lines_of(tmp_path / "original")
    found, _ = repaired(tmp_path, joined([*lines[:12], *lines[13:]]))
    assert found.live == ("big", "fan", "broken", "late", "gone")
    assert (
        "a resume of the copy runs tasks `big`, `fan`, `broken`, `late`, `gone`" in list(found.report())[-1]
    )


def test_a_journal_without_chains_up_to_the_damage(tmp_path: Path) -> None:
    """Its lines as far as they can be read; that nothing proves their order is said."""
    plain = unchained(write(tmp_path / "original", story())).read_bytes().splitlines(keepends=True)
    found, copy = repaired(tmp_path, joined([*plain[:10], b"rubbish\n", *plain[10:]]))
    assert copy == joined(plain[:10])
    assert "it carries no chain" in next(found.report())
    assert found.lost[0][0] == 12


def test_the_copy_is_a_new_file_of_ones_own(tmp_path: Path) -> None:
    """Mode 0600; a name that is taken, the original's too, is refused and left as it was."""
    path = write(tmp_path, story())
    repair(path, tmp_path / "copy.ndjson")
    assert stat.S_IMODE((tmp_path / "copy.ndjson").stat().st_mode) == 0o600
    before = path.read_bytes()
    for taken in (path, tmp_path / "copy.ndjson"):
        with pytest.raises(UsageError, match="is there already"):
            repair(path, taken)
    with pytest.raises(UsageError, match="cannot be written"):
        repair(path, tmp_path / "nowhere" / "copy.ndjson")
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"hello\n", b"\0" * 99], ids=["empty", "a word", "zeros"])
def test_nothing_to_salvage(tmp_path: Path, content: bytes) -> None:
    """Said with exit code 3, and no file is made."""
    path = tmp_path / "t.ndjson"
    path.write_bytes(content)
    with pytest.raises(NothingToSalvage) as caught:
        repair(path, tmp_path / "copy.ndjson")
    assert caught.value.exit_code == 3
    assert not (tmp_path / "copy.ndjson").exists()


def test_a_journal_without_its_beginning(tmp_path: Path) -> None:
    """Without the first line nothing follows from anything."""
    path = tmp_path / "t.ndjson"
    path.write_bytes(joined(lines_of(tmp_path / "original")[1:]))
    with pytest.raises(NothingToSalvage):
        repair(path, tmp_path / "copy.ndjson")


# What may befall the lines without losing one: their order among strangers, their newlines, repeats.
MISHAP = st.tuples(st.sampled_from(["zeros", "fused", "twice", "rubbish", "blank"]), st.integers(0, 22))


@settings(max_examples=100, deadline=None)
@given(st.lists(MISHAP, max_size=8))
def test_what_loses_no_line_is_repaired_whole(
    tmp_path_factory: pytest.TempPathFactory, mishaps: list[tuple[str, int]]
) -> None:
    """Zeros, lost newlines, repeats and rubbish between the lines: every frame comes back."""
    folder = tmp_path_factory.getbasetemp() / "mishaps"
    lines = lines_of(folder)
    parts = list(lines)
    for kind, at in mishaps:
        line = parts[at]
        parts[at] = {
            "zeros": b"\0" * 33 + line,
            "fused": line.rstrip(b"\n"),
            "twice": line + lines[at],
            "rubbish": line.rstrip(b"\n") + b"\nwhat is this\n",
            "blank": line.rstrip(b"\n") + b"\n \n",
        }[kind]
    _, copy = repaired(folder, joined(parts))
    assert copy == joined(lines)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 10**6), st.binary(max_size=3), st.integers(0, 40)), max_size=5))
def test_nothing_but_the_writers_own_lines_comes_back(
    tmp_path_factory: pytest.TempPathFactory, edits: list[tuple[int, bytes, int]]
) -> None:
    """Whatever befell the bytes, a copy is the beginning of the original, but for its last line."""
    folder = tmp_path_factory.getbasetemp() / "edits"
    lines = lines_of(folder)
    data = joined(lines)
    for at, put, dropped in edits:
        at %= len(data) + 1
        data = data[:at] + put + data[at + dropped :]
    try:
        _, copy = repaired(folder, data)
    except NothingToSalvage:
        return
    kept = copy.removesuffix(b"\n").split(b"\n")
    assert [line + b"\n" for line in kept[:-1]] == lines[: len(kept) - 1]
    assert verify(folder / "copy.ndjson").intact
