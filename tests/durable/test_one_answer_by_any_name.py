"""A pause is answered once, whatever its file is called: by a link, a new name, a copy."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import nika_nb
from nika_nb import runs
from nika_nb.errors import NikaError, ResumeRefused
from nika_nb.runs.answered import AlreadyAnswered
from nika_nb.runs.trace_list import listed
from tests.doors import PATIENCE, Terminal, alive, frames, launch, newest, of, program, started, wait_for
from tests.durable.project import GATE, SLOW, Project

ONE = GATE.replace("on_error: {recover: nobody, on_codes: [NIKA-CANCEL-001]}", "").replace(
    'args: {message: "Who says so?", mode: input}', 'args: {message: "Who?", mode: input, default: ann}'
)
Other = Callable[[Path], Path]


def linked(paused: Path) -> Path:
    other = paused.with_name("latest.ndjson")
    other.symlink_to(paused.name)
    return other


def hard_linked(paused: Path) -> Path:
    other = paused.with_name("hard.ndjson")
    os.link(paused, other)
    return other


def copied(paused: Path) -> Path:
    return Path(shutil.copy(paused, paused.with_name("copy.ndjson")))


def copied_out(paused: Path) -> Path:
    return Path(shutil.copy(paused, paused.parent.parent.parent / "sent.ndjson"))


@pytest.mark.parametrize("other", [linked, hard_linked, copied, copied_out])
@pytest.mark.parametrize("first", ["it", "other"])
def test_what_lies_there_under_two_names_is_answered_once(
    here: Project, terminal: Terminal, other: Other, first: str
) -> None:
    """Whichever name is used first, the second answer runs nothing, writes nothing and hears of the first."""
    here.started(ONE, interactive=True)
    paused = here.traces[0]
    names = [paused, other(paused)]
    names = names if first == "it" else names[::-1]
    assert terminal("answer", names[0], "ask=yes", "name=bo").code == 0
    before = here.bytes(), here.marks
    refused = terminal("answer", names[1], "ask=no", "name=al")
    assert refused.code == 3
    assert "already answered: `ask`, `name` on " in refused.err
    assert (here.bytes(), here.marks) == before
    assert here.marks["ship"] == 1


def test_a_new_name_behind_an_answer_opens_no_question_again(here: Project, terminal: Terminal) -> None:
    """The answered trace is renamed: whoever answers it again is told, the run is what it was."""
    run_id = here.started(ONE, interactive=True).run_id
    paused = here.traces[0]
    assert terminal("answer", paused, "ask=yes", "name=bo").code == 0
    renamed = paused.rename(paused.with_name("renamed.ndjson"))
    with pytest.raises(AlreadyAnswered, match=r"renamed\.ndjson was already answered"):
        nika_nb.attach(renamed).answer(ask="yes", name="bo")
    assert here.marks["ship"] == 1
    assert [c.reason for c in runs.checkpoints(run_id)] == ["interrupted", "completed"]
    assert [one.state for one in listed(renamed.parent)] == ["completed", "answered"]


def test_a_copy_of_an_answered_question_is_no_question(here: Project, terminal: Terminal) -> None:
    """Neither the run nor the list of what waits takes it for one that is open."""
    run_id = here.started(ONE, interactive=True).run_id
    paused = here.traces[0]
    assert terminal("answer", paused, "ask=yes", "name=bo").code == 0
    copied(paused)
    assert runs.inspect_run(run_id).status == "completed"
    assert {one.entry.path.name: one.state for one in listed(paused.parent)} == {
        newest(here.root).name: "completed",
        paused.name: "answered",
        "copy.ndjson": "answered",
    }


def test_a_link_is_recorded_as_what_it_leads_to(here: Project, terminal: Terminal) -> None:
    """The continuation names the file, which stays when the link is turned to another one."""
    here.started(ONE, interactive=True)
    paused = here.traces[0]
    assert terminal("answer", linked(paused), "ask=yes", "name=bo").code == 0
    assert frames(newest(here.root))[0]["resumed_trace"] == paused.name


def test_a_copy_answered_while_the_other_is_at_work_is_refused(here: Project) -> None:
    """The winner holds the pause and not only its file; killed, it leaves nothing that keeps anybody out."""
    program(here.root, "slow", "echo slow >> marks\nwhile ! test -e go; do sleep 0.02; done\nprintf done")
    here.started(SLOW)
    paused = here.traces[0]
    copy = copied(paused)
    winner = launch("answer", str(copy), "ask=yes", cwd=here.root)
    try:
        wait_for(started(here.root, "slow"), "the slow program")
        with pytest.raises(ResumeRefused, match=f"at work in process {winner.pid}"):
            nika_nb.attach(paused).answer("no")
    finally:
        winner.kill()
        winner.wait(PATIENCE)
    pid = of(newest(here.root), "verb_invoked", task="slow")[0]["pgid"]
    wait_for(lambda: not alive(pid), "the end of the slow program")
    with pytest.raises(AlreadyAnswered, match="broke off there"):
        nika_nb.attach(paused).answer("no")


def test_eight_copies_raced_for_and_one_wins(here: Project) -> None:
    """Every thread answers a file of its own; what hangs on the answer happens once."""
    for number in range(3):
        here.started(ONE, interactive=True)
        paused = newest(here.root)
        copies = [Path(shutil.copy(paused, here.root / f"{number}-{n}.ndjson")) for n in range(7)]
        told, ready = list[Any](), threading.Barrier(8)

        def answer(path: Path, ready: threading.Barrier = ready, told: list[Any] = told) -> None:
            held = nika_nb.attach(path)
            ready.wait()
            try:
                told.append(held.answer(ask="yes", name="bo"))
            except NikaError as error:
                told.append(str(error))

        threads = [threading.Thread(target=answer, args=(path,)) for path in (paused, *copies)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        assert (len(told), len([one for one in told if not isinstance(one, str)])) == (8, 1), told
        assert here.marks["ship"] == number + 1
    assert not list((here.root / ".nika").glob("answering-*"))
