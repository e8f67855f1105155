"""What to do about each error code, in a few words; codes that this version never raises are listed apart."""

from __future__ import annotations

_TEXT = {
    "PARSE-001": "look at the caret: most often a quote, a bracket or an indentation that is not closed",
    "PARSE-002": "add the part that is named; a workflow needs `nika:` and `tasks:`",
    "PARSE-003": "lower-case letters, digits and `-`, a letter first: `my-job`",
    "PARSE-005": "take the spelling that is suggested, or remove the key",
    "PARSE-006": "lower-case letters, digits and `_`: `load_rows`",
    "PARSE-007": "rename one of them",
    "PARSE-008": "add one of `infer:`, `exec:`, `invoke:`, `agent:`",
    "PARSE-009": "make two tasks of it",
    "PARSE-010": "write `30s`, `5m` or `1h30m`",
    "PARSE-011": "write `retry: { max_attempts: 3 }`",
    "PARSE-012": "write exactly one of `recover: VALUE` and `skip: true`",
    "PARSE-013": "choose a name that no task has by itself (`output`, `status`, `error` …)",
    "PARSE-014": "write `{ source: env, key: NAME }` or `{ source: file, path: PATH }`",
    "PARSE-017": "remove one of the two",
    "PARSE-018": "add the field that is named",
    "PARSE-019": "write the shape that is named; `${{ }}` may stand only where the run gives a value",
    "PARSE-022": "write a mapping: `tasks: { first: { … } }`",
    "PARSE-023": "remove `id:`: the key is the name",
    "PARSE-024": "bind an output in `with:`, or write `after: { task: success }`",
    "PARSE-025": "remove `decode:`, and type the object with `returns:`",
    "PARSE-026": "write `entropy: { seeded: 42 }` or `none` beside `clock: virtual`",
    "PARSE-027": "write `clock: virtual` as well",
    "PARSE-028": "write `entropy: { seeded: 42 }`, or leave the task that needs chance out",
    "YAML-001": "write the value out where it is needed",
    "YAML-002": "write the value out; where a `*` is meant as text, quote it",
    "YAML-003": "write the keys out",
    "YAML-004": "remove one of the two",
    "YAML-005": "put it into a file, and read that with `nika:read`",
    "YAML-006": "remove the tag; where a `!` is meant as text, quote the value",
    "YAML-007": "put the key in quotes",
    "YAML-008": "write a number, or put it in quotes",
    "YAML-009": "nest less; call another workflow for the inner part",
    "YAML-010": "move data into files",
    "YAML-011": "save the file as UTF-8, and remove the sign that is named",
    "VALUES-001": "write `inputs:` for what the caller gives, `const:` for what is fixed",
    "VALUES-002": "write an input with a `default:`; a process gets `exec: { env: … }`",
    "VALUES-003": "take one of `with`, `inputs`, `const`, `secrets`, `tasks`, `item`",
    "DEFAULT-001": "change the value, or the type beside it",
    "TYPE-001": "write one of the types: `help types`",
    "TYPE-003": "keep `returns:`, or `schema:` where the types are too small",
    "TYPE-004": "write `decode: json` in `exec:` where the program prints JSON",
    "TYPE-006": "write the pattern without lookarounds, references and lazy repeats",
    "TYPE-101": "look at the output, and correct what gives it, or `returns:`",
    "DAG-001": "remove one of the edges that the sentence names",
    "DAG-002": "take the name that is suggested, or write the task",
    "DAG-004": "recover from a task that stands before this one, or from a fixed value",
    "DAG-005": "write success, failure, skipped, terminal or unwind",
    "DAG-006": "change the edge that is named: what it waits for cannot happen",
    "DAG-007": "compare with success, failure, skipped or cancelled",
    "DAG-008": "write `group: NAME` in each of its tasks",
    "DAG-009": "remove `group:` from the cleanup",
    "VAR-001": "take the name that is suggested; bind what the task reads in `with:`",
    "VAR-002": "make the jq program give exactly one value: `first(…)`, `[…]`",
    "VAR-003": "take a field that the type has",
    "VAR-004": "look at what came in; a program's JSON needs `decode: json`",
    "VAR-005": "write it as `help expressions` has it: `&&`, `||`, `!`, `null`, `size()`",
    "VAR-006": "compare what has one type; a text is no number until `decode: json` reads it",
    "VAR-007": "convert the bytes first: `decode: text`, `nika:read` without `binary`",
    "VAR-008": "close it with `}}` on the same value",
    "VAR-009": "correct the value, or the `type:` of the output",
    "VAR-020": "write `tasks.x.output` (or `.status`, `.error`)",
    "VAR-021": "bind it: `with: { x: ${{ tasks.a.output }} }`, then read `with.x`",
    "COMP-001": "name the file in the text: `workflow: ./audit.nika.yaml`",
    "COMP-002": "widen the `permits:` of the caller, or narrow those of the file it calls",
    "COMP-003": "break the circle",
    "COMP-004": "give the inputs that the called file declares, in their types",
}  # fmt: skip

_WORK = {
    "INVOKE-001": "take one of `help tools`",
    "INVOKE-002": "give the arguments that `help TOOL` lists",
    "AGENT-001": "raise `max_turns:`, or ask for less",
    "AGENT-002": "raise `max_tokens_total:`",
    "AGENT-003": "correct the path; it starts at the folder of the notebook or file",
    "AGENT-004": "begin the file with its header: `---`, `name:`, `description:`, `---`",
    "AGENT-005": "take a model whose provider counts tokens, or leave the budget out",
    "PROVIDER-001": "in this version write `mock/echo`: no other provider is spoken to",
    "INFER-001": "read the provider's words; `retry:` helps where it passes by itself",
    "INFER-002": "make the schema easier, or the prompt clearer",
    "INFER-003": "take a model whose provider says what a call used",
    "INFER-004": "raise `max_tokens:`",
    "EXEC-001": "read the last line of what the program said",
    "EXEC-002": "install the program, or correct its name",
    "MCP-001": "MCP tools are not part of this version",
    "TIMEOUT-001": "raise `timeout:`, or make the task smaller",
    "CANCEL-001": "nothing is wrong: somebody cancelled or declined; `--resume` goes on",
    "IMPL-001": "read what is not part of this version; where nothing is named, it is a bug to report",
    "BUILTIN-001": "give the arguments that `help TOOL` lists",
    "BUILTIN-COMPOSE-001": "list `nika:compose` in the `tools:` of an agent",
    "BUILTIN-DONE-001": "list `nika:done` in the `tools:` of an agent",
    "BUILTIN-CONVERT-001": "take json, yaml, toml or csv",
    "BUILTIN-CONVERT-002": "look at the input: it is not what `from:` says",
    "BUILTIN-FETCH-001": "look at the status that is named; `retry:` helps where it passes by itself",
    "BUILTIN-ASSERT-001": "the workflow's own rule: its message says which",
    "BUILTIN-JQ-001": "correct the program, or look at its input",
    "BUILTIN-JSON_DIFF-001": "compare values of JSON",
    "BUILTIN-PROMPT-001": "give the prompt a `default:`",
    "BUILTIN-PROMPT-002": "answer with one of the choices",
    "BUILTIN-READ-001": "correct the path; it starts at the folder of the notebook or file",
    "BUILTIN-READ-002": "look at the file's rights",
    "BUILTIN-READ-003": "write `binary: true`",
    "BUILTIN-VALIDATE-001": "correct the schema",
    "BUILTIN-VALIDATE-002": "correct the YAML in `data:`",
    "BUILTIN-WAIT-001": "raise `timeout:`, or wait for an earlier moment",
    "BUILTIN-WAIT-002": "compute a moment that is still to come",
    "BUILTIN-WAIT-003": "write exactly one of `duration:` and `until:`",
    "BUILTIN-WRITE-001": "look at the folder's rights, and at what the path names",
    "BUILTIN-WRITE-002": "write `overwrite: true`, or another path",
}  # fmt: skip

_BOUNDARY = {
    "AUTH-006": "paste the `permits:` block that the check writes for you",
    "AUTH-007": "write the path, host or program itself",
    "AUTH-008": "let no foreign value choose what runs; where it is right, a `lift:` with its reason",
    "AUTH-009": "remove the variable: it could make a process run other code",
    "AUTH-010": "list the hosts by name, or `*` for all",
    "AUTH-011": "remove the lift",
    "SEC-001": "no permit opens this command: do it by hand",
    "SEC-002": "list the tool in `tools:` of the agent, and in `permits.tools`",
    "SEC-003": "call fewer workflows inside each other (at most eight deep)",
    "SEC-004": "add what is named to `permits:`, if it is meant",
    "SEC-005": "no permit opens this address (loopback, private, metadata)",
    "SEC-006": "add the place to the secret's `egress:`, if its owner agrees",
    "SEC-007": "add `{ to: outputs }` to the secret's `egress:`, or return less",
    "SEC-008": "fetch data; where code is meant, `lift: [{ law: data-as-code, because: … }]`",
    "SEC-009": "split the workflow, or close one of its three sides",
    "SEC-010": "answer the question as it stands now",
    "SEC-012": "order the two with `after:`, or write two files",
    "SEC-014": "write the gate so that only a yes lets it through: `when: ${{ with.go == true }}`",
    "SEC-015": "work on what was fetched with a builtin (`nika:jq`, `nika:convert`), or cut the edge",
}  # fmt: skip

OF_LATER_TOOLS = "belongs to a tool that is not part of this version"
_LATER_TOOLS = (
    "CHART", "DATE", "DECIDE", "EDIT", "EMIT", "GLOB", "GREP", "HASH", "IMAGE_FX", "IMAGE_GENERATE",
    "INSPECT", "JSON_MERGE_PATCH", "NOTIFY", "TTS_GENERATE",
)  # fmt: skip

# Registered, and raised by nothing in this version.
UNUSED = frozenset(
    f"NIKA-{code}"
    for code in (
        "DECIDE-001", "DECIDE-002", "DRIFT-001", "LOCK-001", "PORT-001", "PORT-002", "MCP-002", "MCP-003",
        "MCP-004", "MCP-005", "REG-001", "REG-002", "REG-003", "REG-004", "REG-005", "REG-006", "REG-007",
        "REG-008", "SEC-011", "TYPE-005",
    )
)  # fmt: skip

# What only this runtime says: its title, and what to do.
OURS: dict[str, tuple[str, str]] = {
    "NIKA-EXEC-003": (
        "an output that cannot be used",
        "write `decode: text` or `bytes`, or let it write a file",
    ),
    "NIKA-RUN-1704": ("the run has cost what it may", "raise `--max-cost-usd`, and `--resume`"),
    "NIKA-NB-001": ("the journal cannot be written here", "make the folder writable, or free some room"),
    "NIKA-NB-002": ("a deployment that cannot be read", "deploy it again"),
    "NIKA-NB-003": ("the answer could not be kept", "make room, and answer again: nothing was consumed"),
    "NIKA-NB-004": ("a run of this id is open", "answer or cancel it first"),
    "NIKA-NB-005": ("a trace that is not trusted", "`trace verify` says what is wrong with it"),
    "NIKA-NB-006": ("answered already", "look at the run that went on"),
}

WAYS: dict[str, str] = {f"NIKA-{code}": way for code, way in (_TEXT | _WORK | _BOUNDARY).items()} | {
    code: way for code, (_, way) in OURS.items()
}


def way_out(code: str) -> str:
    """What to do about a code; empty where this version never raises it."""
    parts = code.split("-")
    if code not in WAYS and parts[1:2] == ["BUILTIN"] and parts[2:3] and parts[2] in _LATER_TOOLS:
        return OF_LATER_TOOLS
    return WAYS.get(code, "")
