"""Reports (f): children that outlived, blocked or were not found.

Shown by other tests, where a report is not here:
 77  an end takes the whole tree with it   cli/test_signals.py, verbs/test_guard.py, pains/test_anywhen.py
 78  fifty megabytes on both streams       verbs/test_exec.py
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import nika_nb
from nika_nb.runs import session
from tests.doors import Terminal, newest, of, program

MISSING = """\
nika: missing
permits: {exec: true}
tasks:
  gone:
    retry: {max_attempts: 3, backoff_ms: 1}
    exec: COMMAND
"""


@pytest.mark.parametrize(
    "command",
    [
        '{command: ["no-such-program-7"]}',
        '{command: ["./no-such-program-7"]}',
        '{command: ["./unmarked-no-such-program-7"]}',
        '{shell: "no-such-program-7 --help"}',
        '{shell: "exec ./unmarked-no-such-program-7"}',
    ],
    ids=["on the path", "by its path", "not executable", "in a shell", "not executable in a shell"],
)
def test_f_81_a_program_that_is_not_there(folder: Path, terminal: Terminal, command: str) -> None:
    """Named in the sentence, found under one code whoever starts it, and not tried again."""
    program(folder, "unmarked-no-such-program-7", "true").chmod(0o644)
    (folder / "w.nika.yaml").write_text(MISSING.replace("COMMAND", command), encoding="utf-8")
    done = terminal("run", "w.nika.yaml")
    assert done.code == 1
    assert "no-such-program-7" in done.err
    assert "NIKA-EXEC-001" in done.err
    assert not of(newest(folder), "task_retrying")
    error = nika_nb.attach(newest(folder)).tasks["gone"].error
    assert error is not None
    assert (error["attempt"], error["transient"]) == (1, False)
    assert error["details"]["exit_code"] in (126, 127)


def test_a_copy_of_the_process_has_no_run_at_work(folder: Path) -> None:
    """What is made by fork in the middle of a run neither ends it nor waits for it at its own end."""
    run = nika_nb.run(
        "nika: long\npermits: {exec: [sleep]}\ntasks: {a: {exec: {command: [sleep, '60']}}}\n",
        background=True,
    )
    assert session.at_work
    child = os.fork()
    if child == 0:
        os._exit(len(session.at_work))
    assert os.waitpid(child, 0)[1] == 0
    assert run.running
    run.stop()
    run.wait()
    assert run.state == "cancelled"
