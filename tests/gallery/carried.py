"""The run that the last notebook carries. `python -m tests.gallery.carried` makes it anew, log and all."""

from __future__ import annotations

import json
import os
import random
import shutil
import tempfile
from pathlib import Path

import nika_nb
from tests.doors import nika
from tests.gallery.execute import BOOKS

BOOK, WORKFLOW = "06-carries-its-run.ipynb", "log"
TRACE = Path("traces") / f"{WORKFLOW}.ndjson"
FILES = (BOOK, "share.nika.yaml")
MOCK = {"prices": {"echo": {"input": 3, "output": 15}}, "delay_ms": 400}

_LINES = 200_000


def with_its_log(folder: Path) -> Path:
    """A folder in which the workflow can really run: the notebook, what it calls, and the log."""
    for name in FILES:
        shutil.copy(BOOKS / name, folder)
    (folder / "mock.json").write_text(json.dumps(MOCK), encoding="utf-8")
    chance = random.Random(7)
    hosts = chance.choices(("alpha", "beta", "gamma"), (6, 3, 1), k=_LINES)
    said = chance.choices(("INFO", "WARN", "ERROR"), (90, 8, 2), k=_LINES)
    lines = (
        f"{number:06} {host} {word} request served\n"
        for number, (host, word) in enumerate(zip(hosts, said, strict=True))
    )
    (folder / "server.log").write_text("".join(lines), encoding="utf-8")
    return folder


def carry(folder: Path) -> str:
    """Runs the notebook's workflow and has the notebook carry the trace; what was said about it."""
    address = f"{BOOK}::{WORKFLOW}"
    for words in (("run", address, "--no-resume"), ("book", "carry", address)):
        done = nika(*words, cwd=folder, NIKA_NB_MOCK="mock.json")
        assert done.code == 0, done.err
    return done.err + done.out.decode()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        print(carry(with_its_log(Path(name))))
        assert (Path(name) / BOOK).read_bytes() == (BOOKS / BOOK).read_bytes(), "its first line has changed"
        (BOOKS / TRACE).parent.mkdir(exist_ok=True)
        shutil.copy(Path(name) / TRACE, BOOKS / TRACE)
        os.chmod(BOOKS / TRACE, 0o644)
        run = nika_nb.attach(BOOKS / TRACE)
        print(run)
