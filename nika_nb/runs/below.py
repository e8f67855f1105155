"""Projects below a folder: every place with traces that somebody who works there may be asked from."""

from __future__ import annotations

import os
from collections import deque
from dataclasses import dataclass
from pathlib import Path

DEEPEST = 5  # folders below the one that is asked about
MOST = 5_000  # folders that are looked into
_FOREIGN = frozenset({"node_modules", "__pycache__", "site-packages"})


@dataclass(frozen=True, slots=True)
class Below:
    """roots: the folders that hold what is looked for, nearest first. cut: there were too many to look at."""

    roots: tuple[Path, ...]
    cut: bool = False


def projects(folder: Path, what: str = "traces") -> Below:
    """The folder itself and what lies below it; hidden, installed and linked folders are passed over.

    what: the folder in `.nika` that makes one a project.
    """
    found: list[Path] = []
    waiting = deque([(folder, 0)])
    for _ in range(MOST):
        if not waiting:
            return Below(tuple(found))
        here, depth = waiting.popleft()
        if (here / ".nika" / what).is_dir():
            found.append(here)
        if depth < DEEPEST:
            waiting += [(inner, depth + 1) for inner in _folders(here)]
    return Below(tuple(found), cut=bool(waiting))


def _folders(here: Path) -> list[Path]:
    """The folders in a folder, by name; none where it cannot be read, or holds installed packages."""
    try:
        with os.scandir(here) as entries:
            inside = list(entries)
            if any(entry.name == "pyvenv.cfg" for entry in inside):
                return []
            return sorted(Path(entry.path) for entry in inside if _worth(entry))
    except OSError:
        return []


def _worth(entry: os.DirEntry[str]) -> bool:
    if entry.name.startswith(".") or entry.name in _FOREIGN:
        return False
    return entry.is_dir(follow_symlinks=False)
