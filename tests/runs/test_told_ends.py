"""How a task ended, at every door: recovered, tried again, told again behind an answer, called off."""

from __future__ import annotations

from pathlib import Path

import nika_nb
from nika_nb.runs.results import sections_of
from nika_nb.runs.run import Run
from tests.doors import PATIENCE, Terminal, program, started, wait_for

TEXT = """\
nika: ends
permits: { exec: ["false", "true"], tools: ["nika:prompt"] }
tasks:
  one: { exec: { command: ["false"] }, on_error: { recover: "none" } }
  some:
    for_each: { items: ["false", "true", "false"] }
    exec: { command: ["${{ item }}"] }
    on_error: { recover: "none" }
  let_go:
    for_each: { items: ["false", "true", "true"] }
    when: ${{ index < 2 }}
    exec: { command: ["${{ item }}"] }
    on_error: { skip: true }
  tried:
    exec: { command: ["false"] }
    retry: { max_attempts: 3, backoff_ms: 1, on_codes: [NIKA-EXEC-001] }
  ask: { invoke: { tool: "nika:prompt", args: { message: "go?" } } }
  behind:
    with: { go: "${{ tasks.ask.output }}" }
    when: ${{ with.go == true }}
    exec: { command: ["false"] }
    retry: { max_attempts: 2, backoff_ms: 1, on_codes: [NIKA-EXEC-001] }
    on_error: { recover: "so be it" }
"""
ONE = "recovered from NIKA-EXEC-001"
SOME = "2 of 3 items recovered from NIKA-EXEC-001"
LET_GO = "1 of 3 items skipped on NIKA-EXEC-001"


def lines(run: Run, task: str) -> str:
    """The row of a task and what stands under it, in the text still."""
    found = repr(run).split("\n")
    at = next(at for at, line in enumerate(found) if line[5:].startswith(task))
    under = next(end for end in range(at + 1, len(found)) if not found[end].startswith("       "))
    return "\n".join(found[at:under])


def test_a_recovery_is_told_at_every_door(folder: Path, terminal: Terminal) -> None:
    """Also of a recalled one; of a fan-out, how many of its items did."""
    (folder / "ends.nika.yaml").write_text(TEXT, encoding="utf-8")
    shown = terminal("run", "ends.nika.yaml").err
    first = nika_nb.attach(next((folder / ".nika" / "traces").glob("*.ndjson")))
    again = nika_nb.run("ends.nika.yaml", resume=first.trace)
    assert (shown.count(ONE), shown.count(SOME)) == (2, 1)
    for run in (first, again):
        page = run._repr_mimebundle_()["text/html"]
        assert f"{ONE} · → none" in page
        assert SOME in page
        assert lines(run, "one").endswith(ONE)
        assert lines(run, "some").endswith(SOME)
        why = nika_nb.why(run)
        assert why["one"].recovered == f"{ONE} · command exited with status 1"
        assert f"       {SOME} · command exited with status 1" in repr(why)
        alone = terminal("show", str(run.trace), "one").out.decode()
        assert "recovered from:\nNIKA-EXEC-001 · command exited with status 1\n\noutput:\nnone" in alone
    assert sections_of(Path(str(again.trace)), "some[0]")[0].what == "recovered from"


def test_items_that_an_error_skipped_are_told(folder: Path, terminal: Terminal) -> None:
    """Their task succeeds, so the row says it; a closed gate is counted only."""
    (folder / "ends.nika.yaml").write_text(TEXT, encoding="utf-8")
    shown = terminal("run", "ends.nika.yaml").err
    run = nika_nb.attach(next((folder / ".nika" / "traces").glob("*.ndjson")))
    assert shown.count(LET_GO) == 1
    assert lines(run, "let_go").endswith(LET_GO)
    assert "3/3 · 2 skipped" in lines(run, "let_go")
    page = run._repr_mimebundle_()["text/html"]
    assert LET_GO in page
    assert "3/3 · 2 skipped" in page


def test_what_a_recovery_was_is_part_of_a_difference(folder: Path) -> None:
    """`success → success` would say nothing."""
    text = 'nika: r\npermits: { exec: ["./x"] }\ntasks:\n'
    text += '  one: { exec: { command: ["./x"] }, on_error: { recover: "" } }\n'
    runs = []
    for code in (0, 1):
        program(folder, "x", f"exit {code}")
        runs.append(nika_nb.run(text))
    assert "success → recovered (NIKA-EXEC-001)" in repr(nika_nb.diff(*runs))


def test_behind_an_answer_rows_tell_all_that_they_did(folder: Path) -> None:
    """How often they were tried, for how long, what came out, beside the reason; what stood before, too."""
    run = nika_nb.run(TEXT)
    before = lines(run, "tried")
    assert "ms ×3" in before
    run = run.answer({"ask": "yes"})
    told = lines(run, "tried")
    assert told.startswith("  ✖  tried   failed before the pause  ")
    assert told.split("\n")[0].endswith(" ×3")
    behind = lines(run, "behind")
    assert "ms ×2" in behind
    assert behind.endswith(ONE)
    page = run._repr_mimebundle_()["text/html"]
    assert f"×2 · not recorded: never started · {ONE} · → so be it" in page
    assert nika_nb.ledger(run).spent.ms is not None


def test_a_task_that_was_called_off_says_so_in_plain_words(folder: Path) -> None:
    """Whether it had begun or not, and nothing of who `operator` is."""
    text = """\
nika: called-off
permits: { exec: ["sleep", "true"] }
tasks:
  waits: { exec: { command: ["sleep", "60"] } }
  last: { after: { waits: success }, exec: { command: ["true"] } }
"""
    run = nika_nb.run(text, background=True)
    wait_for(started(folder, "waits"), "the task at work")
    run.cancel()
    assert run.wait(PATIENCE)
    assert "stopped: the run was cancelled" in lines(run, "waits")
    assert "not started: the run was cancelled" in lines(run, "last")
    for shown in (run, nika_nb.why(run)):
        bundle = shown._repr_mimebundle_()
        assert "operator" not in bundle["text/plain"] + bundle["text/html"]
    assert nika_nb.why(run)["waits"].sentence == "first run · stopped: the run was cancelled"
    assert nika_nb.why(run)["last"].sentence == "not started: the run was cancelled"
