"""`%nika attach|answer|decline|cancel|inbox`: runs that were left, and those that wait for an answer."""

from __future__ import annotations

from functools import partial

from nika_nb.errors import NikaError, UsageError
from nika_nb.notebook.commands import command
from nika_nb.notebook.count import Count
from nika_nb.notebook.going_on import going_on
from nika_nb.notebook.session import Session
from nika_nb.notebook.stage import Listed
from nika_nb.notebook.watch import Watch
from nika_nb.runs.answers import distinct, parse_answer
from nika_nb.runs.cancellable import only_one
from nika_nb.runs.inbox import Waiting
from nika_nb.runs.inbox import inbox as look_into
from nika_nb.runs.run import Run
from nika_nb.runs.words import told_pair

_MOST_RUNS = 20  # that an inbox draws at a time: JupyterLab folds a cell with more than fifty outputs
_UNFOLDED = 3  # runs of an inbox whose questions are told in full


@command("attach [TRACE]", "draw a run from its trace (the newest), a paused one with its forms")
def attach(session: Session, words: list[str]) -> Run:
    trace = session.trace(words[0] if words else None, prefer_paused=True)
    return session.draw(session.desk.attached(trace))


@command(
    "answer [RUN] ask=yes …", "answer a paused run (the newest one that waits) and continue it", free=True
)
def answer(session: Session, words: list[str]) -> Run:
    """--no-gc removes no old traces. --resume-unverified goes on from a trace whose chain is broken,
    --resume-compat VERSION from another engine's.
    """
    how, words = going_on(words, "%nika answer")
    # Beside a named answer a bare one says nothing: it was meant for the run.
    mistyped = bool(words) and "=" not in words[0] and any("=" in word for word in words[1:])
    name = words[0] if words and (mistyped or session.names_trace(words[0])) else None
    pairs = [told_pair(word, parse_answer) for word in words[1 if name else 0 :]]
    if not pairs or sum(not key for key, _ in pairs) > 1:
        raise UsageError(
            "%nika answer takes a trace or a run's id, if you like, and task=value: "
            "%nika answer ask=yes name='Ann Lee'"
        )
    given = distinct(pairs)
    run = how.about(session.held(session.trace(name, paused=True)))
    return session.watch(run, lambda: run.answer(given, wait=False, **how.vouched.options))


@command(
    "decline [RUN] [TASK …]", "go on without an answer: to these prompts, or to every open one", free=True
)
def decline(session: Session, words: list[str]) -> Run:
    """The options are those of `%nika answer`."""
    how, words = going_on(words, "%nika decline")
    name = words[0] if words and session.names_trace(words[0]) else None
    run = how.about(session.held(session.trace(name, paused=True)))
    declined = words[1 if name else 0 :]
    return session.watch(run, lambda: run.decline(*declined, wait=False, **how.vouched.options))


@command("cancel [RUN]", "end a run that is at work or waits for an answer (the only one)")
def cancel(session: Session, words: list[str]) -> Run:
    """Its cleanups still run; what it asked can be answered no more. RUN is a run's id or a trace; where
    several runs are at work or wait, it has to be named.
    """
    named = session.trace(words[0]) if words else only_one(session.place.folder.path)
    run = session.held(named)
    run.cancel()
    run.wait()
    return session.draw(run)


@command("inbox [OFFSET]", "every run in this folder and below that waits for an answer, with its forms")
def inbox(session: Session, words: list[str]) -> None:
    if len(words) > 1 or not all(word.isdecimal() for word in words):
        raise UsageError("%nika inbox takes at most how many of the newest to leave out: %nika inbox 20")
    offset = int(words[0]) if words else 0
    found = look_into(session.folder)
    shown = found.waiting[offset : offset + _MOST_RUNS]
    count = Count(lambda over: _counted(len(found.waiting) - over, offset, len(shown) - over, cut=found.cut))
    count.show() if session.surface.has_widgets else print(count)
    for one in shown:
        _draw(session, one, count, brief=len(shown) > _UNFOLDED)


def _draw(session: Session, one: Waiting, count: Count, *, brief: bool) -> None:
    try:
        run = session.desk.attached(one.path)
    except NikaError as error:  # removed meanwhile, or damaged: the others wait all the same
        print(error)
    else:
        listed = Listed(one.heading, session.folder, brief, partial(count.told, one.path))
        Watch(run, session.surface, listed=listed).draw()


def _counted(total: int, offset: int, shown: int, *, cut: bool) -> str:
    """How many runs wait, and how to see the others."""
    counts = {0: "nothing waits for an answer here", 1: "1 run waits for an answer"}
    said = counts.get(total, f"{total} runs wait for an answer")
    if shown < total:
        said += f"; number {offset + 1} to {offset + shown} of them stand below" if shown else ""
        said += f"; {_older(offset + shown)}" if offset + shown < total else ""
    return said + ("; not every folder below was looked into, there are too many" if cut else "")


def _older(left_out: int) -> str:
    return f"%nika inbox {left_out} shows older ones" if left_out else "%nika inbox shows them"
