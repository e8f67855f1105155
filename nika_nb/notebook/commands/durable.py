"""`%nika runs|deploy|run`: the durable runs of the notebook's folder."""

from __future__ import annotations

from nika_nb.notebook.commands import command
from nika_nb.notebook.session import Session
from nika_nb.runs.run import Run


@command("runs [OFFSET]", "list the durable runs of this folder, the newest first")
def runs(session: Session, words: list[str]) -> None:
    print(session.desk.listed(words))


@command("deploy NAME FILE [in=…]", "keep a workflow and its inputs as a new version of a deployment")
def deploy(session: Session, words: list[str]) -> None:
    print(session.desk.deploy(words))


@command("run NAME [in=…]", "start a run of a deployment")
def run(session: Session, words: list[str]) -> Run:
    launched = session.desk.run(words, interactive=session.surface.interactive)
    return session.watch(launched, lambda: None)
