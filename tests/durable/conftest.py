"""An empty project with its program, as the current folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.durable.cells import Cells, shell
from tests.durable.project import Project, project
from tests.notebook.conftest import shown as shown
from tests.runs.conftest import crasher as crasher


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    for name in ("NIKA_NO_TRACE_FILE", "NIKA_NB_INTERACTIVE", "NIKA_NB_SIGN_KEY"):
        monkeypatch.delenv(name, raising=False)
    return project(folder)


@pytest.fixture
def cells(here: Project) -> Iterator[Cells]:
    """Lines of a notebook that lies in the project."""
    with shell() as found:
        yield found
