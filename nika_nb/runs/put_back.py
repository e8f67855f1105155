"""A journal that a saved notebook carried, written where its cell looks for it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from nika_nb.errors import UsageError
from nika_nb.trace.verify import verify


def put_back(content: bytes, head: str | None, target: Path) -> None:
    """Nothing that is there is written over. Raises UsageError for one that is not what its output says."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, suffix=".ndjson")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        verdict = verify(Path(name))
        if not verdict.intact or verdict.head != head:
            raise UsageError(
                f"the journal that the saved output carries for {target.name} is not the one it names"
            )
        os.link(name, target)
    finally:
        os.unlink(name)
