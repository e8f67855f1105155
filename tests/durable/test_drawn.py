"""What the operations return, as a notebook shows it: short, with times that people read."""

from __future__ import annotations

import re

from nika_nb import runs
from tests.durable.project import ASK, DONE, Project

_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d")


def test_runs_and_deployments_are_drawn_shortly(here: Project) -> None:
    """A line per run; one looked at in a few; no clock in nanoseconds, no text of a workflow."""
    here.deployed("done", DONE)
    ended = runs.run_deployment("done")
    waits = runs.start(ASK)
    listed = runs.list_runs()
    assert repr(listed).count("\n") == 1
    assert ended.run_id is not None
    for shown in (
        repr(listed),
        repr(listed.runs[0]),
        repr(ended),
        repr(waits),
        repr(runs.list_deployments()),
    ):
        assert _MOMENT.search(shown), shown
        assert not re.search(r"\d{15}", shown)
        assert len(shown) < 600
    assert ended.run_id in repr(listed)
    assert "asks `" in repr(waits)
    assert "frames from 0" in repr(runs.read_run_trace(ended.run_id, 0, 3).trace)
