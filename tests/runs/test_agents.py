"""Agents from end to end: looked up, run, journaled, resumed. Only what a model says is written down."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import nika_nb
from nika_nb.errors import UsageError
from nika_nb.providers.registry import MAKERS
from nika_nb.runs.results import sections_of
from nika_nb.tables.read import read_trace
from nika_nb.trace.verify import verify
from tests.doors import Terminal, frames, hits, kinds, newest, of, ran, reasons
from tests.providers.scripted import Line, Scripted, calls, says

Say = Callable[..., Scripted]


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Say:
    """Stands in for the provider `xai`: `model("yes")` makes `xai/…` say yes."""

    def scripted(*lines: Line) -> Scripted:
        provider = Scripted(*lines)
        monkeypatch.setitem(MAKERS, "xai", lambda: provider)
        return provider

    return scripted


# -- the public suite's header files ---------------------------------------------------------------


@pytest.mark.parametrize("name", ["agent-injection-contained", "agent-pure-conversation"])
def test_the_header_files(name: str, conformance: Path, folder: Path, terminal: Terminal) -> None:
    """What the suite calls contained runs to its end."""
    path = folder / "w.nika.yaml"
    path.write_bytes((conformance / "verbs" / f"{name}.nika.yaml").read_bytes())
    assert terminal("run", path).code == 0


def test_the_lesson_of_the_self_check(conformance: Path, folder: Path, terminal: Terminal) -> None:
    """The published example closes at turn one with the mock."""
    path = folder / "w.nika.yaml"
    path.write_bytes((conformance / "examples" / "15-compose-self-check.nika.yaml").read_bytes())
    assert terminal("run", path).code == 0
    [invoked] = of(newest(folder), "tool_invoked")
    assert (invoked["tool"], invoked["turn"]) == ("nika:done", 1)


# -- the journal -----------------------------------------------------------------------------------

AGENT = """\
nika: helper
model: xai/house
permits: { tools: ["nika:read"], fs: { read: ["in/**"] } }
tasks:
  help:
    agent: { prompt: "look", tools: ["nika:read"], max_turns: 3, max_tokens_total: 1000 }
outputs:
  said: "${{ tasks.help.output }}"
"""


def test_what_an_agent_leaves_in_the_journal(folder: Path, model: Say) -> None:
    """Between its start and its end stand what it was granted, what it used, and every decision."""
    (folder / "in").mkdir()
    (folder / "in" / "a").write_text("content")
    model(calls("nika:read", path="in/a", tokens=(10, 2)), says("seen", tokens=(20, 3)))
    run = nika_nb.run(AGENT)
    assert run.outputs == {"said": "seen"}
    told = [frame for frame in frames(newest(folder)) if frame.get("task") == "help"]
    assert [frame["kind"] for frame in told][1:] == [
        "verb_invoked",
        "task_started",
        "permit_checked",
        "permit_checked",
        "agent_tools_selected",
        "agent_budget_checkpoint",
        "tool_invoked",
        "agent_budget_checkpoint",
        "task_completed",
    ]
    checkpoints = of(newest(folder), "agent_budget_checkpoint")
    assert [(frame["turn"], frame["total_tokens"], frame["budget"]) for frame in checkpoints] == [
        (1, 12, 1000),
        (2, 35, 1000),
    ]
    [end] = of(newest(folder), "task_completed")
    assert (end["tokens"], end["cost_unpriced"], end["model"]) == (35, "unknown_model", "xai/house")
    assert "cost_usd" not in end
    assert verify(newest(folder)).verdict == "clean"


def test_what_an_agent_did_can_be_seen(folder: Path, model: Say, terminal: Terminal) -> None:
    """The row tells what it used, the page of the task each turn and call, and so do the events."""
    model(calls("nika:read", path="in/gone", tokens=(10, 2)), says("seen", tokens=(20, 3)))
    run = nika_nb.run(AGENT)
    assert "help  agent · 2 turns · 1 tool call, 1 failed" in repr(run)
    assert "· 35 tokens" in repr(run)
    shown = terminal("trace", "show", newest(folder).name, "help").out.decode()
    assert shown.startswith(
        "turns:\nturn 1 · 12 tokens\n"
        '  ✖ nika:read {"path":"in/gone"} · NIKA-BUILTIN-READ-001 · `in/gone` does not exist'
    )
    assert shown.endswith("\nturn 2 · 23 tokens\n\noutput:\nseen\n")
    events = read_trace(run).events.set_index("kind")
    assert events.loc["tool_invoked", "note"] == "turn 1 · nika:read · NIKA-BUILTIN-READ-001"
    assert events.loc["tool_invoked", "detail"].startswith('{"path":"in/gone"} · `in/gone` does not exist')
    assert list(events.loc["agent_budget_checkpoint", "note"]) == [
        "turn 1 · 12 tokens so far",
        "turn 2 · 35 tokens so far",
    ]


def test_before_it_worked_an_agent_says_what_it_may(folder: Path, model: Say) -> None:
    """The limit of its turns is called one."""
    model(says("seen"))
    for most, words in (("3", "agent · up to 3 turns"), ("1", "agent · up to 1 turn")):
        nika_nb.run(AGENT.replace("max_turns: 3", f"max_turns: {most}"))
        assert [frame["note"] for frame in of(newest(folder), "task_scheduled")] == [words]


def test_an_agent_that_failed_shows_its_turns_beside_its_error(folder: Path, model: Say) -> None:
    """Attempt by attempt, and an item on its own."""
    model(calls("nika:log", message="x"), calls("nika:log", message="y"), says("b"))
    text = (
        "nika: fan\nmodel: xai/house\npermits: {}\ntasks:\n  each:\n"
        '    for_each: { items: ["p", "q"], max_parallel: 1, fail_fast: false }\n'
        '    agent: { prompt: "${{ item }}", tools: ["nika:log"], max_turns: 2 }\n'
    )
    run = nika_nb.run(text)
    assert run.trace is not None
    turns, error = sections_of(run.trace, "each[0]")
    assert turns.value.count("✔ nika:log") == 2
    assert error.value.startswith("NIKA-AGENT-001 · ")
    [turn, said] = sections_of(run.trace, "each[1]")
    assert (turn.value, said.value) == ("turn 1 · 2 tokens", "b")
    assert "agent · 2 items · 3 turns · 2 tool calls" in repr(run)


def test_a_failed_agent_is_paid_for_too(folder: Path, model: Say) -> None:
    """What the turns cost stands in the frame of the failure."""
    model(calls("nika:read", path="in/gone", tokens=(1_000_000, 0)))
    run = nika_nb.run(AGENT.replace("xai/house", "xai/grok-3").replace(", max_tokens_total: 1000", ""))
    assert run.state == "failed"
    [end] = of(newest(folder), "task_failed")
    assert (end["tokens"], end["cost_usd"]) == (3_000_000, 9.0)
    assert json.loads(end["outcome"])["payload"]["error"]["code"] == "NIKA-AGENT-001"


def test_a_retry_starts_the_loop_anew(folder: Path, model: Say) -> None:
    """A transient failure of the provider is the task's to retry; frames say which attempt they are of."""
    from nika_nb.errors import Fault

    broken = Fault("NIKA-INFER-001", "503", transient=True)
    provider = model(calls("nika:read", path="in/gone"), broken, says("seen"))
    text = AGENT.replace("    agent:", "    retry: { max_attempts: 2, backoff_ms: 1 }\n    agent:")
    assert nika_nb.run(text).outputs == {"said": "seen"}
    assert [len(request.messages) for request in provider.requests] == [1, 3, 1]
    assert [frame["attempt"] for frame in of(newest(folder), "agent_budget_checkpoint")] == [1, 2]


def test_agents_of_a_fan_out_say_whose_they_are(folder: Path, model: Say) -> None:
    """Frames of an item's loop carry the item, and what it used stands with it."""
    model(calls("nika:log", message="x"), says("a"), says("b"))
    text = (
        "nika: fan\nmodel: xai/house\npermits: {}\ntasks:\n  each:\n"
        '    for_each: { items: ["p", "q"], max_parallel: 1 }\n'
        '    agent: { prompt: "${{ item }}", tools: ["nika:log"] }\n'
    )
    assert nika_nb.run(text).tasks["each"].output == ["a", "b"]
    found = of(newest(folder), "tool_invoked", "agent_budget_checkpoint")
    told = [(frame["kind"], frame["item"], frame["turn"]) for frame in found]
    assert told == [
        ("agent_budget_checkpoint", 0, 1),
        ("tool_invoked", 0, 1),
        ("agent_budget_checkpoint", 0, 2),
        ("agent_budget_checkpoint", 1, 1),
    ]
    assert [item["tokens"] for item in of(newest(folder), "nb_item_completed")] == [4, 2]


def test_two_seeded_runs_are_alike(folder: Path, terminal: Terminal) -> None:
    """With the mock and a seed, journals of agents are byte-identical."""
    text = AGENT.replace("xai/house", "mock/echo").replace("tasks:", "run: { entropy: none }\ntasks:", 1)
    (folder / "w.nika.yaml").write_text(text)
    assert terminal("run", "w.nika.yaml").code == 0
    first = newest(folder).read_bytes()
    newest(folder).unlink()
    assert terminal("run", "w.nika.yaml").code == 0
    assert newest(folder).read_bytes() == first


# -- what it needs ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            ('["nika:read"], max', '["nika:read", "nika:chart"], max'),
            "the tool `nika:chart` is not part of this",
        ),
        (("xai/house", "groq/house"), "the model `groq/house` is not part of this version"),
    ],
)
def test_what_is_not_there_is_said_before_anything_starts(
    folder: Path, change: tuple[str, str], sentence: str
) -> None:
    """A tool granted by name and a provider are looked up first; then no file is made."""
    text = AGENT.replace(*change).replace('permits: { tools: ["nika:read"]', 'permits: { tools: ["nika:*"]')
    with pytest.raises(UsageError, match=sentence):
        nika_nb.run(text)
    assert not (folder / ".nika").exists()


# -- skills ----------------------------------------------------------------------------------------

SKILLED = """\
nika: skilled
model: mock/echo
permits: { fs: { read: ["skills/**"] } }
tasks:
  before:
    infer: { prompt: "first" }
  review:
    after: { before: success }
    agent: { prompt: "look", system: "S.", skills: ["skills/a.md", "skills/b.md"] }
  later:
    with: { seen: "${{ tasks.review.output }}" }
    infer: { prompt: "${{ with.seen }}" }
"""


def skill(name: str, body: str = "Be kind.") -> str:
    return f"---\nname: {name}\ndescription: d\n---\n{body}\n"


@pytest.fixture
def skilled(folder: Path) -> Path:
    """A workflow in a folder of its own, with the skills beside it, run from above."""
    (folder / "sub" / "skills").mkdir(parents=True)
    for name in ("a", "b"):
        (folder / "sub" / "skills" / f"{name}.md").write_text(skill(name))
    (folder / "sub" / "w.nika.yaml").write_text(SKILLED)
    return folder


def test_skills_lie_beside_their_workflow(skilled: Path, terminal: Terminal, model: Say) -> None:
    """They are found from the workflow's own folder, whatever the current one is."""
    provider = model(says("seen"))
    (skilled / "sub" / "w.nika.yaml").write_text(SKILLED.replace("mock/echo", "xai/house"))
    assert terminal("check", "sub/w.nika.yaml").code == 0
    assert terminal("run", "sub/w.nika.yaml").code == 0
    told = "S.\n\n## Skills\n\n### a\n\nd\n\nBe kind.\n\n### b\n\nd\n\nBe kind."
    assert [request.system for request in provider.requests] == [None, told, None]


def test_an_edited_skill_runs_its_agent_again(skilled: Path, terminal: Terminal) -> None:
    """Nothing else, and the reason names the file."""
    assert terminal("run", "sub/w.nika.yaml").code == 0
    first = newest(skilled / "sub")
    assert terminal("run", "sub/w.nika.yaml", "--resume", first).code == 0
    assert hits(newest(skilled / "sub")) == {"before", "review", "later"}
    (skilled / "sub" / "skills" / "b.md").write_text(skill("b", "Be strict."))
    assert terminal("run", "sub/w.nika.yaml", "--resume", first).code == 0
    second = newest(skilled / "sub")
    assert (hits(second), ran(second)) == ({"before", "later"}, {"review"})
    assert reasons(second) == {"review": ("definition", "agent.skills skills/b.md")}


def test_a_skill_that_is_gone_starts_nothing(skilled: Path, terminal: Terminal) -> None:
    """The check says so, and so does a run, before a file is made."""
    (skilled / "sub" / "skills" / "b.md").unlink()
    for verb in ("check", "run"):
        done = terminal(verb, "sub/w.nika.yaml")
        assert done.code == 2
        assert "NIKA-AGENT-003" in done.err
    assert not (skilled / "sub" / ".nika").exists()


def test_a_skill_behind_a_link_starts_nothing(skilled: Path, terminal: Terminal) -> None:
    """A link out of the boundary passes the check of its text, and no run opens it."""
    (skilled / "secret.md").write_text(skill("secret"))
    (skilled / "sub" / "skills" / "b.md").unlink()
    (skilled / "sub" / "skills" / "b.md").symlink_to(skilled / "secret.md")
    done = terminal("run", "sub/w.nika.yaml")
    assert done.code == 3
    assert "NIKA-SEC-004" in done.err
    assert not (skilled / "sub" / ".nika").exists()


def test_an_agent_without_its_skills_at_hand_is_never_recognised() -> None:
    """A definition whose skill texts are not known can hit nothing."""
    from nika_nb.authority.secrets import Masker
    from nika_nb.engine.identify import Identifier, try_identity
    from nika_nb.engine.scope import Scopes
    from nika_nb.errors import Fault, Source
    from nika_nb.language import load
    from nika_nb.language.skills import read_skill
    from nika_nb.plan.plan import make_plan

    workflow = load(Source(SKILLED)).workflow
    assert workflow is not None
    identify = Identifier(Scopes(workflow, {}, {}, {}), Masker()).task
    blind = try_identity(identify, make_plan(workflow).tasks["review"])
    assert isinstance(blind, Fault)
    assert blind.code == "NIKA-AGENT-003"
    skills = {f"skills/{name}.md": read_skill(skill(name)) for name in "ab"}
    assert not isinstance(try_identity(identify, make_plan(workflow, skills=skills).tasks["review"]), Fault)


# -- what it may cost ------------------------------------------------------------------------------

COSTLY = """\
nika: costly
model: xai/house
permits: {}
tasks:
  one: { infer: { prompt: "1" } }
  two: { after: { one: success }, infer: { prompt: "2" } }
  three: { after: { two: success }, infer: { prompt: "3" } }
"""


def test_a_cap_from_the_terminal(folder: Path, terminal: Terminal, model: Say) -> None:
    """The run ends as failed, says why and how to go on, and a resume with more goes on from there."""
    provider = model(says("ok", cost=0.6))
    (folder / "w.nika.yaml").write_text(COSTLY)
    done = terminal("run", "w.nika.yaml", "--max-cost-usd", "1")
    assert done.code == 1
    assert "NIKA-RUN-1704" in done.err
    assert kinds(newest(folder))["task_cancelled"] == 1
    assert json.loads(frames(newest(folder))[0]["budget"]) == {"max_cost_usd": 1.0}
    assert verify(newest(folder)).verdict == "clean"
    assert terminal("run", "w.nika.yaml", "--resume", "--max-cost-usd", "1").code == 0
    assert hits(newest(folder)) == {"one", "two"}
    assert len(provider.requests) == 3


def test_a_cap_from_python_and_from_a_cell(folder: Path, model: Say) -> None:
    """The same option, by the same name, in every door."""
    from nika_nb.notebook.options import cell_options

    model(says("ok", cost=0.6))
    run = nika_nb.run(COSTLY, max_cost_usd=1)
    assert (run.state, run.tasks["three"].state) == ("failed", "cancelled")
    assert cell_options(["--max-cost-usd", "0.5"]).max_cost_usd == 0.5
    assert cell_options([]).max_cost_usd is None


def test_an_agent_that_passed_the_cap_says_so(folder: Path, model: Say) -> None:
    """The turn that went beyond it is finished, and was the last: nobody is left to think it kept to it."""
    reads = replace(calls("nika:read", path="in/gone"), cost_usd=0.6)
    model(reads, says("seen", cost=0.7), reads, says("seen", cost=0.7))
    run = nika_nb.run(AGENT, max_cost_usd=1)
    assert run.state == "completed"
    said = "warning: the run has cost $1.30, more than its cap of $1.00, which was passed here"
    assert said in repr(run)
    assert said in run._repr_mimebundle_()["text/html"].replace("&#x27;", "'")
    assert "warning" not in repr(nika_nb.run(AGENT, max_cost_usd=2))


def test_an_agent_takes_no_further_turn_beyond_the_cap(folder: Path, model: Say) -> None:
    """What was under way is counted, its cleanup runs, and the journal and the state say why it ended."""
    reads = replace(calls("nika:read", path="in/gone"), cost_usd=0.6)
    provider = model(reads, reads, says("tidied", cost=0.1), says("seen", cost=0.1))
    tidy = "  tidy: { after: { help: unwind }, infer: { prompt: x } }\noutputs:"
    run = nika_nb.run(AGENT.replace("outputs:", tidy), max_cost_usd=1)
    assert len(provider.requests) == 3
    ends = {name: task.state for name, task in run.tasks.items()}
    assert (run.state, ends) == ("failed", {"help": "cancelled", "tidy": "success"})
    ended = of(newest(folder), "task_cancelled")[0]
    assert (ended["note"], ended["cost_usd"]) == ("over budget", 1.2)
    assert "cap of $1.00, which was passed here" in ended["warning"]
    assert "help  stopped: the run is over its cap · 2 turns · 2 tool calls, 2 failed" in repr(run)
    [turns] = sections_of(newest(folder), "help")
    assert turns.value.count("✖ nika:read") == 2
    assert "NIKA-RUN-1704" in of(newest(folder), "workflow_failed")[0]["detail"]
    assert verify(newest(folder)).verdict == "clean"


def test_a_reply_is_not_asked_for_again_beyond_the_cap(folder: Path, model: Say) -> None:
    """It fails as what it is, a misfit, after the one call that was paid."""
    provider = model(says("no json", cost=0.6))
    text = COSTLY.replace('{ prompt: "1" }', '{ prompt: "1", schema: { type: object } }')
    run = nika_nb.run(text, max_cost_usd=0.5)
    assert len(provider.requests) == 1
    error = run.tasks["one"].error
    assert error is not None
    assert (error["code"], "asked once" in error["message"]) == ("NIKA-INFER-002", True)


@pytest.mark.parametrize("cap", [-1, float("nan"), float("inf")])
def test_a_cap_is_an_amount(cap: float, folder: Path) -> None:
    """Anything else is refused before anything starts."""
    with pytest.raises(UsageError, match="max_cost_usd is an amount"):
        nika_nb.run(COSTLY, max_cost_usd=cap)


def test_an_answered_run_goes_on_with_what_is_left(folder: Path, model: Say) -> None:
    """The cap is the durable run's: the pause and the answer change nothing about it."""
    model(says("ok", cost=0.6))
    ask = '  ask: { after: { one: success }, invoke: { tool: "nika:prompt", args: { message: "Go on?" } } }\n'
    gated = "  two: { with: { go: '${{ tasks.ask.output }}' }, when: '${{ with.go == true }}',"
    text = COSTLY.replace("  two: { after: { one: success },", ask + gated)
    run = nika_nb.run(text, max_cost_usd=1)
    assert run.state == "paused"
    run.answer(True)
    assert (run.state, run.tasks["two"].state, run.tasks["three"].state) == ("failed", "success", "cancelled")
    assert json.loads(frames(newest(folder))[0]["budget"]) == {"max_cost_usd": 1.0, "spent_usd": 0.6}
    assert run.resume().state == "completed"
    assert json.loads(frames(newest(folder))[0]["budget"]) == {"max_cost_usd": 1.0}


def test_what_a_cap_cannot_see_is_said(folder: Path, model: Say) -> None:
    """A cloud model without a price does not count, and nobody is left to think it does."""
    model("ok")
    said = "no price is known for xai/house: what they cost does not count against max_cost_usd=…"
    assert nika_nb.run(COSTLY, max_cost_usd=1).notices == [said]
    assert nika_nb.run(COSTLY).notices == []
    assert nika_nb.run(COSTLY, max_cost_usd=1, model="mock/echo").notices == []
    assert nika_nb.run(COSTLY, max_cost_usd=1, model="xai/grok-3").notices == []


def test_a_journal_names_the_list_it_was_counted_by(folder: Path, model: Say) -> None:
    """Costs are read by their own list; a journal of ours is always one that we can read."""
    model(says("ok", tokens=(1_000_000, 0)))
    nika_nb.run(COSTLY, model="xai/grok-3-mini")
    first = frames(newest(folder))[0]
    assert set(json.loads(first["pricing"])) == {"as_of", "schema"}
    assert "budget" not in first
    assert verify(newest(folder)).cost_replay == "replayed"
    assert of(newest(folder), "workflow_completed")[0]["total_cost_usd"] == pytest.approx(0.9)
