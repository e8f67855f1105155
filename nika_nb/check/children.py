"""The workflows and skills that a workflow names, each read once; calls followed to their ends or turns."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from nika_nb.authority.files import read_plain
from nika_nb.errors import Diagnostic
from nika_nb.language.load import load_bytes
from nika_nb.language.model import Task, Workflow

_REGISTRY = re.compile(r"registry:[a-z0-9][a-z0-9-]*/[a-z0-9][a-z0-9-]*@[0-9A-Za-z][0-9A-Za-z.+-]*")
DEEPEST = 32  # calls inside calls that are followed; far fewer are run


@dataclass(frozen=True, slots=True)
class Child:
    """One call: the file that it names and the workflow in it, or why there is none."""

    path: str
    workflow: Workflow | None = None
    problem: str = ""
    hint: str = ""


class Family:
    """Reads called workflows and skills, each file once, so that what is judged is what runs.

    pinned: the texts by their real path, where they come from a journal and not from the disk; a skill
    that an older journal does not hold is read from there.
    readable: says of a real path whether it may be opened, for a text that nobody vouches for.
    judged: by real path what is wrong with a called workflow itself, for whoever judges it; above:
    the ones that are being judged.
    """

    def __init__(
        self, pinned: Mapping[str, str] | None = None, readable: Callable[[str], bool] | None = None
    ) -> None:
        self.judged: dict[str, tuple[Diagnostic, ...]] = {}
        self.above: list[str] = []
        self._pinned = pinned
        self._readable = readable
        self._read: dict[str, Child] = {}
        self._bytes: dict[str, bytes] = {}
        self._straight: set[str] = set()  # files below which nothing turns back

    def called(self, task: Task, folder: str) -> Child | None:
        """What a task calls, counted from its file's folder; None where it calls no file."""
        target = task.called
        if target is None:
            return None
        if "${{" in target:
            hint = "write the path itself; to choose, call two workflows under `when:`"
            return Child("", None, "a workflow is called by a fixed name", hint)
        if target.startswith("registry:"):
            if _REGISTRY.fullmatch(target):
                return None
            return Child("", None, f"`{target}` names no version", "write `registry:owner/name@version`")
        if "\0" in target:
            return Child("", None, "a path holds no NUL", "write the path itself")
        path = os.path.realpath(os.path.join(folder, os.path.expanduser(target)))
        if path not in self._read:
            self._read[path] = self._look(path, target)
        return self._read[path]

    def _look(self, path: str, target: str) -> Child:
        if self._pinned is None:
            return self._from_disk(path, target)
        text = self._pinned.get(path)
        if text is None:
            hint = "resume with the workflow and its children at hand"
            return Child(path, None, f"the journal does not hold the text of `{target}`", hint)
        return _child(path, target, text.encode("utf-8"))

    def open(self, path: str) -> bytes:
        """The bytes of a file that a workflow names. Raises OSError where there is none to be opened."""
        if self._pinned is not None and path in self._pinned:
            return self._pinned[path].encode("utf-8")
        if self._readable is not None and not self._readable(path):
            raise PermissionError(path)
        if path not in self._bytes:
            self._bytes[path] = read_plain(path)
        return self._bytes[path]

    def _from_disk(self, path: str, target: str) -> Child:
        try:
            return _child(path, target, self.open(path))
        except PermissionError:
            hint = "only what this run may read can be looked at"
            return Child(path, None, f"`{target}` may not be opened", hint)
        except (OSError, ValueError):
            return Child(path, None, f"there is no file `{target}`", f"it is looked for at {path}")

    def turn(self, child: Child, above: tuple[str, ...]) -> tuple[str, ...]:
        """The way from the top to a file that calls one above it, or ()."""
        if child.path in above:
            return (*above[above.index(child.path) :], child.path)
        if child.path in self._straight or len(above) >= DEEPEST:
            return ()
        for below in self._below(child):
            found = self.turn(below, (*above, child.path))
            if found:
                return found
        self._straight.add(child.path)
        return ()

    def descendants(self, child: Child) -> list[Workflow]:
        """A called workflow and everything that it calls, each once."""
        found: dict[str, Workflow] = {}
        waiting = [child]
        while waiting:
            member = waiting.pop()
            if member.workflow is not None and member.path not in found:
                found[member.path] = member.workflow
                waiting += self._below(member)
        return list(found.values())

    def _below(self, child: Child) -> Iterator[Child]:
        folder = os.path.dirname(child.path)
        for task in child.workflow.tasks.values() if child.workflow is not None else ():
            below = self.called(task, folder)
            if below is not None and below.path:
                yield below


def _child(path: str, target: str, raw: bytes) -> Child:
    _, loaded = load_bytes(raw, os.path.basename(path))
    if loaded.workflow is None or loaded.diagnostics:
        first = loaded.diagnostics[0]
        return Child(
            path, None, f"`{target}` cannot be read: {first.code} · {first.message}", "check that file first"
        )
    return Child(path, loaded.workflow)
