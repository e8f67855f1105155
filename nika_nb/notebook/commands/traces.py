"""`%nika trace|traces`: the journals themselves."""

from __future__ import annotations

from uuid import uuid4

from nika_nb.board import tracepage
from nika_nb.notebook.commands import command
from nika_nb.notebook.session import Session
from nika_nb.notebook.shown import show
from nika_nb.runs.trace_list import listed


@command("trace [TRACE]", "the journal itself, to look at and to download")
def trace(session: Session, words: list[str]) -> None:
    path = session.trace(words[0] if words else None)
    show(tracepage.mimebundle(path.name, path.read_bytes()), uuid4().hex)


@command("traces", "list the traces of this folder")
def traces(session: Session, words: list[str]) -> None:
    for one in listed(session.place.folder.path):
        entry = one.entry
        print(f"{entry.stamp}  {one.state:<10}  {entry.workflow}  {entry.path.name}{one.how}")
