"""A cleanup that ran in an earlier invocation stands as it ended: it does not run again, others read it."""

from __future__ import annotations

from pathlib import Path

import pytest

import nika_nb
from nika_nb.trace.verify import verify
from tests.doors import hits, marks, newest, of, program
from tests.runs.crashing import Crasher

# `close` follows the cleanup `sweep`, and a question that `work` does not wait for.
TEXT = """\
nika: cleaned
permits: {{exec: ["./say"], tools: ["nika:prompt"]}}
secrets: {{token: {{source: env, key: NIGHT_TOKEN, egress: [{{to: exec}}, {{to: outputs}}]}}}}
tasks:
  work: {{exec: {{command: ["./say", "work"]}}}}
  ask: {{invoke: {{tool: "nika:prompt", args: {{message: "Go on?", mode: input}}}}}}
  ask_more:
    after: {{ask: success}}
    invoke: {{tool: "nika:prompt", args: {{message: "And then?", mode: input}}}}
  sweep: {{after: {{work: unwind}}, {sweep}}}
  close:
    after: {{sweep: unwind, ask_more: unwind}}
    with:
      put_out: "${{{{ tasks.sweep.output }}}}"
      how: "${{{{ tasks.sweep.status }}}}"
      fault: "${{{{ tasks.sweep.error == null ? 'none' : tasks.sweep.error.code }}}}"
    exec: {{command: ["./say", "close", "${{{{ with.how }}}} ${{{{ with.put_out }}}} ${{{{ with.fault }}}}"]}}
outputs: {{swept: "${{{{ tasks.sweep.output }}}}", closed: "${{{{ tasks.close.output }}}}"}}
"""

SWEEPS = {
    "succeeded": ('exec: {command: ["./say", "sweep", "clean"]}', "success clean none", 1),
    "recovered": ('exec: {command: ["./say", "FAIL"]}, on_error: {recover: dust}', "success dust none", 0),
    "failed": ('exec: {command: ["./say", "FAIL"]}', "failure null NIKA-EXEC-001", 0),
    "skipped because of an error": (
        'exec: {command: ["./say", "FAIL"]}, on_error: {skip: true}',
        "skipped null NIKA-EXEC-001",
        0,
    ),
    "skipped by its gate": ('when: false, exec: {command: ["./say", "sweep"]}', "skipped null none", 0),
    "failed before it began": (
        'with: {no: "${{ tasks.work.output.nothing }}"}, exec: {command: ["./say", "${{ with.no }}"]}',
        "failure null NIKA-VAR-001",
        0,
    ),
}


@pytest.fixture
def say(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NIGHT_TOKEN", "s3cr3t-of-the-night")
    program(folder, "say", 'echo "$1" >> marks\n[ "$1" != FAIL ] || exit 1\nprintf %s "${2-$1}"')
    return folder


def workflow(folder: Path, sweep: str) -> Path:
    path = folder / "cleaned.nika.yaml"
    path.write_text(TEXT.format(sweep=sweep), encoding="utf-8")
    return path


@pytest.mark.parametrize(("sweep", "read", "count"), SWEEPS.values(), ids=SWEEPS)
def test_a_later_cleanup_reads_how_it_ended(say: Path, sweep: str, read: str, count: int) -> None:
    """Behind two pauses, though the cleanup ran before the first one; and it ran once."""
    run = nika_nb.run(workflow(say, sweep))
    done = run.answer("yes").answer("more")
    assert done.outputs["closed"] == read
    did = marks(say / "marks")
    assert (did["work"], did["close"]) == (1, 1)
    assert did["sweep"] == count
    assert did["FAIL"] == int("FAIL" in sweep)
    assert verify(newest(say)).verdict == "clean"


def test_its_record_is_named_as_of_any_other_task(say: Path) -> None:
    """A cache hit that says where the record stands; the outputs are those of a run without a pause."""
    run = nika_nb.run(workflow(say, SWEEPS["succeeded"][0]))
    first = newest(say)
    done = run.answer("yes").answer("more")
    assert done.outputs == {"swept": "clean", "closed": "success clean none"}
    assert hits(newest(say)) == {"work", "ask", "sweep"}
    (again,) = of(newest(say), "task_cache_hit", task="sweep")
    (record,) = of(first, "task_completed", task="sweep")
    assert (again["started_ns"], again["ended_ns"]) == (record["started_ns"], record["ended_ns"])
    assert again["matched"]


def test_an_output_that_no_line_has_room_for(say: Path) -> None:
    """It comes back whole from its pages."""
    program(say, "say", """[ "$1" = sweep ] && head -c 200000 /dev/zero | tr '\\0' x || printf %s "$2" """)
    path = workflow(say, 'exec: {command: ["./say", "sweep"]}')
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("${{ with.put_out }}", "${{ size(with.put_out) }}"), encoding="utf-8")
    done = nika_nb.run(path).answer("yes").answer("more")
    assert done.outputs["closed"] == "success 200000 none"


def test_an_output_that_was_withheld_reads_null(say: Path) -> None:
    """A secret stands in no journal: the cleanup is known to have succeeded, and does not run again."""
    sweep = 'exec: {command: ["./say", "sweep", "${{ secrets.token }}"]}'
    done = nika_nb.run(workflow(say, sweep)).answer("yes").answer("more")
    assert done.outputs["closed"] == "success null none"
    assert marks(say / "marks")["sweep"] == 1


@pytest.mark.parametrize("lines", range(1, 26, 3))
def test_a_continuation_that_is_killed_anywhere(say: Path, crasher: Crasher, lines: int) -> None:
    """Resumed, the later cleanup still reads what the earlier one put out before the pause."""
    path = workflow(say, SWEEPS["succeeded"][0])
    paused = nika_nb.run(path).answer("yes")
    crasher.run(path, lines=lines, resume=paused.trace, answer={"ask_more": "more"})
    run = nika_nb.run(path, resume=newest(say))
    while run.state == "paused":
        run = run.answer("more")
    assert run.outputs == {"swept": "clean", "closed": "success clean none"}
    did = marks(say / "marks")
    assert (did["work"], did["sweep"]) == (1, 1)


OWED = """\
nika: owed
permits: {exec: ["./say"], tools: ["nika:prompt"]}
tasks:
  work: {exec: {command: ["./say", "work"]}}
  ask: {invoke: {tool: "nika:prompt", args: {message: "Go on?"}}}
  more:
    with: {go: "${{ tasks.ask.output }}"}
    when: ${{ with.go == true }}
    exec: {command: ["./say", "more"]}
  sweep: {after: {work: unwind, more: unwind}, exec: {command: ["./say", "sweep"]}}
"""


@pytest.mark.parametrize("lines", [1, 4, 8])
def test_a_cleanup_stays_due_though_the_continuation_is_killed(
    say: Path, crasher: Crasher, lines: int
) -> None:
    """However early that was: before the continuation had told which tasks there are, too."""
    path = say / "owed.nika.yaml"
    path.write_text(OWED, encoding="utf-8")
    paused = nika_nb.run(path)
    done = crasher.run(path, lines=lines, resume=paused.trace, answer={"ask": "no"})
    assert done["status"] == -9
    run = nika_nb.run(path, resume=newest(say))
    assert run.state == "completed"
    assert marks(say / "marks") == {"work": 1, "sweep": 1}


EACH = """\
nika: each
permits: {exec: ["./say"]}
inputs: {rows: {type: {array: string}, default: [a, b]}}
tasks:
  work: {for_each: {items: "${{ inputs.rows }}"}, exec: {command: ["./say", "${{ item }}"]}}
  sweep: {after: {work: unwind}, exec: {command: ["./say", "sweep"]}}
outputs: {swept: "${{ tasks.sweep.output }}"}
"""


def test_a_fan_out_whose_items_had_all_settled_is_cleaned_up_after(say: Path) -> None:
    """It broke off before its own end: nothing of it runs again, and its cleanup had not come."""
    nika_nb.run(EACH)
    trace = newest(say)
    lines = trace.read_bytes().splitlines(keepends=True)
    last = max(number for number, line in enumerate(lines) if b"nb_item_completed" in line)
    trace.write_bytes(b"".join(lines[: last + 1]))
    (say / "marks").unlink()
    assert nika_nb.run(EACH, resume=trace).outputs == {"swept": "sweep"}
    assert marks(say / "marks") == {"sweep": 1}


def test_a_fan_out_that_only_became_shorter_had_been_cleaned_up_after(say: Path) -> None:
    """Its items are recalled one by one: the cleanup stands as it ended behind them."""
    first = nika_nb.run(EACH)
    again = first.resume(vars={"rows": ["b"]})
    assert again.outputs == {"swept": "sweep"}
    assert marks(say / "marks") == {"a": 1, "b": 1, "sweep": 1}


def test_what_had_begun_is_cleaned_up_after_though_it_is_not_to_run_any_more(say: Path) -> None:
    """It was under way when the run broke off, and its gate is closed since."""
    text = EACH.replace("tasks:", "tasks:\n  other: {exec: {command: ['./say', other]}}")
    nika_nb.run(text)
    trace = newest(say)
    lines = trace.read_bytes().splitlines(keepends=True)
    begun = max(number for number, line in enumerate(lines) if b"verb_invoked" in line and b'"work"' in line)
    trace.write_bytes(b"".join(lines[: begun + 1]))
    (say / "marks").unlink()
    nika_nb.run(text.replace("work: {", "work: {when: false, "), resume=trace)
    assert marks(say / "marks")["sweep"] == 1


def test_a_cleanup_that_was_edited_does_not_stand(say: Path) -> None:
    """As it is written now it never ran, and there is nothing to clean up after."""
    path = workflow(say, SWEEPS["succeeded"][0])
    done = nika_nb.run(path).answer("yes").answer("more")
    again = nika_nb.run(path, resume=newest(say))
    assert again.outputs == done.outputs
    assert marks(say / "marks")["sweep"] == 1
    edited = nika_nb.run(workflow(say, 'exec: {command: ["./say", "sweep", "new"]}'), resume=newest(say))
    assert edited.tasks["sweep"].state == "skipped"
    assert marks(say / "marks")["sweep"] == 1


def test_a_cleanup_runs_again_with_what_it_follows(say: Path) -> None:
    """A record stands for it only where nothing ran that it would clean up after."""
    path = workflow(say, SWEEPS["succeeded"][0])
    nika_nb.run(path).answer("yes").answer("more")
    nika_nb.run(path, resume=newest(say), from_="work")
    assert marks(say / "marks")["sweep"] == 2


def test_why_a_cleanup_ran_is_no_record_that_is_missing(say: Path) -> None:
    """It had settled, and cleans up behind what ran again."""
    path = workflow(say, SWEEPS["succeeded"][0])
    nika_nb.run(path)
    again = nika_nb.run(path, resume=True, from_="work")
    assert nika_nb.why(again)["sweep"].sentence == "it cleans up behind what began"


def test_why_an_output_of_a_cleanup_is_not_kept(say: Path) -> None:
    """A secret stood in it: that is told, and not that cleanups run again."""
    nika_nb.run(workflow(say, 'exec: {command: ["./say", "sweep", "${{ secrets.token }}"]}'))
    (ended,) = of(newest(say), "task_completed", task="sweep")
    assert ended["not_resumable"] == "a secret stands in the output, which is withheld"
