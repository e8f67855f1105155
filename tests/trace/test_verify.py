"""The verdict on a journal: what its chain proves, and how that reads."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from nika_nb.catalog.frames import LINE_BOUND
from nika_nb.errors import UsageError
from nika_nb.trace.frame import GENESIS_CHAIN
from nika_nb.trace.verify import verify
from tests.trace.journals import Events, completed, edited, item, started, story, unchained, write

FIXTURES = [
    "001-golden-chained-journal",
    "002-witness-absent-finding",
    "003-chain-broken-forged",
    "004-incomplete-no-terminal-frame",
    "005-line-over-bound-refused",
    "006-pricing-pin-unknown-refused",
    "007-boot-manifest-and-known-pin",
]


@pytest.mark.parametrize("name", FIXTURES)
def test_the_published_verdicts(conformance: Path, name: str) -> None:
    """Verdict, cost replay and prologue of each published journal."""
    folder = conformance / "tests/runtime/trace" / name
    expected = json.loads((folder / "expected-verify.json").read_text())
    verdict = verify(folder / "trace.ndjson")
    assert verdict.verdict == expected["verdict"]
    assert verdict.cost_replay == expected.get("cost_replay", "unrecorded")
    prologue = expected.get("prologue", {"present": [], "absent": []})
    assert set(prologue["present"]) <= set(verdict.prologue)
    assert not set(prologue["absent"]) & set(verdict.prologue)


def test_the_reference_traces_hold(conformance: Path) -> None:
    """Every stored journal is chained; those whose commands no permit frame witnesses are findings."""
    found = [verify(path).verdict for path in sorted((conformance / "reference-traces").glob("*.ndjson"))]
    assert (found.count("clean"), found.count("finding")) == (41, 20)


@dataclass
class Case:
    """What is done to a journal of `story()`, and what the walk says."""

    name: str
    damage: Callable[[bytes], bytes]
    verdict: str
    exit_code: int
    begins: str


def test_a_whole_line_at_the_end_that_is_no_frame_was_not_torn_by_a_crash(tmp_path: Path) -> None:
    """Nothing that is cut off keeps its newline: somebody put it there."""
    path = write(tmp_path, story())
    sound = path.read_bytes()
    for rubbish in (b"[" * 5000 + b"]" * 5000, b"half"):
        path.write_bytes(sound + rubbish + b"\n")
        found = verify(path)
        assert (found.verdict, found.exit_code, found.intact) == ("unreadable", 3, False)
        path.write_bytes(sound + rubbish)
        assert (verify(path).verdict, verify(path).intact) == ("torn", True)


def _without(number: int) -> Callable[[bytes], bytes]:
    def drop(data: bytes) -> bytes:
        lines = data.split(b"\n")
        return b"\n".join(lines[: number - 1] + lines[number:])

    return drop


def _swapped(data: bytes) -> bytes:
    lines = data.split(b"\n")
    lines[3], lines[4] = lines[4], lines[3]
    return b"\n".join(lines)


def _long(data: bytes) -> bytes:
    lines = data.split(b"\n")
    return b"\n".join([*lines[:2], b"x" * (LINE_BOUND + 1), *lines[2:]])


def _plain(data: bytes) -> bytes:
    lines = [json.loads(line) for line in data.split(b"\n") if line]
    return b"".join(
        json.dumps({k: v for k, v in line.items() if k != "chain"}).encode() + b"\n" for line in lines
    )


def _headless(data: bytes) -> bytes:
    first, rest = data.split(b"\n", 1)
    return _plain(first) + rest


CASES = [
    Case("untouched", lambda d: d, "clean", 0, "OK — 23 events · chain intact · head "),
    Case("without its last newline", lambda d: d[:-1], "clean", 0, "OK — 23 events"),
    Case("cut inside the last line", lambda d: d[:-9], "torn", 0, "OK — 22 events · chain intact"),
    Case("zeros at the end", lambda d: d + b"\0" * 512, "torn", 0, "OK — 23 events"),
    Case("without its last line", _without(23), "incomplete", 0, "INCOMPLETE — 22 events · chain intact"),
    Case("no permit witness", _without(11), "forged", 2, "BROKEN at line 11 — recorded chain "),
    Case("one letter edited", lambda d: d.replace(b"shasum", b"shasun", 1), "forged", 2, "BROKEN at line"),
    Case("a line dropped", _without(5), "forged", 2, "BROKEN at line 5 — recorded chain "),
    Case("two lines swapped", _swapped, "forged", 2, "BROKEN at line 4"),
    Case("its first line dropped", _without(1), "forged", 2, "BROKEN at line 1"),
    Case("the first chain stripped", _headless, "forged", 2, "BROKEN at line 1 — recorded chain none"),
    Case(
        "rubbish in the middle",
        lambda d: d.replace(b'{"chain"', b'{"ch\nain"', 1),
        "unreadable",
        3,
        "UNREADABLE at",
    ),
    Case("rubbish later on", lambda d: d[:-400] + b"\n" + d[-400:], "unreadable", 3, "UNREADABLE at line 2"),
    Case(
        "a line too long",
        _long,
        "refused",
        2,
        f"line 3 is {LINE_BOUND + 1} bytes — beyond the verifier's line bound",
    ),
    Case("never chained", _plain, "unchained", 3, "UNCHAINED — 23 events"),
    Case("never chained and torn", lambda d: _plain(d)[:-9], "unchained", 3, "UNCHAINED — 22 events"),
    Case("nothing in it", lambda d: b"", "empty", 3, "EMPTY"),
    Case("blank lines only", lambda d: b"\n \n", "empty", 3, "EMPTY"),
    Case("no journal", lambda d: b"hello", "unreadable", 3, "UNREADABLE at line 1"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_verdicts(tmp_path: Path, case: Case) -> None:
    """Each kind of damage has its verdict, its exit code and its sentence."""
    path = write(tmp_path, story())
    path.write_bytes(case.damage(path.read_bytes()))
    verdict = verify(path)
    assert (verdict.verdict, verdict.exit_code) == (case.verdict, case.exit_code)
    assert verdict.sentence.startswith(case.begins)


def test_a_broken_link_shows_both_values(tmp_path: Path) -> None:
    """The line after the edit is named, with the recorded and the computed hash in full."""
    path = write(tmp_path, story())
    lines = path.read_bytes().split(b"\n")
    recorded = json.loads(lines[3])["chain"]
    verdict = verify(edited(path, '"big"', '"bag"'))
    assert (verdict.line, verdict.recorded, verdict.events) == (5, json.loads(lines[4])["chain"], 4)
    assert verdict.computed not in (None, recorded, verdict.recorded)
    assert (
        verdict.sentence
        == f"BROKEN at line 5 — recorded chain {verdict.recorded} · computed {verdict.computed}"
    )


def test_an_edited_last_line_shows_in_the_head_only(tmp_path: Path) -> None:
    """The chain cannot tell it; the head printed at the end of the run can."""
    path = write(tmp_path, story())
    other = verify(edited(path, "workflow_completed", "workflow_cancelled"))
    assert other.verdict == "clean"
    assert other.head != verify(path).head


def test_a_command_without_a_witness(tmp_path: Path) -> None:
    """A command that ran and no permit frame at all: a finding; a run that recalled it: none."""
    make = Events()
    make("workflow_started", **started())
    make("task_started", task="a", note="exec · true")
    make("task_completed", **completed("a", ""))
    make("workflow_completed", workflow="w")
    assert verify(write(tmp_path, make.made)).verdict == "finding"
    recalled = [make.made[0], Events()("task_cache_hit", **completed("a", "")), make.made[3]]
    assert verify(write(tmp_path, recalled)).verdict == "clean"


@pytest.mark.parametrize(("ran", "verdict"), [(False, "clean"), (True, "finding")])
def test_a_fan_out_whose_items_were_all_recalled_ran_no_command(
    tmp_path: Path, ran: bool, verdict: str
) -> None:
    """It is put together anew, and that needs no permit; one item that ran does."""
    make = Events()
    make("workflow_started", **started())
    make("nb_item_completed", **item("a", 0, "x", matched="{}"))
    make("nb_item_completed", **item("a", 1, "y", **({} if ran else {"matched": "{}"})))
    make("task_started", task="a", note="exec · true · 2 items")
    make("task_completed", **completed("a", ["x", "y"]))
    make("workflow_completed", workflow="w")
    assert verify(write(tmp_path, make.made)).verdict == verdict


def test_one_event_reads_as_one(tmp_path: Path) -> None:
    """A journal of a single line is worded in the singular."""
    verdict = verify(write(tmp_path, story()[:1]))
    assert verdict.sentence.startswith("INCOMPLETE — 1 event · chain intact")
    assert verdict.head != GENESIS_CHAIN


def test_a_pin_that_is_a_bare_name(tmp_path: Path) -> None:
    """The pricing field may be the table's name itself."""
    make = Events()
    make("workflow_started", **started(pricing="nika/model-pricing@1.3"))
    assert verify(write(tmp_path, make.made)).cost_replay == "replayed"


def test_no_such_file(tmp_path: Path) -> None:
    """Nothing to verify is a mistake of the request."""
    with pytest.raises(UsageError):
        verify(tmp_path / "none.ndjson")


def test_an_unchained_copy(tmp_path: Path) -> None:
    """A copy stripped of its chains, as other tests use it, is what it claims to be."""
    assert verify(unchained(write(tmp_path, story()))).verdict == "unchained"
