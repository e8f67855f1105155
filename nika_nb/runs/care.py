"""The care of traces from above: what a look at them needs to know of processes and settings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from nika_nb.engine.contract import Process
from nika_nb.errors import NikaError
from nika_nb.files import at_home
from nika_nb.settings import Settings
from nika_nb.trace.doctor import examine
from nika_nb.trace.examination import Examination
from nika_nb.trace.keys import exposed, signing_key
from nika_nb.trace.verify import verify
from nika_nb.verbs.sweep import is_alive


def checkup(path: Path) -> Examination:
    """What is wrong with a journal, the processes that its dead engine left at work included."""
    return examine(path, lambda group, started: is_alive(Process(group, started)))


def verdict_of(path: Path) -> str:
    """What a walk along the chain of a journal finds, as a line."""
    return f"{path.name}: {verify(path).sentence}"


def setting_troubles() -> Iterator[str]:
    """What the environment says and nobody can use."""
    settings = Settings.read()
    yield from settings.troubles
    if settings.sign_key is None:
        return
    path = at_home(settings.sign_key)
    try:
        signing_key(path)
    except NikaError as error:
        yield f"NIKA_NB_SIGN_KEY: {error}"
    if exposed(path):
        yield f"NIKA_NB_SIGN_KEY: others can read {path}: chmod 600 {path}"
