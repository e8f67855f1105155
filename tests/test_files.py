"""Only files are opened, and only as far as one may be; what else lies there is told and not waited for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import nika_nb
from nika_nb import books
from nika_nb.errors import NikaError, UsageError
from nika_nb.files import NoFile, kind_of, plain_bytes
from tests.doors import ROOT, Terminal, environment

LIMIT = 60.0  # seconds; it only ends a hang
STRANGE = ["/dev/zero", "fifo", "folder"]
SECRET = """\
nika: w
permits: {exec: [echo]}
secrets: {s: {source: file, path: %s, egress: [{to: exec}]}}
tasks: {t: {exec: {command: [echo, "${{ secrets.s }}"]}}}
"""
INFER = "nika: w\ntasks: {t: {infer: {prompt: hi, model: mock/echo}}}\n"


@pytest.fixture
def strange(folder: Path) -> Path:
    """A folder with a pipe and a folder in it."""
    os.mkfifo(folder / "fifo")
    (folder / "folder").mkdir()
    return folder


def ran(*words: object, **more: str) -> subprocess.CompletedProcess[str]:
    """The command line with little memory to lose, in a process that a hang would keep."""
    line = f"ulimit -v 3000000; exec {sys.executable} -m nika_nb " + " ".join(map(str, words))
    return subprocess.run(
        ["bash", "-c", line],
        env=environment(PYTHONPATH=str(ROOT), **more),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )


@pytest.mark.parametrize("name", STRANGE)
def test_what_is_no_file_is_not_opened(strange: Path, name: str) -> None:
    """It ends at once, and says what it is."""
    with pytest.raises(NoFile, match=r"it is a (device|pipe|folder), no file"):
        plain_bytes(name, 10)
    assert kind_of(name)


def test_a_file_is_read_as_far_as_wanted(folder: Path) -> None:
    """One byte more tells that there is more."""
    (folder / "f").write_bytes(b"0123456789")
    assert plain_bytes("f", 4) == b"01234"
    assert plain_bytes("f", 10) == b"0123456789"
    for never in ("a\0b", "\ud800"):
        with pytest.raises(NoFile, match="cannot be a path"):
            plain_bytes(never, 1)


@pytest.mark.parametrize("name", STRANGE)
def test_no_door_waits_for_what_is_no_file(strange: Path, name: str) -> None:
    """As a workflow, a notebook, a secret, what mock models answer, a trace: refused in a sentence."""
    link = strange / "w.yaml"
    link.symlink_to(name)
    book = strange / "b.ipynb"
    book.symlink_to(name)
    (strange / "s.yaml").write_text(SECRET % name, encoding="utf-8")
    (strange / "i.yaml").write_text(INFER, encoding="utf-8")
    for words, more in (
        (("check", "w.yaml"), {}),
        (("run", "w.yaml"), {}),
        (("book", "ls", "b.ipynb"), {}),
        (("run", "s.yaml"), {}),
        (("run", "i.yaml"), {"NIKA_NB_MOCK": name}),
        (("trace", "show", name), {}),
    ):
        done = ran(*words, **more)
        assert done.returncode in (1, 2, 3), (words, done)
        assert "Traceback" not in done.stderr
        assert any(said in done.stdout + done.stderr for said in ("device", "pipe", "folder")), (words, done)


def test_a_pipe_that_a_shell_hands_over_is_a_workflow(folder: Path) -> None:
    """`<(…)` is read as far as a workflow may go."""
    line = f"{sys.executable} -m nika_nb run <(printf 'nika: w\\ntasks: {{}}\\noutputs: {{a: 1}}\\n')"
    long = f"{sys.executable} -m nika_nb check <(head -c 3000000 /dev/zero | tr '\\0' '#')"
    for script, code in ((line, None), (long, 2)):
        done = subprocess.run(
            ["bash", "-c", script],
            env=environment(PYTHONPATH=str(ROOT)),
            capture_output=True,
            text=True,
            timeout=LIMIT,
        )
        assert "cannot be read" not in done.stderr
        assert code is None or done.returncode == code


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000, "\ud800", "~nosuch/x"])
def test_a_path_that_can_be_none_is_told_in_python(folder: Path, name: str) -> None:
    """Whatever takes one: no error but ours."""
    for door in (
        nika_nb.read_trace,
        nika_nb.why,
        nika_nb.replay,
        nika_nb.attach,
        books.workflows,
        lambda path: nika_nb.run("nika: w\ntasks: {}\n", resume=path),
    ):
        with pytest.raises(NikaError) as caught:
            door(name)
        assert len(str(caught.value)) < 6000


@pytest.mark.parametrize(
    "words",
    [
        ("trace", "show", "~nosuch/x"),
        ("trace", "replay", "~nosuch/x"),
        ("trace", "doctor", "~nosuch/x"),
        ("trace", "show", "x" * 5000),
        ("runs", "list", "--offset", "9" * 23),
        ("check", "nul.yaml"),
    ],
)
def test_the_command_line_says_it_in_a_sentence(
    terminal: Terminal, folder: Path, words: tuple[str, ...]
) -> None:
    """A name that nobody has, a number that none can count, a path that is none."""
    (folder / "nul.yaml").write_text(
        'nika: w\ntasks: {t: {invoke: {workflow: "./\\0.yaml"}}}\n', encoding="utf-8"
    )
    done = terminal(*words)
    assert done.code in (1, 2, 3)
    assert "Errno" not in done.err


def test_what_was_given_is_not_given_back_whole() -> None:
    """A line of an error that goes on and on is cut in its middle; what to do stands at its end."""
    said = str(UsageError(f"{'x' * 100_000} is wrong; do this"))
    assert len(said) < 1500
    assert said.endswith("is wrong; do this")
    assert "characters left out" in said
    assert json.dumps(said)


def test_no_runs_of_a_folder_that_is_not_there_are_served(terminal: Terminal, folder: Path) -> None:
    """Told when it starts, and not by every call."""
    pytest.importorskip("mcp")
    done = terminal("mcp", "--root", folder / "nope")
    assert done.code == 3
    assert "there is no folder" in done.err
