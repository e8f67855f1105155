"""`%nika replay`: a run stepped through."""

from __future__ import annotations

from nika_nb.board.replay import Replay
from nika_nb.notebook.commands import command
from nika_nb.notebook.session import Session
from nika_nb.runs.replaying import replay_of

_FINE = "--fine"


@command("replay [TRACE] [--fine]", "step through a run (the newest), forward and back; nothing is executed")
def replay(session: Session, words: list[str]) -> Replay:
    """TRACE is a trace's file name, its path, or a run's id."""
    names = [word for word in words if word != _FINE]
    return replay_of(session.trace(names[0] if names else None), fine=_FINE in words)
