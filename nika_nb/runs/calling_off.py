"""A run that is asked to end from outside: by a file beside its journal, whatever process is at it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def call_off(journal: Path) -> None:
    """Asks the run that writes this journal to end. Raises OSError where nothing can be left beside it."""
    _word(journal).touch()


def take_back(journal: Path) -> None:
    """Leaves nothing behind of what nobody obeyed."""
    with suppress(OSError):
        _word(journal).unlink()


def called_off(journal: Path) -> bool:
    """Whether somebody has asked; each asking is heard once."""
    try:
        _word(journal).unlink()
    except OSError:
        return False
    return True


def _word(journal: Path) -> Path:
    return journal.with_name(f"{journal.name}.cancel")
