"""Any graph ends as the gate algebra says: whole, resumed from any part of its journal, killed anywhere."""

from __future__ import annotations

import contextlib
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, event, given, note, settings
from hypothesis import strategies as st

import nika_nb
from nika_nb.check.report import Report
from nika_nb.trace.verify import verify
from tests.doors import alive, frames, marks, newest, of, ran, reasons, traces, wait_for
from tests.runs.algebra import End, ends
from tests.runs.crashing import Crasher
from tests.runs.graphs import Graph, drawn, stage
from tests.runs.telling import Told, once, recallable, recalled, told, untidied

CHANCE = st.randoms(use_true_random=False)
MANY = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
FEW = settings(MANY, max_examples=30)


@contextlib.contextmanager
def staged(graph: Graph) -> Iterator[Path]:
    """The workflow's file in an empty folder, which is the current one meanwhile."""
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        yield stage(Path(name).resolve(), graph)


def uninterrupted(graph: Graph, workflow: Path) -> Path:
    """Runs it and judges every end by the algebra. Returns the trace."""
    run = nika_nb.run(workflow)
    expected = ends(graph)
    trace = Path(str(run.trace)).resolve()
    assert told(trace) == expected
    failed = any(expected[node.name].status == "failure" for node in graph.nodes if not node.unwinds)
    assert run.state == ("failed" if failed else "completed")
    if not failed:
        assert run.outputs == {name: end.value for name, end in expected.items()}
    return trace


def dead(graph: Graph, report: Report) -> None:
    """What is refused is refused as dead, and the algebra never runs it either."""
    expected = ends(graph)
    for found in report.errors:
        assert found.code == "NIKA-DAG-006", found.render(report.source)
        assert expected[str(found.task)] in (End("cancelled", "upstream"), End("skipped", "gate"))


@MANY
@given(chance=CHANCE, part=st.floats(0, 1))
def test_any_graph_ends_as_the_algebra_says(chance: random.Random, part: float) -> None:
    """Whole, and resumed from a journal that breaks off at any byte: what stands in it is not run again."""
    graph = drawn(chance)
    note(graph.text)
    report = nika_nb.check(graph.text)
    if not report.ok:
        dead(graph, report)
        return
    with staged(graph) as workflow:
        whole = uninterrupted(graph, workflow)
        watched = Told(graph, workflow.parent)
        whole.write_bytes(broken_off(whole.read_bytes(), part))
        watched.after(whole)
        resumed = nika_nb.run(workflow, resume=whole)
        trace = Path(str(resumed.trace)).resolve()
        watched.after(trace)
        assert told(trace) == ends(graph)
        assert recalled(graph, trace) == recallable(graph, whole)
        assert set(reasons(trace)) == {name for name in ran(trace) if not graph[name].unwinds}


def broken_off(raw: bytes, part: float) -> bytes:
    """That much of what follows the first line. A line that lacks only its newline is whole."""
    first = raw.index(b"\n") + 1
    cut = first + int(part * (len(raw) - first))
    return raw[: cut + raw[cut:].startswith(b"\n")]


@FEW
@given(chance=CHANCE, parts=st.lists(st.floats(0, 1), min_size=1, max_size=3))
def test_any_graph_survives_kills(crasher: Crasher, chance: random.Random, parts: list[float]) -> None:
    """SIGKILL after any line, and again while resuming: the same ends, the same outputs, nothing twice."""
    graph = drawn(chance)
    note(graph.text)
    assume(nika_nb.check(graph.text).ok)
    with staged(graph) as workflow:
        total = len(frames(uninterrupted(graph, workflow)))
    with staged(graph) as workflow:
        watched, resume = Told(graph, workflow.parent), None
        for part in parts:
            done = crasher.run(workflow, lines=1 + int(part * (total - 1)), resume=resume)
            resume = newest(workflow.parent)
            left(resume)
            watched.after(resume)
            assert done["status"] in (0, -9), done
        done = crasher.run(workflow, resume=resume)
        last = newest(workflow.parent)
        left(last)
        watched.after(last)
        expected = ends(graph)
        assert told(last) == expected
        assert not untidied(graph, workflow.parent)
        if done["state"] == "completed":
            assert done["outputs"] == {name: end.value for name, end in expected.items()}
        assert verify(last).verdict == "clean"
        assert len(traces(workflow.parent)) == len(parts) + 1


@MANY
@given(chance=CHANCE, order=CHANCE)
def test_any_graph_that_asks_goes_on_where_it_stood(chance: random.Random, order: random.Random) -> None:
    """Answered a few at a time: the ends of a run that had the answers at hand, and every unit once."""
    graph = drawn(chance, asks=True)
    note(graph.text)
    assume(nika_nb.check(graph.text).ok)
    with staged(graph) as workflow:
        run = nika_nb.run(workflow)
        while run.state == "paused":
            event(f"asked {len(run.prompts)} at once")
            asked = order.sample(run.prompts, order.randint(1, len(run.prompts)))
            run = run.answer({prompt.key: prompt.message for prompt in asked})
        assert told(Path(str(run.trace))) == ends(graph)
        assert not untidied(graph, workflow.parent)
        assert once(graph).items() <= marks(workflow.parent / "marks").items()
        assert not marks(workflow.parent / "early")


def left(trace: Path) -> None:
    """Everything that a run had started is gone."""
    groups = [frame["pgid"] for frame in of(trace, "verb_invoked") if "pgid" in frame]
    wait_for(lambda: not any(map(alive, groups)), "the end of what the run had started")


@pytest.mark.parametrize("seed", range(3))
def test_a_seed_draws_the_same_graph(seed: int) -> None:
    """What failed once can be drawn again."""
    assert drawn(random.Random(seed)).text == drawn(random.Random(seed)).text
