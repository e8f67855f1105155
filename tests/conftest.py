"""What every test may ask for: the conformance data and an empty folder to work in."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.doors import Terminal

CONFORMANCE = Path(__file__).resolve().parents[2] / "shared" / "conformance"


@pytest.fixture(scope="session")
def conformance() -> Path:
    """The folder of the public suite's data, read in place; absent in a lone clone."""
    if CONFORMANCE.is_dir():
        return CONFORMANCE
    if os.environ.get("CI"):
        pytest.fail(f"the conformance data is missing: expected it at {CONFORMANCE}")
    pytest.skip("not run: the conformance data lies in ../shared/conformance, which is not here")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder that is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def terminal(capsysbinary: pytest.CaptureFixture[bytes], folder: Path) -> Terminal:
    """`nika-nb` in this process and an empty working folder, without anything that could steer it."""
    return Terminal(capsysbinary)
