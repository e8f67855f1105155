"""The reference part of the README, written from the code. `python -m tests.guide.reference` renews it."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Iterable, Iterator
from pathlib import Path

import nika_nb
from nika_nb.check.editing.keys import LEVELS, PREDICATE_HELP
from nika_nb.check.editing.places import Tools
from nika_nb.check.guide.codes import codes_table
from nika_nb.check.guide.keys import keys_table
from nika_nb.check.guide.page import Block, Sample, Table
from nika_nb.check.guide.samples import SAMPLES
from nika_nb.check.guide.topics import arguments_table, topics
from nika_nb.cli.main import EXIT_CODES, command_line
from nika_nb.notebook import commands, options
from nika_nb.runs.vocabulary import tool_words
from nika_nb.settings import SETTINGS
from nika_nb.tables import TABLES, Column

README = Path(__file__).resolve().parents[2] / "README.md"
BEGIN, END = "<!-- reference: written from the code -->", "<!-- end of the reference -->"


# How the tables are asked for that are no property of a trace's.
_HOLDERS = {
    "table": 'run.table("task")',
    "why": "why(run).table()",
    "diff": "diff(a, b).table()",
    "plan": "plan_resume(workflow, trace).table()",
    "reproduce": "reproduce(run).table()",
    "ledger": "ledger().table()",
    "ledger_tasks": "ledger().task_table()",
}


def reference() -> str:
    """The whole part, without its two marks."""
    parts = [
        ("The language", "\n\n".join(_language())),
        ("Error codes", _folded("every code, what it means, what to do", _markdown(codes_table()))),
        ("`%%nika` options", _table(("option", "meaning"), _options(options.cell_line()))),
        ("`%nika` commands", _table(("command", "what it does"), _commands())),
        (
            "In a terminal",
            _folded("every command", _table(("command", "what it does"), _terminal(command_line()))),
        ),
        ("Exit codes", EXIT_CODES.removeprefix("exit codes: ").replace("\n", " ")),
        ("Settings", _folded("every variable", _table(("variable", "default", "meaning"), _settings()))),
        ("In Python", _python()),
        ("Columns", "\n\n".join(_columns())),
    ]
    return "\n\n".join(f"### {title}\n\n{body}" for title, body in parts)


def renewed(readme: str) -> str:
    """The README with its reference as the code has it now."""
    before, rest = readme.split(BEGIN)
    return f"{before}{BEGIN}\n\n{reference()}\n\n{END}{rest.split(END)[1]}"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _language() -> Iterator[str]:
    """Every table of the guide, folded, with a workflow that shows it."""
    tools = tool_words()
    known = topics(tools)
    shown: set[str] = set()
    for level, title in _LEVELS.items():
        written = [one for name in _SHOWN_WITH.get(level, (level,)) for one in SAMPLES.get(name, ())]
        samples = [_fenced(one) for one in written if one not in shown]
        shown.update(written)
        yield _folded(title, "\n\n".join([*_keys(level), *samples]))
    yield _folded("the tools of this version, and their arguments", "\n\n".join(_tools(tools)))
    for name, title in _TOPICS.items():
        page = known[name]
        yield _folded(title, "\n\n".join([page.about, *map(_shown, page.blocks)]))


def _keys(level: str) -> Iterator[str]:
    """The keys of a level, and of those below it that have no place of their own."""
    yield _markdown(keys_table(level))
    for name, key in LEVELS[level].items():
        if key.level and key.level not in (*_LEVELS, *_TOPICS):
            yield f"Below `{name}`:\n\n{_markdown(keys_table(key.level))}"
        if key.kind == "tasks":
            rows = ((f"`{name}: {{ other: {state} }}`", said) for state, said in PREDICATE_HELP.items())
            yield _table(("written", "runs"), rows)


# The samples that stand with a level besides its own.
_SHOWN_WITH = {"task": ("when", "group")}
_LEVELS = {
    "workflow": "the keys of a workflow",
    "task": "the keys of a task",
    "exec": "<code>exec</code>: a program",
    "infer": "<code>infer</code>: one call of a model",
    "invoke": "<code>invoke</code>: a tool, or another workflow",
    "agent": "<code>agent</code>: a model with tools, in a loop",
    "for_each": "<code>for_each</code>: once per item",
    "retry": "<code>retry</code>",
    "on_error": "<code>on_error</code>, and cleaning up",
    "input": "<code>inputs</code>: what the caller gives",
    "secret": "<code>secrets</code>",
    "run": "<code>run</code>: chance and the clock",
    "lift": "<code>lift</code>: one law opened, with a reason",
}
_TOPICS = {
    "permits": "<code>permits</code>: the boundary, form by form",
    "types": "types",
    "expressions": "expressions: what stands inside <code>${{ }}</code>, and how Python's forms are written",
    "skipped": "what becomes of the readers of a skipped task",
    "models": "models",
}


def _tools(tools: Tools) -> Iterator[str]:
    for one in tools.values():
        yield f"**`{one.name}`** {one.says}\n\n{_markdown(arguments_table(one))}"


def _folded(title: str, body: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{body}\n\n</details>"


def _shown(block: Block) -> str:
    match block:
        case Table():
            return _markdown(block)
        case Sample():
            return _fenced(block.text, block.language)
    return block


def _fenced(text: str, language: str = "yaml") -> str:
    return f"```{language}\n{text.rstrip()}\n```"


def _markdown(table: Table) -> str:
    """The first column is what is typed."""
    return _table(table.head, ((f"`{first}`", *rest) for first, *rest in table.rows))


def _options(of: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    for action in of._actions:
        if action.option_strings and action.help != argparse.SUPPRESS:
            yield f"`{_written(action)}`", (action.help or "").replace("%%", "%")


def _written(action: argparse.Action) -> str:
    if action.nargs == 0:
        return action.option_strings[0]
    value = action.metavar or action.dest.upper()
    return f"{action.option_strings[0]} {f'[{value}]' if action.nargs == '?' else value}"


def _commands() -> Iterator[tuple[str, str]]:
    for one in commands.table().values():
        yield f"`%nika {one.usage}`", one.help
    yield "`%nika help [TOPIC …]`", "all of this; or a key, a tool, a code, `types`, `permits`, …"


def _python() -> str:
    """What the package offers, and what can be done with a run."""
    names = _table(("name", "what it is"), _names())
    members = _table(("member", "what it is"), _members())
    return "\n\n".join((_folded("what a <code>Run</code> has", members), _folded("every name", names)))


_MEMBERS = (
    *("state", "outputs", "tasks", "prompts", "id", "trace", "notices"),
    *("answer", "decline", "resume", "wait", "cancel", "table", "replay", "graph", "timeline"),
)


def _members() -> Iterator[tuple[str, str]]:
    for name in _MEMBERS:
        member = getattr(nika_nb.Run, name)
        yield f"`run.{name}{'' if isinstance(member, property) else '(…)'}`", _first_sentence(member)


def _names() -> Iterator[tuple[str, str]]:
    names = sorted(set(nika_nb.__all__) - {"__version__", "load_ipython_extension"})
    for name in sorted(names, key=str.lower):
        yield f"`nika_nb.{name}`", _first_sentence(getattr(nika_nb, name))


def _first_sentence(thing: object) -> str:
    paragraph = (inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " ")
    return paragraph.split(". ")[0].rstrip(".:")


def _terminal(of: argparse.ArgumentParser, prefix: str = "nika-nb") -> Iterator[tuple[str, str]]:
    """A row for every command that has none below it."""
    for group in of._actions:
        if isinstance(group, argparse._SubParsersAction):
            helps = {choice.dest: choice.help or "" for choice in group._choices_actions}
            for name, below in group.choices.items():
                deeper = list(_terminal(below, f"{prefix} {name}"))
                yield from deeper or [(f"`{prefix} {name}`", helps.get(name, ""))]


def _columns() -> Iterator[str]:
    """A table per table: what `read_trace`, `run.table` and the answers hold."""
    for name, columns in TABLES.items():
        rows = ((f"`{column.name}`", column.dtype, _meaning(column)) for column in columns)
        summary = f"<summary><code>{_HOLDERS.get(name, f'read_trace(run).{name}')}</code></summary>"
        yield f"<details>{summary}\n\n{_table(('column', 'type', 'meaning'), rows)}\n\n</details>"


def _meaning(column: Column) -> str:
    return f"{column.meaning} ({column.unit})" if column.unit else column.meaning


def _settings() -> Iterator[tuple[str, str, str]]:
    for one in SETTINGS:
        yield f"`{one.variable}`", one.default, one.meaning


if __name__ == "__main__":
    README.write_text(renewed(README.read_text(encoding="utf-8")), encoding="utf-8")
