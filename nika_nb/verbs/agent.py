"""`agent`: a model with tools, turn by turn, until it is done or a budget is used up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from nika_nb.catalog.builtins import DONE
from nika_nb.catalog.codes import category_of
from nika_nb.engine.contract import Call, OverBudget, Permit, Reply
from nika_nb.errors import Fault, hidden
from nika_nb.language.skills import Skill, with_skills
from nika_nb.providers.base import ChatReply, ChatRequest, Message, ToolCall, ToolSpec
from nika_nb.tools.base import Tool, as_text
from nika_nb.values import dumps, to_text
from nika_nb.verbs import body
from nika_nb.verbs.agent_loop import (
    DEFAULT_TURNS,
    Ask,
    Bound,
    Came,
    Job,
    Note,
    Result,
    Step,
    UseTool,
    converse,
)
from nika_nb.verbs.models import Model, Models
from nika_nb.verbs.structured import Fit
from nika_nb.verbs.talk import pump
from nika_nb.verbs.toolbox import Toolbox, admits

WHITELIST_CODE = "NIKA-SEC-002"

_LONGEST_NAME = 200  # characters of what a model calls a tool
_CARRIED = 1000  # characters of a tool's arguments, and of its error, that the journal keeps


class Agent:
    """Runs `agent` bodies. skills: the skill files of the workflow, by path as written."""

    def __init__(self, models: Models, toolbox: Toolbox, skills: Mapping[str, Skill] | None = None) -> None:
        self._models = models
        self._toolbox = toolbox
        self._skills = skills or {}

    async def run(self, call: Call) -> Reply:
        """The agent's result. Raises Fault NIKA-AGENT-001/-002/-005, -INFER-001/-002/-004, NIKA-SEC-…

        Raises OverBudget where the run's cap leaves no further turn.
        """
        model = self._models.choose(call.body.get("model"))
        whitelist = [to_text(pattern) for pattern in call.body.get("tools") or ()]
        universe = self._toolbox.granted(whitelist)
        offered = self._toolbox.admitted(universe)
        job = _job(call.body, model, offered, self._skills)
        work = _Work(call, model, self._toolbox, whitelist, metered=job.max_tokens is not None)
        call.witness(None)
        work.note("agent_tools_selected", _selection(universe, offered))
        return Reply(await pump(converse(job), work.act))


class _Work:
    """Carries out the steps of one loop."""

    def __init__(
        self, call: Call, model: Model, toolbox: Toolbox, whitelist: Sequence[str], *, metered: bool
    ) -> None:
        self._call = call
        self._model = model
        self._toolbox = toolbox
        self._whitelist = whitelist
        self._metered = metered
        self._asked = False

    async def act(self, step: Step) -> Came:
        match step:
            case Ask():
                return await self._ask(step.request)
            case UseTool():
                return await self._use(step.call, step.turn)
            case Note():
                self.note(step.kind, step.fields)
        return None

    def note(self, kind: str, fields: dict[str, Any]) -> None:
        self._call.attach(kind, fields | {"attempt": self._call.attempt})

    async def _ask(self, request: ChatRequest) -> ChatReply:
        """One turn. Raises OverBudget where the run's cap was crossed before it."""
        if self._asked and not self._call.affords():
            raise OverBudget
        self._asked = True
        reply = await self._model.ask(request, self._call)
        if self._model.unbilled(reply) or (self._metered and not reply.counted):
            raise _uncounted(self._model)
        return reply

    async def _use(self, call: ToolCall, turn: int) -> Result:
        """What the model is told: an answer, or an error to work around; a broken boundary is fatal."""
        self._call.show("agent", f"turn {turn} · {call.name}\n")
        try:
            value = await self._answer(call)
        except Fault as fault:
            self._invoked(call, turn, fault)
            if category_of(fault.code) == "security_error":
                raise
            return Result(dumps({"error": {"code": fault.code, "message": fault.message}}), failed=True)
        self._invoked(call, turn, None)
        return Result(_shown(value))

    async def _answer(self, call: ToolCall) -> Any:
        if not admits(self._whitelist, call.name):
            why = "the agent's `tools:` do not list it"
            name = hidden(call.name)[:_LONGEST_NAME]
            self._call.permit(Permit("tool", name, False, why))
            raise Fault(WHITELIST_CODE, f"the agent called `{name}`, and {why}", details={"tool": name})
        if call.trouble:
            raise Fault("NIKA-INVOKE-002", f"the arguments of `{call.name}` cannot be read: {call.trouble}")
        return await self._toolbox.use(self._call, call.name, call.arguments, in_loop=True)

    def _invoked(self, call: ToolCall, turn: int, fault: Fault | None) -> None:
        told = {"tool": hidden(call.name)[:_LONGEST_NAME], "turn": turn, "status": "error" if fault else "ok"}
        told |= {"code": fault.code, "nb_error": hidden(fault.message)[:_CARRIED]} if fault else {}
        self.note("tool_invoked", told | _arguments(call))


def _arguments(call: ToolCall) -> dict[str, str]:
    """The arguments as JSON text, its beginning; left out where a secret stands in them."""
    text = dumps(call.arguments)
    return {} if call.trouble or hidden(text) != text else {"nb_arguments": text[:_CARRIED]}


def _job(written: Mapping[str, Any], model: Model, tools: Sequence[Tool], skills: Mapping[str, Skill]) -> Job:
    schema = written.get("schema")
    chosen = [_skill(skills, str(path)) for path in written.get("skills") or ()]
    opening = ChatRequest(
        model=model.name,
        messages=(Message("user", as_text(written["prompt"], "`prompt:`")),),
        system=with_skills(body.text(written, "system"), chosen),
        temperature=body.temperature(written),
        schema=schema,
        tools=tuple(_spec(tool, schema) for tool in tools),
    )
    tokens = body.whole(written, "max_tokens_total")
    budget = None if tokens is None else Bound(tokens, "by-the-caller", "the task's own `max_tokens_total:`")
    return Job(opening, _turns(written), budget, Fit(schema) if schema is not None else None)


def _skill(skills: Mapping[str, Skill], path: str) -> Skill:
    if path not in skills:
        raise Fault("NIKA-AGENT-003", f"the skill `{path}` was not read before the run", transient=False)
    return skills[path]


def _turns(written: Mapping[str, Any]) -> Bound:
    turns = body.whole(written, "max_turns")
    if turns is not None:
        return Bound(turns, "by-the-caller", "the task's own `max_turns:`")
    source = f"the language, whose `max_turns` is {DEFAULT_TURNS} where none is written (chapter 02, agent)"
    return Bound(DEFAULT_TURNS, "by-the-contract", source)


def _spec(tool: Tool, schema: dict[str, Any] | None) -> ToolSpec:
    """The tool as the model sees it; the result of `nika:done` is of the shape that the task declares."""
    parameters = tool.parameters
    if tool.name == DONE and schema is not None:
        inner = {key: value for key, value in schema.items() if key not in ("$defs", "$schema", "$id")}
        parameters = parameters | {"properties": {"result": inner}, "required": ["result"]}
        parameters |= {"$defs": schema["$defs"]} if "$defs" in schema else {}
    return ToolSpec(tool.name, tool.says or f"The builtin `{tool.name}`.", parameters)


def _selection(universe: Sequence[Tool], offered: Sequence[Tool]) -> dict[str, Any]:
    kinds = Counter(tool.name.partition(":")[0] for tool in offered)
    builtin, mcp = kinds["nika"], kinds["mcp"]
    counts = {"builtin": builtin, "mcp": mcp, "other": len(offered) - builtin - mcp}
    return {"turn": 1, "offered": len(offered), "universe": len(universe), **counts}


def _shown(value: Any) -> str:
    if isinstance(value, (bytes, bytearray)):
        return f"{len(value)} bytes that are not text; give them on to a tool that takes bytes"
    return to_text(value)


def _uncounted(model: Model) -> Fault:
    return Fault(
        "NIKA-AGENT-005",
        f"the provider of `{model.full}` did not say what a turn used: no budget can be held, so it ends",
        details={"model": model.full},
    )
