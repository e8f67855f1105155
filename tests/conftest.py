"""What every test may ask for: the conformance data and an empty folder to work in."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.doors import Terminal

CONFORMANCE = Path(__file__).resolve().parents[2] / "shared" / "conformance"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("soak")
    group.addoption("--soak", type=int, default=50, help="how many runs tests/soak kills and resumes")
    group.addoption("--soak-seed", type=int, default=1, help="which ones it draws")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What the soak did, which its test names do not say."""
    passed = [dict(report.user_properties) for report in terminalreporter.getreports("passed")]
    soaked = [found["soak"] for found in passed if "soak" in found]
    if soaked:
        runs, kills = map(sum, zip(*soaked, strict=True))
        terminalreporter.write_line(f"soak: {runs} runs, {kills} kills survived")


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
