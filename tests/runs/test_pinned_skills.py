"""Skills are pinned with the text: what an agent is sent with stands in the journal and in a snapshot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import nika_nb
from nika_nb import runs
from nika_nb.providers.registry import MAKERS
from nika_nb.runs.deployments import Deployments
from nika_nb.runs.lack import RunBlocked
from nika_nb.runs.snapshots import Snapshot
from nika_nb.trace.reader import read
from tests.doors import Terminal, frames, hits, newest, of, reasons
from tests.providers.scripted import Scripted, says
from tests.runs.test_agents import skill

ASKING = """\
nika: asking
model: xai/house
permits: {fs: {read: ["skills/**"]}, tools: ["nika:prompt"]}
tasks:
  first:
    agent: {prompt: "first", skills: ["skills/a.md"]}
  ask:
    after: {first: success}
    invoke: {tool: "nika:prompt", args: {message: "On?"}}
  more:
    after: {ask: success}
    invoke: {tool: "nika:prompt", args: {message: "And on?"}}
  review:
    after: {more: success}
    agent: {prompt: "look", skills: ["skills/a.md", "./skills/b.md"]}
  below:
    after: {more: success}
    invoke: {workflow: "./flows/child.nika.yaml"}
"""

CHILD = """\
nika: child
model: xai/house
permits: {fs: {read: ["skills/**"]}}
tasks:
  think: {agent: {prompt: "think", skills: ["skills/c.md"]}}
outputs: {said: "${{ tasks.think.output }}"}
"""


SKILLS = ("skills/a.md", "skills/b.md", "flows/skills/c.md")


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    provider = Scripted(*(says(f"answer {number}") for number in range(12)))
    monkeypatch.setitem(MAKERS, "xai", lambda: provider)
    return provider


@pytest.fixture
def project(folder: Path) -> Path:
    """A workflow and the one that it calls, each with its skills beside it."""
    for name in SKILLS:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(skill(Path(name).stem), encoding="utf-8")
    (folder / "w.nika.yaml").write_text(ASKING, encoding="utf-8")
    (folder / "flows" / "child.nika.yaml").write_text(CHILD, encoding="utf-8")
    return folder


def told(model: Scripted) -> dict[str, str]:
    """prompt → what the agent was sent with."""
    return {request.messages[0].text: request.system or "" for request in model.requests}


def edit(project: Path) -> None:
    for name in SKILLS:
        (project / name).write_text(skill(Path(name).stem, "Be strict."), encoding="utf-8")


def delete(project: Path) -> None:
    for name in SKILLS:
        (project / name).unlink()


CHANGES = pytest.mark.parametrize("change", [edit, delete])


@CHANGES
def test_an_answer_goes_on_with_the_skills_as_they_were(project: Path, model: Scripted, change: Any) -> None:
    """Edited or gone meanwhile: nothing changes, answer after answer, for called workflows neither."""
    run = nika_nb.run(project / "w.nika.yaml")
    change(project)
    again = run.answer({"ask": True})
    assert again.state == "paused"
    done = again.answer({"more": True})
    assert done.state == "completed"
    assert hits(newest(project)) >= {"first", "ask"}
    sent = told(model)
    assert sent.keys() == {"first", "look", "think"}
    assert all("Be kind." in text and "Be strict." not in text for text in sent.values())
    assert [name for name in ("### a", "### b", "### c") if name not in "".join(sent.values())] == []


def test_the_journal_holds_every_skill_by_its_way_from_the_workflow(project: Path, model: Scripted) -> None:
    """Byte for byte, the calls' own too; each once."""
    text = skill("b", "Be kind, günstig 🦋.\r\nAnd brief.")
    (project / "skills" / "b.md").write_bytes(text.encode())
    nika_nb.run(project / "w.nika.yaml")
    texts = read(newest(project)).sources()
    assert list(texts) == [
        *("w.nika.yaml", "./flows/child.nika.yaml"),
        *("skills/a.md", "./skills/b.md", "./flows/skills/c.md"),
    ]
    assert texts["./skills/b.md"] == text


def test_a_resume_takes_todays_skills_and_says_which_differ(project: Path, model: Scripted) -> None:
    """The edit door: what an agent is sent with is part of it."""
    run = nika_nb.run(project / "w.nika.yaml")
    (project / "skills" / "a.md").write_text(skill("a", "Be strict."), encoding="utf-8")
    resumed = run.resume()
    assert resumed.state == "paused"
    assert reasons(newest(project))["first"] == ("definition", "agent.skills skills/a.md")
    assert "Be strict." in told(model)["first"]


def test_an_answered_run_that_broke_off_resumes_by_what_it_was_made_of(
    project: Path, model: Scripted
) -> None:
    """What the pinned skills settled is recognised while the files say the same."""
    run = nika_nb.run(project / "w.nika.yaml").answer({"ask": True})
    path = newest(project)
    resumed = run.resume(answer={"more": True})
    assert resumed.state == "completed"
    assert hits(newest(project)) == {"first", "ask"}
    assert frames(newest(project))[0]["resumed_trace"] == path.name


def test_an_answer_with_edited_skills_at_hand_is_an_edit(
    project: Path, model: Scripted, terminal: Terminal
) -> None:
    """`--resume --answer` is today's text: with today's skills it is another one."""
    terminal("run", "w.nika.yaml")
    edit(project)
    done = terminal("run", "w.nika.yaml", "--resume", newest(project), "--answer", "ask=yes")
    assert done.code == 4
    assert reasons(newest(project))["first"] == ("definition", "agent.skills skills/a.md")


def test_a_journal_without_skills_goes_on_with_the_files(project: Path, model: Scripted) -> None:
    """As it did before there were any in a journal."""
    nika_nb.run(project / "w.nika.yaml")
    paused = newest(project)
    without(paused, "skills/")
    edit(project)
    again = nika_nb.attach(paused).answer({"ask": True}).answer({"more": True})
    assert again.state == "completed"
    assert "Be strict." in told(model)["look"]


def without(path: Path, part: str) -> None:
    """Takes the pages of some texts out of a journal, which is chained anew."""
    from tests.doors import rewritten

    def keep(shape: dict[str, Any]) -> bool:
        return not (shape["kind"] == "nb_source_page" and part in shape["fields"]["name"])

    path.write_bytes(rewritten(path, keep).read_bytes())
    path.with_name("changed.ndjson").unlink()


def test_a_skill_that_holds_a_secret_is_not_written_down(
    project: Path, model: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Masked it is another text: then the run cannot go on from its journal, and says so by name."""
    monkeypatch.setenv("NIGHT_TOKEN", "s3cr3t-of-the-night")
    text = ASKING.replace("tasks:", "secrets: {token: {source: env, key: NIGHT_TOKEN}}\ntasks:", 1)
    (project / "w.nika.yaml").write_text(text, encoding="utf-8")
    (project / "skills" / "b.md").write_text(skill("b", "Say s3cr3t-of-the-night."), encoding="utf-8")
    run = nika_nb.run(project / "w.nika.yaml")
    assert "s3cr3t" not in newest(project).read_text(encoding="utf-8")
    with pytest.raises(RunBlocked, match=r"the exact text of `\./skills/b\.md`, for a secret stands in it"):
        run.answer({"ask": True})


# -- deployments -----------------------------------------------------------------------------------


@CHANGES
def test_a_deployment_holds_its_skills(project: Path, model: Scripted, change: Any) -> None:
    """A run of it, and its answers, use what was deployed."""
    made = runs.deploy("asking", project / "w.nika.yaml")
    change(project)
    found = runs.run_deployment("asking")
    assert found.status == "interrupted"
    for key in ("ask", "more"):
        found = runs.resume_run(found.run_id, {key: True})
    assert found.status == "completed"
    assert all("Be kind." in text for text in told(model).values())
    assert made.to_json()["skills"] == ["skills/a.md", "./skills/b.md", "./flows/skills/c.md"]


def test_another_skill_is_another_version(project: Path, model: Scripted) -> None:
    """The digest is of everything in it; the same texts are the same version."""
    versions = [runs.deploy("asking", project / "w.nika.yaml").version for _ in range(2)]
    edit(project)
    versions.append(runs.deploy("asking", project / "w.nika.yaml").version)
    assert versions == [1, 1, 2]


def test_a_snapshot_from_before_there_were_skills_in_one(folder: Path) -> None:
    """Its digest still holds."""
    store = Deployments(folder)
    store.add("old", Snapshot("w", "w", "nika: w"))
    path = folder / ".nika" / "deployments" / "old" / "1.json"
    shape = json.loads(path.read_bytes())
    del shape["snapshot"]["skills"]
    path.write_text(json.dumps(shape), encoding="utf-8")
    assert store.get("old").snapshot == Snapshot("w", "w", "nika: w")


def test_what_is_judged_is_what_runs(project: Path, model: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    """A skill is read once: nothing that is written meanwhile reaches the agent unjudged."""
    from nika_nb.check import children

    opened: list[str] = []
    plain = children.read_plain
    monkeypatch.setattr(children, "read_plain", lambda path: (opened.append(path), plain(path))[1])
    nika_nb.run(project / "w.nika.yaml")
    skills = [path for path in opened if path.endswith(".md")]
    assert len(skills) == len(set(skills)) == 3
    assert of(newest(project), "task_completed", task="first")
