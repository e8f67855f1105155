"""Workflows that leave marks, and a process that dies on request."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.doors import program
from tests.runs.crashing import Crasher


@pytest.fixture(scope="module")
def crasher() -> Iterator[Crasher]:
    found = Crasher()
    yield found
    found.close()


@pytest.fixture
def say(folder: Path) -> Path:
    """A folder with a program that says what it is told."""
    program(folder, "say", 'printf %s "$1"')
    return folder
