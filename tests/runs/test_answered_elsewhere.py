"""A question that another run has the answer to: every list, look and cleanup takes it for answered."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

import nika_nb
from nika_nb import runs
from nika_nb.errors import ResumeRefused
from nika_nb.runs.inbox import inbox
from nika_nb.runs.kin import answered_by
from nika_nb.trace.folder import TraceFolder
from nika_nb.trace.kinship import Elsewhere
from nika_nb.trace.retention import Collection, Limits, collect
from tests.doors import Terminal, marks, traces
from tests.runs.gated import GATE

NOW, SOON = GATE.replace("Ship it?", "Ship it now?"), GATE.replace("Ship it?", "Ship it soon?")


@pytest.fixture(params=["files", "cache"])
def both(request: pytest.FixtureRequest, gate: Path) -> tuple[nika_nb.Run, nika_nb.Run]:
    """A run that still asks, and the later one that has its answer; without a cache and with one."""
    older = nika_nb.run(GATE)
    if request.param == "cache":
        (gate / ".nika" / "index.sqlite3").touch()  # there is one: it is used
    newer = nika_nb.run(NOW, resume=True)
    newer.answer(True)
    assert (older.state, newer.state) == ("paused", "completed")
    return older, newer


Both = tuple[nika_nb.Run, nika_nb.Run]


def test_every_look_says_so_and_by_which_run(both: Both, gate: Path, terminal: Terminal) -> None:
    """The list, the look at one, the inbox, the list of traces, and what an answer is refused with."""
    older, newer = both
    (_, listed) = runs.list_runs().runs
    assert (listed.run_id, listed.status, listed.resume_readiness) == (older.id, "interrupted", "blocked")
    found = runs.inspect_run(str(older.id))
    assert found.summary == listed
    assert (listed.answered_by, len(found.diagnostics)) == (newer.id, listed.diagnostic_count)
    assert str(newer.id) in found.diagnostics[0].message
    assert f"answered by {newer.id}" in terminal("runs", "list").out.decode()
    assert inbox(gate).waiting == ()
    assert "nothing waits for an answer" in terminal("answer", "ask=yes").err
    shape = json.loads(terminal("trace", "ls", "--json").out)[-1]
    assert (shape["state"], shape["run_state"], shape["answered_by"]) == ("answered", "completed", newer.id)
    assert terminal("trace", "ls").out.decode().rstrip().endswith(f"→ completed in {newer.id}")
    with pytest.raises(ResumeRefused, match=str(newer.id)):
        older.answer(True)


def test_it_does_not_wait_when_it_is_resumed(both: Both) -> None:
    """Nothing would run but the question: who has the answer is told, and how it is asked again."""
    older, newer = both
    with pytest.raises(ResumeRefused, match=rf"{newer.id} took up the same pause.* To ask again"):
        nika_nb.run(GATE, resume=older.trace)


def test_it_can_be_ended(both: Both, terminal: Terminal) -> None:
    """Named or not: it is the only one that is open."""
    done = terminal("runs", "cancel")
    assert (done.code, f"{both[0].id} · cancelled" in done.out.decode()) == (0, True)
    assert runs.inspect_run(str(both[0].id)).summary.answered_by is None


def test_an_answer_that_is_no_kin_changes_nothing(gate: Path) -> None:
    """Another run of the same text that was begun anew has a question of its own."""
    older = nika_nb.run(GATE)
    nika_nb.run(GATE).answer(True)
    assert runs.inspect_run(str(older.id)).resume_readiness == "ready"
    assert [one.summary.run_id for one in inbox(gate).waiting] == [older.id]


def test_one_that_was_begun_after_the_answer_asks_for_itself(both: Both, gate: Path) -> None:
    """Whoever asks again knows that there was an answer."""
    again = nika_nb.run(GATE, resume=both[0].trace, from_="ask")
    assert runs.inspect_run(str(again.id)).resume_readiness == "ready"
    assert [one.summary.run_id for one in inbox(gate).waiting] == [again.id]
    assert again.answer(True).state == "completed"


def test_runs_beside_each_other_are_kin(gate: Path) -> None:
    """Both took up one pause: what one of them got answered is not done once more in the other."""
    first = nika_nb.run(GATE)
    now, soon = nika_nb.run(NOW, resume=first.trace), nika_nb.run(SOON, resume=first.trace)
    deeper = nika_nb.run(SOON.replace("soon", "sooner"), resume=soon.trace)
    now.answer(True)
    for other in (first, soon, deeper):
        assert runs.inspect_run(str(other.id)).summary.answered_by == now.id
        with pytest.raises(ResumeRefused, match=f"{now.id} took up the same pause"):
            other.answer(True)
    assert marks(gate / "marks") == {"prep": 1, "ship": 1}


SPLIT = """\
nika: split
permits: {exec: ["./step"]}
tasks:
  one: {invoke: {tool: "nika:prompt", args: {message: "One?"}}}
  two: {invoke: {tool: "nika:prompt", args: {message: "Two?"}}}
  ship:
    with: {go: "${{ tasks.one.output }}"}
    when: ${{ with.go == true }}
    exec: {command: ["./step", "ship"]}
"""


def test_what_was_answered_elsewhere_stays_so_behind_an_answer_to_something_else(gate: Path) -> None:
    """The other run took up an earlier pause, at which the question waited as well."""
    older = nika_nb.run(SPLIT)
    newer = nika_nb.run(SPLIT.replace("Two?", "Two now?"), resume=older.trace)
    newer.answer({"one": True})
    older.answer({"two": True})
    assert runs.inspect_run(str(older.id)).summary.answered_by == newer.id
    with pytest.raises(ResumeRefused, match=f"`one` was already answered .* in another run: {newer.id}"):
        older.answer({"one": True})
    assert marks(gate / "marks") == {"ship": 1}


def test_what_was_not_asked_yet_where_another_run_began_is_its_own(gate: Path) -> None:
    """Each of them has its own way there: the questions on it have nothing to do with each other."""
    text = SPLIT.replace("  two: {", "  two: {after: {one: success}, ")
    older = nika_nb.run(text)
    first = older.trace
    older.answer({"one": True})
    newer = nika_nb.run(text, resume=first, from_="one").answer({"one": True}).answer({"two": True})
    assert (newer.state, older.answer({"two": True}).state) == ("completed", "completed")


def test_how_the_other_run_stands_is_how_it_stands_now(gate: Path) -> None:
    """Not how it stood when it had the answer."""
    more = NOW.replace("  ship:\n", '  more: {after: {ship: success}, invoke: {tool: "nika:prompt", '
                                    'args: {message: "More?"}}}\n  ship:\n')  # fmt: skip
    older = nika_nb.run(GATE)
    newer = nika_nb.run(more, resume=True).answer(True)
    assert newer.state == "paused"
    told = runs.inspect_run(str(older.id)).diagnostics[0].message
    assert "waits for another answer now" in told
    newer.answer(True)
    assert "has completed since" in runs.inspect_run(str(older.id)).diagnostics[0].message


# -- how long it is kept -----------------------------------------------------------------------


def collected(gate: Path, days: float) -> Collection:
    """As a cleanup would find it that many days from now."""
    folder = TraceFolder(gate)
    found: Elsewhere = lambda paused: answered_by(paused, folder.path)  # noqa: E731 - as a cleanup has it
    return collect(folder, Limits(), now=time.time_ns() + int(days * 86_400) * 10**9, elsewhere=found)


def test_it_goes_with_the_run_that_has_its_answer(both: Both, gate: Path) -> None:
    """Not before: without that one it would ask again."""
    older, newer = both
    nika_nb.run(
        "nika: gate\ntasks: {a: {invoke: {tool: 'nika:log', args: {message: m}}}}"
    )  # the newest of its name
    assert collected(gate, 29).removed == ()
    gone = [removal.entry.path for removal in collected(gate, 31).removed]
    assert older.trace in gone
    assert gone.index(older.trace) < gone.index(newer.trace)
    assert len(traces(gate)) == 1


def test_one_whose_answer_is_still_worked_on_stays(gate: Path) -> None:
    """And so does the run that has the answer, though it broke off: with it the answer would be lost."""
    text = GATE.replace('"Ship it?"', '"Ship it?", default: true')
    older = nika_nb.run(text, interactive=True)
    newer = nika_nb.run(text, resume=True)  # nobody is there: the default decides
    assert newer.trace is not None
    lines = newer.trace.read_bytes().splitlines(keepends=True)
    newer.trace.write_bytes(b"".join(lines[:-1]))  # as if its writer had been killed
    nika_nb.run("nika: gate\ntasks: {a: {invoke: {tool: 'nika:log', args: {message: m}}}}")
    assert collected(gate, 31).removed == ()
    assert runs.inspect_run(str(older.id)).summary.answered_by == newer.id


def test_a_trace_that_holds_another_runs_answer_is_not_just_removed(both: Both, terminal: Terminal) -> None:
    """Whose question would ask again is named; the question itself may go."""
    older, newer = both
    assert older.trace is not None
    done = terminal("trace", "rm", newer.trace.name if newer.trace else "")
    assert (done.code, older.trace.name in done.err) == (3, True)
    assert terminal("trace", "rm", older.trace.name).code == 0
    assert os.path.exists(str(newer.trace))
