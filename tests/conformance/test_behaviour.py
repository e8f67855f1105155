"""The public suite's behavioural fixtures, through `run --json`, with the suite's own projection."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.projection import Fixture, differences, observe
from tests.conftest import CONFORMANCE
from tests.doors import Terminal, newest

FAMILIES = ("agent", "errors", "for-each", "gates", "permits")


def found() -> dict[str, Path]:
    """name → folder of every behavioural fixture."""
    tests = CONFORMANCE / "tests"
    folders = [folder for family in FAMILIES for folder in sorted((tests / "runtime" / family).glob("*"))]
    named = {f"{folder.parent.name}/{folder.name}": folder for folder in folders}
    return named | {f"stdlib/{f.name}": f for f in sorted((tests / "stdlib" / "behavioral").glob("*"))}


FIXTURES = found()


@pytest.mark.usefixtures("conformance")
def test_every_fixture_is_here() -> None:
    """54 of the runtime and 5 of the standard library, 36 of them gates."""
    assert len(FIXTURES) == 59
    assert sum(name.startswith("gates/") for name in FIXTURES) == 36


@pytest.mark.parametrize("name", FIXTURES)
def test_a_fixture_behaves_as_published(
    name: str, folder: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """State, statuses, typed outputs, codes and attempts; the stream is the journal, byte by byte."""
    fixture = Fixture(FIXTURES[name])
    (folder / "input.nika.yaml").write_bytes(fixture.text)
    for variable, value in fixture.environment.items():
        monkeypatch.setenv(variable, value)
    words = [word for key, value in fixture.variables.items() for word in ("--var", f"{key}={value}")]
    done = terminal("run", "input.nika.yaml", "--json", *words)
    assert done.code in (0, 1), done.err
    assert differences(fixture.expected, observe(done.events)) == []
    assert done.code == (0 if fixture.expected["workflow_state"] == "success" else 1)
    assert done.out == newest(folder).read_bytes()
