"""Two engines in processes of their own whose surroundings have nothing in common."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.doors import environment

PROGRAM = r"""
import base64, json, os, sys, tempfile
from pathlib import Path
import nika_nb
from nika_nb.engine import clock

clock.PATIENCE = 0.5  # what hangs here hangs for good

def dawdle(folder):
    path = folder / "work"
    path.write_text('#!/bin/sh\nsleep 0.0$(($$ % 10))\n'
                    'case "$1" in fail) echo "$2" >&2; exit 3;; flaky) echo x >> "$2"; '
                    'test "$(wc -l < "$2")" -ge 3 || exit 4;; hang) sleep 600;; esac\nprintf %s "$1"\n')
    path.chmod(0o755)

for line in sys.stdin:
    story = json.loads(line)
    folder = Path(tempfile.mkdtemp(dir=sys.argv[1]))
    os.chdir(folder)
    for name, text in story.get("files", {}).items():
        (folder / name).write_text(text)
    dawdle(folder)
    try:
        run = nika_nb.run(story["text"], vars=story.get("vars"), interactive=story.get("interactive"))
        for step in story.get("then", []):
            run = run.resume(**step["resume"]) if "resume" in step else run.answer(step["answer"])
        traces = sorted((folder / ".nika" / "traces").iterdir(), key=lambda path: path.stat().st_mtime_ns)
        texts = [base64.b64encode(path.read_bytes()).decode() for path in traces]
        said = {"state": run.state, "journals": texts}
    except Exception as error:
        said = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(said), flush=True)
"""


class Twin:
    """One engine. `tell` has it run a story and gives back its journals as bytes."""

    def __init__(self, folder: Path, **env: str) -> None:
        folder.mkdir(parents=True)
        self._process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=folder,
            env=environment(**env),
            text=True,
        )

    def tell(self, story: dict[str, Any]) -> tuple[str, list[bytes]]:
        """(the state at the end, every journal in the order of writing)."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(story) + "\n")
        self._process.stdin.flush()
        said = json.loads(self._process.stdout.readline())
        assert "error" not in said, said["error"]
        return said["state"], [base64.b64decode(text) for text in said["journals"]]

    def close(self) -> None:
        self._process.communicate()


def twins(folder: Path) -> tuple[Twin, Twin]:
    """Different folders of different depth, time zones, hash seeds, locales and widths."""
    return (
        Twin(folder / "a", TZ="Pacific/Kiritimati", PYTHONHASHSEED="1", NIKA_NB_MAX_PARALLEL="1"),
        Twin(
            folder / "somewhere" / "much deeper" / "ünder",
            TZ="America/Caracas",
            PYTHONHASHSEED="4242",
            LC_ALL="C.UTF-8",
            NIKA_NB_MAX_PARALLEL="16",
            HOME=str(folder),
        ),
    )
