"""Opening skill files: their text reaches a model, so a file is judged like any other that is read."""

from __future__ import annotations

from collections.abc import Callable

from nika_nb.authority import paths
from nika_nb.authority.files import read_plain
from nika_nb.authority.permits import judge_target
from nika_nb.errors import Fault
from nika_nb.language.encoding import DOCUMENT_CAP
from nika_nb.language.model import Permits, Workflow
from nika_nb.language.skills import NotASkill, Skill, read_skill

LARGEST = DOCUMENT_CAP  # bytes of one skill file

UNREADABLE_CODE = "NIKA-AGENT-003"
MALFORMED_CODE = "NIKA-AGENT-004"


def open_skill(
    permits: Permits | None, path: str, folder: str, read: Callable[[str], bytes] = read_plain
) -> Skill:
    """The skill at a path as written; relative ones, and the boundary with them, count from `folder`.

    read: how a file is opened. Raises Fault NIKA-AUTH-006 or NIKA-SEC-004 before anything is opened,
    NIKA-AGENT-003 for what cannot be read, NIKA-AGENT-004 for what is no skill.
    """
    place = paths.effective(path, folder)
    verdict = judge_target(permits, "read", path, folder, place)
    if not verdict.allowed:
        raise Fault(verdict.code, verdict.sentence, details={"path": path})
    try:
        return read_skill(_text(read(place)))
    except NotASkill as problem:
        raise Fault(MALFORMED_CODE, f"`{path}` is not a skill: {problem}", details={"path": path}) from None
    except (OSError, ValueError):
        why = f"the skill `{path}` cannot be read (looked at {place})"
        raise Fault(UNREADABLE_CODE, why, details={"path": path}) from None


def _text(raw: bytes) -> str:
    """Raises ValueError for what is no text of a bearable size."""
    if len(raw) > LARGEST:
        raise ValueError(f"more than {LARGEST} bytes")
    return raw.decode("utf-8")


def skills_of(workflow: Workflow, folder: str, read: Callable[[str], bytes] = read_plain) -> dict[str, Skill]:
    """Every skill that the agents of a workflow name, by path as written. Raises as `open_skill` does."""
    named = (
        str(path)
        for task in workflow.tasks.values()
        if task.action.verb == "agent"
        for path in task.action.get("skills") or ()
    )
    return {path: open_skill(workflow.permits, path, folder, read) for path in dict.fromkeys(named)}
