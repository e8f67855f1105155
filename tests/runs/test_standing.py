"""What stands when a run goes on: after an answer nothing that had ended runs again, failures included."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import nika_nb
from nika_nb.trace.verify import verify
from tests.doors import frames, hits, kinds, marks, of, program, ran

FALLBACK = """\
nika: fallback
permits: {exec: ["./fail", "./say"], tools: ["nika:prompt"]}
secrets: {token: {source: env, key: NIGHT_TOKEN, egress: [{to: exec}, {to: outputs}]}}
tasks:
  ask:
    invoke: {tool: "nika:prompt", args: {message: "What shall it be?", mode: input}}
  later:
    after: {ask: success}
    invoke: {tool: "nika:prompt", args: {message: "And then?", mode: input}}
  draft:
    on_error: {recover: "${{ tasks.ask.output }}"}
    exec: {command: ["./fail", "draft"], env: {TOKEN: "${{ secrets.token }}"}}
  final:
    on_error: {recover: "${{ tasks.later.output }}"}
    exec: {command: ["./fail", "final"]}
  each:
    for_each: {items: [good, bad, worse]}
    on_error: {recover: "${{ tasks.later.output }}"}
    exec: {command: ["./say", "${{ item }}"]}
  dropped:
    on_error: {skip: true}
    exec: {command: ["./fail", "dropped"]}
  clean:
    after: {draft: unwind}
    exec: {command: ["./say", "clean"]}
outputs:
  draft: "${{ tasks.draft.output }}"
  final: "${{ tasks.final.output }}"
  each: "${{ tasks.each.output }}"
"""

ONCE = {"draft": 1, "final": 1, "dropped": 1, "good": 1, "bad": 1, "worse": 1}


@pytest.fixture
def paused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> nika_nb.Run:
    """A run whose failures wait for what a human has to give."""
    monkeypatch.setenv("NIGHT_TOKEN", "s3cr3t-of-the-night")
    program(folder, "fail", 'echo "$1" >> marks\necho "no luck, $TOKEN" >&2\nexit 1')
    program(folder, "say", 'echo "$1" >> marks\ncase "$1" in bad|worse) exit 1;; esac\nprintf %s "$1"')
    return nika_nb.run(FALLBACK)


def trace_of(run: nika_nb.Run) -> Path:
    return Path(str(run.trace))


def test_a_failure_that_waits_for_a_human_is_not_run_again(paused: nika_nb.Run, folder: Path) -> None:
    """However many answers it takes: what failed has failed, and recovers by what was said."""
    assert [prompt.key for prompt in paused.prompts] == ["ask"]
    assert marks(folder / "marks") == ONCE
    second = paused.answer({"ask": "by hand"})
    assert [prompt.key for prompt in second.prompts] == ["later"]
    done = second.answer({"later": "so be it"})
    assert done.outputs == {
        "draft": "by hand",
        "final": "so be it",
        "each": ["good", "so be it", "so be it"],
    }
    assert marks(folder / "marks") == ONCE | {"clean": 1}
    assert of(trace_of(done), "task_recovered", task="final")[0]["code"] == "NIKA-EXEC-001"
    assert not of(trace_of(done), "verb_invoked", task="final")
    assert verify(trace_of(done)).verdict == "clean"


def test_what_failed_and_is_open_is_told(paused: nika_nb.Run) -> None:
    """One frame a unit with its error, its times and its decisions, and no secret in it."""
    told = of(trace_of(paused), "nb_failed_open")
    assert sorted((frame["task"], frame.get("item")) for frame in told if frame["task"] != "each") == [
        ("draft", None),
        ("final", None),
    ]
    assert sorted(frame["item"] for frame in told if frame["task"] == "each") == [1, 2]
    (draft,) = [frame for frame in told if frame["task"] == "draft"]
    assert json.loads(draft["outcome"])["payload"]["error"]["code"] == "NIKA-EXEC-001"
    assert draft["detail"].startswith("NIKA-EXEC-001 · ")
    assert draft["started_ns"] < draft["ended_ns"]
    assert json.loads(draft["decided"])[0][:3] == ["exec", "./fail", True]
    assert "s3cr3t" not in trace_of(paused).read_text(encoding="utf-8")
    assert kinds(trace_of(paused))["task_failed"] == 0


def test_a_resume_without_an_answer_runs_it_anew(paused: nika_nb.Run, folder: Path) -> None:
    """As any failure, and says why; it may well succeed this time."""
    program(folder, "fail", 'printf "%s at last" "$1"')
    again = paused.resume()
    reasons = {frame["task"]: frame.get("detail") for frame in of(trace_of(again), "task_started")}
    assert reasons["draft"] == "failed (NIKA-EXEC-001)"
    assert of(trace_of(again), "task_completed", task="draft")


def test_a_skip_because_of_an_error_stands_after_an_answer(paused: nika_nb.Run) -> None:
    """It is told again with its error, and not tried again."""
    second = paused.answer({"ask": "by hand"})
    (frame,) = of(trace_of(second), "task_skipped", task="dropped")
    assert frame["note"] == "skipped before the pause"
    assert json.loads(frame["outcome"])["payload"]["error"]["code"] == "NIKA-EXEC-001"
    assert second.tasks["dropped"].state == "skipped"


ITEMS = """\
nika: items
permits: {exec: ["./say"], tools: ["nika:prompt"]}
tasks:
  each:
    for_each: {items: [bad, good, worse], fail_fast: false}
    on_error: {skip: true, on_codes: [NIKA-EXEC-001]}
    exec: {command: ["./say", "${{ item }}"]}
  name:
    for_each: {items: [one, two], max_parallel: 1}
    with: {each: "${{ tasks.each.output }}"}
    invoke: {tool: "nika:prompt", args: {message: "${{ item }}, ${{ with.each }}?", mode: input}}
  tried:
    for_each: {items: [bad, good, bad], fail_fast: false}
    with: {names: "${{ tasks.name.output }}"}
    exec: {command: ["./say", "${{ item }}"]}
"""


def test_items_that_ended_before_a_pause_stand(folder: Path) -> None:
    """A skipped item of a settled fan-out is a null in its output; nothing of it runs again."""
    program(folder, "say", 'echo "$1" >> marks\ncase "$1" in bad|worse) exit 1;; esac\nprintf %s "$1"')
    run = nika_nb.run(ITEMS)
    while run.state == "paused":
        run = run.answer({run.prompts[0].key: "x"})
    assert marks(folder / "marks") == {"bad": 3, "good": 2, "worse": 1}
    assert run.state == "failed"


MIXED = """\
nika: mixed
permits: {exec: ["./say"], tools: ["nika:prompt"]}
tasks:
  rows:
    for_each: {items: [bad, good, ask], fail_fast: false}
    invoke: {workflow: "./row.nika.yaml", args: {row: "${{ item }}"}}
"""

ROW = """\
nika: row
permits: {exec: ["./say"], tools: ["nika:prompt"]}
inputs: {row: {type: string}}
tasks:
  say: {exec: {command: ["./say", "${{ inputs.row }}"]}}
  ask:
    when: ${{ inputs.row == 'ask' }}
    after: {say: success}
    invoke: {tool: "nika:prompt", args: {message: "Well?", mode: input}}
"""


def test_a_failed_item_beside_one_that_asks_stands(folder: Path) -> None:
    """The fan-out is open for one question: its failed item is not tried again behind anyone's back."""
    program(folder, "say", 'echo "$1" >> marks\ncase "$1" in bad) exit 1;; esac\nprintf %s "$1"')
    (folder / "row.nika.yaml").write_text(ROW, encoding="utf-8")
    (folder / "mixed.nika.yaml").write_text(MIXED, encoding="utf-8")
    run = nika_nb.run(folder / "mixed.nika.yaml")
    assert [prompt.key for prompt in run.prompts] == ["rows[2]/ask"]
    done = run.answer({"rows[2]/ask": "well"})
    assert done.state == "failed"
    assert marks(folder / "marks") == {"bad": 1, "good": 1, "ask": 1}


def test_a_paused_run_that_is_given_up_is_tidied_up(paused: nika_nb.Run, folder: Path) -> None:
    """Declined, it comes to its end: what had begun before the pause gets its cleanup, once."""
    over = paused.decline()
    assert over.state == "failed"
    assert over.tasks["draft"].state == "failure"
    assert marks(folder / "marks") == ONCE | {"clean": 1}


OBSERVED = """\
nika: observed
permits: {exec: ["./say"]}
tasks:
  slow: {group: g, exec: {command: ["./say", "slow"]}}
  other: {group: g, exec: {command: ["./say", "other"]}}
  fold:
    with: {all: "${{ group.g }}"}
    exec: {command: ["./say", "fold", "${{ with.all }}"]}
  times:
    with: {a: "${{ tasks.slow.started_at }}", b: "${{ tasks.slow.ended_at }}"}
    exec: {command: ["./say", "times", "${{ with.a }} ${{ with.b }}"]}
  length:
    with: {ms: "${{ tasks.slow.duration_ms }}"}
    exec: {command: ["./say", "length", "${{ with.ms }}"]}
outputs:
  all: "${{ tasks.fold.output }}"
  times: "${{ tasks.times.output }}"
  length: "${{ tasks.length.output }}"
"""


def test_when_a_task_ran_is_seen_alike_after_a_resume(folder: Path) -> None:
    """A recalled task keeps its times: who observed them is recalled as well, from resume to resume."""
    program(folder, "say", 'sleep 0.05\nprintf "%s" "$2"')
    first = nika_nb.run(OBSERVED)
    assert int(first.outputs["length"]) >= 20
    again = first.resume()
    for run in (again, again.resume()):
        assert hits(trace_of(run)) == {"slow", "other", "fold", "times", "length"}
        assert run.outputs == first.outputs
        assert not ran(trace_of(run))
    (hit,) = of(trace_of(again), "task_cache_hit", task="slow")
    (record,) = of(trace_of(first), "task_completed", task="slow")
    assert (hit["started_ns"], hit["ended_ns"]) == (record["started_ns"], record["ended_ns"])


def test_a_task_that_runs_again_is_seen_anew(folder: Path) -> None:
    """Its times are others, and so is what observes them; whoever reads its output alone is recalled."""
    program(folder, "say", 'sleep 0.01\nprintf "%s" "$2"')
    first = nika_nb.run(OBSERVED)
    again = first.resume(from_="slow")
    assert ran(trace_of(again)) >= {"slow", "fold", "times"}
    assert frames(trace_of(again))[-1]["kind"] == "workflow_completed"
