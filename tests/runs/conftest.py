"""Workflows that leave marks, and a process that dies on request."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.runs.crashing import Crasher


@pytest.fixture(scope="module")
def crasher() -> Iterator[Crasher]:
    found = Crasher()
    yield found
    found.close()
