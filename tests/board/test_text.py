"""The console: what a terminal prints and what stands under `text/plain`."""

from __future__ import annotations

import json

import pytest

from nika_nb.board import html
from nika_nb.board.head import announced, head
from nika_nb.board.state import Board, board_of
from nika_nb.board.text import ASCII, duration, meter, narrate, still
from tests.board.scripted import Script, crash, resume, scheduled

RESUMED = """\
  🦋 nika · nightly-archive · 4 tasks
     permits ✓ declared boundary · default-deny

  ↷  hash_notes   cache hit (resume)
  ↷  count_notes  cache hit (resume)
  ✔  pack_assets  exec · gzip  13.2s
  ✔  manifest     exec · echo  8ms
  ── 4/4 done · $0.00 · elapsed 13.2s ────────────────────────────

  resumed · 2 skipped (cache hit) · 2 ran live
  saved 30ms
    pack_assets  not recorded: was running
    manifest     not recorded"""

CRASHED = """\
  ✔  hash_notes   exec · shasum  27ms
  ✔  count_notes  exec · wc  3ms ∥"""


def test_the_resumed_night_reads_as_the_story_tells_it() -> None:
    """Header, hits, live tasks, meter, counters, and why the live ones ran."""
    assert still(board_of(resume().events)) == RESUMED


def test_a_plain_console_tells_each_settle_once() -> None:
    """One line per settled task; what was in flight at the kill has no line."""
    board = Board()
    lines = []
    for event in crash().events:
        board.apply(event)
        lines += narrate(board, event)
    assert "\n".join(lines) == CRASHED


def test_the_end_of_a_plain_console_is_the_meter_and_the_counters() -> None:
    """The last event brings the meter, and on a resume how much was skipped."""
    board = Board()
    lines: list[str] = []
    for event in resume().events:
        board.apply(event)
        lines = narrate(board, event)
    assert lines == RESUMED.split("\n")[7:]


def test_the_edited_task_says_which_field_differs() -> None:
    """After an edit the sibling is skipped and the edited task names what changed."""
    script = scheduled(Script(resumed_trace="t.ndjson")).hit("count_notes").go("hash_notes", "exec · shasum")
    script.after(67).ok("hash_notes", "exec · shasum", 67, reason="definition", parts='["exec.command"]')
    text = still(board_of(script.say("workflow_completed").events))
    assert "  ✔  hash_notes   exec · shasum  67ms\n  ↷  count_notes  cache hit (resume)\n" in text
    assert text.endswith("1 ran live\n    hash_notes  definition changed: exec.command")


def test_a_first_run_speaks_of_no_resume() -> None:
    """Counters and reasons belong to a resume."""
    text = still(
        board_of(Script().go("t", "exec · ls").ok("t", "exec · ls", 1).say("workflow_completed").events)
    )
    assert "resumed" not in text


def test_the_journal_is_named_with_its_whole_head() -> None:
    """Path, events and the 64 hex characters that vouch for the last line."""
    board = board_of(resume().events)
    board.trace_path, board.trace_events, board.trace_head = ".nika/traces/a.ndjson", 14, "ab" * 32
    assert still(board).split("\n")[-1] == f"    trace: .nika/traces/a.ndjson · 14 events · chain {'ab' * 32}"


def test_failures_blocks_gates_and_questions_stand_under_their_rows() -> None:
    """What went wrong is read without unfolding anything."""
    script = Script("w").task("a", "exec · x").task("b", "exec · y", "a").task("c", "exec · z")
    script.go("a", "exec · x").after(3).say(
        "task_failed", task="a", note="exec · x", duration_ms=3, detail="E-1 · no"
    )
    script.say("task_cancelled", task="b", note="upstream failed", blocked_by="a")
    script.say("task_skipped", task="c", note="when: gate closed", when="${{ go }}").say("workflow_failed")
    assert still(board_of(script.events)).split("\n")[3:9] == [
        "  ✖  a exec · x  3ms".replace("a exec", "a  exec"),
        "       E-1 · no",
        "  ⊘  b  blocked · a failed",
        "  ↷  c  when: gate closed",
        "       ${{ go }}",
        "  ── 1 skipped · 1 failed · 1 blocked · $0.00 · elapsed 3ms ──────",
    ]


def test_an_answered_question_says_what_was_answered() -> None:
    """In a console as on a page: of a task that succeeded, only its value tells a refusal."""
    script = Script("w").task("ask", "invoke · nika:prompt").go("ask", "invoke · nika:prompt")
    script.say("approval_decided", task="ask", decision="deny", source="answer")
    script.ok("ask", "invoke · nika:prompt", 1, reason="not-recorded", output="false")
    board = board_of(script.say("workflow_completed").events)
    assert "  ✔  ask  invoke · nika:prompt  1ms  → false" in still(board)
    assert "refused · answer · → false" in html.still(board)


def test_what_was_tried_more_than_once_says_how_often() -> None:
    """A console shows it as a page does, whether it went well in the end or not."""
    script = (
        Script("w").task("a", "exec · x").task("b", "exec · y").go("a", "exec · x").go("a", "exec · x", 2)
    )
    script.after(5).ok("a", "exec · x", 5, attempts=2).go("b", "exec · y").go("b", "exec · y", 2)
    script.go("b", "exec · y", 3).say(
        "task_failed", task="b", note="exec · y", duration_ms=7, detail="E-1 · no"
    )
    board = board_of(script.say("workflow_failed").events)
    assert still(board).split("\n")[3:5] == ["  ✔  a  exec · x  5ms ×2", "  ✖  b  exec · y  7ms ×3"]
    assert "7ms x3" in still(board, glyphs=ASCII)


SAID = "command exited with status 1"
TRACEBACK = "Traceback (most recent call last):\n  File \"c.py\", line 4\nValueError: 'ten'"


def _failed(detail: str) -> Script:
    script = Script("w").task("a", "exec · x").go("a", "exec · x")
    return script.say("task_failed", task="a", note="exec · x", detail=detail).say("workflow_failed")


def test_the_last_line_of_a_program_stands_in_the_row() -> None:
    """A traceback's last line says why: it stands beside the code, and the lines before it are below."""
    text = still(board_of(_failed(f"E-1 · {SAID}: ValueError: 'ten'\n{TRACEBACK}").events))
    assert text.split("\n")[4:7] == [
        f"       E-1 · {SAID}: ValueError: 'ten'",
        "         Traceback (most recent call last):",
        '           File "c.py", line 4',
    ]
    assert text.count("'ten'") == 1


def test_an_older_journal_tells_the_last_line_too() -> None:
    """Where the first line of an error ends in a colon, what follows it says why."""
    text = still(board_of(_failed(f"E-1 · {SAID}: {TRACEBACK}").events))
    assert f"       E-1 · {SAID}: Traceback (most recent call last): … ValueError: 'ten'\n" in text


def test_of_a_very_long_error_the_end_is_shown() -> None:
    """Whatever its size, a failure shows its first line and the last lines of what was said."""
    long = "\n".join(f"line {number}" for number in range(10_000))
    text = still(board_of(_failed(f"E-1 · {SAID}: boom\n{long}\nboom").events))
    assert text.split("\n")[4:13] == [f"       E-1 · {SAID}: boom"] + [
        f"         line {number}" for number in range(9992, 10_000)
    ]


def test_the_errors_of_items_are_told_once() -> None:
    """A fan-out says how many failed, and each item how; further ones are counted."""
    script = Script("w").task("a", "exec · x").go("a", "exec · x")
    for item in range(7):
        error = {"code": "E-1", "message": f"{SAID}: KeyError: {item}\n{TRACEBACK}"}
        outcome = json.dumps({"class": "failure", "cause": "verb_error", "payload": {"error": error}})
        script.say("nb_item_completed", task="a", item=item, status="failure", outcome=outcome)
    detail = f"E-1 · 7 of 7 items failed; item 0: {SAID}: KeyError: 0\n{TRACEBACK}"
    script.say("task_failed", task="a", note="exec · x · 7 items", detail=detail).say("workflow_failed")
    assert still(board_of(script.events)).split("\n")[4:11] == [
        "       E-1 · 7 of 7 items failed",
        *(f"       [{item}] E-1 · {SAID}: KeyError: {item}" for item in range(5)),
        "       and 2 more failed items",
    ]


def test_a_paused_run_says_what_is_asked() -> None:
    """The question stands at its task and the run counts its open questions."""
    asked = json.dumps([{"task": "ask", "mode": "confirm", "message": "Ship it?"}])
    script = Script("w").task("ask", "invoke · nika:prompt").go("ask", "invoke · nika:prompt")
    text = still(board_of(script.say("workflow_paused", task="ask", prompts=asked).events))
    assert "  ◇  ask  invoke · nika:prompt\n       Ship it?\n" in text
    assert text.endswith("◇ paused · 1 open question")


def test_a_live_row_ends_with_its_last_line() -> None:
    """The tail of what is being printed is shown while the task runs, and only then."""
    script = Script("w").go("t", "exec · sh").say("live_output", task="t", text="a\nb\n")
    assert still(board_of(script.events, live=True)).split("\n")[3].endswith("→ b")
    assert "→" not in still(board_of(script.ok("t", "exec · sh", 2).events, live=True))


def test_signs_have_an_ascii_twin() -> None:
    """Where a console has no such signs the same words stand with plain ones."""
    text = still(board_of(resume().events), glyphs=ASCII)
    assert text.isascii()
    assert "  ~> hash_notes   cache hit (resume)" in text
    assert "  ok pack_assets  exec - gzip  13.2s" in text


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "0ms"), (27, "27ms"), (999, "999ms"), (1000, "1.0s"), (13_208, "13.2s"), (59_949, "59.9s"),
        (59_960, "1m 00s"), (125_000, "2m 05s"), (3_599_600, "1h 00m"), (3_720_000, "1h 02m"),
    ],
)  # fmt: skip
def test_durations_keep_what_matters(ms: int, text: str) -> None:
    """Milliseconds, tenths of seconds, minutes, hours: never 60 of a smaller one."""
    assert duration(ms) == text


def test_a_run_that_did_not_go_well_says_what_became_of_its_tasks() -> None:
    """Failed is not done, nor is blocked; console, page and what is read aloud say it in the same words."""
    script = Script("w").task("a", "exec · x").task("b", "exec · x", "a").task("c", "exec · x")
    script.task("d", "exec · x").ok("c", "exec · x", 1)
    assert "── 1/4 done ·" in meter(board_of(script.events, live=True))
    script.say("task_failed", task="a", note="exec · x", detail="E-1 · no")
    assert "── 1 ok · 1 failed · 2 left ·" in meter(board_of(script.events, live=True))
    script.say("task_cancelled", task="b", note="upstream failed", blocked_by="a")
    script.say("task_cancelled", task="d", note="operator").say("workflow_cancelled")
    board = board_of(script.events)
    said = "1 ok · 1 failed · 1 cancelled · 1 blocked"
    assert f"── {said} ·" in meter(board)
    assert f">{said}</div>" in head(board)
    assert announced(board) == f"w: cancelled, {said}"


def test_the_meter_is_as_wide_as_the_console() -> None:
    """Sixty-four columns, whatever it says."""
    for script in (crash(), resume(), Script()):
        assert len(meter(board_of(script.events))) == 66
