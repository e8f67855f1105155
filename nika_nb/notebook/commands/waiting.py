"""`%nika attach|answer|decline|inbox`: runs that were left, and those that wait for an answer."""

from __future__ import annotations

from nika_nb.errors import UsageError
from nika_nb.notebook.commands import command
from nika_nb.notebook.session import Session
from nika_nb.runs.answers import parse_answer
from nika_nb.runs.run import Run

_MOST_FORMS = 20  # runs that an inbox draws


@command("attach [TRACE]", "draw a run from its trace (the newest), a paused one with its forms")
def attach(session: Session, words: list[str]) -> Run:
    trace = session.trace(words[0] if words else None, prefer_paused=True)
    return session.draw(session.desk.attached(trace))


@command("answer [RUN] ask=yes", "answer a paused run (the newest one that waits) and continue it")
def answer(session: Session, words: list[str]) -> Run:
    name = words[0] if words and session.names_trace(words[0]) else None
    given = dict(parse_answer(word) for word in words[1 if name else 0 :])
    if not given or len(given) < len(words) - bool(name):
        raise UsageError(
            "%nika answer takes a trace or a run's id, if you like, and task=value: "
            "%nika answer ask=yes name='Ann Lee'"
        )
    run = session.desk.attached(session.trace(name, paused=True))
    return session.watch(run, lambda: run.answer(given, wait=False))


@command("decline [RUN] [TASK …]", "go on without an answer: to these prompts, or to every open one")
def decline(session: Session, words: list[str]) -> Run:
    name = words[0] if words and session.names_trace(words[0]) else None
    run = session.desk.attached(session.trace(name, paused=True))
    declined = words[1 if name else 0 :]
    return session.watch(run, lambda: run.decline(*declined, wait=False))


@command("inbox", "every run that waits for an answer, with its forms")
def inbox(session: Session, words: list[str]) -> None:
    waiting = session.desk.waiting()
    shown = waiting[:_MOST_FORMS]
    runs = "1 run waits" if len(waiting) == 1 else f"{len(waiting)} runs wait"
    more = f"; the newest {len(shown)} are shown" if len(shown) < len(waiting) else ""
    print(f"{runs} for an answer{more}")
    for path in shown:
        session.draw(session.desk.attached(path))
