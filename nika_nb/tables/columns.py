"""Every table and its columns: name, dtype, unit, meaning. The one place that says them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

TEXT, WHOLE, TRUTH, VALUE = "string", "Int64", "boolean", "object"
MOMENT, SPAN, MONEY = "datetime64[ns, UTC]", "timedelta64[ns]", "Float64"


@dataclass(frozen=True, slots=True)
class Column:
    """One column. unit: empty where the dtype says it, or where there is none."""

    name: str
    dtype: str
    meaning: str
    unit: str = ""


def _time(name: str, meaning: str) -> Column:
    return Column(name, MOMENT, meaning, "UTC, nanoseconds")


def _span(name: str, meaning: str) -> Column:
    return Column(name, SPAN, meaning, "time span, whole milliseconds")


def _usd(name: str, meaning: str) -> Column:
    return Column(name, MONEY, meaning, "US dollars")


_TASK = Column("task", TEXT, "the task's name")
_TASK_OR_BELOW = Column("task", TEXT, "the task's name; of a called workflow as call/task")
_ITEM = Column("item", WHOLE, "the index in the `for_each`, from 0; missing where there is none")
_STATE = Column(
    "state", TEXT, "pending running success failure skipped cancelled paused, or incomplete: it broke off"
)
_CAUSE = Column(
    "cause",
    TEXT,
    "normal recovered · verb_error timeout retry_exhausted · gate error_skip · upstream operator budget",
)
_CACHED = Column("cached", TRUTH, "a record stood in for running it")
_STARTED = _time("started", "when its work was first dispatched; missing where it never was")
_ENDED = _time("ended", "when it settled")
_DURATION = _span("duration", "of its work, retries included; of a fan-out, from its first item to its last")
_ATTEMPTS = Column(
    "attempts",
    WHOLE,
    "how often its verb was run in this invocation: 0 where it was cached, missing where it did not begin",
)
_MODEL = Column("model", TEXT, "the model that was called")
_TOKENS = Column("tokens", WHOLE, "that this invocation used, failed attempts included", "tokens")
_COST = _usd(
    "cost_usd", "that this invocation paid, failed attempts included; missing where no price is known"
)
_SAVED = (
    _usd("saved_usd", "what it would have cost again, had no record stood in for it"),
    Column("saved_tokens", WHOLE, "the same in tokens", "tokens"),
    _span("saved", "the same in time"),
)
_WASTED = _usd("wasted_usd", "the part of cost_usd that went into attempts that gave nothing")
_UNPRICED = Column(
    "unpriced", TEXT, "why some of it is not in cost_usd: unknown_model local_provider usage_unreported"
)
_RESULT = (
    Column("output", VALUE, "its value as Python has it; None where it is null, and where none is recorded"),
    Column("error_code", TEXT, "why it failed, or what it recovered from"),
    Column("error_message", TEXT, "the same as a sentence"),
)
_HASHES = (
    Column("def_hash", TEXT, "what was written; missing where it cannot be resumed", "64 hex digits"),
    Column("input_hash", TEXT, "what its references came out as", "64 hex digits"),
)
_LINE = Column("line", WHOLE, "of the journal, from 1")

_CUT_OFF = Column(
    "cut_off", WHOLE, "tasks and items at work when the journal broke off: what they cost is not known"
)

KEYS = (
    Column("trace", TEXT, "the file's name"),
    Column("run_id", TEXT, "the durable run, the same after every answer"),
    Column("workflow", TEXT, "the workflow's name"),
)

RUNS = (
    *KEYS,
    Column("state", TEXT, "completed failed cancelled paused running, or incomplete: it broke off"),
    _time("started", "its first event"),
    _time("ended", "its last event so far"),
    _span("duration", "between the two"),
    Column("tasks", WHOLE, "of the workflow"),
    Column("failed", WHOLE, "tasks that failed"),
    Column("hits", WHOLE, "tasks that a record stood in for"),
    Column("live", WHOLE, "tasks that began to run"),
    _TOKENS,
    _COST,
    *_SAVED,
    _WASTED,
    Column("unpriced", WHOLE, "tasks that called a model whose price is not known"),
    _CUT_OFF,
    Column("resumed", TEXT, "the trace that it resumed"),
    Column("events", WHOLE, "lines that could be read"),
    Column("size", WHOLE, "of these lines", "bytes"),
    Column("torn", TRUTH, "the last line is half a line"),
    Column("damage", TEXT, "where the reading had to stop, and why"),
)

INPUTS = (
    Column("input", TEXT, "the input's name"),
    Column("value", VALUE, "as the run got it; None where it is null, and where it is not recorded"),
    Column("origin", TEXT, "file: its default; else where it was given: python notebook cli-operator …"),
    Column("withheld", TRUTH, "a secret stands in it, so that its value is not recorded"),
)

TASKS = (
    _TASK,
    Column("verb", TEXT, "exec infer invoke agent"),
    Column("note", TEXT, "what it does, in a few words, or why it did not"),
    _STATE,
    _CAUSE,
    _CACHED,
    Column("reason", TEXT, "why it ran on a resume: new definition input not-recorded forced not-resumable"),
    Column("changed", TEXT, "the fields or bindings that differ, each with the task it comes from"),
    Column("detail", TEXT, "what else is known of the reason, or what blocked it"),
    _STARTED,
    _ENDED,
    _DURATION,
    _ATTEMPTS,
    Column("items", WHOLE, "of a fan-out, how many have settled"),
    Column("items_cached", WHOLE, "of these, how many a record stood in for"),
    Column("items_failed", WHOLE, "of these, how many failed"),
    _MODEL,
    _TOKENS,
    _COST,
    *_SAVED,
    _WASTED,
    _UNPRICED,
    *_RESULT,
    *_HASHES,
)

ITEMS = (
    _TASK,
    _ITEM,
    _STATE,
    _CAUSE,
    _CACHED,
    _STARTED,
    _ENDED,
    _DURATION,
    _ATTEMPTS,
    _MODEL,
    _TOKENS,
    _COST,
    *_SAVED,
    _WASTED,
    _UNPRICED,
    *_RESULT,
    *_HASHES,
)

ATTEMPTS = (
    _TASK,
    _ITEM,
    Column("attempt", WHOLE, "from 1"),
    Column("state", TEXT, "success failure cancelled running paused, or incomplete: it broke off"),
    _time("started", "when it was dispatched; missing where it was refused before"),
    _time("ended", "when it was over"),
    _span("duration", "between the two"),
    Column("tokens", WHOLE, "that it used", "tokens"),
    _usd("cost_usd", "that it cost; missing where that is not known"),
    Column("error_code", TEXT, "why it failed"),
    _span("delay", "how long was waited before the next one"),
)

PERMITS = (
    _TASK,
    _time("time", "when it was written down: as its task settled"),
    Column("plane", TEXT, "what was judged: exec fs.read fs.write net tool env regate workflow"),
    Column("gate", TEXT, "the thing"),
    Column("allowed", TRUTH, "whether it was granted"),
    Column("why", TEXT, "what granted or refused it"),
    _LINE,
)

PROMPTS = (
    Column("key", TEXT, "how an answer names it: ask, ask[3], call/ask"),
    _TASK,
    _ITEM,
    Column("mode", TEXT, "confirm input choice"),
    Column("message", TEXT, "the question"),
    Column("choices", TEXT, "what may be chosen, with · between"),
    Column("state", TEXT, "waiting answered declined refused"),
    Column("answer", VALUE, "the answer as the workflow got it; None where there is none"),
    Column("source", TEXT, "where it came from: answer resumed default engine"),
    Column("door", TEXT, "through which a human gave it: Python, %nika, a form, nika-nb, MCP"),
    Column("why", TEXT, "why it was refused"),
    _time("time", "when it was asked, or the answer was written down"),
    Column("gates", TEXT, "the tasks that wait for it"),
    Column("effects", TEXT, "what those may do"),
    Column("shown_hash", TEXT, "binds the answer to what was shown", "64 hex digits"),
)

EVENTS = (
    _LINE,
    _time("time", "of the event"),
    Column("kind", TEXT, "of the event"),
    _TASK,
    _ITEM,
    Column("attempt", WHOLE, "from 1"),
    Column("note", TEXT, "as written"),
    Column("detail", TEXT, "as written"),
    Column("id", TEXT, "of the event"),
    Column("invocation", TEXT, "the start of the engine that wrote it"),
    Column("fields", TEXT, "all of its fields", "JSON"),
)

FAN_OUT = (
    _RESULT[0],
    _STATE,
    _CACHED,
    _ATTEMPTS,
    _DURATION,
    _TOKENS,
    _COST,
    *_SAVED,
    _WASTED,
    _UNPRICED,
    *_RESULT[1:],
)

WHY = (
    _TASK_OR_BELOW,
    _STATE,
    _CACHED,
    Column(
        "reason",
        TEXT,
        "why it ran: new definition input not-recorded forced not-resumable first-run; or cached",
    ),
    Column("changed", TEXT, "the fields, bindings and inputs that differ"),
    Column("upstream", TEXT, "the tasks that changed bindings come from"),
    Column("cause", TEXT, "where the changes began"),
    Column("detail", TEXT, "what else is known of the reason, or why it did not run"),
    Column("items_ran", WHOLE, "of a fan-out, how many items ran"),
    Column("items_cached", WHOLE, "how many a record stood in for"),
    Column("items", TEXT, "which ran, and why"),
)

_SIDES = (
    ("state", TEXT, "pending running success failure skipped cancelled paused incomplete", ""),
    ("cached", TRUTH, "a record stood in for running it", ""),
    ("error", TEXT, "why it failed", ""),
    ("duration", SPAN, "of making its output, there or earlier", "time span, whole milliseconds"),
    ("tokens", WHOLE, "the same", "tokens"),
    ("cost_usd", MONEY, "the same; missing where no price is known", "US dollars"),
)

DIFF = (
    _TASK_OR_BELOW,
    Column("kind", TEXT, "same new gone definition input; output: the same asked, another answer; outcome"),
    Column("changed", TEXT, "the fields, bindings and inputs that differ"),
    Column("upstream", TEXT, "the tasks that changed bindings come from"),
    Column("cause", TEXT, "where the changes began"),
    Column("output", TEXT, "the lines of its output's difference"),
    Column("items", TEXT, "of a fan-out, which differ, and how"),
    *(
        Column(f"{name}_{side}", dtype, f"in run {side}: {meaning}", unit)
        for side in ("a", "b")
        for name, dtype, meaning, unit in _SIDES
    ),
)

PLAN = (
    _TASK_OR_BELOW,
    Column("verb", TEXT, "exec infer invoke agent"),
    Column("fate", TEXT, "skip run; depends: on what comes out of others; idle: it does no work"),
    Column("why", TEXT, "why it would run; missing on a first run"),
    Column("upstream", TEXT, "the tasks whose outputs decide, where it depends"),
    Column("items", WHOLE, "of a fan-out, how many; missing where that is not known"),
    Column("items_recorded", WHOLE, "of these, how many a record stands in for"),
    _usd("ceiling_usd", "the most that it may cost; missing where there is no bound, or no price"),
    Column("ceiling_why", TEXT, "why there is none, or what the figure counts"),
    Column("models", TEXT, "those that it asks and that cost, of a called workflow each with its task"),
    Column("touches", TEXT, "the programs, files, hosts and tools that it may touch"),
    Column("again", TEXT, "how it had ended, where effects of an earlier run would fire again"),
    Column("asks", TRUTH, "it puts a question to a human"),
    _usd("saved_usd", "what its records cost to make"),
    _span("saved", "the same in time"),
    Column("files_changed", TEXT, "what its records were made from, and was written since"),
)

REPRODUCE = (
    _TASK_OR_BELOW,
    Column("verdict", TEXT, "reproduced nature edited environment unverifiable"),
    Column("why", TEXT, "the same as a phrase"),
    Column("changed", TEXT, "the fields that differ, as the author writes them"),
    Column("state_before", TEXT, "in the record: success failure skipped cancelled, …"),
    Column("state_after", TEXT, "the same, this time"),
    Column("recorded", TEXT, "the output in the record", "JSON"),
    Column("again", TEXT, "the output this time", "JSON"),
)

_AMOUNTS = (
    _usd("spent_usd", "paid here; missing where no price is known"),
    Column("spent_tokens", WHOLE, "the same in tokens", "tokens"),
    _span("spent", "the same in time of work, task by task"),
    _usd("wasted_usd", "the part of it that went into attempts that gave nothing"),
    Column("wasted_tokens", WHOLE, "the same in tokens", "tokens"),
    _span("wasted", "the same in time"),
    *_SAVED,
)

LEDGER = (
    *KEYS,
    RUNS[3],
    RUNS[4],
    Column("resumed", TEXT, "the trace that it resumed"),
    *_AMOUNTS,
    Column("unpriced", WHOLE, "tasks that called a model whose price is not known"),
    _CUT_OFF,
)

LEDGER_TASKS = (
    Column("workflow", TEXT, "the workflow's name"),
    _TASK,
    Column("runs", WHOLE, "in how many of the traces it ran"),
    Column("hits", WHOLE, "in how many a record stood in for it"),
    *_AMOUNTS,
)

TABLES: Mapping[str, tuple[Column, ...]] = {
    "runs": RUNS,
    "inputs": INPUTS,
    "tasks": TASKS,
    "items": ITEMS,
    "attempts": ATTEMPTS,
    "permits": PERMITS,
    "prompts": PROMPTS,
    "events": EVENTS,
    "table": FAN_OUT,
    "why": WHY,
    "diff": DIFF,
    "plan": PLAN,
    "reproduce": REPRODUCE,
    "ledger": LEDGER,
    "ledger_tasks": LEDGER_TASKS,
}
