"""The doors that people come through, and how each writes what a sentence tells them to give.

A sentence says `option("var", "topic=…")`; whoever reads it at a terminal or in a cell is told
`--var topic=…`, whoever called from Python `vars={"topic": …}`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from shlex import quote
from typing import Literal

from nika_nb.values import dumps

Door = Literal["Python", "%nika", "a form", "nika-nb", "MCP"]  # where somebody stands who starts or answers

_standing: ContextVar[Door] = ContextVar("nika_door", default="Python")

# What Python and MCP call an option otherwise than by its own name.
_ARGUMENTS = {"var": "vars", "input": "inputs", "from": "from_", "yes": "effects"}
_MEMBERS = {
    "var": "inputs",
    "input": "inputs",
    "answer": "answers",
    "resume-compat": "resume_compat",
    "resume-unverified": "resume_unverified",
}
_BY_NAME = ("vars", "inputs", "answer", "answers")  # dicts: a value is given under a name
_VALUED = ("max_cost_usd", "resume_compat", "model", "from_")  # what says nothing without a value

# What is done with a command: at a terminal, on a line of a notebook, in Python, with a tool of the server.
_COMMANDS = {
    "verify": ("nika-nb trace verify", "%nika verify", "", ""),
    "deploy": ("nika-nb runs deploy", "%nika deploy", "nika_nb.runs.deploy(…)", ""),
    "cancel": ("nika-nb runs cancel", "%nika cancel", "nika_nb.runs.cancel(…)", "cancel_run"),
    "deployments": ("nika-nb deployments", "%nika deployments", "nika_nb.runs.list_deployments()", ""),
    "help": ("nika-nb help", "%nika help", "", ""),
    "runs": ("nika-nb runs list", "%nika runs", "nika_nb.runs.list_runs()", "list_runs"),
}


@contextmanager
def standing_at(door: Door) -> Iterator[None]:
    """What is said meanwhile is said in the words of this door."""
    before = _standing.set(door)
    try:
        yield
    finally:
        _standing.reset(before)


def in_notebook() -> bool:
    return _standing.get() in ("%nika", "a form")


def option(name: str, value: str = "") -> str:
    """An option of a run as it is given where the reader stands; value: `NAME=…` where it goes by name."""
    door = _standing.get()
    if door == "Python" and name == "no-gc":
        return "gc=False"
    if door == "Python":
        return _argument(_ARGUMENTS.get(name, name.replace("-", "_")), value)
    if door == "MCP" and name in _MEMBERS:
        return _argument(_MEMBERS[name], value)
    if name == "input":  # of a deployment: on a line of a notebook it stands alone
        return _word(value) if in_notebook() else f"--var {_word(value)}"
    return f"--{name} {_word(value)}".rstrip()


def together(options: Iterable[str]) -> str:
    """Several of them, as they stand beside each other."""
    return (", " if _standing.get() == "Python" else " ").join(options)


def command(name: str, *words: str) -> str:
    """A command as it is written where the reader stands; in a terminal where no other door has it."""
    terminal, notebook, python, tool = _COMMANDS[name]
    called = {"Python": python, "MCP": tool}.get(_standing.get())
    if called:
        return called
    return " ".join([notebook if in_notebook() else terminal, *map(_word, words)])


def deployment(name: str, folder: str = "") -> str:
    """How a run of a deployment is started; folder: where it lies, empty for the reader's own."""
    match _standing.get():
        case "Python":
            return f'nika_nb.runs.run_deployment("{name}"{f", root={dumps(folder)}" if folder else ""})'
        case "%nika" | "a form":
            return f"%nika run {_word(f'{folder}/{name}' if folder else name)}"
        case "MCP":
            return f"nika-nb mcp --root {_word(folder or '.')}"
    return f"nika-nb runs run {name}{f' --root {_word(folder)}' if folder else ''}"


def setting(name: str, variable: str, value: str) -> str:
    """How a setting is given, by its name on a line of a notebook, elsewhere by its variable."""
    return f"%nika config {name}={value}" if in_notebook() else f"{variable}={value}"


def install(package: str) -> str:
    """How a package is brought in that only some need; it is named itself, for an extra has no fixed name."""
    return f"{'%' if in_notebook() else ''}pip install {quote(package)}"


def _argument(name: str, value: str) -> str:
    if name in _BY_NAME:
        key, sign, given = value.partition("=")
        return f'{name}={{"{key}": {given or "…"}}}' if sign else f"{name}={{…}}"
    if not value:
        return f"{name}=…" if name in _VALUED else f"{name}=True"
    return f"{name}={dumps(value)}"


def _word(text: str) -> str:
    """Quoted as in a shell where it has to be; `…` stands for what the reader fills in."""
    plain = text.replace("…", "")
    return text if plain == "" or quote(plain) == plain else quote(text)
