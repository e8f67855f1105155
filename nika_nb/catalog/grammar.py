"""The closed key sets of the language, level by level, and what became of the words that died."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, get_args

Verb = Literal["infer", "exec", "invoke", "agent"]
SecretSource = Literal["env", "file", "vault"]

ENVELOPE = ("nika", "model", "inputs", "const", "secrets", "permits", "run", "tasks", "outputs")
INPUT = ("type", "required", "default", "description")
CONST = ("type", "value")
SECRET = ("source", "key", "path", "egress")
EGRESS = ("to", "host", "host_from_self")
PERMITS = ("fs", "net", "exec", "tools", "env")
PERMITS_FS = ("read", "write")
PERMITS_NET = ("http",)
RUN = ("entropy", "clock")
OUTPUT = ("value", "type", "description")

VERBS: tuple[Verb, ...] = get_args(Verb)
TASK = (
    "with", "after", "group", "when", "for_each", "retry", "on_error", "timeout", "returns", "extract",
    "lift", *VERBS,
)  # fmt: skip
FOR_EACH = ("items", "max_parallel", "fail_fast")
RETRY = ("max_attempts", "backoff_ms", "backoff_strategy", "backoff_max_ms", "jitter", "on_codes")
ON_ERROR = ("recover", "skip", "on_codes")
LIFT = ("law", "from", "because")

INFER = ("prompt", "system", "model", "temperature", "max_tokens", "schema", "thinking", "vision")
THINKING = ("enabled", "budget_tokens")
VISION = ("source", "path", "url")
EXEC = ("command", "shell", "cwd", "env", "stdin", "capture", "decode")
INVOKE = ("tool", "workflow", "args")
AGENT = (
    "prompt", "system", "model", "tools", "skills", "max_turns", "max_tokens_total", "temperature", "schema",
)  # fmt: skip

OF_VERB: dict[Verb, tuple[str, ...]] = {"infer": INFER, "exec": EXEC, "invoke": INVOKE, "agent": AGENT}

RESERVED_BINDINGS = ("output", "status", "error", "started_at", "ended_at", "duration_ms")
# What every task tells of itself: a named part of its output would hide behind it.
RESERVED_PARTS = (*RESERVED_BINDINGS, "cause")
SECRET_SOURCES: tuple[SecretSource, ...] = get_args(SecretSource)
BACKOFFS = ("fixed", "linear", "exponential")
CAPTURES = ("stdout", "stderr", "combined", "structured")
DECODES = ("text", "json", "jsonl", "bytes")
LAWS = ("taint", "data-as-code")


class Dead(NamedTuple):
    """A key that is no key here (any more): the code that refuses it, and what to write instead.

    moved: its place is elsewhere, so one that is nearly it may mean it.
    """

    code: str
    sentence: str
    hint: str
    moved: bool = False

    @property
    def instead(self) -> list[str]:
        """The keys that the hint says to write."""
        return re.findall(r"`(\w+)[`:]", self.hint)


def _unknown(sentence: str, hint: str) -> Dead:
    return Dead("NIKA-PARSE-005", sentence, hint)


def _moved(key: str, owner: str, hint: str) -> Dead:
    return Dead("NIKA-PARSE-005", f"`{key}:` belongs to {owner}", hint, moved=True)


DEAD_ENVELOPE: dict[str, Dead] = {
    "vars": Dead(
        "NIKA-VALUES-001",
        "`vars:` is gone: each of its values belongs to who decides it",
        "a value of the caller goes to `inputs:`, a fixed one to `const:`, a credential to `secrets:`",
        moved=True,
    ),
    "env": Dead(
        "NIKA-VALUES-002",
        "`env:` is gone from the top level",
        "a setting is an input with `required: false` and a `default:`; a process gets `exec.env`",
    ),
    "config": _unknown("`config:` is gone", "write an input with `required: false` and a `default:`"),
    "workflow": _unknown("`workflow:` is gone: the name stands in `nika:`", "write `nika: <name>`"),
    "types": _unknown("`types:` is gone: a type is written where it is used", "at `returns:` or `type:`"),
    "policy": _unknown("`policy:` is gone: its laws hold without being declared", "remove it"),
    "assert": _unknown("`assert:` is gone", "use a task with `invoke: {tool: nika:assert}`"),
    "id": _unknown("the name of a workflow stands in `nika:`", "write `nika: <name>`"),
    "name": _unknown("the name of a workflow stands in `nika:`", "write `nika: <name>`"),
    "description": _unknown("a workflow has no `description:`", "write a comment"),
    "version": _unknown("a workflow carries no version", "remove it"),
    "apiVersion": _unknown("a workflow carries no version", "remove it"),
    "schema": _unknown("a workflow names no schema", "write it as a comment for the editor"),
    "provider": _unknown("the provider is the first part of the model", "write `model: <provider>/<name>`"),
    "steps": _unknown("a workflow consists of `tasks:`, a mapping by task id", "write `tasks:`"),
    "jobs": _unknown("a workflow consists of `tasks:`, a mapping by task id", "write `tasks:`"),
    "imports": _unknown("a workflow is one file", "call another one with `invoke: {workflow: …}`"),
    "include": _unknown("a workflow is one file", "call another one with `invoke: {workflow: …}`"),
    "import": _unknown("a workflow is one file", "call another one with `invoke: {workflow: …}`"),
    "schedule": _unknown("a workflow says nothing of when it runs", "let what starts it say so: cron, CI"),
    "checkpoint": _unknown("a workflow declares no checkpoints: its journal is one", "go on with `--resume`"),
    "concurrency": _unknown(
        "what nothing orders runs side by side", "write `max_parallel:` in a `for_each:`, or order tasks"
    ),
    "budget": _unknown("a budget is given to a run", "run it with `--max-cost-usd`"),
    "timeout": _unknown("only a task has a `timeout:`", "write it in the task"),
    "retry": _unknown("only a task has a `retry:`", "write it in the task"),
    "on_error": _unknown("only a task has an `on_error:`", "write it in the task"),
}

DEAD_TASK: dict[str, Dead] = {
    "id": Dead("NIKA-PARSE-023", "the key of a task is its id", "remove `id:` and name the task by its key"),
    "depends_on": Dead(
        "NIKA-PARSE-024",
        "`depends_on:` is gone: an edge says what it is for",
        "to read an output bind it in `with:`; to wait for a state write `after: {task: success}`",
    ),
    "output": _unknown("`output:` is called `extract:`", "write `extract:`"),
    "outputs": _unknown("only the workflow has `outputs:`", "name parts of this output in `extract:`"),
    "max_parallel": _moved("max_parallel", "the fan-out", "write it inside `for_each:`"),
    "fail_fast": _moved("fail_fast", "the fan-out", "write it inside `for_each:`"),
    "on_finally": _unknown(
        "`on_finally:` is gone: cleanup is a task of its own", "write a task with `after: {this: unwind}`"
    ),
    "inert": _unknown("`inert:` is gone", "write `lift: [{law: data-as-code, because: …}]`"),
    "declassify": _unknown("`declassify:` is gone", "write `lift: [{law: taint, from: …, because: …}]`"),
    "fetch": _unknown("fetching is a tool", "write `invoke: {tool: nika:fetch, args: {url: …}}`"),
    "description": _unknown("a task has no `description:`", "write a comment"),
    "name": _unknown("the key of a task is its name", "write a comment for more"),
    "needs": _unknown("there is no `needs:`", "bind outputs in `with:`, or write `after: {task: success}`"),
    "if": _unknown("there is no `if:`", "write `when: ${{ … }}`"),
    "uses": _unknown("there is no `uses:`", "write `invoke: {tool: …}`"),
    "run": _unknown("there is no `run:` in a task", "write `exec: {command: [program, argument]}`"),
    "env": _moved("env", "a process", "write it inside `exec:`"),
    "vars": _unknown("there is no `vars:` in a task", "bind values in `with:`"),
    "matrix": _unknown("there is no `matrix:`", "write `for_each: {items: …}`"),
    "loop": _unknown("there is no `loop:`", "write `for_each: {items: …}`"),
    "while": _unknown(
        "there is no `while:`: a graph that can be judged has no open end",
        "write `for_each: {items: …}`, or an `agent:` with `max_turns`",
    ),
    "else": _unknown("there is no `else:`", "write a second task with the opposite `when:`"),
    "finally": _unknown("there is no `finally:`", "write a task with `after: {this: unwind}`"),
    "catch": _unknown("there is no `catch:`", "write `on_error: {recover: …}`"),
    "on_failure": _unknown(
        "there is no `on_failure:`", "write `on_error: {recover: …}`, or a task with `after: {this: failure}`"
    ),
    "cache": _unknown("a task says nothing of its cache", "a run with `--resume` skips what is recorded"),
    "cache_key": _unknown("a task says nothing of its cache", "a run with `--resume` skips what is recorded"),
    "idempotency_key": _unknown("there is no `idempotency_key:`", "hand one to the tool, in its `args:`"),
    "stream": _unknown("there is no `stream:`: an output is whole", "remove it"),
    "concurrency": _moved("concurrency", "the fan-out", "write `for_each: {max_parallel: …}`"),
    "permits": _moved("permits", "the workflow", "write it beside `tasks:`"),
    "schema": _moved("schema", "`infer:` or `agent:`", "or write `returns:` beside the verb"),
    "model": _moved("model", "`infer:` or `agent:`", "write it inside the verb"),
    "prompt": _moved("prompt", "`infer:` or `agent:`", "write it inside the verb"),
    "tool": _moved("tool", "`invoke:`", "write `invoke: {tool: …}`"),
    "args": _moved("args", "`invoke:`", "write it inside the verb"),
    "command": _moved("command", "`exec:`", "write `exec: {command: [program, argument]}`"),
    "decode": _moved("decode", "`exec:`", "write it inside the verb"),
    "capture": _moved("capture", "`exec:`", "write it inside the verb"),
    "output_format": _unknown("there is no `output_format:`", "write the type of the output in `returns:`"),
    "timeout_ms": _unknown("there is no `timeout_ms:`", 'write `timeout: "30s"`'),
    "on_fail": _unknown("there is no `on_fail:`", "write `on_error: {recover: …}`"),
    "retries": _unknown("`retries:` is called `retry:`", "write `retry: {max_attempts: 3}`"),
    "max_retries": _unknown("there is no `max_retries:`", "write `retry: {max_attempts: 3}`"),
    "cmd": _unknown("there is no `cmd:`", "write `exec: {command: [program, argument]}`"),
}

DEAD_ON_ERROR: dict[str, Dead] = {
    "fail_workflow": Dead(
        "NIKA-PARSE-012", "`fail_workflow:` is gone: a failure fails the workflow anyway", "remove it"
    ),
    "fallback": Dead("NIKA-PARSE-012", "`fallback:` is called `recover:`", "write `recover:`"),
    "value": Dead("NIKA-PARSE-012", "`value:` is called `recover:`", "write `recover:`"),
}

_EXEC_TRUE = "a line of the shell is permitted by `exec: true`, which admits any program"

DEAD_PERMITS: dict[str, Dead] = {
    "shell": _unknown("`permits:` has no `shell:`", _EXEC_TRUE),
    "read": _unknown("`read:` is a part of `fs:`", "write `fs: { read: […] }`"),
    "write": _unknown("`write:` is a part of `fs:`", "write `fs: { write: […] }`"),
    "http": _unknown("`http:` is a part of `net:`", "write `net: { http: […] }`"),
}

DEAD_VERB: dict[str, Dead] = {
    **{key: _moved(key, "the task", "write it beside the verb") for key in TASK if key not in VERBS},
    "provider": _unknown("the provider is the first part of the model", "write `model: <provider>/<name>`"),
    "cmd": _unknown("`cmd:` is called `command:`", "write `command: [program, argument]`"),
    "workflows": _unknown("an agent reaches tools only", "list them in `tools:`"),
    "stream": DEAD_TASK["stream"],
}
