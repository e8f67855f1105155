"""The stage of the resume story: a night's notes, an asset that packs slowly, programs that leave marks."""

from __future__ import annotations

import os
import random
import shutil
import signal
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.doors import PATIENCE, launch, marks, program, started, wait_for

NIGHTLY = """\
# Hash, count and pack the day's notes into one manifest
nika: nightly-archive

permits:
  fs:
    read: ["./notes/*", "./assets.bin"]
    write: ["./assets.bin.gz"]
  exec: ["shasum", "wc", "gzip", "echo"]

tasks:
  # No deps between these two → the engine runs them in parallel.
  hash_notes:
    exec:
      command: ["shasum", "-a", "256", "notes/monday.md", "notes/tuesday.md", "notes/wednesday.md"]

  count_notes:
    exec:
      command: ["wc", "-w", "notes/monday.md", "notes/tuesday.md", "notes/wednesday.md"]

  # Pack only once the notes are verified: the checksums gate the archive.
  pack_assets:
    after:
      hash_notes: success
      count_notes: success
    exec:
      command: ["gzip", "-kf9", "assets.bin"]

  manifest:
    after:
      pack_assets: success
    exec:
      command: ["echo", "archive ok"]

outputs:
  checksums: "${{ tasks.hash_notes.output }}"
  words: "${{ tasks.count_notes.output }}"
"""

ASSET = 2 << 20  # bytes; of four letters at random, on which gzip -9 labours for seconds


@dataclass(frozen=True)
class Night:
    """The folder of one night, and what its programs left behind."""

    folder: Path
    programs: Path

    @property
    def workflow(self) -> Path:
        return self.folder / "nightly-archive.nika.yaml"

    @property
    def path(self) -> str:
        """The PATH on which the story's programs come first."""
        return f"{self.programs}:/usr/local/bin:/usr/bin:/bin"

    @property
    def ran(self) -> dict[str, int]:
        """How often each program was really started."""
        return dict(marks(self.programs / "marks"))

    @property
    def gzips(self) -> list[int]:
        """The process ids of every gzip that was started."""
        return [int(word) for word in (self.programs / "pids").read_text(encoding="utf-8").split()]


@pytest.fixture(scope="session")
def asset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive that takes long to pack."""
    path = tmp_path_factory.mktemp("asset") / "assets.bin"
    path.write_bytes(bytes(random.Random(7).choices(b"acgt", k=ASSET)))
    return path


def make_night(folder: Path, asset: Path) -> Night:
    programs = folder / "programs"
    for name in ("shasum", "wc", "gzip", "echo"):
        real = shutil.which(name)
        assert real, f"the story needs {name}"
        pid = f'echo $$ >> "{programs}/pids"\n' if name == "gzip" else ""
        program(programs, name, f'{pid}printf "{name}\\n" >> "{programs}/marks"\nexec {real} "$@"')
    night = Night(folder / "night", programs)
    (night.folder / "notes").mkdir(parents=True)
    for day, text in {"monday": "rain all day\n", "tuesday": "sun\n", "wednesday": "wind and rain\n"}.items():
        (night.folder / "notes" / f"{day}.md").write_text(text, encoding="utf-8")
    shutil.copy(asset, night.folder / "assets.bin")
    night.workflow.write_text(NIGHTLY, encoding="utf-8")
    return night


@dataclass(frozen=True)
class Crashed:
    """A night whose run was killed while gzip was at work."""

    night: Night
    trace: Path
    console: str


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory, asset: Path) -> Crashed:
    """The rude way: SIGKILL to the engine alone, once the journal says that the pack has begun."""
    night = make_night(tmp_path_factory.mktemp("crashed"), asset)
    said = night.folder.parent / "console"
    engine = launch("run", night.workflow.name, cwd=night.folder, out=said, PATH=night.path)
    trace = wait_for(started(night.folder, "pack_assets"), "the dispatch of pack_assets")
    wait_for(lambda: night.ran.get("gzip"), "the first act of gzip")
    wait_for(lambda: said.read_bytes().count("✔".encode()) == 2, "the console's two rows")
    os.kill(engine.pid, signal.SIGKILL)
    assert engine.wait(PATIENCE) == -signal.SIGKILL, "the run was over before it could be killed"
    return Crashed(night, trace, said.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def quiet_night(tmp_path_factory: pytest.TempPathFactory) -> Night:
    """The same night with nothing much to pack, for runs that nobody interrupts."""
    small = tmp_path_factory.mktemp("small") / "assets.bin"
    small.write_bytes(b"acgt" * 1000)
    return make_night(tmp_path_factory.mktemp("quiet"), small)
