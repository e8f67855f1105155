"""What was running at a crash: told on the resume, and asked about first where somebody wants that."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import nika_nb
from nika_nb import runs
from nika_nb.errors import NikaError, UsageError
from tests.doors import alive, frames, hits, newest, of, ran, wait_for
from tests.durable.project import Project
from tests.runs.crashing import Crasher
from tests.runs.test_forged import forged

PACKS = """\
nika: packs
permits: {exec: ["./say"]}
tasks:
  prep: {exec: {command: ["./say", "prep", "p"]}}
  pack: {after: {prep: success}, exec: {command: ["./say", "pack", "packed"]}}
  tell: {after: {pack: success}, exec: {command: ["./say", "tell", "told"]}}
outputs: {pack: "${{ tasks.pack.output }}"}
"""

FANS = """\
nika: fans
permits: {exec: ["./say"]}
tasks:
  each:
    for_each: {items: [a, b, c], max_parallel: 1}
    exec: {command: ["./say", "${{ item }}", "${{ item }}"]}
outputs: {all: "${{ tasks.each.output }}"}
"""


def killed(here: Project, crasher: Crasher, text: str, task: str, *, item: int | None = None) -> Path:
    """The trace of a run that was killed right after that task, or item, had been set to work."""
    path = here.root / "w.nika.yaml"
    path.write_text(text, encoding="utf-8")
    whole = Path(crasher.run(path)["trace"])
    found = [f for f in frames(whole) if f["kind"] == "verb_invoked" and f["task"] == task]
    at = frames(whole).index(found[0 if item is None else item]) + 1
    whole.unlink()
    (here.root / "marks").unlink()
    assert crasher.run(path, lines=at)["status"] == -9
    groups = [frame["pgid"] for frame in of(newest(here.root), "verb_invoked") if "pgid" in frame]
    wait_for(lambda: not any(map(alive, groups)), "the end of what the killed run had started")
    return newest(here.root)


def test_what_was_in_flight_at_a_crash_is_listed_on_resume(here: Project, crasher: Crasher) -> None:
    """By name; and whoever inspects the run sees it before."""
    crash = killed(here, crasher, PACKS, "pack")
    (unfinished,) = runs.list_runs().unfinished
    assert runs.inspect_run(unfinished.summary.run_id).in_flight == ("pack",)
    run = nika_nb.run(Path("w.nika.yaml"), resume=crash)
    assert "`pack` was running when the last run broke off" in run.notices
    assert run.state == "completed"


def test_a_crowd_in_flight_is_counted(here: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a wide fan-out the first are named; a notice is read, a page of them is not."""
    Path("mock.json").write_text('{"delay_ms": 300}', encoding="utf-8")
    monkeypatch.setenv("NIKA_NB_MOCK", "mock.json")
    text = 'nika: wide\ntasks: { fan: { for_each: { items: [1, 2, 3, 4, 5, 6] }, infer: { prompt: "x" } } }\n'
    trace = nika_nb.run(text, model="mock/echo").trace
    assert trace is not None
    last = max(at for at, frame in enumerate(frames(trace)) if frame["kind"] == "verb_invoked")
    trace.write_bytes(b"".join(trace.read_bytes().splitlines(keepends=True)[: last + 1]))
    told = "`fan[0]`, `fan[1]`, `fan[2]` and 3 more were running when the last run broke off"
    assert told in nika_nb.run(text, model="mock/echo", resume=trace).notices


def test_ask_in_flight_pauses_before_re_firing(here: Project, crasher: Crasher) -> None:
    """What settled is skipped, what was running is asked about, nothing behind it runs."""
    crash = killed(here, crasher, PACKS, "pack")
    ran_before = here.marks.get("pack", 0)
    run = nika_nb.run(Path("w.nika.yaml"), resume=crash, ask_in_flight=True)
    assert (run.state, [prompt.key for prompt in run.prompts]) == ("paused", ["pack"])
    (prompt,) = run.prompts
    assert "was running when the run broke off" in prompt.message
    assert prompt.effects == ("exec · ./say pack packed",)
    assert hits(newest(here.root)) == {"prep"}
    assert here.marks.get("pack", 0) == ran_before


def test_yes_runs_it_again(here: Project, crasher: Crasher) -> None:
    """And the run goes on to its end; the decision stands in the journal."""
    crash = killed(here, crasher, PACKS, "pack")
    ran_before = here.marks.get("pack", 0)
    run = nika_nb.run(Path("w.nika.yaml"), resume=crash, ask_in_flight=True).answer(pack="yes")
    assert run.outputs == {"pack": "packed"}
    assert here.marks["pack"] == ran_before + 1
    (decided,) = of(newest(here.root), "approval_decided")
    assert (decided["task"], decided["decision"]) == ("pack", "allow")


def test_no_fails_it_as_cancelled(here: Project, crasher: Crasher) -> None:
    """It is not run; what hangs on its success is not either."""
    crash = killed(here, crasher, PACKS, "pack")
    ran_before = here.marks.get("pack", 0)
    run = nika_nb.run(Path("w.nika.yaml"), resume=crash, ask_in_flight=True).answer(pack="no")
    assert run.state == "failed"
    assert (run.tasks["pack"].error or {})["code"] == "NIKA-CANCEL-001"
    assert run.tasks["tell"].state == "cancelled"
    assert here.marks.get("pack", 0) == ran_before


def test_its_on_error_decides_what_a_no_means(here: Project, crasher: Crasher) -> None:
    """A task that provides for it goes on without."""
    text = PACKS.replace("pack: {after", "pack: {on_error: {recover: left}, after")
    crash = killed(here, crasher, text, "pack")
    run = nika_nb.run(Path("w.nika.yaml"), resume=crash, ask_in_flight=True).decline()
    assert run.outputs == {"pack": "left"}
    assert here.marks["tell"] == 1


def test_the_question_tells_the_values_of_the_run(here: Project, crasher: Crasher) -> None:
    """With other inputs, those; and a trace that tells of others is not answered."""
    text = PACKS.replace("tasks:", "inputs: {what: {type: string, default: box}}\ntasks:")
    crash = killed(here, crasher, text.replace('"packed"', '"${{ inputs.what }}"'), "pack")
    path = Path("w.nika.yaml")
    told = nika_nb.run(path, resume=crash, ask_in_flight=True).prompts[0]
    assert told.effects == ("exec · ./say pack box",)
    run = nika_nb.run(path, resume=crash, ask_in_flight=True, vars={"what": "a bag"})
    assert run.prompts[0].effects == ('exec · ./say pack "a bag"',)
    assert run.prompts[0].shown_hash != told.shown_hash
    made = newest(here.root)
    prompts = json.dumps([run.prompts[0].to_json() | {"effects": list(told.effects)}])
    forged(made, here.root, "workflow_paused", "prompts", prompts).rename(made)
    with pytest.raises(NikaError, match="does not tell truly what waits for `pack`"):
        nika_nb.attach(made).answer(pack="yes")


def test_every_item_is_asked_about_by_its_own_key(here: Project, crasher: Crasher) -> None:
    """The ones that settled are skipped, the ones that never began run without asking."""
    crash = killed(here, crasher, FANS, "each", item=1)
    run = nika_nb.run(Path("w.nika.yaml"), resume=crash, ask_in_flight=True)
    assert [prompt.key for prompt in run.prompts] == ["each[1]"]
    assert run.answer({"each[1]": "yes"}).outputs == {"all": ["a", "b", "c"]}
    assert here.marks["c"] == 1


def test_a_second_crash_does_not_settle_a_doubt(here: Project, crasher: Crasher) -> None:
    """Killed again before it was reached, it is asked about all the same."""
    crash = killed(here, crasher, PACKS, "pack")
    again = crasher.run(here.root / "w.nika.yaml", lines=2, resume=crash)
    assert again["status"] == -9
    run = nika_nb.run(Path("w.nika.yaml"), resume=newest(here.root), ask_in_flight=True)
    assert [prompt.key for prompt in run.prompts] == ["pack"]


def test_answering_one_doubt_leaves_the_other_open(here: Project, crasher: Crasher) -> None:
    """The next invocation of the run still asks about it, and does not run it."""
    text = PACKS + '  beside: {after: {prep: success}, exec: {command: ["./say", "beside", "b"]}}\n'
    text = text.replace('outputs: {pack: "${{ tasks.pack.output }}"}\n', "")
    for _ in range(20):  # whichever is set to work first may be through before the other one is
        crash = killed(here, crasher, text, "beside")
        settled = {frame["task"] for frame in of(crash, "task_completed")}
        invoked = {frame["task"] for frame in of(crash, "verb_invoked")}
        if invoked - settled == {"pack", "beside"}:
            break
    else:
        pytest.fail("never were both at work at once")
    before = here.marks
    run = nika_nb.run(Path("w.nika.yaml"), resume=crash, ask_in_flight=True).answer(pack="yes")
    assert [prompt.key for prompt in run.prompts] == ["beside"]
    assert here.marks.get("beside", 0) == before.get("beside", 0)
    assert json.loads(frames(newest(here.root))[0]["in_doubt"]) == ["beside", "pack"]
    assert run.answer(beside="yes").state == "completed"
    assert "pack" not in ran(newest(here.root))


def test_without_the_wish_nothing_is_asked_and_it_needs_a_resume(here: Project, crasher: Crasher) -> None:
    """At least once is the rule; the option says what it is for."""
    crash = killed(here, crasher, PACKS, "pack")
    assert nika_nb.run(Path("w.nika.yaml"), resume=crash).state == "completed"
    with pytest.raises(UsageError, match="give resume=True as well"):
        nika_nb.run(Path("w.nika.yaml"), ask_in_flight=True)
