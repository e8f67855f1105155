"""One trace as the fold of runs sees it: what its first and last lines say, and nothing between."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nika_nb.catalog.frames import RESUME_BLOCKED
from nika_nb.trace.ends import Ends, ends, standing
from nika_nb.trace.fields import names_of, said, whole
from nika_nb.trace.frame import Frame
from nika_nb.trace.trace import State, state_of

_KINDS = ("workflow_started", RESUME_BLOCKED)
_VERSION = 12  # hex digits of a text's hash that stand for its version


@dataclass(frozen=True, slots=True)
class Head:
    """The facts of one trace.

    name: the file's; stamp: (size, mtime in ns, inode) when it was looked at. run: the durable run.
    version: of the workflow's text. created, updated: unix nanoseconds of the first and the last frame;
    of a virtual clock both are of the writing.
    end: the kind of the frame that ended it, None while there is none. head: the hash of the last line.
    sequence: the number of the invocation within its run, from 1. began: when its run did, as the
    prologue tells it. answered: the prompts that it began with an answer to, those that were declined
    included. attempt, diagnostics: of a refused resume.
    """

    name: str
    stamp: tuple[int, int, int]
    kind: str
    run: str
    workflow: str = ""
    version: str = ""
    created: int = 0
    updated: int = 0
    end: str | None = None
    head: str = ""
    resumed_trace: str | None = None
    resumed_head: str | None = None
    parent: str | None = None
    deployment: str | None = None
    deployment_version: int | None = None
    answered: tuple[str, ...] = ()
    declined: tuple[str, ...] = ()
    door: str | None = None
    pid: int | None = None
    sequence: int | None = None
    began: int | None = None
    attempt: int = 0
    diagnostics: int = 0

    @property
    def blocked(self) -> bool:
        """Whether this is the note of a refused resume, and no invocation."""
        return self.kind == RESUME_BLOCKED

    def continues(self, other: Head) -> bool:
        """Whether this invocation went on where the other had stopped, in the same run."""
        return self.run == other.run and self.resumes(other)

    def resumes(self, other: Head) -> bool:
        """Whether this invocation, of whatever run, took up what the other had left.

        Whatever the other's file is called by now: a copy of it, or a link to it, holds the same line.
        """
        if self is other:
            return False
        alike = self.resumed_head is not None and self.resumed_head == other.head
        if self.resumed_trace is not None:
            return alike or self.resumed_trace == other.name
        # The same bytes may lie in several reproducible journals, of one invocation each: what was
        # written later is continued by nothing that was written earlier.
        return alike and self.stamp[1] >= other.stamp[1]

    def state(self, folder: Path) -> State:
        """How it stopped, or whether its writer still lives."""
        if self.end is not None:
            return state_of(self.end, False)
        found = standing(folder / self.name)
        return found.state if found else "incomplete"

    def to_json(self) -> dict[str, Any]:
        """Every field that says something, for a cache."""
        shape = {name: getattr(self, name) for name in self.__slots__}
        return {name: value for name, value in shape.items() if value not in (None, "", 0, ())}

    @classmethod
    def from_json(cls, shape: Mapping[str, Any]) -> Head:
        """Raises TypeError, KeyError or ValueError where `to_json` made something else."""
        size, mtime, inode = shape["stamp"]
        names = {name: tuple(shape.get(name, ())) for name in ("answered", "declined")}
        return cls(**{**shape, "stamp": (size, mtime, inode), **names})

    def decided(self, key: str) -> str:
        """What it did with a question that it went on from: `answered` or `declined`."""
        return "declined" if key in self.declined else "answered"


def head_of(path: Path) -> Head | None:
    """None for a file that belongs to no durable run."""
    found = ends(path)
    if found is None or found.first.kind not in _KINDS or not found.first.correlation:
        return None
    return _head(path.name, found, found.first, found.first.correlation)


def _head(name: str, found: Ends, first: Frame, run: str) -> Head:
    sha = _text(first, "workflow_sha256") or ""
    return Head(
        name=name,
        stamp=(found.stat.st_size, found.stat.st_mtime_ns, found.stat.st_ino),
        kind=first.kind,
        run=run,
        workflow=_text(first, "workflow") or "",
        version=sha[:_VERSION],
        created=found.began,
        updated=found.stopped,
        end=found.end.kind if found.end else None,
        head=found.head,
        resumed_trace=_text(first, "resumed_trace"),
        resumed_head=_text(first, "resumed_head"),
        parent=_text(first, "parent_run"),
        deployment=_text(first, "deployment"),
        deployment_version=whole(first.get("deployment_version")),
        answered=names_of(first.get("answered")),
        declined=names_of(first.get("declined")),
        door=_text(first, "door"),
        pid=whole(first.get("pid")),
        sequence=whole(first.get("sequence")),
        began=None if found.virtual else whole(first.get("run_created")),
        attempt=whole(first.get("attempt")) or 0,
        diagnostics=whole(first.get("diagnostic_count")) or 0,
    )


def _text(frame: Frame, name: str) -> str | None:
    return said(frame.get(name)) or None
