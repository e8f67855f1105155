"""The skill files of agents: inside the read boundary they must exist and carry their header."""

from __future__ import annotations

from collections.abc import Iterator

from nika_nb.authority import paths
from nika_nb.authority.permits import judge_target
from nika_nb.check.files import read_bounded
from nika_nb.check.subject import Subject
from nika_nb.errors import Diagnostic, Source
from nika_nb.language import yaml
from nika_nb.language.findings import Findings
from nika_nb.language.model import Task
from nika_nb.language.nodes import Map, Scalar

_FENCE = "---"
_NEEDED = ("name", "description")


def judge(subject: Subject) -> Iterator[Diagnostic]:
    """NIKA-AGENT-003 and -004. A path outside the boundary is never opened."""
    for task in subject.sound_tasks:
        if task.action.verb == "agent":
            for number, path in enumerate(task.action.get("skills") or ()):
                yield from _skill(subject, task, number, str(path))


def _skill(subject: Subject, task: Task, number: int, path: str) -> Iterator[Diagnostic]:
    permits = subject.workflow.permits
    file = paths.effective(path, subject.base)
    if permits is None or not judge_target(permits, "read", path, subject.base, file).allowed:
        return
    place = subject.place("tasks", task.id, "agent", "skills", number)
    try:
        text = read_bounded(file).decode("utf-8")
    except (OSError, ValueError):
        hint = f"a skill is read from the folder of the workflow: {file}"
        yield Diagnostic("NIKA-AGENT-003", f"the skill `{path}` cannot be read", place, hint, task=task.id)
        return
    problem = _problem(text)
    if problem:
        hint = "start the file with `---`, `name: …`, `description: …`, `---`"
        yield Diagnostic("NIKA-AGENT-004", f"`{path}` is not a skill: {problem}", place, hint, task=task.id)


def _problem(text: str) -> str:
    """What keeps a text from being a skill, or ''."""
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != _FENCE:
        return "it has no header"
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() == _FENCE), None)
    if end is None:
        return "its header never ends"
    header = "\n".join(lines[1:end])
    root = yaml.read(header, Findings(Source(header)))
    if not isinstance(root, Map):
        return "its header is no mapping"
    for name in _NEEDED:
        node = root.get(name)
        if not (isinstance(node, Scalar) and isinstance(node.value, str) and node.value.strip()):
            return f"its header has no `{name}`"
    return ""
