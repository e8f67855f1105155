"""What has to be said of a journal before somebody believes what it shows: damage, tampering, edits since."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from nika_nb.board.stops import Reel
from nika_nb.catalog.frames import ENGINE_VERSION
from nika_nb.catalog.receipt import NAME_BOUND
from nika_nb.errors import NikaError
from nika_nb.openers import HOMES, open_held
from nika_nb.runs.recorded import place_of
from nika_nb.runs.request import Place
from nika_nb.trace.reader import opening
from nika_nb.trace.trace import Trace
from nika_nb.trace.verdict import Verdict
from nika_nb.trace.verify import verify

_LARGEST = 4 << 20  # bytes of a file that may still be a workflow's


def proof_and_doubts(reel: Reel) -> tuple[str, list[str]]:
    """(how far the journal proves itself, sentences about what speaks against it)."""
    verdict = verify(reel.path)
    return _proof(verdict), [*_doubts(reel, verdict), *_edits(opening(reel.path))]


def doubted(path: Path) -> tuple[str, ...]:
    """A sentence where a journal is not what was written once; none where its chain holds."""
    verdict = verify(path)
    return () if verdict.intact else (f"{path.name}: {_broken(verdict)}",)


def _broken(verdict: Verdict) -> str:
    if verdict.verdict != "forged":
        return verdict.sentence
    return (
        f"its chain is BROKEN at line {verdict.line}: it was changed after it was written, and what is "
        "shown is what it says now"
    )


def _proof(verdict: Verdict) -> str:
    unsealed = verdict.intact and verdict.key is None
    return f"{verdict.sentence} · not sealed" if unsealed else verdict.sentence


def _doubts(reel: Reel, verdict: Verdict) -> Iterator[str]:
    if reel.running:
        yield "its run goes on: this is how far it had come"
    if verdict.verdict not in ("clean", "sealed", "torn", "incomplete"):
        yield _broken(verdict)
    elif verdict.verdict == "incomplete" and not reel.running:
        yield "no frame ends the run: it was killed, or its end was cut off"
    if reel.trouble:
        yield reel.trouble
    yield from _origin(reel)


def _origin(reel: Reel) -> Iterator[str]:
    """Who wrote it, and what it stands on."""
    version = reel.prologue.get("engine_version")
    if version != ENGINE_VERSION:
        shown = version if isinstance(version, str) and version.isprintable() else "that names no version"
        yield f"it was written by an engine {shown[:NAME_BOUND]}, this one is {ENGINE_VERSION}"
    if reel.prologue.get("resume_unverified"):
        yield "the run resumed from a trace that was not verified"


def _edits(trace: Trace) -> Iterator[str]:
    """The texts that are no longer what was run."""
    place = place_of(trace)
    if place is None:
        return
    for name, text in trace.sources().items():
        now = _text_of(place.root, name)
        if now is not None and _same(now) != _same(text):
            yield f"{name} was edited since: this is the run of its text as it was"
    cell = _cell_of(trace, place)
    if cell is not None and _same(cell) != _same(trace.source or cell):
        book = trace.prologue["notebook"]
        yield f"its cell in {book} was edited since: this is the run of the text as it was"


def _text_of(root: Path, name: str) -> str | None:
    path = Path(os.path.realpath(root / os.path.expanduser(name)))
    with suppress(OSError, ValueError):
        if path.is_file() and path.stat().st_size <= _LARGEST:
            return path.read_text(encoding="utf-8")
    return None


def _cell_of(trace: Trace, place: Place) -> str | None:
    """The text of the run's cell as its notebook was saved since; None where that cannot be told."""
    notebook, cell = trace.prologue.get("notebook"), trace.prologue.get("cell")
    if not isinstance(notebook, str) or not isinstance(cell, str) or "/" in notebook:
        return None
    path = place.base / notebook
    with suppress(NikaError, OSError):
        if path.suffix in HOMES and path.stat().st_mtime_ns > trace.frames[0].timestamp:
            return open_held(path, cell).source.text
    return None


def _same(text: str) -> str:
    """What an editor may change without an edit: line ends, and the mark at a file's beginning."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").rstrip("\n")
