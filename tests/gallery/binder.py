"""An environment made as Binder makes it: what `binder/` says, in a clone, in a virtual environment."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.gallery.execute import ROOT, environment

_CLONED = ("binder", "nika_nb", "notebooks", "pyproject.toml", "README.md", "LICENSE")
_LEFT_OUT = shutil.ignore_patterns("__pycache__", ".nika", ".ipynb_checkpoints")


def clone(folder: Path) -> Path:
    """The committed files that matter to Binder, as they are now."""
    folder.mkdir()
    for name in _CLONED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=_LEFT_OUT)
        else:
            shutil.copy(ROOT / name, folder)
    return folder


def built(repository: Path, venv: Path) -> str:
    """Makes the environment; its interpreter. Raises CalledProcessError where a step fails."""
    _run(_python(repository), "-m", "venv", str(venv))
    python = str(venv / "bin" / "python")
    requirements = str(repository / "binder" / "requirements.txt")
    _run(python, "-m", "pip", "install", "--quiet", "--no-cache-dir", "-r", requirements)
    _run(str(repository / "binder" / "postBuild"), cwd=repository, env=environment(python))
    return python


def _python(repository: Path) -> str:
    """The version that `runtime.txt` asks for where this machine has it, else the one that runs."""
    wanted = (repository / "binder" / "runtime.txt").read_text(encoding="utf-8").strip().replace("-", "")
    return shutil.which(wanted) or sys.executable


def _run(*command: str, cwd: Path | None = None, env: dict[str, str] | None = None) -> None:
    done = subprocess.run(
        command,
        cwd=cwd,
        env=env or dict(os.environ),
        capture_output=True,
        text=True,
        timeout=800,
        check=False,
    )
    if done.returncode != 0:
        print(done.stdout[-2000:], done.stderr[-4000:], file=sys.stderr)
        done.check_returncode()
