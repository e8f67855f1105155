"""Every key of the language with a sentence of help and what may stand behind it, level by level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from nika_nb.catalog import grammar
from nika_nb.language.model import Clock

# What stands behind a key. `level`: a mapping with closed keys, or a list of such. `names`: a mapping
# whose keys the author chooses, each with a level of its own. `tasks`: task ids, each with a predicate.
Kind = Literal[
    "text", "flag", "number", "words", "level", "names", "tasks", "island", "type", "model", "models",
    "tool", "tools", "workflow", "args", "codes", "programs", "free",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Key:
    """help: one sentence. words: of a closed set. level: the keys below it, or below each of its names.

    default: what holds where the key is not written; empty where that says nothing.
    """

    help: str
    kind: Kind = "text"
    words: tuple[str, ...] = ()
    level: str = ""
    default: str = ""


def _level(help: str, level: str) -> Key:
    return Key(help, "level", level=level)


def _names(help: str, level: str = "") -> Key:
    return Key(help, "names", level=level)


def _words(help: str, words: tuple[str, ...], default: str = "") -> Key:
    return Key(help, "words", words, default=default)


_PROMPT = Key("What the model is asked. `${{ with.x }}` puts a value in.")
_SYSTEM = Key("Who the model is to be, and how it is to answer.")
_MODEL = Key("The model as provider/name; without it the workflow's, or --model.", "model")
_TEMPERATURE = Key("How freely the model chooses its words, from 0 to 2.", "number")
_SCHEMA = Key(
    "The JSON Schema of the answer: it is judged by it, and given back where it does not fit.", "free"
)

LEVELS: dict[str, dict[str, Key]] = {
    "workflow": {
        "nika": Key("The mark of a workflow, and its name: lower-case letters, digits and `-`."),
        "model": Key("The default model of every `infer` and `agent`, as provider/name.", "model"),
        "inputs": _names("What the caller may give, each with a type: --var, --vars, vars=.", "input"),
        "const": _names("Fixed values that the text names once.", "const"),
        "secrets": _names("References to credentials in a store; never a value itself.", "secret"),
        "permits": _level("The boundary: what is not listed is refused.", "permits"),
        "run": _level("Which randomness and which clock the run has.", "run"),
        "tasks": _names("The work, as a graph: each task has one verb.", "task"),
        "outputs": _names("What the workflow returns.", "output"),
    },
    "input": {
        "type": Key("What may come: string, integer, { array: string }, { object: { … } }, …", "type"),
        "required": Key("Whether the caller has to give it.", "flag", default="false"),
        "default": Key("What it is where the caller gives nothing.", "free"),
        "description": Key("What it is for, in words."),
    },
    "const": {
        "type": Key("What the value is held to.", "type"),
        "value": Key("The value.", "free"),
    },
    "secret": {
        "source": _words("Where it is kept; this version opens no vault.", grammar.SECRET_SOURCES),
        "key": Key("The name of the variable, under `source: env`."),
        "path": Key("The file that holds it, under `source: file`."),
        "egress": _level("Where its owner lets it go; without this, nowhere.", "egress"),
    },
    "egress": {
        "to": Key("A tool, `exec`, `infer` or `outputs`.", "tool"),
        "host": Key("Only to this host."),
        "host_from_self": Key("The secret is the address itself.", "flag"),
    },
    "permits": {
        "fs": _level("Files, as globs that start at the folder of the notebook or file.", "permits.fs"),
        "net": _level("Hosts, by their exact names.", "permits.net"),
        "exec": Key("Programs, by their names as written; true for any, shell lines included.", "programs"),
        "tools": Key("Tools that reach beyond the run; those that only compute need no grant.", "tools"),
        "env": Key("Variables that children may see.", "free"),
    },
    "permits.fs": {
        "read": Key("Files that may be read: ['./notes/**', '!./notes/private/*'].", "free"),
        "write": Key("Files that may be written.", "free"),
    },
    "permits.net": {"http": Key("Hosts that may be asked; '*' is the visible way to permit all.", "free")},
    "run": {
        "entropy": _words("Where chance comes from; { seeded: 42 } too.", ("ambient", "none"), "ambient"),
        "clock": _words("Under `virtual` waits take no time.", get_args(Clock), "system"),
    },
    "output": {
        "value": Key("What is returned: `${{ tasks.x.output }}`.", "island"),
        "type": Key("What it is held to.", "type"),
        "description": Key("What it is, in words."),
    },
    "task": {
        "with": _names("Values that the task reads; `${{ tasks.x.output }}` here is an edge of the graph."),
        "after": Key("Waits for the state of another task, without reading it.", "tasks"),
        "group": Key("Several tasks under one name, read together as `group.<name>`."),
        "when": Key("Runs only where this is true: `${{ with.go == true }}`.", "island"),
        "for_each": _level("Once per item of a list, each journaled by itself.", "for_each"),
        "retry": _level("Tries again after transient errors.", "retry"),
        "on_error": _level("What becomes of a failure: a value, or a skip.", "on_error"),
        "timeout": Key("The most that it may take: 30s, 5m, 1h30m."),
        "returns": Key("The type of its output; a model is held to it.", "type"),
        "extract": _names("Names parts of the output by jq: read as `tasks.x.<name>`."),
        "lift": _level("Opens one law for this task, with a reason.", "lift"),
        "infer": _level("Asks a model once.", "infer"),
        "exec": _level("Runs a program.", "exec"),
        "invoke": _level("Calls a tool, or another workflow.", "invoke"),
        "agent": _level("Gives a model tools, and lets it work in turns.", "agent"),
    },
    "for_each": {
        "items": Key("The list: `${{ with.rows }}`, or written out. Each element is `item`.", "island"),
        "max_parallel": Key("How many items are at work at once.", "number", default="NIKA_NB_MAX_PARALLEL"),
        "fail_fast": Key("Whether the first failed item stops the rest.", "flag", default="true"),
    },
    "retry": {
        "max_attempts": Key("How often in all, the first try counted.", "number"),
        "backoff_ms": Key("Milliseconds before the second try.", "number", default="1000"),
        "backoff_strategy": _words("How the pauses grow.", grammar.BACKOFFS, "exponential"),
        "backoff_max_ms": Key("The longest pause, in milliseconds.", "number", default="60000"),
        "jitter": Key("Whether pauses are cut short at random.", "flag", default="true"),
        "on_codes": Key(
            "These codes instead; help on a code says whether it is tried by itself.",
            "codes",
            default="transient ones",
        ),
    },
    "on_error": {
        "recover": Key("Stands in for the output: a value of its type, or null.", "island"),
        "skip": Key("The task counts as skipped.", "flag"),
        "on_codes": Key("Only for these error codes.", "codes", default="any"),
    },
    "lift": {
        "law": _words("`taint`: a foreign value chooses what runs; else: code is fetched.", grammar.LAWS),
        "from": Key("The value that it is opened for, under `taint`: inputs.flag, with.x."),
        "because": Key("Why that is right here."),
    },
    "infer": {
        "prompt": _PROMPT,
        "system": _SYSTEM,
        "model": _MODEL,
        "temperature": _TEMPERATURE,
        "max_tokens": Key("The longest answer; with it a run has a cost ceiling.", "number"),
        "schema": _SCHEMA,
        "thinking": _level("Lets the model think before it answers.", "thinking"),
        "vision": _level("Images that it is shown.", "vision"),
    },
    "thinking": {
        "enabled": Key("Whether it thinks.", "flag"),
        "budget_tokens": Key("How much it may think.", "number"),
    },
    "vision": {
        "source": _words("Where the image is.", ("file", "url")),
        "path": Key("The image's file."),
        "url": Key("The image's address."),
    },
    "exec": {
        "command": Key(
            "The program and its arguments; no shell reads them: [wc, -w, notes.md]. "
            "A list that is one argument becomes JSON.",
            "free",
        ),
        "shell": Key("A line for the shell; needs `permits: { exec: true }`."),
        "cwd": Key("The folder that it runs in.", default="the folder of the notebook or file"),
        "env": _names("Variables for this process alone."),
        "stdin": Key("What it reads."),
        "capture": _words("Which stream is the output.", grammar.CAPTURES, "stdout"),
        "decode": _words("What the output is read as: `json` makes data of it.", grammar.DECODES, "text"),
    },
    "invoke": {
        "tool": Key("A builtin: `nika:…`; tools of MCP servers are not part of this version.", "tool"),
        "workflow": Key("Another workflow, by its file: ./audit.nika.yaml.", "workflow"),
        "args": Key("Its arguments, by name.", "args"),
    },
    "agent": {
        "prompt": _PROMPT,
        "system": _SYSTEM,
        "model": _MODEL,
        "tools": Key("The tools that it may call, as far as `permits` lets it.", "tools"),
        "skills": Key("Files that it is sent with.", "free"),
        "max_turns": Key("How many replies at most.", "number", default="10"),
        "max_tokens_total": Key("Tokens of all turns together; gives a cost ceiling.", "number"),
        "temperature": _TEMPERATURE,
        "schema": _SCHEMA,
    },
}  # fmt: skip

PREDICATE_HELP: dict[str, str] = {
    "success": "once it has succeeded",
    "failure": "once it has failed",
    "skipped": "once it was skipped",
    "terminal": "once it has ended, in whatever way",
    "unwind": "cleans up behind it, whatever became of it",
}

# What can be read of a task, and what an expression starts with.
FIELDS: dict[str, str] = {
    "output": "what it returned",
    "status": "success, failure, skipped or cancelled",
    "error": "its failure: code, message, details",
    "duration_ms": "how long it took",
    "started_at": "when it began",
    "ended_at": "when it ended",
    "cause": "why it ended as it did",
}
ROOTS: dict[str, str] = {
    "with": "the values bound in this task's `with:`",
    "inputs": "what the caller gave",
    "const": "the fixed values of the text",
    "secrets": "a credential, by its name",
    "tasks": "another task: its output, status, error",
    "group": "the tasks of a group, together",
    "item": "the element at hand",
    "index": "its number, from 0",
    "size": "how many: size(with.rows)",
    "has": "whether there is such a field: has(item.name)",
}
