"""`nika:done` belongs to an agent's loop."""

from __future__ import annotations

from tests.tools.using import fault
from tests.verbs.calls import Recorder


def test_on_its_own_it_ends_nothing(recorder: Recorder) -> None:
    """A task that is no agent fails with it, and is told what to do instead."""
    found = fault(recorder, "nika:done", result={"status": "complete"})
    assert found.code == "NIKA-BUILTIN-DONE-001"
    assert 'grant the tool to an agent: `tools: ["nika:done"]`' in found.message
