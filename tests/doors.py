"""The doors as tests use them: commands in a process of their own or in this one, journals read back."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 30.0  # seconds after which a thing that is waited for will not come any more


@dataclass(frozen=True)
class Ended:
    """How a command went: exit code, standard output as bytes, standard error as text."""

    code: int
    out: bytes
    err: str

    @property
    def outputs(self) -> Any:
        """What stands on standard output, read as one JSON value."""
        return json.loads(self.out)

    @property
    def events(self) -> list[dict[str, Any]]:
        """The frames on standard output, under `--json`."""
        return [frame_of(line) for line in self.out.splitlines()]


def environment(**more: str) -> dict[str, str]:
    """This process's environment with the package at hand and without anything that could steer it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NIKA_")}
    return kept | {"PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), kept.get("PYTHONPATH"))))} | more


def command(*words: str | Path) -> list[str]:
    return [sys.executable, "-m", "nika_nb", *map(str, words)]


def nika(*words: str | Path, cwd: Path, stdin: bytes = b"", **env: str) -> Ended:
    """One command in a process of its own, to its end."""
    done = subprocess.run(
        command(*words),
        cwd=cwd,
        env=environment(**env),
        input=stdin,
        capture_output=True,
        timeout=120,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"))


def launch(*words: str | Path, cwd: Path, out: Path | None = None, **env: str) -> subprocess.Popen[bytes]:
    """One command in a process of its own, left running; what it says goes into a file, or nowhere."""
    target = out.open("wb") if out is not None else subprocess.DEVNULL
    try:
        return subprocess.Popen(
            command(*words),
            cwd=cwd,
            env=environment(**env),
            stdin=subprocess.DEVNULL,
            stdout=target,
            stderr=subprocess.STDOUT,
        )
    finally:
        if out is not None and not isinstance(target, int):
            target.close()


class Terminal:
    """Commands in this process: the same code without the time it takes to start."""

    def __init__(self, capture: pytest.CaptureFixture[bytes]) -> None:
        self._capture = capture

    def __call__(self, *words: str | Path) -> Ended:
        from nika_nb.cli.main import main

        self._capture.readouterr()
        try:
            code = main([str(word) for word in words])
        except SystemExit as ending:
            code = ending.code if isinstance(ending.code, int) else 1
        out, err = self._capture.readouterr()
        return Ended(code, out, err.decode("utf-8"))


def wait_for(found: Callable[[], Any], what: str) -> Any:
    """The first true value; fails the test where none comes."""
    until = time.monotonic() + PATIENCE
    while not (value := found()):
        if time.monotonic() > until:
            pytest.fail(f"{what} did not come about within {PATIENCE:.0f} seconds")
        time.sleep(0.01)
    return value


# -- journals ----------------------------------------------------------------------------------


def frame_of(line: bytes | str) -> dict[str, Any]:
    """One line as {kind, id, run, correlation, **fields}."""
    shape = json.loads(line)
    named = {"kind": shape["kind"], "uuid": shape["id"]["uuid"]}
    named |= {"run": shape["run"], "correlation": shape["correlation"]}
    return named | {pair["key"]: pair["value"] for pair in shape["fields"]}


def frames(path: Path) -> list[dict[str, Any]]:
    """The whole lines of a journal, also of one that is being written."""
    lines = path.read_bytes().split(b"\n")
    return [frame_of(line) for line in lines[:-1]]


def kinds(path: Path) -> Counter[str]:
    return Counter(frame["kind"] for frame in frames(path))


def traces(folder: Path) -> list[Path]:
    """The journals under a folder, oldest first; one that broke off within its first line is none yet."""
    found = [path for path in _existing(folder) if b"\n" in path.read_bytes()]
    return sorted(found, key=lambda path: frame_of(path.read_bytes().split(b"\n")[0])["uuid"])


def newest(folder: Path) -> Path:
    return traces(folder)[-1]


def of(path: Path, *wanted: str, **fields: Any) -> list[dict[str, Any]]:
    """The frames of these kinds whose fields have these values."""
    return [
        frame
        for frame in frames(path)
        if frame["kind"] in wanted and all(frame.get(name) == value for name, value in fields.items())
    ]


def hits(path: Path) -> set[str]:
    """The tasks that a resume did not run."""
    return {frame["task"] for frame in of(path, "task_cache_hit")}


def ran(path: Path) -> set[str]:
    """The tasks that ran live."""
    return {frame["task"] for frame in of(path, "task_started")}


def reasons(path: Path) -> dict[str, tuple[str, ...]]:
    """task → (reason, the parts that differ…) of every task that ran live on a resume."""
    return {
        frame["task"]: (frame["reason"], *json.loads(frame.get("parts", "[]")))
        for frame in of(path, "task_started")
        if "reason" in frame
    }


def started(folder: Path, task: str) -> Callable[[], Path | None]:
    """For `wait_for`: the journal in which that task has been dispatched."""

    def look() -> Path | None:
        for path in _existing(folder):
            if of(path, "verb_invoked", task=task):
                return path
        return None

    return look


def _existing(folder: Path) -> Iterator[Path]:
    yield from (folder / ".nika" / "traces").glob("*.ndjson")


# -- programs ----------------------------------------------------------------------------------


def program(folder: Path, name: str, body: str) -> Path:
    """An executable shell script in a folder."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def marks(path: Path) -> Counter[str]:
    """What ran, counted outside the journal: one word a line in a side file."""
    return Counter(path.read_text(encoding="utf-8").split()) if path.exists() else Counter()


def alive(pid: int) -> bool:
    """Whether a process still works; a zombie does not."""
    stat = Path(f"/proc/{pid}/stat")
    if Path("/proc/self/stat").exists():
        try:
            return (
                stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0] not in "ZX"
            )
        except OSError:
            return False
    listed = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return bool(listed.stdout.strip()) and not listed.stdout.strip().startswith("Z")


# -- journals, changed -------------------------------------------------------------------------


def rewritten(path: Path, change: Callable[[dict[str, Any]], Any], name: str = "changed.ndjson") -> Path:
    """A copy whose frames went through `change`, chained anew: what another engine or another day wrote.

    `change` gets a line's members with `fields` as a mapping; a line for which it returns False is
    left out.
    """
    head, lines = hashlib.sha256(b"nika-trace-v1").hexdigest(), []
    for line in path.read_bytes().splitlines():
        shape = json.loads(line)
        shape["fields"] = {pair["key"]: pair["value"] for pair in shape["fields"]}
        if change(shape) is False:
            continue
        shape["fields"] = [{"key": key, "value": value} for key, value in shape["fields"].items()]
        shape["chain"] = head
        text = json.dumps(shape, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()
        head = hashlib.sha256(text).hexdigest()
        lines.append(text + b"\n")
    copy = path.with_name(name)
    copy.write_bytes(b"".join(lines))
    return copy
