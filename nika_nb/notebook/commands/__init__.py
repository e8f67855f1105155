"""The `%nika` commands: each module holds some, and `table` brings them together."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import nika_nb
from nika_nb.check.guide.topics import contents, help_on, knows
from nika_nb.errors import UsageError
from nika_nb.notebook.options import cell_help
from nika_nb.notebook.session import Session
from nika_nb.runs.options import unknown
from nika_nb.runs.vocabulary import tool_words
from nika_nb.values import nearest

Action = Callable[[Session, list[str]], Any]
# In the order in which help lists them.
MODULES = ("waiting", "durable", "looking", "replay", "traces", "care")


@dataclass(frozen=True, slots=True)
class Command:
    """One word of `%nika`: how it is written, what it does, and the function that does it."""

    name: str
    usage: str
    help: str
    act: Action
    free: bool  # what stands behind its name is judged elsewhere

    def judge(self, words: list[str]) -> None:
        """Raises UsageError for an option that it has not, and for more words than it takes."""
        if self.free:
            return
        taken = self.usage.split()[1:]
        options = [word.strip("[]") for word in taken if word.startswith("[--")]
        foreign = [word for word in words if word.startswith("--") and word not in options]
        most = len(taken) - len(options)
        extra = [] if "…" in self.usage else [word for word in words if word not in options][most:]
        if foreign or extra:
            what = unknown((foreign or extra)[0], options)
            raise UsageError(f"%nika {self.name}: {what}; it is written `%nika {self.usage}`")


def command(usage: str, help: str, *, free: bool = False) -> Callable[[Action], Command]:
    """Makes a command of a function of the session and the words behind the command's name."""

    def made(act: Action) -> Command:
        return Command(usage.split()[0], usage, help, act, free)

    return made


def table() -> dict[str, Command]:
    """Every command by its name."""
    modules = [import_module(f"{__name__}.{name}") for name in MODULES]
    found = [one for module in modules for one in vars(module).values() if isinstance(one, Command)]
    return {one.name: one for one in found}


def act(session: Session, words: list[str]) -> Any:
    """Does what a `%nika` line says. Raises UsageError for a word that is no command."""
    commands = table()
    name = words[0] if words else "help"
    if name in ("help", "--help"):
        return print("\n\n".join(told(commands, words[1:])) if words[1:] else help_text(commands))
    if name not in commands:
        raise UsageError(f"%nika {name}: not a command; {_instead(name, [*commands, 'help'])}")
    if "--help" in words[1:]:
        return print(_told(commands[name]))
    commands[name].judge(words[1:])
    return commands[name].act(session, words[1:])


def _instead(name: str, known: list[str]) -> str:
    if name in nika_nb.__all__ and name[0].islower():
        return f"in Python it is `nika_nb.{name}(…)`"
    return nearest(name, known) or f"there are {', '.join(known)}"


def help_text(commands: dict[str, Command]) -> str:
    """A line per command, the options of a workflow cell, and how the language is asked about."""
    return "\n".join([*map(_line, commands.values()), "", cell_help(), contents("%nika help")])


def told(commands: dict[str, Command], topics: list[str]) -> Iterator[str]:
    """What is known of each topic: a command, a word of the language, or both."""
    for topic in topics:
        if topic in commands:
            yield _told(commands[topic])
        if topic not in commands or knows(topic, tool_words()):
            yield str(help_on(topic, tool_words(), commands))


def _told(one: Command) -> str:
    """One command: its line, and what else there is to say."""
    more = inspect.getdoc(one.act)
    return _line(one) + (f"\n\n{more}" if more else "")


def _line(one: Command) -> str:
    return f"{f'%nika {one.usage}':<32}  {one.help}"
