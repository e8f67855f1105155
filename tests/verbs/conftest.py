"""The guard of a run's processes, for every test that starts some."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from nika_nb.verbs.guard import Guard


@pytest.fixture
def guard() -> Iterator[Guard]:
    made = Guard()
    yield made
    made.close()
