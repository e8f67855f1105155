"""Workflows that leave marks, and a process that dies on request."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.doors import program
from tests.runs.crashing import Crasher
from tests.runs.gated import GATE


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


@pytest.fixture
def gate(folder: Path) -> Path:
    """A folder with the gate and its program, which leaves marks."""
    program(folder, "step", 'echo "$1" >> marks\necho "$1"')
    (folder / "w.nika.yaml").write_text(GATE, encoding="utf-8")
    return folder
