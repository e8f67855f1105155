"""`nika-nb trace gc|rm|ls|doctor|verify|key`, and what a run does for its folder: real runs."""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path
from typing import Any

import pytest

from nika_nb.notebook.options import cell_options
from nika_nb.trace.folder import TraceFolder
from nika_nb.trace.reader import read
from nika_nb.trace.writer import Journal
from tests.doors import (
    Terminal,
    frames,
    hits,
    launch,
    marks,
    newest,
    nika,
    program,
    started,
    traces,
    wait_for,
)
from tests.trace.journals import story
from tests.trace.journals import write as written

OTHER = """\
nika: other
permits: {exec: ["./say"]}
tasks:
  a: {exec: {command: ["./say", "a", "other"]}}
"""

SLOW = """\
nika: slow
permits: {exec: ["sleep"]}
tasks:
  nap: {exec: {command: ["sleep", "600"]}}
"""

SEEDED = """\
nika: seeded
run: {entropy: {seeded: 7}}
permits: {exec: ["./say"]}
tasks:
  a: {exec: {command: ["./say", "a", "same"]}}
"""


def aged(path: Path, days: float) -> Path:
    """A trace that was last written so many days ago."""
    at = path.stat().st_mtime - days * 86_400
    os.utime(path, (at, at))
    return path


def collected(text: str) -> list[str]:
    return [line for line in text.splitlines() if "trace gc" in line]


# -- before a run ------------------------------------------------------------------------------


def test_a_run_makes_room_and_says_so_in_one_line(
    files: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The third finished trace goes when the fourth run starts; a paused one and other workflows stay."""
    monkeypatch.setenv("NIKA_TRACE_KEEP", "2")
    terminal("run", "asks.nika.yaml")
    first = [newest(files)]
    for _ in range(3):
        done = terminal("run", "good.nika.yaml")
        assert collected(done.err) == []
        first.append(newest(files))
    done = terminal("run", "good.nika.yaml")
    assert done.code == 0
    (line,) = collected(done.err)
    assert re.fullmatch(
        r"nika-nb: trace gc · removed 1 \(more than 2 of one workflow\) · kept 3 · \d+kB"
        r" · to keep more: NIKA_TRACE_KEEP=… or --no-gc",
        line,
    )
    assert set(traces(files)) == {first[0], *first[2:], newest(files)}
    assert len(traces(files)) == 4


def test_no_gc(files: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """The option leaves everything, on the terminal and in a cell."""
    monkeypatch.setenv("NIKA_TRACE_KEEP", "1")
    for _ in range(4):
        assert collected(terminal("run", "good.nika.yaml", "--no-gc").err) == []
    assert len(traces(files)) == 4
    assert cell_options(["--no-gc"]).no_gc
    assert not cell_options([]).no_gc


def test_a_run_that_is_refused_collects_nothing(
    files: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing was run, and nothing is gone."""
    for _ in range(3):
        terminal("run", "good.nika.yaml")
    monkeypatch.setenv("NIKA_TRACE_KEEP", "1")
    assert terminal("run", "refused.nika.yaml").code == 2
    assert terminal("run", "good.nika.yaml", "--var", "nobody=1").code == 3
    assert terminal("run", "good.nika.yaml", "--resume", "nowhere.ndjson").code == 3
    assert len(traces(files)) == 3


def test_the_trace_that_is_resumed_stays(
    files: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However old it is: the run that stands on it holds it."""
    terminal("run", "good.nika.yaml")
    old = aged(newest(files), 90)
    for _ in range(2):
        terminal("run", "good.nika.yaml", "--no-gc")
    done = terminal("run", "good.nika.yaml", "--resume", old)
    assert (done.code, collected(done.err)) == (0, [])
    assert "2 skipped" in done.err
    assert old.exists()
    assert len(collected(terminal("run", "good.nika.yaml").err)) == 1
    assert not old.exists()


def test_trouble_with_old_traces_never_changes_a_run(
    files: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is said, and the run goes on."""

    def broken(self: TraceFolder) -> Any:
        raise OSError(5, "no such luck")

    monkeypatch.setattr(TraceFolder, "list", broken)
    done = terminal("run", "good.nika.yaml")
    assert done.code == 0
    assert collected(done.err) == ["nika-nb: trace gc · nothing was removed: [Errno 5] no such luck"]
    assert len(traces(files)) == 1


# -- gc ----------------------------------------------------------------------------------------


def test_gc_by_hand(files: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dry run names every trace and its reason and touches none; then they go, in one line."""
    for _ in range(3):
        terminal("run", "good.nika.yaml")
    first, second, third = traces(files)
    aged(first, 31)
    monkeypatch.setenv("NIKA_TRACE_KEEP", "1")
    tried = terminal("trace", "gc", "--dry-run").out.decode().splitlines()
    assert tried[:2] == [
        f"{first.name}  more than 1 of one workflow",
        f"{second.name}  more than 1 of one workflow",
    ]
    assert tried[2].startswith("trace gc · would remove 2 (more than 1 of one workflow) · kept 1 · ")
    assert len(traces(files)) == 3
    monkeypatch.delenv("NIKA_TRACE_KEEP")
    said = terminal("trace", "gc").out.decode()
    assert said.startswith("trace gc · removed 1 (older than 30 days) · kept 2 · ")
    assert traces(files) == [second, third]
    (files / "elsewhere").mkdir()
    assert (
        terminal("trace", "gc", "elsewhere").out.decode() == "trace gc · nothing to remove · kept 0 · 0kB\n"
    )


# -- rm ----------------------------------------------------------------------------------------


def test_a_paused_run_is_removed_by_force_only(files: Path, terminal: Terminal) -> None:
    """The refusal names the task that waits; nothing is gone, not even what was named beside it."""
    terminal("run", "good.nika.yaml")
    good = newest(files)
    terminal("run", "asks.nika.yaml")
    paused = newest(files)
    refused = terminal("trace", "rm", good, paused)
    assert refused.code == 3
    assert "its run waits for an answer to `ask`" in refused.err
    assert "--force" in refused.err
    assert traces(files) == [good, paused]
    assert terminal("trace", "rm", paused.name, "--force").out.decode() == f"removed {paused.name}\n"
    assert terminal("trace", "rm", good.stem).code == 0
    assert traces(files) == []


def test_traces_of_an_age_are_removed(files: Path, terminal: Terminal) -> None:
    """Of what a waiting run needs it is said that it stays; an answered question goes with its answer."""
    terminal("run", "asks.nika.yaml")
    answered = newest(files)
    terminal("answer", answered, "ask=yes")
    terminal("run", "asks.nika.yaml")
    paused = newest(files)
    for path in traces(files):
        aged(path, 40)
    terminal("run", "good.nika.yaml")
    fresh = newest(files)
    old = [path for path in traces(files) if path not in (paused, fresh)]
    said = terminal("trace", "rm", "--older-than", "30d")
    assert said.out.decode() == "".join(f"removed {path.name}\n" for path in old)
    assert f"{paused.name} stays: its run waits for an answer to `ask`" in said.err
    assert traces(files) == [paused, fresh]
    assert terminal("trace", "rm", "--older-than", "2400h").out == b""
    assert terminal("trace", "rm", "--all").out.decode() == f"removed {fresh.name}\n"
    assert terminal("trace", "rm", "--all", "--force").out.decode() == f"removed {paused.name}\n"
    assert traces(files) == []


def test_which_traces_go_is_said_in_one_way(files: Path, terminal: Terminal) -> None:
    """By name, by age, or all: never guessed."""
    for words in ((), ("--all", "--older-than", "1d"), ("x.ndjson", "--all")):
        refused = terminal("trace", "rm", *words)
        assert (refused.code, "say which traces" in refused.err) == (3, True)
    refused = terminal("trace", "rm", "--older-than", "soon")
    assert (refused.code, "write an age, 30d or 12h" in refused.err) == (3, True)


def test_an_answer_is_not_removed_under_its_question(files: Path, terminal: Terminal) -> None:
    """Without it the question would wait again. The question first, then the answer: nobody minds."""
    terminal("run", "asks.nika.yaml")
    asked = newest(files)
    terminal("answer", asked, "ask=yes")
    answered = newest(files)
    refused = terminal("trace", "rm", answered)
    assert refused.code == 3
    assert f"it holds what was answered to {asked.name}" in refused.err
    assert terminal("trace", "rm", asked).code == 0
    assert terminal("trace", "rm", answered).code == 0


def test_an_answered_question_does_not_come_back(
    files: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Question and answer go together when their time has come; until then both are there."""
    terminal("run", "asks.nika.yaml")
    terminal("answer", newest(files), "ask=yes")
    pair = traces(files)
    for path in pair:
        aged(path, 40)
    terminal("run", "asks.nika.yaml", "--answer", "ask=yes")
    assert set(pair) < set(traces(files))
    terminal("trace", "gc")
    assert not set(pair) & set(traces(files))


def test_a_running_trace_is_not_removed(files: Path) -> None:
    """Not even by force; the process at work is named."""
    (files / "slow.nika.yaml").write_text(SLOW, encoding="utf-8")
    engine = launch("run", "slow.nika.yaml", cwd=files)
    try:
        path = wait_for(started(files, "nap"), "the run")
        refused = nika("trace", "rm", path, "--force", cwd=files)
        assert refused.code == 3
        assert f"is being worked on by process {engine.pid}" in refused.err
        listed = nika("trace", "ls", "--json", cwd=files).outputs
        assert [(entry["state"], entry["resume_candidate"]) for entry in listed] == [("running", False)]
        assert nika("trace", "doctor", path, cwd=files).code == 0
        assert path.exists()
    finally:
        engine.kill()
        engine.wait(30)
    assert nika("trace", "rm", path, cwd=files).code == 0


def test_what_is_no_journal_is_not_removed(files: Path, terminal: Terminal) -> None:
    """The command removes traces and nothing else."""
    done = terminal("trace", "rm", "good.nika.yaml", "--force")
    assert done.code == 3
    assert "is no journal" in done.err
    assert (files / "good.nika.yaml").exists()


# -- ls ----------------------------------------------------------------------------------------


def test_a_listing(files: Path, terminal: Terminal) -> None:
    """Age, size, state, and which one a bare --resume of its workflow takes."""
    terminal("run", "good.nika.yaml")
    first = aged(newest(files), 3)
    terminal("run", "good.nika.yaml")
    second = newest(files)
    terminal("run", "asks.nika.yaml")
    third = newest(files)
    rows = [line.split() for line in terminal("trace", "ls").out.decode().splitlines()]
    assert [row[-1] for row in rows] == [third.name, second.name, first.name]
    assert [row[3:-1] for row in rows] == [
        ["paused", "resume", "asks"],
        ["completed", "resume", "good"],
        ["completed", "good"],
    ]
    assert rows[2][0] == "3d"
    assert all(re.fullmatch(r"\d+s", row[0]) and row[2] == "kB" for row in rows[:2])
    shapes = terminal("trace", "ls", "--json").outputs
    assert [shape["resume_candidate"] for shape in shapes] == [True, True, False]
    assert 3 * 86_400 <= shapes[2]["age_seconds"] < 3 * 86_400 + 600
    assert shapes[2]["bytes"] == first.stat().st_size
    assert f"resuming from {second.name}" in terminal("run", "good.nika.yaml", "--resume").err


def test_names_in_a_listing_do_not_steer_the_terminal(files: Path, terminal: Terminal) -> None:
    """A workflow's name comes out of a file that anybody may have written."""
    events = story()
    events[0].fields["workflow"] = "a\x1b[2Jb\nc\u202e"
    written(files / ".nika" / "traces", events)
    (line,) = terminal("trace", "ls").out.decode().splitlines()
    assert "  ab c  " in line
    assert line.isprintable()


# -- doctor ------------------------------------------------------------------------------------


def test_the_doctor_of_a_folder(files: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line for every trace, the findings under it, bad settings at the end; the worst exit code wins."""
    assert terminal("trace", "doctor").out.decode() == "no traces in .\n"
    terminal("run", "good.nika.yaml")
    good = newest(files)
    events = len(frames(good))
    sound = terminal("trace", "doctor")
    assert (sound.code, sound.out.decode()) == (0, f"{good.name} · sound · completed · {events} events\n")
    monkeypatch.setenv("NIKA_TRACE_BUDGET_MB", "lots")
    troubled = terminal("trace", "doctor")
    assert troubled.code == 1
    assert "settings · NIKA_TRACE_BUDGET_MB='lots' is no whole number" in troubled.out.decode()
    monkeypatch.delenv("NIKA_TRACE_BUDGET_MB")
    torn = good.with_name("torn.ndjson")
    torn.write_bytes(good.read_bytes()[:-20])
    found = terminal("trace", "doctor", ".nika/traces")
    assert found.code == 1
    assert f"  line {events} · torn: half a line of" in found.out.decode()
    good.with_name("none.ndjson").write_bytes(b"hello\n")
    assert terminal("trace", "doctor").code == 3
    assert terminal("trace", "doctor", torn.name).code == 1
    assert terminal("trace", "doctor", "nowhere").code == 3


def test_a_repaired_copy_is_resumed(files: Path, terminal: Terminal) -> None:
    """A damaged trace is refused; its copy skips what it could prove and runs the rest."""
    terminal("run", "good.nika.yaml")
    path = newest(files)
    lines = path.read_bytes().splitlines(keepends=True)
    kinds = [frame["kind"] for frame in frames(path)]
    second = [n for n, kind in enumerate(kinds) if kind == "task_completed"][1]
    lines[second] = lines[second][:50] + b"\n"
    path.write_bytes(b"".join(lines))
    assert terminal("run", "good.nika.yaml", "--resume", path).code == 2
    done = terminal("trace", "doctor", path, "--repair", "copy.ndjson")
    assert done.code == 1
    said = done.out.decode()
    assert f"line {second + 1} · it cannot be read: half a line" in said
    assert f"copy.ndjson · {second} of " in said
    assert "a resume of the copy runs task `b`" in said
    assert stat.S_IMODE((files / "copy.ndjson").stat().st_mode) == 0o600
    before = marks(files / "marks")
    resumed = terminal("run", "good.nika.yaml", "--resume", "copy.ndjson")
    assert "1 skipped (cache hit) · 1 ran live" in resumed.err
    assert hits(newest(files)) == {"a"}
    assert (marks(files / "marks") - before) == {"b": 1}
    again = terminal("trace", "doctor", path, "--repair", "copy.ndjson")
    assert again.code == 3
    assert "is there already" in again.err
    assert terminal("trace", "doctor", "--repair", "other.ndjson").code == 3


# -- verify ------------------------------------------------------------------------------------


def test_the_head_that_was_printed(files: Path, terminal: Terminal) -> None:
    """It proves the whole journal: without its last lines it is refused."""
    ran = terminal("run", "good.nika.yaml")
    (head,) = re.findall(r"chain ([0-9a-f]{64})", ran.err)
    path = newest(files)
    assert terminal("trace", "verify", path, "--expect-head", head).code == 0
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    assert terminal("trace", "verify", path).code == 0
    cut = terminal("trace", "verify", path, "--expect-head", head)
    assert cut.code == 2
    assert cut.out.startswith("CUT — ".encode())
    assert terminal("trace", "verify", path, path, "--expect-head", head).code == 3
    assert terminal("trace", "verify", path, "--expect-head", "ab").code == 3


@pytest.fixture
def pair(files: Path, terminal: Terminal) -> tuple[Path, Path]:
    """A fresh pair of keys: the signing one, the public one."""
    made = terminal("trace", "key", "new", "keys/mine.pem")
    assert made.code == 3
    (files / "keys").mkdir()
    made = terminal("trace", "key", "new", "keys/mine.pem")
    assert made.code == 0
    assert b"PRIVATE" not in made.out
    return files / "keys/mine.pem", files / "keys/mine.pem.pub"


def test_a_run_is_sealed(
    files: Path, terminal: Terminal, pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a key at hand every stop is: completed, failed, paused; the public half checks it."""
    key, public = pair
    monkeypatch.setenv("NIKA_NB_SIGN_KEY", str(key))
    for name, code in (("good", 0), ("bad", 1), ("asks", 4)):
        assert terminal("run", f"{name}.nika.yaml").code == code
        sealed = terminal("trace", "verify", newest(files), "--public-key", public, "--require-seal")
        assert (sealed.code, sealed.out.split()[0]) == (0, b"SEALED")
    answered = terminal("answer", newest(files), "ask=yes")
    assert answered.code == 0
    assert terminal("trace", "verify", "--require-seal", *traces(files)).code == 0
    assert terminal("trace", "doctor").code == 0
    resumed = terminal("run", "good.nika.yaml", "--resume")
    assert "2 skipped (cache hit)" in resumed.err
    secret = key.read_bytes().splitlines()[1]
    assert all(secret not in path.read_bytes() for path in traces(files))


def test_a_sealed_stream_is_the_journal(
    files: Path, terminal: Terminal, pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--json` gives the bytes of the file, the seal with them; the head that is printed is the seal's."""
    monkeypatch.setenv("NIKA_NB_SIGN_KEY", str(pair[0]))
    done = terminal("run", "good.nika.yaml", "--json")
    assert done.out == newest(files).read_bytes()
    assert done.events[-1]["kind"] == "run_sealed"
    assert f"chain {read(newest(files)).head}" in done.err
    printed = read(newest(files)).head
    assert terminal("trace", "verify", newest(files), "--expect-head", printed).code == 0


def test_a_seal_that_was_cut_off(
    files: Path, terminal: Terminal, pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The trace is refused; a journal that was never sealed is where a seal is required."""
    key, public = pair
    terminal("run", "good.nika.yaml")
    never = terminal("trace", "verify", newest(files), "--public-key", public, "--require-seal")
    assert (never.code, never.out.decode().split(" — ")[0]) == (2, "NOT SEALED")
    assert terminal("trace", "verify", newest(files), "--require-seal").code == 3
    monkeypatch.setenv("NIKA_NB_SIGN_KEY", str(key))
    terminal("run", "good.nika.yaml")
    path = newest(files)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    for words in ([], ["--require-seal"], ["--public-key", public]):
        done = terminal("trace", "verify", path, *words)
        assert (done.code, done.out.decode().split(" — ")[0]) == (2, "NOT SEALED")
    assert terminal("trace", "doctor", path).code == 1


def test_a_seeded_run_is_sealed_with_the_same_bytes(
    files: Path, terminal: Terminal, pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A seal adds nothing of the moment."""
    (files / "seeded.nika.yaml").write_text(SEEDED, encoding="utf-8")
    monkeypatch.setenv("NIKA_NB_SIGN_KEY", str(pair[0]))
    for _ in range(2):
        assert terminal("run", "seeded.nika.yaml").code == 0
    first, second = (path.read_bytes() for path in (files / ".nika" / "traces").iterdir())
    assert first == second
    assert b"run_sealed" in first


@pytest.mark.parametrize("content", [None, b"no key at all"], ids=["missing", "no key"])
def test_a_key_that_cannot_be_used(
    files: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch, content: bytes | None
) -> None:
    """The run is refused before anything happened: whoever wants seals gets no journal without one."""
    if content is not None:
        (files / "key").write_bytes(content)
    monkeypatch.setenv("NIKA_NB_SIGN_KEY", "key")
    done = terminal("run", "good.nika.yaml")
    assert done.code == 3
    assert "the signing key key " in done.err
    assert "no key at all" not in done.err
    assert not (files / ".nika").exists()
    assert not marks(files / "marks")


def test_the_journal_of_a_full_disk_is_not_sealed(
    files: Path, terminal: Terminal, pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A journal that broke off has no end to vouch for; the run itself is unaffected."""
    monkeypatch.setenv("NIKA_NB_SIGN_KEY", str(pair[0]))
    append, count = Journal._append, [0]

    def full(self: Journal, line: bytes) -> None:
        count[0] += 1
        if count[0] >= 9:
            raise OSError(28, "No space left on device")
        append(self, line)

    monkeypatch.setattr(Journal, "_append", full)
    done = terminal("run", "good.nika.yaml")
    assert done.code == 0
    assert "No space left on device" in done.err
    assert [frame["kind"] for frame in frames(newest(files))].count("run_sealed") == 0


def test_a_hostile_chain_value_is_not_shown(files: Path, terminal: Terminal) -> None:
    """What a forged line claims to be its chain may be any text."""
    program(files, "say", 'printf %s "$2"')
    terminal("run", "good.nika.yaml")
    path = newest(files)
    lines = path.read_bytes().splitlines(keepends=True)
    shape = json.loads(lines[3]) | {"chain": "\x1b]0;owned\x07" + "x" * 5000}
    lines[3] = json.dumps(shape).encode() + b"\n"
    path.write_bytes(b"".join(lines))
    done = terminal("trace", "verify", path)
    assert done.code == 2
    assert done.out.startswith(b"BROKEN at line 4 \xe2\x80\x94 recorded chain (no hash) ")
    assert len(done.out) < 300
    refused = terminal("run", "good.nika.yaml", "--resume", path)
    assert "\x1b" not in refused.err
