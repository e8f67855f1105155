"""Every registered error code: its category, whether it may pass by itself, and a short title."""

from __future__ import annotations

from typing import Literal, NamedTuple

Category = Literal[
    "parse_error", "validation_error", "variable_error", "provider_error", "network_error", "tool_error",
    "process_error", "budget_error", "security_error", "timeout_error", "cancelled", "internal_error",
]  # fmt: skip


class Code(NamedTuple):
    """`transient` is None where whoever raises the code has to judge it."""

    category: Category
    transient: bool | None
    title: str


def _all(category: Category, titles: dict[str, str], transient: bool | None = False) -> dict[str, Code]:
    return {f"NIKA-{code}": Code(category, transient, title) for code, title in titles.items()}


_PARSE = _all(
    "parse_error",
    {"PARSE-001": "the YAML does not parse", "PARSE-003": "the workflow's name is no name"},
) | _all(
    "validation_error",
    {
        "PARSE-002": "a required part is missing",
        "PARSE-005": "an unknown key",
        "PARSE-006": "a task id is not snake_case",
        "PARSE-007": "two tasks with one id",
        "PARSE-008": "a task without a verb",
        "PARSE-009": "a task with several verbs",
        "PARSE-010": "a timeout is no duration",
        "PARSE-011": "an unsound retry policy",
        "PARSE-012": "an unsound error policy",
        "PARSE-013": "a binding with a reserved name",
        "PARSE-014": "a secret without a store",
        "PARSE-017": "a key written twice",
        "PARSE-018": "a verb lacks a required field",
        "PARSE-019": "a value of the wrong shape",
        "PARSE-022": "tasks written as a list",
        "PARSE-023": "a task with an id field",
        "PARSE-024": "depends_on is gone",
        "PARSE-025": "decoding a structured capture",
        "PARSE-026": "ambient entropy with a virtual clock",
        "PARSE-027": "deterministic entropy with the system clock",
        "PARSE-028": "randomness under no entropy",
    },
)

_YAML = _all(
    "validation_error",
    {
        "YAML-001": "an anchor",
        "YAML-002": "an alias",
        "YAML-003": "a merge key",
        "YAML-004": "a key written twice",
        "YAML-005": "a value beyond 64 KiB",
        "YAML-006": "a custom tag",
        "YAML-007": "a key that is not text",
        "YAML-008": "a number that is not finite",
        "YAML-009": "nested too deeply",
        "YAML-010": "a text beyond 1 MiB",
        "YAML-011": "text that is not plain UTF-8",
    },
)

_STATIC = _all(
    "validation_error",
    {
        "VALUES-001": "vars is gone",
        "VALUES-002": "the top-level env is gone",
        "VALUES-003": "a namespace that does not exist",
        "DEFAULT-001": "a value against its own type",
        "TYPE-001": "an unknown type",
        "TYPE-003": "two contracts for one output",
        "TYPE-004": "a type that decoding cannot reach",
        "TYPE-006": "a pattern outside the dialect",
        "TYPE-101": "an output against its type",
        "DAG-001": "tasks wait for each other",
        "DAG-002": "an edge to an undeclared task",
        "DAG-004": "recovering from a task further down",
        "DAG-005": "an unknown state after a task",
        "DAG-006": "a task that can never run",
        "DAG-007": "compared with a state that never occurs",
        "DAG-008": "a group that nobody declares",
        "DAG-009": "a cleanup task in a group",
        "VAR-003": "a path that the type excludes",
        "VAR-005": "an expression outside the grammar",
        "VAR-008": "an expression that is never closed",
        "VAR-009": "an output against its declared type",
        "VAR-020": "a task where a value is needed",
        "VAR-021": "a task read outside the boundary",
        "COMP-001": "a call without a fixed target",
        "COMP-003": "workflows that call each other",
        "COMP-004": "a call that does not fit its types",
        "INVOKE-001": "an unknown tool",
        "INVOKE-002": "arguments that do not fit the tool",
        "AGENT-003": "a skill file that cannot be found",
        "AGENT-004": "a skill file without its header",
        "AUTH-011": "a lift that lifts nothing",
        "PROVIDER-001": "a model of no known provider",
        "PORT-001": "an unsound deployment artifact",
        "LOCK-001": "a dependency that is not pinned",
        "DECIDE-001": "an unsound decision bundle",
        "DECIDE-002": "evidence that does not fit the bundle",
        "DRIFT-001": "declared and never used",
        "BUILTIN-001": "arguments that the builtin does not take",
        "REG-001": "a name the registry does not know",
        "REG-005": "a registry index that is none",
    },
)

_VALUES = _all(
    "variable_error",
    {
        "VAR-001": "a reference that does not resolve",
        "VAR-002": "a binding without exactly one value",
        "VAR-004": "a jq program that fails",
        "VAR-006": "types that do not meet",
        "VAR-007": "bytes inside a text",
    },
)

_WORK = (
    _all("provider_error", {"INFER-001": "the model call failed"}, transient=None)
    | _all(
        "validation_error",
        {
            "INFER-002": "a reply against its schema",
            "INFER-003": "a priced reply without usage",
            "INFER-004": "tokens spent and nothing said",
        },
    )
    | _all(
        "process_error",
        {"EXEC-001": "the program exited with an error", "EXEC-002": "the program did not start"},
    )
    | _all(
        "budget_error",
        {
            "AGENT-001": "the agent used up its turns",
            "AGENT-002": "the agent used up its tokens",
            "AGENT-005": "a priced turn without usage",
        },
    )
    | _all(
        "tool_error",
        {"MCP-001": "the MCP server does not answer", "MCP-002": "the MCP tool failed"},
        transient=None,
    )
    | _all("timeout_error", {"TIMEOUT-001": "the task took too long"})
    | _all("cancelled", {"CANCEL-001": "the task was cancelled"})
    | _all("internal_error", {"IMPL-001": "a fault of the runtime itself"})
)

_SECURITY = _all(
    "security_error",
    {
        "AUTH-006": "effects without declared permits",
        "AUTH-007": "a boundary that a value moves",
        "AUTH-008": "an untrusted value leaves its boundary",
        "AUTH-009": "a variable that is never passed on",
        "AUTH-010": "a host with a wildcard",
        "COMP-002": "a child beyond its parent's authority",
        "TYPE-005": "a secret in a typed output",
        "PORT-002": "a backend that would allow more",
        "SEC-001": "a command that is never run",
        "SEC-002": "a tool the agent was not given",
        "SEC-003": "workflows nested too deeply",
        "SEC-004": "an effect outside the permits",
        "SEC-005": "an address that is never reached",
        "SEC-006": "a secret reaches an unsanctioned place",
        "SEC-007": "a secret reaches the outputs",
        "SEC-008": "fetching something that runs as code",
        "SEC-009": "private data, untrusted input, a way out",
        "SEC-010": "an approval outside its ticket",
        "SEC-011": "executed is not what was judged",
        "SEC-012": "two tasks write one file unordered",
        "SEC-014": "a refusal that would stop nothing",
        "SEC-015": "a process after fetched content",
        "MCP-003": "an MCP tool changed its description",
        "MCP-004": "an MCP lock that cannot be trusted",
        "MCP-005": "an MCP server refused by the sandbox",
        "REG-002": "an advisory against the artifact",
        "REG-003": "an artifact with another digest",
        "REG-004": "a cache that differs from its record",
        "REG-006": "a signature that does not verify",
        "REG-007": "a signing key that changed",
        "REG-008": "an artifact below the admission floor",
    },
)

_BUILTINS = (
    _all(
        "validation_error",
        {
            "BUILTIN-CHART-001": "a chart without data",
            "BUILTIN-CHART-002": "a chart field that does not exist",
            "BUILTIN-CHART-003": "a chart value that is not finite",
            "BUILTIN-CHART-004": "an unsound chart",
            "BUILTIN-CHART-005": "a chart axis without extent",
            "BUILTIN-CHART-006": "a chart field of the wrong type",
            "BUILTIN-CHART-007": "a chart with too many points",
            "BUILTIN-COMPOSE-001": "compose outside an agent",
            "BUILTIN-CONVERT-001": "a conversion that is none",
            "BUILTIN-DATE-001": "a date that cannot be read",
            "BUILTIN-DONE-001": "done outside an agent",
            "BUILTIN-EMIT-001": "an event of the wrong shape",
            "BUILTIN-GLOB-001": "a pattern that cannot be read",
            "BUILTIN-GREP-001": "a pattern that cannot be read",
            "BUILTIN-HASH-001": "an unsound hash request",
            "BUILTIN-IMAGE_FX-001": "an unsound image pipeline",
            "BUILTIN-IMAGE_FX-003": "an image format that is not read",
            "BUILTIN-IMAGE_GENERATE-001": "an unsound image request",
            "BUILTIN-IMAGE_GENERATE-002": "no such image provider here",
            "BUILTIN-INSPECT-001": "a view that does not exist",
            "BUILTIN-JSON_DIFF-001": "a difference of what is no JSON",
            "BUILTIN-JSON_MERGE_PATCH-001": "a patch of what is no object",
            "BUILTIN-NOTIFY-001": "a channel that is not set up",
            "BUILTIN-PROMPT-001": "nobody can answer",
            "BUILTIN-PROMPT-002": "an answer that is no choice",
            "BUILTIN-TTS_GENERATE-001": "an unsound speech request",
            "BUILTIN-TTS_GENERATE-002": "no such speech provider here",
            "BUILTIN-VALIDATE-001": "a schema that is none",
            "BUILTIN-VALIDATE-002": "a YAML text that does not parse",
            "BUILTIN-WAIT-002": "a moment that has passed",
            "BUILTIN-WAIT-003": "a wait without one end",
        },
    )
    | _all("timeout_error", {"BUILTIN-WAIT-001": "the moment lies beyond the wait's timeout"})
    | _all(
        "network_error",
        {
            "BUILTIN-FETCH-001": "the fetch failed",
            "BUILTIN-IMAGE_GENERATE-003": "the image request failed",
            "BUILTIN-NOTIFY-002": "the message was not delivered",
            "BUILTIN-TTS_GENERATE-003": "the speech request failed",
        },
        transient=None,
    )
    | _all(
        "tool_error",
        {
            "BUILTIN-ASSERT-001": "an assertion does not hold",
            "BUILTIN-CHART-008": "the chart could not be written",
            "BUILTIN-CONVERT-002": "the input is not of that format",
            "BUILTIN-EDIT-001": "nothing to replace",
            "BUILTIN-EDIT-002": "the file could not be edited",
            "BUILTIN-IMAGE_FX-002": "the image could not be read",
            "BUILTIN-IMAGE_FX-004": "the image is damaged",
            "BUILTIN-IMAGE_FX-006": "the image could not be written",
            "BUILTIN-IMAGE_GENERATE-004": "no image came back",
            "BUILTIN-IMAGE_GENERATE-006": "the image could not be written",
            "BUILTIN-IMAGE_GENERATE-007": "what came back is no image",
            "BUILTIN-JQ-001": "a jq program that fails",
            "BUILTIN-READ-001": "the file does not exist",
            "BUILTIN-READ-002": "the file could not be read",
            "BUILTIN-READ-003": "the file is not text",
            "BUILTIN-TTS_GENERATE-004": "no sound came back",
            "BUILTIN-TTS_GENERATE-006": "the sound could not be written",
            "BUILTIN-TTS_GENERATE-007": "what came back is no sound",
            "BUILTIN-WRITE-001": "the file could not be written",
            "BUILTIN-WRITE-002": "the file exists already",
        },
    )
    | _all(
        "security_error",
        {
            "BUILTIN-IMAGE_FX-005": "an image with too many pixels",
            "BUILTIN-IMAGE_GENERATE-005": "an image the provider refuses",
            "BUILTIN-TTS_GENERATE-005": "speech the provider refuses",
        },
    )
)

CODES: dict[str, Code] = _PARSE | _YAML | _STATIC | _VALUES | _WORK | _SECURITY | _BUILTINS

# Never emitted and never given a second meaning.
RETIRED = frozenset(
    f"NIKA-{code}"
    for code in (
        "PARSE-004", "PARSE-015", "PARSE-016", "PARSE-020", "PARSE-021", "TYPE-002", "DEFAULT-002", "DAG-003",
        "SEC-013", "POLICY-001", "ASSERT-001",
    )
)  # fmt: skip

_BY_NAMESPACE: dict[str, Category] = {
    "PARSE": "validation_error", "YAML": "validation_error", "VALUES": "validation_error",
    "TYPE": "validation_error", "DAG": "validation_error", "COMP": "validation_error",
    "VAR": "variable_error", "INFER": "provider_error", "PROVIDER": "provider_error",
    "EXEC": "process_error", "INVOKE": "tool_error", "MCP": "tool_error", "BUILTIN": "tool_error",
    "AGENT": "budget_error", "SEC": "security_error", "AUTH": "security_error",
    "TIMEOUT": "timeout_error", "CANCEL": "cancelled",
}  # fmt: skip


def category_of(code: str) -> Category:
    """The category of a code; of an unregistered one, what its namespace stands for."""
    known = CODES.get(code)
    if known:
        return known.category
    parts = code.split("-")
    return _BY_NAMESPACE.get(parts[1] if len(parts) > 1 else "", "internal_error")


def transient_of(code: str) -> bool:
    """Whether trying again may help, where whoever raised the code did not say."""
    known = CODES.get(code)
    if known and known.transient is not None:
        return known.transient
    return category_of(code) in ("provider_error", "network_error") or code == "NIKA-MCP-001"


def title_of(code: str) -> str:
    """A few words for a code, or an empty string."""
    known = CODES.get(code)
    return known.title if known else ""
