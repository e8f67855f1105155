"""Files that the check itself reads: plain files of a bounded size, and nothing else."""

from __future__ import annotations

import os

MOST = (1 << 20) + 1  # bytes: one more than a workflow may have


def read_bounded(path: str) -> bytes:
    """The first bytes of a plain file. Raises OSError where there is none, also for devices and pipes."""
    if not os.path.isfile(path):
        raise FileNotFoundError(path)
    with open(path, "rb") as file:
        return file.read(MOST)
