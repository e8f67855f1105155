"""Builtins as they are called: does the tool exist, may it stand here, do its written arguments fit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nika_nb.catalog.arguments import ARGUMENTS, MEANT, Arg
from nika_nb.catalog.builtins import BUILTINS, COMPOSE, DONE
from nika_nb.check.contract_rules import RULES
from nika_nb.check.folding import folded
from nika_nb.check.problem import Problem, is_open, is_unknown
from nika_nb.check.subject import Subject
from nika_nb.errors import Diagnostic, Span
from nika_nb.language.model import Task
from nika_nb.language.template import only_island
from nika_nb.values import closest, nearest, type_name

# Builtins that were folded into others, and what to use in their place.
_GONE = {
    "nika:csv_to_json": "nika:convert with `from: csv, to: json`",
    "nika:json_to_csv": "nika:convert with `from: json, to: csv`",
    "nika:run": "`invoke: { workflow: … }`, which calls another file",
    "nika:sleep": "nika:wait with `duration:`",
    "nika:wait_until": "nika:wait with `until:`",
    "nika:json_merge": "nika:jq with `.[0] * .[1]`",
    "nika:json_verify": "nika:validate",
    "nika:yaml_validate": "nika:validate with `format: yaml`",
    **dict.fromkeys(
        ("nika:cost", "nika:records", "nika:dag_info", "nika:threads"), "nika:inspect with `view:`"
    ),
    **dict.fromkeys(
        ("nika:map", "nika:filter", "nika:group_by", "nika:aggregate", "nika:flatten"), "nika:jq"
    ),
    **dict.fromkeys(("nika:http", "nika:crawl", "nika:get", "nika:extract"), "nika:fetch"),
}


def judge(subject: Subject) -> Iterator[Diagnostic]:
    """NIKA-INVOKE-001, NIKA-BUILTIN-001 and the builtins' own codes."""
    for task in subject.sound_tasks:
        if task.action.verb == "invoke" and task.action.get("tool") is not None:
            yield from _invoke(subject, task, str(task.action.get("tool")))
        elif task.action.verb == "agent":
            yield from _granted(subject, task)


def _invoke(subject: Subject, task: Task, tool: str) -> Iterator[Diagnostic]:
    place = subject.place("tasks", task.id, "invoke", "tool")
    if not tool.startswith("nika:"):
        return
    if tool not in BUILTINS:
        yield _unknown(tool, place, task)
    elif BUILTINS[tool].loop_only:
        code = f"NIKA-BUILTIN-{tool.removeprefix('nika:').upper()}-001"
        yield Diagnostic(code, f"`{tool}` works only inside an agent", place, _loop_hint(tool), task=task.id)
    else:
        for problem in problems(tool, folded(subject.workflow, task).get("args") or {}, task):
            span = _span(subject, task, problem)
            yield Diagnostic(problem.code, problem.message, span, problem.hint, task=task.id)


def _span(subject: Subject, task: Task, problem: Problem) -> Span:
    path = ("tasks", task.id, "invoke", *(("args", *problem.path) if problem.path else ()))
    return subject.key(*path) if problem.about_name else subject.place(*path)


def _unknown(tool: str, place: Span, task: Task) -> Diagnostic:
    names = [name.removeprefix("nika:") for name in BUILTINS]
    meant = closest(tool.removeprefix("nika:"), names)
    hint = f"did you mean `nika:{meant}`?" if meant else f"the builtins are {', '.join(names)}"
    hint = f"use {_GONE[tool]}" if tool in _GONE else hint
    return Diagnostic("NIKA-INVOKE-001", f"there is no builtin `{tool}`", place, hint, task=task.id)


def _loop_hint(tool: str) -> str:
    if tool == DONE:
        return 'a workflow ends by itself; grant it to an agent: `agent: { tools: ["nika:done"] }`'
    return f'grant it to an agent: `agent: {{ tools: ["nika:done", "{COMPOSE}"] }}`'


def _granted(subject: Subject, task: Task) -> Iterator[Diagnostic]:
    """An exact builtin in an agent's list that does not exist would be granted to nobody."""
    for number, tool in enumerate(task.action.get("tools") or ()):
        name = str(tool).removeprefix("!")
        if is_unknown(name):
            place = subject.place("tasks", task.id, "agent", "tools", number)
            yield _unknown(name, place, task)


def problems(tool: str, args: dict[str, Any], task: Task) -> Iterator[Problem]:
    """What is wrong with the arguments of a builtin, as far as they are written out."""
    table = ARGUMENTS[tool]
    found = [*_names(tool, table, args), *_kinds(tool, table, args, task)]
    yield from found
    if not found and tool in RULES:
        yield from RULES[tool](args, task)


def _names(tool: str, table: dict[str, Arg], args: dict[str, Any]) -> Iterator[Problem]:
    meant = {name: MEANT.get((tool, name)) for name in args if name not in table}
    for name, other in meant.items():
        hint = f"it is called `{other}`" if other else nearest(name, table) or f"it takes {', '.join(table)}"
        yield Problem(f"`{tool}` has no argument `{name}`", hint, (name,), about_name=True)
    for name, arg in table.items():
        if arg.required and name not in args and name not in meant.values():
            yield Problem(f"`{tool}` needs the argument `{name}`", f"write `args: {{ {name}: … }}`", ())


def _kinds(tool: str, table: dict[str, Arg], args: dict[str, Any], task: Task) -> Iterator[Problem]:
    for name, value in args.items():
        arg = table.get(name)
        if arg is None:
            continue
        if arg.kind == "condition":
            yield from _condition(tool, name, value, task)
        elif not is_open(value) and (wanted := _misfit(arg, value)):
            hint = nearest(str(value), arg.of) if arg.of else ""
            yield Problem(f"`{name}` of `{tool}` is {wanted}, not {_shown(value)}", hint, (name,))


def _shown(value: Any) -> str:
    return f"`{value}`" if isinstance(value, (str, int, float)) and len(str(value)) < 40 else type_name(value)


def _misfit(arg: Arg, value: Any) -> str:
    """What an argument should have been, or '' where it fits."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    match arg.kind:
        case "text":
            return "" if isinstance(value, str) else "text"
        case "flag":
            return "" if isinstance(value, bool) else "true or false"
        case "whole":
            return "" if whole and value >= arg.least else f"a whole number, at least {arg.least}"
        case "number":
            return "" if whole or isinstance(value, float) else "a number"
        case "object":
            return "" if isinstance(value, dict) else "an object"
        case "list":
            return "" if isinstance(value, list) else "a list"
        case "texts":
            items = value if isinstance(value, list) else [value]
            return "" if all(isinstance(item, str) for item in items) else "a text or a list of texts"
        case "word":
            return "" if value in arg.of else f"one of {', '.join(arg.of)}"
    return ""


def _condition(tool: str, name: str, value: Any, task: Task) -> Iterator[Problem]:
    """A condition is true, false, or exactly one island."""
    if isinstance(value, bool):
        return
    if not isinstance(value, str):
        yield Problem(
            f"`{name}` of `{tool}` is a condition, not {_shown(value)}", "write `${{ a == b }}`", (name,)
        )
        return
    written = task.action.arguments.get(name)
    if only_island(written) is None:
        whole = "${{" in str(value if written is None else written.raw)
        hint = "put the whole condition inside the braces" if whole else f"write `${{{{ {value[:60]} }}}}`"
        yield Problem(f"`{name}` of `{tool}` is text, and text is never true or false", hint, (name,))
