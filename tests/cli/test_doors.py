"""The doors of the terminal: what stands on which stream, and the exit code."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import GOOD
from tests.doors import Terminal, command, environment, frames, marks, newest, nika, program, traces, wait_for

LONG = """\
nika: long
permits: {exec: ["./say"]}
inputs: {rows: {type: {array: integer}, default: [ROWS]}}
tasks:
  a: {for_each: {items: "${{ inputs.rows }}", max_parallel: 1}, exec: {command: ["./say", "long", "x"]}}
""".replace("ROWS", ", ".join(map(str, range(2000))))

HOLD = """\
nika: hold
permits: {exec: ["./hold"]}
tasks: {a: {exec: {command: ["./hold"]}}}
"""

SAID = {"said": "grüß dich 🦋!"}


def test_plain_keeps_standard_output_for_the_outputs(files: Path, terminal: Terminal) -> None:
    """One JSON object and nothing else; the console stands beside it."""
    done = terminal("run", "good.nika.yaml")
    assert (done.code, done.outputs) == (0, SAID)
    assert done.out.count(b"\n") == 1
    for part in ("🦋 nika · good · 2 tasks", "✔  a  exec · say", "── 2/2 done", "trace: .nika/traces/"):
        assert part in done.err


@pytest.mark.parametrize(("name", "code"), [("bad", 1), ("asks", 4), ("refused", 2)])
def test_plain_says_nothing_on_standard_output_where_there_are_no_outputs(
    files: Path, terminal: Terminal, name: str, code: int
) -> None:
    """A script that reads the outputs never reads something else."""
    done = terminal("run", f"{name}.nika.yaml")
    assert (done.code, done.out) == (code, b"")
    assert done.err


def test_a_failure_names_code_and_sentence(files: Path, terminal: Terminal) -> None:
    """Under its row; what it blocked says by whom."""
    done = terminal("run", "bad.nika.yaml")
    assert "✖  b  exec · false" in done.err
    assert "NIKA-EXEC-001 · command exited with status 1" in done.err
    assert "⊘  c  blocked · b failed" in done.err


@pytest.mark.parametrize(("name", "code"), [("good", 0), ("bad", 1), ("asks", 4)])
def test_json_is_the_journal_verbatim(files: Path, terminal: Terminal, name: str, code: int) -> None:
    """The same bytes on standard output and in the file; a line a frame, notes beside."""
    done = terminal("run", f"{name}.nika.yaml", "--json")
    assert done.code == code
    assert done.out == newest(files).read_bytes()
    assert done.events[0]["kind"] == "workflow_started"
    assert (
        done.events[-1]["kind"] == {0: "workflow_completed", 1: "workflow_failed", 4: "workflow_paused"}[code]
    )
    assert str(newest(files).name) in done.err


def test_json_of_a_resume_and_of_a_large_output(files: Path, terminal: Terminal) -> None:
    """Cache hits and pages too."""
    program(files, "say", 'head -c 300000 /dev/zero | tr "\\0" x')
    first = terminal("run", "asks.nika.yaml", "--json")
    assert first.out == newest(files).read_bytes()
    assert any(event["kind"] == "nb_output_page" for event in first.events)
    again = terminal("run", "asks.nika.yaml", "--json", "--resume", newest(files), "--answer", "ask=yes")
    assert again.code == 0
    assert again.out == newest(files).read_bytes()
    assert [event["task"] for event in again.events if event["kind"] == "task_cache_hit"] == ["a"]


def test_json_without_a_journal_streams_all_the_same(
    files: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stream needs no file; every line still carries its run."""
    monkeypatch.setenv("NIKA_NO_TRACE_FILE", "1")
    done = terminal("run", "good.nika.yaml", "--json")
    assert done.code == 0
    assert not (files / ".nika").exists()
    assert {event["run"] for event in done.events} != {None}
    assert {event["correlation"] for event in done.events} != {None}


def test_json_of_a_refused_file_is_a_report_on_many_lines(files: Path, terminal: Terminal) -> None:
    """No line of it can be taken for a frame; exit code 2."""
    done = terminal("run", "refused.nika.yaml", "--json")
    assert done.code == 2
    report = json.loads(done.out)
    assert report["clean"] is False
    assert {"conformance", "findings", "model_findings", "skill_findings"} <= set(report)
    assert len(done.out.splitlines()) > 3
    assert not [line for line in done.out.splitlines() if _is_frame(line)]


def _is_frame(line: bytes) -> bool:
    try:
        return "kind" in json.loads(line)
    except ValueError:
        return False


def test_one_line_of_json(files: Path, terminal: Terminal) -> None:
    """The outputs; the pause with what it asks; the error with its code; the refusal likewise."""
    shapes = {}
    for name, code in {"good": 0, "bad": 1, "asks": 4, "refused": 2}.items():
        done = terminal("run", f"{name}.nika.yaml", "--output", "json")
        assert (done.code, done.out.count(b"\n")) == (code, 1), done.err
        shapes[name] = done.outputs
    assert shapes["good"] == SAID
    assert shapes["bad"]["error"]["code"] == "NIKA-EXEC-001"
    assert shapes["bad"]["error"]["task"] == "b"
    paused = shapes["asks"]["paused"]
    assert (paused["task"], paused["mode"], paused["message"]) == ("ask", "confirm", "Go on?")
    assert (files / paused["trace"]).samefile(newest(files))
    assert shapes["refused"]["error"]["code"].startswith("NIKA-")


def test_one_line_of_json_for_a_wrong_request(files: Path, terminal: Terminal) -> None:
    """Also what never began is one line of JSON; exit code 3."""
    done = terminal("run", "good.nika.yaml", "--output", "json", "--var", "nobody=1")
    assert done.code == 3
    assert "nobody" in done.outputs["error"]["message"]
    missing = terminal("run", "nowhere.nika.yaml", "--output", "json")
    assert missing.code == 3
    assert "nowhere.nika.yaml" in missing.outputs["error"]["message"]


def test_quiet(files: Path, terminal: Terminal) -> None:
    """The outputs alone; of a failure what failed; of a pause how to answer."""
    good = terminal("run", "good.nika.yaml", "--quiet")
    assert (good.outputs, good.err) == (SAID, "")
    bad = terminal("run", "bad.nika.yaml", "--quiet")
    assert "failed" in bad.err
    assert "NIKA-EXEC-001" in bad.err
    assert "✔" not in bad.err
    assert "nika-nb answer" in terminal("run", "asks.nika.yaml", "--quiet").err


def test_what_excludes_each_other_is_a_usage_error(files: Path, terminal: Terminal) -> None:
    """Exit code 3, and nothing ran."""
    assert terminal("run", "good.nika.yaml", "--json", "--quiet").code == 3
    assert terminal("run").code == 3
    assert terminal("fly").code == 3
    assert not traces(files)


def test_check(files: Path, terminal: Terminal) -> None:
    """0 for a sound file, 2 for one with problems; --json is one report."""
    sound = terminal("check", "good.nika.yaml")
    assert sound.code == 0
    assert "good.nika.yaml is sound" in sound.out.decode()
    refused = terminal("check", "refused.nika.yaml")
    assert refused.code == 2
    assert "inputs.nobody" in refused.err
    report = terminal("check", "refused.nika.yaml", "--json")
    assert report.code == 2
    assert report.outputs["clean"] is False
    assert terminal("check", "good.nika.yaml", "--json").outputs["clean"] is True
    assert not traces(files)


def test_standard_input(files: Path) -> None:
    """`-` is the text itself, for check and for run; its traces lie in the current folder."""
    checked = nika("check", "-", cwd=files, stdin=GOOD.encode())
    assert checked.code == 0
    assert nika("check", "-", cwd=files, stdin=b"nika: [").code == 2
    done = nika("run", "-", cwd=files, stdin=GOOD.encode())
    assert (done.code, done.outputs) == (0, SAID)
    assert len(traces(files)) == 1
    resumed = nika("run", "-", "--resume", cwd=files, stdin=GOOD.encode())
    assert "resumed · 2 skipped (cache hit) · 0 ran live" in resumed.err


def test_traces_lie_beside_the_workflow(files: Path, terminal: Terminal) -> None:
    """A file elsewhere keeps its journals there; its paths count from where the command was given."""
    below = files / "flows"
    below.mkdir()
    (below / "good.nika.yaml").write_text(GOOD, encoding="utf-8")
    done = terminal("run", "flows/good.nika.yaml")
    assert done.code == 0
    assert len(traces(below)) == 1
    assert not traces(files)
    assert "trace: flows/.nika/traces/" in done.err
    resumed = terminal("run", "flows/good.nika.yaml", "--resume")
    assert "resumed · 2 skipped (cache hit) · 0 ran live" in resumed.err


def test_the_traces_of_a_folder(files: Path, terminal: Terminal) -> None:
    """`trace ls` newest first, `trace show` draws one, `trace verify` takes several: the worst code wins."""
    terminal("run", "good.nika.yaml")
    terminal("run", "asks.nika.yaml")
    good, asks = traces(files)
    listed = terminal("trace", "ls")
    assert [line.split()[-1] for line in listed.out.decode().splitlines()] == [asks.name, good.name]
    shapes = terminal("trace", "ls", "--json").outputs
    assert [shape["state"] for shape in shapes] == ["paused", "completed"]
    assert "2/2 done" in terminal("trace", "show", good.name).out.decode()
    both = terminal("trace", "verify", good, asks)
    assert both.code == 0
    good.write_bytes(good.read_bytes().replace(b'"value":"exec', b'"value":"EXEC', 1))
    worst = terminal("trace", "verify", good, asks)
    assert worst.code == 2
    assert [line.split(": ")[0] for line in worst.out.decode().splitlines()] == [str(good), str(asks)]


def test_a_reader_that_goes_away_is_no_error(files: Path) -> None:
    """`nika-nb run --json | head -c 1` ends the run without a word, and the journal says so."""
    (files / "long.nika.yaml").write_text(LONG, encoding="utf-8")
    line = f"{' '.join(command('run', 'long.nika.yaml', '--json'))} | head -c 1"
    done = subprocess.run(line, shell=True, cwd=files, env=environment(), capture_output=True, check=False)
    assert done.stderr == b""
    assert frames(newest(files))[-1]["kind"] == "workflow_cancelled"
    assert marks(files / "marks")["long"] < 2000


@pytest.mark.parametrize("options", [["--json"], ["--quiet"], []])
def test_a_reader_that_goes_away_while_nothing_is_said(files: Path, options: list[str]) -> None:
    """The run ends at once, not at its next word: it may work, and cost, for an hour before that."""
    program(files, "hold", "touch up; sleep 600")
    (files / "hold.nika.yaml").write_text(HOLD, encoding="utf-8")
    with subprocess.Popen(
        command("run", "hold.nika.yaml", *options),
        cwd=files,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as running:
        wait_for((files / "up").exists, "the task at work")
        assert running.stdout is not None
        running.stdout.close()
        running.wait(60)
    assert frames(newest(files))[-1]["kind"] == "workflow_cancelled"


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_that_the_caller_closed(files: Path, closed: str) -> None:
    """What would be said there goes nowhere; it never lands in the journal, and the run is what it is."""
    line = f"{' '.join(command('run', 'good.nika.yaml'))} {closed}"
    done = subprocess.run(line, shell=True, cwd=files, env=environment(), capture_output=True, check=False)
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr
    assert nika("trace", "verify", newest(files), cwd=files).code == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("option", ["--quiet", "--json"])
def test_outputs_that_cannot_be_written_are_no_success(files: Path, option: str) -> None:
    """A full disk behind standard output is trouble of the environment, in one sentence."""
    line = f"{' '.join(command('run', 'good.nika.yaml', option))} > /dev/full"
    done = subprocess.run(line, shell=True, cwd=files, env=environment(), capture_output=True, check=False)
    assert done.returncode == 3
    assert b"No space left on device" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_current_folder_that_is_gone(files: Path) -> None:
    """Said in a sentence: a workflow has no place to run in then."""
    words = " ".join(command("run", files / "good.nika.yaml"))
    line = f"mkdir gone && cd gone && rmdir ../gone && {words}"
    done = subprocess.run(line, shell=True, cwd=files, env=environment(), capture_output=True, check=False)
    assert done.returncode == 3
    assert done.stderr.decode() == "the current folder is gone: change to one that exists\n"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_that_knows_few_letters(files: Path, encoding: str) -> None:
    """The outputs are still JSON, and nothing breaks."""
    done = nika("run", "good.nika.yaml", cwd=files, PYTHONIOENCODING=encoding)
    assert "Traceback" not in done.err
    assert done.code == 0
    assert json.loads(done.out.decode(encoding)) == SAID


def test_the_version_and_the_help(terminal: Terminal) -> None:
    """The help names the exit codes."""
    assert terminal("--version").out.startswith(b"nika-nb 0.")
    said = terminal("run", "--help").out.decode()
    assert "4 paused" in said.replace("\n", " ")


def test_the_language_is_explained(terminal: Terminal) -> None:
    """The same pages as in a notebook; a slip is a usage error, and told."""
    assert b"the address; its host" in terminal("help", "fetch").out
    assert b"nika-nb help TOPIC" in terminal("help").out
    slip = terminal("help", "tpes")
    assert slip.code == 3
    assert "did you mean `types`?" in slip.err


def test_environment_variables_do_not_answer(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A prompt with a default asks where NIKA_NB_INTERACTIVE says that somebody is there."""
    text = (
        (files / "asks.nika.yaml").read_text(encoding="utf-8").replace('"Go on?"', '"Go on?", default: true')
    )
    (files / "asks.nika.yaml").write_text(text, encoding="utf-8")
    assert nika("run", "asks.nika.yaml", cwd=files).code == 0
    assert nika("run", "asks.nika.yaml", cwd=files, NIKA_NB_INTERACTIVE="1").code == 4
    assert marks(files / "marks") == {"a": 2}


def test_the_module_and_the_script_are_the_same_door(files: Path) -> None:
    """`python -m nika_nb` hands the exit code on."""
    done = subprocess.run(
        command("run", "bad.nika.yaml"), cwd=files, env=environment(), capture_output=True, check=False
    )
    assert done.returncode == 1
    assert os.fspath(files)
