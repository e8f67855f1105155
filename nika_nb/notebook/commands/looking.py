"""`%nika check|show|why|verify`: a file or a journal looked at; nothing is run."""

from __future__ import annotations

from uuid import uuid4

from nika_nb.board import mimebundle, outputpage
from nika_nb.errors import UsageError
from nika_nb.notebook.commands import command
from nika_nb.notebook.session import Session
from nika_nb.notebook.shown import show as put
from nika_nb.runs.api import judge
from nika_nb.runs.care import verdict_of
from nika_nb.runs.explanation import Why
from nika_nb.runs.provenance import doubted
from nika_nb.runs.request import document
from nika_nb.runs.results import sections_of
from nika_nb.runs.traced import of_words
from nika_nb.runs.why import why as explained


@command("check FILE", "judge a workflow file, or `book.ipynb::name`, without running it")
def check(session: Session, words: list[str]) -> None:
    """The cell that is at hand is judged by `%%nika --check`."""
    if len(words) != 1:
        raise UsageError("%nika check takes one file: %nika check flow.nika.yaml")
    print(judge(document(session.folder / words[0]), None))


@command("show [TRACE] [TASK]", "the run that a trace tells of, or what became of one task; nothing is asked")
def show(session: Session, words: list[str]) -> None:
    """Without a name the newest trace; by a trace's file name, its path or a run's id.

    TASK is a task, `rows[3]` for an item of a fan-out, `call/task` for one of a called workflow; alone it
    is one of the newest trace.
    """
    trace, task = of_words(words, session.folder)
    if task is not None:
        if len(words) == 1:
            print(f"{task} · {trace.name}")
        for doubt in doubted(trace):
            print(doubt)
        put(outputpage.mimebundle(task, sections_of(trace, task)), uuid4().hex)
        return
    put(mimebundle(session.desk.attached(trace).board), uuid4().hex)


@command("why [TRACE]", "why each task of a run ran or was skipped, and where the change began")
def why(session: Session, words: list[str]) -> Why:
    """Without a name the newest trace. The value is what `nika_nb.why` returns."""
    return explained(session.trace(words[0] if words else None))


@command("verify [TRACE]", "walk the chain of a journal, line by line")
def verify(session: Session, words: list[str]) -> None:
    """What does not hold is told with its line. Without a name the newest trace."""
    print(verdict_of(session.trace(words[0] if words else None)))
