"""`agent`: a real loop over real tools under a real boundary; only what the model says is written down."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from nika_nb.engine.contract import Permit
from nika_nb.errors import Fault
from nika_nb.language.jq import JqWorker
from nika_nb.language.model import Permits
from nika_nb.language.skills import Skill, read_skill
from nika_nb.providers.base import ToolCall
from nika_nb.tools.base import Asking
from nika_nb.verbs.agent import Agent
from nika_nb.verbs.models import Models
from nika_nb.verbs.toolbox import Toolbox
from tests.providers.scripted import Line, Scripted, calls, says, together
from tests.verbs.calls import Recorder, permits

FILES = permits(tools=["nika:read", "nika:write"], read=["in/**"], write=["out/**"])
COUNT = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}


class Sent:
    """One agent of a scripted model `x/y`, and everything it left behind."""

    def __init__(
        self,
        *lines: Line,
        base: Path = Path("/"),
        block: Permits | None = FILES,
        skills: dict[str, Skill] | None = None,
        asking: Asking | None = None,
    ) -> None:
        self.provider = Scripted(*lines)
        self.recorder = Recorder(str(base))
        models = Models("x/y", {"x": self.provider, "openai": self.provider})
        self._verb = Agent(models, Toolbox(block, asking or Asking(), JqWorker()), skills)

    def __call__(self, **body: Any) -> Any:
        call = self.recorder.call("agent", {"prompt": "go", **body})
        return asyncio.run(self._verb.run(call)).output

    def fault(self, **body: Any) -> Fault:
        with pytest.raises(Fault) as caught:
            self(**body)
        return caught.value

    def frames(self, kind: str) -> list[dict[str, Any]]:
        return [fields for found, fields in self.recorder.attached if found == kind]

    @property
    def offered(self) -> list[str]:
        return [tool.name for tool in self.provider.requests[0].tools]

    def result(self, turn: int = 1) -> Any:
        """What the model was told of its last call before that turn."""
        return self.provider.requests[turn].messages[-1]


# -- what it may do --------------------------------------------------------------------------------


def test_without_tools_it_only_talks() -> None:
    """Nothing listed is nothing granted."""
    sent = Sent("hello")
    assert sent() == "hello"
    assert sent.offered == []
    assert sent.recorder.processes == [None]


WHITELISTS: list[tuple[list[str], list[str]]] = [
    (["nika:write", "nika:read"], ["nika:write", "nika:read"]),
    (["nika:re*"], ["nika:read"]),
    (["nika:*", "!nika:read"], ["nika:write"]),
    (["!nika:read", "nika:*"], ["nika:read", "nika:write"]),
    (["nika:read", "!nika:*"], []),
    (["*"], []),
    (["mcp:*/*"], []),
    (["**"], ["nika:read", "nika:write"]),
]


@pytest.mark.parametrize(
    ("whitelist", "expected"), WHITELISTS, ids=[" ".join(case[0]) for case in WHITELISTS]
)
def test_a_whitelist_in_its_own_order(whitelist: list[str], expected: list[str]) -> None:
    """Later entries override, `!` takes back, `*` crosses no colon; what is offered keeps the order."""
    sent = Sent("hello")
    sent(tools=whitelist)
    files = [name for name in sent.offered if name in ("nika:read", "nika:write")]
    assert files == expected


def test_what_the_boundary_refuses_is_not_offered() -> None:
    """A broad whitelist under a narrow boundary offers what both let through, and says how many that are."""
    sent = Sent("hello", block=permits(tools=["nika:read"]))
    sent(tools=["nika:read", "nika:write", "nika:log"])
    assert sent.offered == ["nika:read", "nika:log"]
    assert sent.frames("agent_tools_selected") == [
        {"turn": 1, "offered": 2, "universe": 3, "builtin": 2, "mcp": 0, "other": 0, "attempt": 1}
    ]


def test_a_tool_runs_under_the_same_boundary(tmp_path: Path) -> None:
    """A granted tool does its work, and the decision is witnessed as everywhere."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a").write_text("content")
    sent = Sent(calls("nika:read", path="in/a"), "done", base=tmp_path)
    assert sent(tools=["nika:read"]) == "done"
    assert sent.result().text == "content"
    assert sent.recorder.decisions == [
        Permit("tool", "nika:read", True, "permits.tools covers the tool"),
        Permit("fs.read", "in/a", True, "permits.fs.read covers the path"),
    ]
    told = {"tool": "nika:read", "turn": 1, "status": "ok", "attempt": 1, "nb_arguments": '{"path":"in/a"}'}
    assert sent.frames("tool_invoked") == [told]


def test_an_error_is_told_to_the_model(tmp_path: Path) -> None:
    """A tool that fails is told with its code, and the model may go another way."""
    sent = Sent(calls("nika:read", path="in/gone"), "I see", base=tmp_path)
    assert sent(tools=["nika:read"]) == "I see"
    told = sent.result()
    assert told.failed
    assert json.loads(told.text)["error"]["code"] == "NIKA-BUILTIN-READ-001"
    [invoked] = sent.frames("tool_invoked")
    assert invoked["code"] == "NIKA-BUILTIN-READ-001"
    assert invoked["nb_error"] == json.loads(told.text)["error"]["message"]


def test_of_large_arguments_the_journal_keeps_the_beginning() -> None:
    """A model may call a tool with anything, and a line of the journal holds only so much."""
    sent = Sent(calls("nika:log", message="x" * 100_000), "done")
    assert sent(tools=["nika:log"]) == "done"
    assert len(sent.frames("tool_invoked")[0]["nb_arguments"]) == 1000


FED_BACK: list[tuple[str, Any, str]] = [
    ("an argument that is missing", calls("nika:read"), "NIKA-BUILTIN-001"),
    ("an argument nobody knows", calls("nika:read", path="in/a", depth=3), "NIKA-BUILTIN-001"),
    ("a tool that is not there", calls("nika:read_all"), "NIKA-INVOKE-001"),
    ("a server that is not there", calls("mcp:db/query"), "NIKA-MCP-001"),
    ("a question", calls("nika:prompt", message="May I?"), "NIKA-BUILTIN-PROMPT-001"),
    (
        "arguments that cannot be read",
        together([ToolCall("c", "nika:read", {}, trouble="it is not JSON")]),
        "NIKA-INVOKE-002",
    ),
]


@pytest.mark.parametrize(("name", "line", "code"), FED_BACK, ids=[case[0] for case in FED_BACK])
def test_what_is_fed_back(name: str, line: Line, code: str, tmp_path: Path) -> None:
    """Slips of the model cost it a turn, not the task."""
    block = permits(tools=["nika:*", "mcp:db/*"], read=["in/**"])
    sent = Sent(line, "I see", base=tmp_path, block=block, asking=Asking(interactive=True))
    assert sent(tools=["nika:*", "mcp:db/*"]) == "I see"
    assert json.loads(sent.result().text)["error"]["code"] == code


FATAL: list[tuple[str, Any, str]] = [
    ("a tool that was not listed", calls("nika:write", path="out/a", content="x"), "NIKA-SEC-002"),
    ("a tool that is taken back", calls("nika:log", message="x"), "NIKA-SEC-002"),
    ("a tool nobody knows", calls("exec:rm"), "NIKA-SEC-002"),
    ("a path outside", calls("nika:read", path="/etc/passwd"), "NIKA-SEC-004"),
    ("a way around", calls("nika:read", path="in/../secret"), "NIKA-SEC-004"),
    ("a tool outside the boundary", calls("nika:edit", path="in/a"), "NIKA-SEC-004"),
]


@pytest.mark.parametrize(("name", "line", "code"), FATAL, ids=[case[0] for case in FATAL])
def test_what_breaks_the_boundary_ends_it(name: str, line: Line, code: str, tmp_path: Path) -> None:
    """No model talks its way out: the task fails at once, and the refusal is witnessed."""
    sent = Sent(line, "never", base=tmp_path)
    found = sent.fault(tools=["nika:*", "!nika:write", "!nika:log"])
    assert found.code == code
    assert len(sent.provider.requests) == 1
    assert not sent.recorder.decisions[-1].allowed
    assert sent.frames("tool_invoked")[-1]["code"] == code
    assert not (tmp_path / "out").exists()


def test_bytes_are_described(tmp_path: Path) -> None:
    """What is no text never stands in a message."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a").write_bytes(b"\xff\xfe")
    sent = Sent(calls("nika:read", path="in/a", binary=True), "done", base=tmp_path)
    sent(tools=["nika:read"])
    assert sent.result().text.startswith("2 bytes that are not text")


def test_a_prompt_takes_its_default(tmp_path: Path) -> None:
    """Inside a loop nobody is asked, whatever the surface; a default is an answer."""
    line = calls("nika:prompt", message="May I?", default=True)
    sent = Sent(line, "done", base=tmp_path, asking=Asking(interactive=True))
    assert sent(tools=["nika:prompt"]) == "done"
    assert sent.result().text == "true"


# -- what it is asked ------------------------------------------------------------------------------


def test_the_request_carries_the_body() -> None:
    """Everything the author wrote reaches the provider."""
    sent = Sent('{"n": 1}')
    assert sent(system="be kind", temperature="0.3", schema=COUNT, prompt=7, model="x/a/b") == {"n": 1}
    [request] = sent.provider.requests
    assert (request.model, request.prompt, request.system) == ("a/b", "7", "be kind")
    assert (request.temperature, request.schema) == (0.3, COUNT)


def test_tools_are_described() -> None:
    """The model sees what a tool does and which arguments fit."""
    sent = Sent("hello")
    sent(tools=["nika:read"])
    [spec] = sent.provider.requests[0].tools
    assert spec.description == "Reads a file and returns its text."
    assert spec.parameters["required"] == ["path"]
    assert spec.parameters["properties"]["path"] == {"type": "string"}


def test_done_asks_for_the_declared_shape() -> None:
    """The result of `nika:done` is of the shape that the task declares, references included."""
    schema = {"$ref": "#/$defs/n", "$defs": {"n": COUNT}}
    sent = Sent(calls("nika:done", result={"n": 1}))
    assert sent(tools=["nika:done"], schema=schema) == {"n": 1}
    [spec] = sent.provider.requests[0].tools
    assert spec.parameters["required"] == ["result"]
    assert spec.parameters["properties"]["result"] == {"$ref": "#/$defs/n"}
    assert spec.parameters["$defs"] == {"n": COUNT}


def test_skills_join_the_system_text() -> None:
    """In the order that the task names them, after the authored text."""
    skills = {f"{name}.md": read_skill(f"---\nname: {name}\ndescription: d\n---\nbody\n") for name in "ab"}
    sent = Sent("hello", skills=skills)
    sent(system="be kind", skills=["b.md", "a.md"])
    section = "## Skills\n\n### b\n\nd\n\nbody\n\n### a\n\nd\n\nbody"
    assert sent.provider.requests[0].system == f"be kind\n\n{section}"
    assert sent.fault(skills=["c.md"]).code == "NIKA-AGENT-003"


# -- budgets and what it cost ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "code", "blame"),
    [
        (
            {"max_turns": 2},
            "NIKA-AGENT-001",
            {"polarity": "by-the-caller", "source": "the task's own `max_turns:`"},
        ),
        (
            {"max_tokens_total": 3},
            "NIKA-AGENT-002",
            {"polarity": "by-the-caller", "source": "the task's own `max_tokens_total:`"},
        ),
    ],
)
def test_a_budget_that_the_task_set(body: dict[str, Any], code: str, blame: dict[str, str]) -> None:
    """It is the caller's own bound, and what was said so far is kept."""
    sent = Sent(lambda request: calls("nika:log", "so far", message=str(len(request.messages))))
    found = sent.fault(tools=["nika:log"], **body)
    assert (found.code, found.details["blame"]) == (code, blame)
    assert found.details["partial_output"] == "so far"
    assert len(sent.recorder.spent) == 2


def test_ten_turns_where_none_are_written() -> None:
    """The bound is the language's, and nobody is blamed for it."""
    sent = Sent(lambda request: calls("nika:log", message=str(len(request.messages))))
    found = sent.fault(tools=["nika:log"])
    assert (found.code, len(sent.provider.requests)) == ("NIKA-AGENT-001", 10)
    assert found.details["blame"]["polarity"] == "by-the-contract"


def test_every_turn_is_counted_also_of_a_failed_loop() -> None:
    """Each call of the model is spent when it comes back."""
    sent = Sent(calls("nika:log"), calls("nika:write"), "never")
    sent.fault(tools=["nika:log"], model="openai/gpt-5.2")
    assert [usage.cost_usd for usage in sent.recorder.spent] == [pytest.approx(15.75e-6)] * 2


@pytest.mark.parametrize("body", [{"model": "openai/gpt-5.2"}, {"max_tokens_total": 100}])
def test_a_turn_that_cannot_be_counted(body: dict[str, Any]) -> None:
    """A priced model, or a budget of tokens, needs to know what a turn used (NIKA-AGENT-005)."""
    sent = Sent(says("done", tokens=(None, None)))
    assert sent.fault(**body).code == "NIKA-AGENT-005"


def test_a_turn_that_need_not_be_counted() -> None:
    """Without a price and without a budget of tokens the loop goes on."""
    assert Sent(says("done", tokens=(None, None)))() == "done"


def test_a_failed_call_of_the_model_ends_it() -> None:
    """The provider's own error stands, transient as it says, so that `retry:` can decide."""
    sent = Sent(calls("nika:log"), Fault("NIKA-INFER-001", "503", transient=True))
    found = sent.fault(tools=["nika:log"])
    assert (found.code, found.transient) == ("NIKA-INFER-001", True)


# -- compose ---------------------------------------------------------------------------------------

DRAFT = "nika: draft\nmodel: mock/echo\ntasks:\n  a: { infer: { prompt: hi } }\n"


def composed(draft: str, base: Path, block: Permits | None = FILES) -> tuple[dict[str, Any], Sent]:
    sent = Sent(calls("nika:compose", workflow_yaml=draft), "done", base=base, block=block)
    sent(tools=["nika:compose"])
    return json.loads(sent.result().text), sent


def test_compose_tells_the_verdict(tmp_path: Path) -> None:
    """The model learns what the check says, problem by problem; nothing of the draft is run."""
    verdict, sent = composed(DRAFT, tmp_path)
    assert verdict["valid"] is True
    assert sent.frames("agent_compose_checked") == [{"valid": True, "violations": 0}]
    verdict, sent = composed(DRAFT.replace("infer: { prompt: hi }", "exec: { command: [rm] }"), tmp_path)
    assert verdict["valid"] is False
    assert [error["code"] for error in verdict["errors"]] == ["NIKA-AUTH-006"]
    assert sent.frames("agent_compose_checked") == [{"valid": False, "violations": 1}]


def test_compose_opens_only_what_the_run_may_read(tmp_path: Path) -> None:
    """A draft cannot grant itself a look at files: one outside the run's own boundary is not opened."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "sound.md").write_text("---\nname: a\ndescription: b\n---\n")
    (tmp_path / "no-skill.md").write_text("secret")
    (tmp_path / "in" / "link.md").symlink_to(tmp_path / "no-skill.md")
    codes = {}
    for name in ("in/sound.md", "no-skill.md", "in/link.md", "gone.md"):
        draft = (
            f"nika: d\nmodel: mock/echo\npermits: {{ fs: {{ read: ['**'] }} }}\n"
            f"tasks:\n  t: {{ agent: {{ prompt: hi, skills: ['{name}'] }} }}\n"
        )
        verdict, _ = composed(draft, tmp_path)
        codes[name] = [error["code"] for error in verdict["errors"]]
    unread = ["NIKA-AGENT-003"]
    assert codes == {"in/sound.md": [], "no-skill.md": unread, "in/link.md": unread, "gone.md": unread}


def test_compose_reads_no_called_workflow_outside(tmp_path: Path) -> None:
    """The same holds for workflows that a draft calls."""
    (tmp_path / "in").mkdir()
    for place in ("in/child.yaml", "child.yaml"):
        child = "nika: child\ntasks:\n  a: { infer: { prompt: hi, model: mock/echo } }\n"
        (tmp_path / place).write_text(child)
    said = {}
    for place in ("in/child.yaml", "child.yaml"):
        draft = f"nika: d\npermits: {{}}\ntasks:\n  t: {{ invoke: {{ workflow: {place} }} }}\n"
        verdict, _ = composed(draft, tmp_path)
        said[place] = [error["detail"] for error in verdict["errors"]]
    assert said["in/child.yaml"] == []
    assert said["child.yaml"] == ["`child.yaml` may not be opened"]


def test_alone_they_mean_nothing(tmp_path: Path) -> None:
    """`nika:done` and `nika:compose` belong to a loop."""
    box = Toolbox(None, Asking(), JqWorker())
    call = Recorder(str(tmp_path)).call("invoke", {})
    for name, arguments in {"nika:done": {}, "nika:compose": {"workflow_yaml": "x"}}.items():
        with pytest.raises(Fault) as caught:
            asyncio.run(box.use(call, name, arguments))
        assert caught.value.code == f"NIKA-BUILTIN-{name[5:].upper()}-001"


def test_those_who_watch_see_each_turn(tmp_path: Path) -> None:
    """A line per call, beside the words of the model."""
    sent = Sent(calls("nika:log", "I look", message="x"), "done", base=tmp_path)
    sent(tools=["nika:log"])
    assert ("agent", "turn 1 · nika:log\n") in sent.recorder.shown
    assert ("model", "I look") in sent.recorder.shown
