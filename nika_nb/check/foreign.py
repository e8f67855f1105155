"""Texts in which a name stands as other languages splice it: `{{ x }}`, `${x}`, `$x`, `{with.x}`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from nika_nb.check.subject import Subject
from nika_nb.check.surfaces import Surface, surfaces
from nika_nb.errors import Diagnostic, Span
from nika_nb.language.model import Action, Task
from nika_nb.language.template import Text, Value, leaves

_CODE = "NIKA-VAR-005"
_PATH = r"(?P<path>[A-Za-z_]\w*(?:\.\w+|\[\d+\])*)"
_STEP = re.compile(r"[.\[]")
# Each with whether its name alone would mean something to a shell or to jq.
_FORMS = (
    (re.compile(rf"(?<![$\\{{])\{{\{{\s*{_PATH}\s*\}}\}}"), False),
    (re.compile(rf"(?<![\\$])\$\{{\s*{_PATH}\s*\}}"), True),
    (re.compile(rf"(?<![\\$\w])\${_PATH}"), True),
    (re.compile(rf"(?<![$\\{{])\{{\s*{_PATH}\s*\}}(?!\}})"), True),
)
# What reads such a name as a variable of its own: tools, programs, and the options before a program's text.
_TOOLS = frozenset({"nika:jq", "nika:fetch", "nika:validate"})
_READERS = frozenset({"awk", "gawk", "mawk", "sed", "perl", "jq", "make", "envsubst", "tclsh"})
_TEXT_FOLLOWS = re.compile(r"-[a-z]*[cer]|--(?:eval|command)")


def judge(subject: Subject) -> Iterator[Diagnostic]:
    """A warning, where the name is one that an expression could read at that very place."""
    broken = subject.broken
    for surface in surfaces(subject.workflow):
        if surface.task is None or surface.task.id not in broken:
            texts = list(_texts(surface.value))
            for found, path in _spliced(subject, surface) if texts else ():
                token = subject.workflow.source.text[found.start : found.end]
                if any(token in text for text in texts):
                    yield _warning(surface, found, token, path)


def _texts(value: Value) -> Iterator[str]:
    """What stands in a value letter for letter."""
    for leaf in leaves(value):
        if isinstance(leaf, Text):
            yield from (part for part in leaf.parts if isinstance(part, str))
        else:
            yield from _strings(leaf.raw)


def _strings(raw: Any) -> Iterator[str]:
    if isinstance(raw, str):
        yield raw
    elif isinstance(raw, (list, tuple, Mapping)):
        for item in raw.values() if isinstance(raw, Mapping) else raw:
            yield from _strings(item)


def _spliced(subject: Subject, surface: Surface) -> Iterator[tuple[Span, str]]:
    """(where, the path that was meant) of every such form in the text of a place."""
    source, span = subject.workflow.source.text, surface.value.span
    for form, shared in _FORMS:
        for match in form.finditer(source, span.start, span.end):
            path = _meant(subject, surface, match["path"], bare=not (shared and _has_variables(surface)))
            if path is not None:
                yield Span(*match.span()), path


def _has_variables(surface: Surface) -> bool:
    """Whether a name behind a dollar may be a variable of the program that reads the text."""
    task = surface.task
    if task is None or surface.kind != "body":
        return False
    if task.action.verb == "exec":
        return _is_program(task.action)
    return str(task.action.get("tool")) in _TOOLS


def _is_program(action: Action) -> bool:
    """Whether a process is given a program's text: a line of the shell, `-c`, standard input."""
    argv = (action.get("command") or {}).get("argv")
    if not isinstance(argv, list) or action.get("stdin") is not None:
        return True
    read = PurePath(str(argv[0])).name in _READERS
    return read or any(_TEXT_FOLLOWS.fullmatch(word) for word in argv[1:] if isinstance(word, str))


def _meant(subject: Subject, surface: Surface, path: str, *, bare: bool) -> str | None:
    """The path as it is written here; None where nothing of that name can be read. bare: without its root."""
    root, _, rest = path.partition(".")
    name, workflow, bound = _STEP.split(rest)[0], subject.workflow, _bound(surface)
    roots: dict[str, Mapping[str, Any]] = {
        "with": bound, "inputs": workflow.inputs, "const": workflow.consts, "secrets": workflow.secrets,
        "tasks": workflow.tasks if "." in rest else {},
    }  # fmt: skip
    if root in roots:
        return path if name in roots[root] else None
    if root == "item" and (surface.task is None or surface.task.for_each is None):
        return None
    if root == "item":
        return path
    return f"with.{path}" if bare and _STEP.split(root)[0] in bound else None


def _bound(surface: Surface) -> Mapping[str, Value]:
    task: Task | None = surface.task
    return task.with_ if task is not None and surface.kind != "with" else {}


def _warning(surface: Surface, span: Span, token: str, path: str) -> Diagnostic:
    sentence = f"`{token[:60]}` is plain text here: nothing is put in its place"
    task = surface.task.id if surface.task is not None else None
    return Diagnostic(_CODE, sentence, span, f"write `${{{{ {path} }}}}`", "warning", task=task)
