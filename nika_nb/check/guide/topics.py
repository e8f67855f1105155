"""Every topic of `help` by its name, and the nearest one to what was asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from nika_nb.catalog.codes import CODES
from nika_nb.catalog.grammar import (
    DEAD_ENVELOPE,
    DEAD_ON_ERROR,
    DEAD_PERMITS,
    DEAD_TASK,
    DEAD_VERB,
)
from nika_nb.catalog.providers import MOCKED, MOCKS
from nika_nb.catalog.ways import OURS
from nika_nb.check.editing.places import Tools, ToolWords
from nika_nb.check.guide.codes import TOPIC, code_page, codes_table
from nika_nb.check.guide.keys import key_page, key_pages
from nika_nb.check.guide.language import pages
from nika_nb.check.guide.page import Block, Page, Sample, Table
from nika_nb.check.guide.samples import SAMPLES
from nika_nb.errors import UsageError
from nika_nb.values import closest

START = ("workflow", "task", "types", "permits", "tools", "expressions", "skipped", "python", "models", TOPIC)
_ALIASES = {
    "cel": "expressions", "type": "types", "tool": "tools", "model": "models", "code": "codes",
    "verbs": "task", "tasks": "task", "keys": "task", "jq": "nika:jq", "json": "decode", "nullable": "types",
    "optional": "types", "enum": "types", "object": "types", "array": "types", "map": "types",
    "union": "types", "boundary": "permits", "skip": "skipped", "functions": "python", "script": "python",
    "pandas": "python", "dataframe": "python", "mock": "models", "item": "expressions",
    "index": "expressions", "workflows": "workflow", "retries": "retry", "cmd": "command",
}  # fmt: skip

# What became of a word, by where it was written.
_DEAD = {
    "a workflow": DEAD_ENVELOPE, "a task": DEAD_TASK, "a verb": DEAD_VERB,
    "`permits:`": DEAD_PERMITS, "`on_error:`": DEAD_ON_ERROR,
}  # fmt: skip


def topics(tools: Tools) -> dict[str, Page]:
    """Every page by its name: what is no key first, so that it is found before a key of that name."""
    found: dict[str, Page] = {}
    for page in (*pages(), _tools(tools), _models(), _codes(), *map(_tool, tools.values()), *key_pages()):
        tool = f"nika:{page.name}"
        also = (*page.also, tool) if tool in tools else page.also
        found.setdefault(page.name, replace(page, also=also))
    return found


def knows(word: str, tools: Tools) -> bool:
    """Whether a word of the language, a tool or a code is called so."""
    known = _code(word) in (CODES | OURS) or _named(word, topics(tools)) is not None
    return known or any(word in dead for dead in _DEAD.values())


def help_on(word: str, tools: Tools, others: Iterable[str] = ()) -> Page:
    """The page of a topic, however it is spelled. Raises UsageError that says what may have been meant.

    others: what can be asked about besides, where the reader stands.
    """
    known = topics(tools)
    code = _code(word)
    if code in CODES or code in OURS:
        return code_page(code)
    name = _named(word, known)
    if name is None and (gone := [*_gone(word)]):
        return Page(word, gone[0], tuple(gone[1:]), _pages_in(gone, known))
    if name is None:
        raise UsageError(f"there is no help on `{word}`; {_meant(word, [*known, *others])}")
    return key_page(word.strip("`:").lower()) or known[name]


def _gone(word: str) -> Iterator[str]:
    """What became of a word, place by place."""
    for place, dead in _DEAD.items():
        if word in dead:
            yield f"of {place} · {dead[word].sentence}: {dead[word].hint}"


def _pages_in(said: list[str], known: dict[str, Page]) -> tuple[str, ...]:
    """The keys that are named there, and have a page."""
    return tuple(dict.fromkeys(key for key in re.findall(r"`([a-z_]+):", " ".join(said)) if key in known))


def names(tools: Tools) -> dict[str, str]:
    """Every topic that can be asked for, with what it is about; codes behind all others."""
    said = {name: page.about for name, page in topics(tools).items()}
    return said | {code: code_page(code).about for code in (*CODES, *OURS)}


def contents(ask: str) -> str:
    """The topics to begin with. ask: how help is written where the reader stands."""
    return f"{ask} TOPIC explains the language: {', '.join(START)};\nany key, tool or code: {ask} decode"


def _code(word: str) -> str:
    plain = word.upper().rstrip(":·")
    return plain if plain.startswith("NIKA-") else f"NIKA-{plain}"


def _named(word: str, known: dict[str, Page]) -> str | None:
    """A topic by its name, its alias, a tool without its prefix, or a key by its whole path."""
    plain = word.strip("`:").lower()
    for name in (plain, _ALIASES.get(plain, ""), f"nika:{plain}", plain.rpartition(".")[2]):
        if name in known:
            return name
    return None


def _meant(word: str, known: Iterable[str]) -> str:
    short = [*(name.removeprefix("nika:") for name in known), *_ALIASES]
    near = closest(word.lower().removeprefix("nika:"), short)
    if not near and any(char.isdigit() for char in word):
        near = closest(_code(word), (*CODES, *OURS))
    return (
        f"did you mean `{near}`?" if near else f"there are {', '.join(START)}, and every key, tool and code"
    )


def _tools(tools: Tools) -> Page:
    return Page("tools", "What `invoke: { tool: … }` and an agent may call.", (tools_table(tools),))


def tools_table(tools: Tools) -> Table:
    """Each tool with its arguments, the needed ones first, the others in brackets."""
    return Table(
        ("tool", "arguments", "what it does"),
        tuple((one.name, _signature(one), one.says.partition(". ")[0].rstrip(".")) for one in tools.values()),
    )


def _signature(tool: ToolWords) -> str:
    return " ".join([*tool.required, *(f"[{name}]" for name in tool.optional)])


def _tool(tool: ToolWords) -> Page:
    blocks: list[Block] = [arguments_table(tool)]
    blocks += [Sample(text) for text in SAMPLES.get(tool.name, ())]
    return Page(tool.name, tool.says, tuple(blocks), ("tools", "permits"))


def arguments_table(tool: ToolWords) -> Table:
    """Each argument with what it takes, whether it is needed, and what it is for."""
    rows = [(name, tool.kind(name) or "any value", "needed", tool.about(name)) for name in tool.required]
    rows += [(name, tool.kind(name) or "any value", "", tool.about(name)) for name in tool.optional]
    return Table(("argument", "takes", "", "what it is for"), tuple(rows))


def _models() -> Page:
    about = (
        "Only the mock models run in this version; a real provider's name passes the check and is refused "
        "before the run."
    )
    models = Table(("model", "what it does"), tuple(MOCKS.items()))
    return Page("models", about, (models, Table(("in the file of NIKA_NB_MOCK", ""), tuple(MOCKED.items()))))


def _codes() -> Page:
    return Page(TOPIC, "What errors are called, what they mean, what to do. `NIKA-` stands before each.",
                (codes_table(),))  # fmt: skip
