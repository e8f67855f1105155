"""`exec` with real processes: judged, composed, captured, decoded, and failing with a sentence."""

from __future__ import annotations

import asyncio
import os
import stat
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from nika_nb.engine.contract import Reply
from nika_nb.errors import Fault
from nika_nb.language.model import Permits
from nika_nb.verbs import pipes
from nika_nb.verbs.exec import Exec
from nika_nb.verbs.guard import Guard
from tests.verbs.calls import ANY_PROGRAM, Recorder, command, permits, shell

Body = dict[str, Any]


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    return Recorder(str(tmp_path))


def run(
    guard: Guard,
    recorder: Recorder,
    body: Body,
    block: Permits | None = ANY_PROGRAM,
    environ: Mapping[str, str] | None = None,
) -> Reply:
    verb = Exec(block, os.environ if environ is None else environ, guard)
    return asyncio.run(verb.run(recorder.call("exec", body)))


def fault(guard: Guard, recorder: Recorder, body: Body, block: Permits | None = ANY_PROGRAM) -> Fault:
    with pytest.raises(Fault) as caught:
        run(guard, recorder, body, block)
    return caught.value


OUTPUTS = [
    ("a line", command("echo", "sealed"), "sealed"),
    ("no trailing newline", command("printf", "x"), "x"),
    ("inner newlines stay", command("printf", "a\\n\\nb\\n\\n"), "a\n\nb"),
    ("blanks stay", command("printf", " a \\n"), " a "),
    ("nothing", command("true"), ""),
    ("each argument is one", command("printf", "%s|", "; rm -rf /", "$(id)"), "; rm -rf /|$(id)|"),
    ("a number becomes text", {**command("echo"), "command": {"argv": ["echo", 7, True]}}, "7 true"),
    ("a shell line", shell("echo a | tr a b"), "b"),
    ("stderr", shell("echo out; echo err >&2", capture="stderr"), "err"),
    ("combined keeps the order", shell("echo 1; echo 2 >&2; echo 3", capture="combined"), "1\n2\n3"),
    ("stdin", command("cat", stdin="given"), "given"),
    ("no stdin is an empty one", command("cat"), ""),
    ("json", command("echo", '{"a": [1, 2.5]}', decode="json"), {"a": [1, 2.5]}),
    ("jsonl", shell("echo 1; echo; echo '[2]'", decode="jsonl"), [1, [2]]),
    (
        "jsonl with other line ends inside its texts",
        shell("printf '\"a\\342\\200\\250b\\302\\205c\"\\r\\n2\\n'", decode="jsonl"),
        ["a\u2028b\u0085c", 2],
    ),
    ("jsonl of nothing", command("true", decode="jsonl"), []),
    ("bytes", command("printf", "\\377\\n", decode="bytes"), b"\xff\n"),
    ("text", command("echo", "é", decode="text"), "é"),
]


@pytest.mark.parametrize(("name", "body", "output"), OUTPUTS, ids=[case[0] for case in OUTPUTS])
def test_outputs(guard: Guard, recorder: Recorder, name: str, body: Body, output: Any) -> None:
    """The captured stream becomes the value that was declared, without its trailing newlines."""
    assert run(guard, recorder, body).output == output


def test_a_failing_command(guard: Guard, recorder: Recorder) -> None:
    """A non-zero exit fails with its status and the end of what it said."""
    found = fault(guard, recorder, shell("echo working; echo no such row >&2; exit 3"))
    assert (found.code, found.message) == ("NIKA-EXEC-001", "command exited with status 3: no such row")
    assert found.details == {"exit_code": 3, "stderr": "no such row"}


TRACEBACK = """Traceback (most recent call last):
  File "clean.py", line 4, in <module>
    float(p)
ValueError: could not convert string to float: 'ten'"""


def test_the_last_line_of_an_error_stands_first(guard: Guard, recorder: Recorder) -> None:
    """Where a program says much, the sentence holds its last line, and all lines follow in their order."""
    body = command("sh", "-c", 'printf "%s\n\n" "$1" >&2; exit 1', "sh", TRACEBACK)
    sentence = "command exited with status 1: ValueError: could not convert string to float: 'ten'"
    assert fault(guard, recorder, body).message == f"{sentence}\n{TRACEBACK}"


def test_a_last_line_without_an_end_stays_bounded(guard: Guard, recorder: Recorder) -> None:
    """What is one very long line is shortened where it stands as a sentence, and is there in full below."""
    found = fault(guard, recorder, shell("yes ab | head -c 1500 | tr -d '\\n' >&2; exit 1"))
    first, rest = found.message.split("\n")
    assert (len(first) < 400, len(rest)) == (True, 1000)


def test_a_failing_command_that_is_silent(guard: Guard, recorder: Recorder) -> None:
    """Without a word on either stream, the status is the whole sentence."""
    assert fault(guard, recorder, command("false")).message == "command exited with status 1"


def test_only_the_end_of_a_long_error_is_carried(guard: Guard, recorder: Recorder) -> None:
    """A failure does not carry megabytes."""
    found = fault(guard, recorder, shell("yes error | head -c 100000 >&2; echo last words >&2; exit 1"))
    assert len(found.message) < 3000
    assert found.message.endswith("last words")


def test_structured_takes_an_exit_as_data(guard: Guard, recorder: Recorder) -> None:
    """Under `capture: structured` a non-zero exit succeeds, and the streams stay as they came."""
    reply = run(guard, recorder, shell("echo out; echo err >&2; exit 4", capture="structured"))
    assert reply.output == {"stdout": "out\n", "stderr": "err\n", "exit_code": 4}


def test_an_end_by_signal(guard: Guard, recorder: Recorder) -> None:
    """A command that a signal ended has status 128+N and names the signal."""
    found = fault(guard, recorder, shell("kill -9 $$"))
    assert found.message == "command was ended by SIGKILL (status 137)"
    assert found.details["signal"] == "SIGKILL"
    reply = run(guard, recorder, shell("kill -15 $$", capture="structured"))
    assert reply.output["exit_code"] == 143


def test_a_missing_program(guard: Guard, recorder: Recorder) -> None:
    """A program that is not there fails by its name, and both codes can be found in the text."""
    found = fault(guard, recorder, command("no-such-program-xyz"))
    assert found.code == "NIKA-EXEC-002"
    assert "`no-such-program-xyz` could not be started: no such program on the PATH" in found.message
    assert "NIKA-EXEC-001" in str(found)
    assert found.details["exit_code"] == 127
    assert recorder.processes == []


def test_other_reasons_not_to_start(guard: Guard, recorder: Recorder, tmp_path: Path) -> None:
    """Each reason says what to do: the path, the mode, the first line, the folder."""
    (tmp_path / "plain").write_text("#!/bin/sh\n")
    script(tmp_path / "lost", "#!/no/such/interpreter\n")
    (tmp_path / "noise").write_bytes(b"\0\1\2")
    (tmp_path / "noise").chmod(0o755)
    cases = {
        "there is no file": command("./absent"),
        "is not executable; run `chmod +x`": command("./plain"),
        "the interpreter in its first line does not exist": command("./lost"),
        "give it a `#!` line": command("./noise"),
        f"its working folder {tmp_path}/nowhere does not exist": command("true", cwd="nowhere"),
        "arguments are too long": command("true", "x" * 5_000_000),
        "names no program": command(" "),
        "is empty": shell("  "),
        "one of its arguments holds a NUL": command("echo", "a\0b"),
    }
    for sentence, body in cases.items():
        found = fault(guard, recorder, body)
        assert found.code == "NIKA-EXEC-002", sentence
        assert sentence in found.message


def script(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_relative_programs_and_folders(guard: Guard, recorder: Recorder, tmp_path: Path) -> None:
    """Paths count from the base folder; `cwd:` counts from it too and moves the program's own."""
    (tmp_path / "sub").mkdir()
    script(tmp_path / "here.sh", "#!/bin/sh\npwd\n")
    script(tmp_path / "sub" / "there.sh", "#!/bin/sh\npwd\n")
    place = os.path.realpath(tmp_path)
    assert run(guard, recorder, command("./here.sh")).output == place
    assert run(guard, recorder, command("./there.sh", cwd="./sub")).output == f"{place}/sub"


def test_undecodable_streams(guard: Guard, recorder: Recorder) -> None:
    """What was declared and cannot be read fails, with the place and a way out."""
    cases = {
        "`decode: json` cannot read it": command("echo", "{", decode="json"),
        "it says: nothing": command("true", decode="json"),
        "(line 2)": shell("echo 1; echo x", decode="jsonl"),
        "duplicate key": command("echo", '{"a":1,"a":2}', decode="json"),
        "NaN is not JSON": command("echo", "NaN", decode="json"),
        "it is nested too deep": command("echo", "[" * 20_000, decode="json"),
        "write `decode: bytes`": command("printf", "ab\\377", decode="text"),
    }
    for sentence, body in cases.items():
        found = fault(guard, recorder, body)
        assert found.code == "NIKA-EXEC-003"
        assert sentence in found.message


def test_text_that_is_not_utf_8(guard: Guard, recorder: Recorder) -> None:
    """Text is strict, and the way out is named; what `structured` reports is replaced, and said."""
    found = fault(guard, recorder, command("printf", "ab\\377\\n"))
    assert found.code == "NIKA-EXEC-003"
    assert "stdout is not UTF-8 (byte 2)" in found.message
    assert run(guard, recorder, command("printf", "ab\\377", decode="bytes")).output == b"ab\xff"
    reply = run(guard, recorder, shell("printf '\\377' >&2", capture="structured"))
    assert reply.output["stderr"] == "\N{REPLACEMENT CHARACTER}"
    assert reply.warning == "stderr is not UTF-8 (byte 0): broken characters were replaced"


def test_fifty_megabytes_on_both_streams(guard: Guard, recorder: Recorder) -> None:
    """Both pipes are read at once: neither can fill up and hold the command."""
    line = "head -c 52428800 /dev/zero | tr '\\0' x & head -c 52428800 /dev/zero | tr '\\0' y >&2; wait"
    output = run(guard, recorder, shell(line, capture="structured")).output
    assert output["exit_code"] == 0
    assert output["stdout"] == "x" * 52428800
    assert output["stderr"] == "y" * 52428800
    assert recorder.text("stdout") == recorder.text("stderr") == ""


def test_a_line_too_long_to_be_read(guard: Guard, recorder: Recorder) -> None:
    """It is left out of the live text, whole: cut anywhere, it might be cut in a secret.

    What follows it is shown.
    """
    line = "echo one; head -c 600000 /dev/zero | tr '\\0' x; sleep 0.05; echo; echo two; printf three"
    assert len(run(guard, recorder, shell(line)).output) == 600_000 + len("one\n\ntwo\nthree")
    assert recorder.text("stdout") == "one\ntwo\nthree"


def test_a_stream_without_end(guard: Guard, recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that never stops talking is ended at the bound, and the reason is said."""
    monkeypatch.setattr(pipes, "CAPTURE_BOUND", 3 << 20)
    found = fault(guard, recorder, command("yes"))
    assert found.code == "NIKA-EXEC-003"
    assert "stdout went beyond 3 MiB" in found.message


def test_a_stdin_larger_than_the_pipe(guard: Guard, recorder: Recorder) -> None:
    """Feeding and reading go on at once: an echo of three megabytes comes back whole."""
    text = "0123456789" * 300_000
    assert run(guard, recorder, command("cat", stdin=text)).output == text


def test_a_child_that_never_reads_its_stdin(guard: Guard, recorder: Recorder) -> None:
    """A full pipe that nobody reads neither blocks nor fails."""
    assert run(guard, recorder, command("echo", "done", stdin="x" * 3_000_000)).output == "done"


def test_the_boundary_is_witnessed(guard: Guard, recorder: Recorder) -> None:
    """Every decision is reported: the program's, and the names that passed into the environment."""
    block = permits(exec=["true"], env=["HOME_TOWN"])
    run(guard, recorder, command("true"), block, {"HOME_TOWN": "x", **os.environ})
    program, environment = recorder.decisions
    assert (program.plane, program.gate, program.allowed) == ("exec", "true", True)
    assert program.why == "permits.exec lists the program"
    assert (environment.plane, environment.gate, environment.allowed) == ("env", "HOME_TOWN", True)


@pytest.mark.parametrize(
    ("body", "block"),
    [
        (command("echo", "x"), None),
        (command("echo", "x"), permits(exec=["git"])),
        (shell("echo x"), permits(exec=["echo"])),
    ],
    ids=["no block", "not listed", "a shell line under a list"],
)
def test_a_refused_program(guard: Guard, recorder: Recorder, body: Body, block: Permits | None) -> None:
    """A refusal fails the task, is witnessed, and starts nothing."""
    assert fault(guard, recorder, body, block).code == "NIKA-SEC-004"
    assert [decision.allowed for decision in recorder.decisions] == [False]
    assert recorder.processes == []


def test_a_blocked_command(guard: Guard, recorder: Recorder) -> None:
    """The floor holds under every grant."""
    assert fault(guard, recorder, command("sudo", "true")).code == "NIKA-SEC-001"
    assert fault(guard, recorder, shell("echo x; rm -rf /")).code == "NIKA-SEC-001"
    assert recorder.processes == []


def test_the_environment_of_a_child(guard: Guard, recorder: Recorder) -> None:
    """The child sees the floor, the passthrough and its own map, and nothing else."""
    around = {"PATH": os.environ["PATH"], "HOME": "/h", "SECRET": "s", "PASSED": "p", "LD_PRELOAD": ""}
    block = permits(exec=True, env=["PASSED"])
    output = run(guard, recorder, command("env", env={"OWN": 1, "LD_PRELOAD": "x"}), block, around).output
    assert set(output.splitlines()) == {f"PATH={os.environ['PATH']}", "HOME=/h", "PASSED=p", "OWN=1"}


def test_live_lines(guard: Guard, recorder: Recorder) -> None:
    """What a command says is shown as it comes, in whole lines, each stream under its name."""
    run(guard, recorder, shell("printf 'a\\nb'; printf 'c\\n'; echo e >&2; printf tail"))
    assert recorder.text("stdout") == "a\nbc\ntail"
    assert recorder.text("stderr") == "e\n"
    assert all(text.endswith("\n") for _, text in recorder.shown if text != "tail")


def test_lines_are_shown_before_the_end(guard: Guard, tmp_path: Path) -> None:
    """A line is seen while its command still runs."""
    recorder = Recorder(str(tmp_path))
    verb = Exec(ANY_PROGRAM, os.environ, guard)

    async def watch() -> bool:
        running = asyncio.create_task(verb.run(recorder.call("exec", shell("echo now; cat", stdin=None))))
        while not recorder.shown and not running.done():
            await asyncio.sleep(0.01)
        return await running is not None

    assert asyncio.run(watch())
    assert recorder.shown[0] == ("stdout", "now\n")


def test_a_character_split_over_reads(guard: Guard, recorder: Recorder) -> None:
    """Live text is decoded across the borders of reads."""
    run(guard, recorder, shell("printf '\\303'; sleep 0.05; printf '\\251\\n'"))
    assert recorder.text("stdout") == "é\n"


def test_the_process_is_witnessed_at_once(guard: Guard, recorder: Recorder) -> None:
    """The group and its start time are known while the child runs; the group is the child's own."""
    verb = Exec(ANY_PROGRAM, os.environ, guard)
    seen: list[bool] = []

    async def watch() -> None:
        running = asyncio.create_task(verb.run(recorder.call("exec", command("sleep", "0.2"))))
        while not recorder.processes:
            await asyncio.sleep(0)
        started = recorder.processes[0]
        assert started is not None
        seen.append(bool(started.started))
        seen.append(os.getpgid(started.pgid) == started.pgid != os.getpgid(0))
        await running

    asyncio.run(watch())
    assert seen == [True, True]
    assert len(recorder.processes) == 1


def test_many_at_once_on_a_loop_in_another_thread(guard: Guard, tmp_path: Path) -> None:
    """No child watcher is needed: forty children at once on a loop off the main thread."""
    verb = Exec(ANY_PROGRAM, os.environ, guard)
    outputs: list[str] = []

    async def all_of_them() -> None:
        bodies = [shell(f"sleep 0.1; echo {number}") for number in range(40)]
        calls = [Recorder(str(tmp_path)).call("exec", body) for body in bodies]
        outputs.extend(reply.output for reply in await asyncio.gather(*map(verb.run, calls)))

    thread = threading.Thread(target=lambda: asyncio.run(all_of_them()))
    thread.start()
    thread.join()
    assert outputs == [str(number) for number in range(40)]


def test_nothing_is_left_open(guard: Guard, recorder: Recorder) -> None:
    """After failures, successes and refusals there are as many descriptors as before."""
    run(guard, recorder, command("true"))
    before = len(os.listdir("/dev/fd"))
    for _ in range(5):
        run(guard, recorder, command("cat", stdin="x"))
        fault(guard, recorder, command("no-such-program-xyz", stdin="x"))
        fault(guard, recorder, command("false"))
    assert len(os.listdir("/dev/fd")) == before


def test_a_relative_folder_on_the_path_names_no_program(
    guard: Guard, recorder: Recorder, tmp_path: Path
) -> None:
    """A file in the working folder does not stand in for a permitted program."""
    (tmp_path / "echo").write_text("#!/bin/sh\nprintf fooled\n")
    (tmp_path / "echo").chmod(0o755)
    (tmp_path / "only_here").write_text("#!/bin/sh\nprintf here\n")
    (tmp_path / "only_here").chmod(0o755)
    where = {"PATH": f".::{os.environ['PATH']}"}
    assert run(guard, recorder, command("echo", "hi", cwd=str(tmp_path), env=where)).output == "hi"
    found = fault(guard, recorder, command("only_here", cwd=str(tmp_path), env=where))
    assert found.code == "NIKA-EXEC-002"
    assert "no such program on the PATH" in found.message
    named = {"PATH": str(tmp_path)}
    assert run(guard, recorder, command("only_here", cwd=str(tmp_path), env=named)).output == "here"
