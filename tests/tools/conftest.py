"""What the tests of builtins share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.verbs.calls import Recorder


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    """Collects what a call reports; its base is an empty folder."""
    return Recorder(str(tmp_path))
