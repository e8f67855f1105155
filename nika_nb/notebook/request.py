"""A line of options and the notebook's variables → the request of a run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from nika_nb.errors import Source, UsageError
from nika_nb.notebook.options import CellOptions
from nika_nb.notebook.session import Session
from nika_nb.runs.inputs import parse_variable
from nika_nb.runs.options import fields_of
from nika_nb.runs.request import Document, Place, Request
from nika_nb.runs.words import Word, told_pair
from nika_nb.values import is_name


def of_cell(session: Session, source: Source, options: CellOptions) -> Request:
    """The workflow in the cell that runs now. Raises UsageError."""
    folder, surface = session.folder, session.surface
    return Request(
        source=source,
        place=Place(folder, folder, surface.notebook, surface.cell_id),
        variables=_variables(session, options),
        **_door(session),
        **fields_of(options),
    )


def of_document(session: Session, found: Document, options: CellOptions) -> Request:
    """A workflow in a file, or in another notebook. Raises CheckRefused or UsageError."""
    asked = found.request(variables=_variables(session, options), **_door(session), **fields_of(options))
    # Of a file, relative paths count from the notebook that runs it; a notebook has its own folder.
    return asked if found.notebook else replace(asked, place=replace(asked.place, base=session.folder))


def of_trace(session: Session, path: Path, options: CellOptions) -> Request:
    """The text that a trace holds, with its inputs, resumed from it. Raises UsageError."""
    if options.resume is not None:
        raise UsageError("%nika resume takes the trace as its first word, not as --resume")
    recorded = session.desk.attached(path).request
    if not recorded.source.text:
        raise UsageError(f"{path.name} does not hold the text that was run: resume the cell, with --resume")
    said = {name: value for name, value in fields_of(options).items() if value not in (None, (), {}, False)}
    variables = {**recorded.variables, **_variables(session, options)}
    fields = said | {"gc": not options.no_gc, "resume": path, "variables": variables}
    return replace(recorded, **_door(session), **fields)


def _door(session: Session) -> dict[str, Any]:
    return {"origin": "notebook", "interactive": session.surface.interactive, "door": "%nika"}


def _variables(session: Session, options: CellOptions) -> dict[str, Any]:
    """--vars names a dict, or what one input gets; --var goes over it."""
    found: dict[str, Any] = {}
    for text in options.vars:
        found |= _given(session, text)
    return found | dict(told_pair(text, parse_variable) for text in options.var)


def _given(session: Session, text: str) -> dict[str, Any]:
    name, sign, variable = text.partition("=")
    if sign:
        return {name: text.value if isinstance(text, Word) else _named(session, text, variable)}
    value = _named(session, text, name)
    if not isinstance(value, dict):
        kind = type(value).__name__
        raise UsageError(f"--vars {text}: `{name}` is {kind}, not a dict; one input is given as INPUT={name}")
    return value


def _named(session: Session, text: str, name: str) -> Any:
    if not is_name(name):
        hint = f"write `few = …` in a cell first, then --vars {text.partition('=')[0]}=few"
        raise UsageError(f"--vars {text}: it takes the name of a variable, not an expression; {hint}")
    try:
        return session.value(name)
    except UsageError as error:
        raise UsageError(f"--vars {text}: {error}") from None
