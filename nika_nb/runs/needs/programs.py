"""Programs: what commands start, as far as it can be known before the run."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from nika_nb.authority import env, paths
from nika_nb.authority.permits import judge_target
from nika_nb.check.needs import Need, needs_of
from nika_nb.errors import Fault
from nika_nb.language.model import Permits
from nika_nb.runs.lack import Lack
from nika_nb.runs.needs.sought import Sought, handles

NOT_STARTED_CODE = "NIKA-EXEC-002"


def look_up(sought: Sought) -> Iterator[Lack]:
    permits = sought.workflow.permits
    for task in sought.tasks:
        if task.action.verb != "exec" or handles(task, NOT_STARTED_CODE):
            continue
        for need in needs_of(sought.workflow, task):
            program = need.program
            if program and "${{" not in program and not _found(program, need, permits, sought.base):
                what, hint = _no_folder(task.id, need, sought.base) or _named(task.id, program)
                yield Lack(NOT_STARTED_CODE, what, hint, task.id)


def _no_folder(task: str, need: Need, base: Path) -> tuple[str, str] | None:
    """That the folder is missing that the program is to run in; None where it is there."""
    cwd = str(need.action.get("cwd") or "")
    if os.path.isdir(paths.as_walked(cwd, str(base))):
        return None
    return f"`{task}`: there is no folder at `{cwd}`, and its `cwd:` is that", "make the folder"


def _named(task: str, program: str) -> tuple[str, str]:
    if "/" in program:
        return f"`{task}`: there is no program at `{program}`", "put it there and make it executable"
    return (
        f"`{task}`: the program `{program}` is not on the PATH",
        "install it, or put its folder on the PATH",
    )


def _found(program: str, need: Need, permits: Permits | None, base: Path) -> bool:
    """Whether the program can be started as far as that can be known; what only the run knows counts."""
    cwd = need.action.get("cwd") or ""
    if "${{" in str(cwd):
        return True
    if "/" not in program:
        path = _path(permits, need.action.get("env"))
        return path is None or env.program_on(path, program) is not None
    place = os.path.join(paths.as_walked(str(cwd), str(base)), program)
    if os.path.isfile(place) and os.access(place, os.X_OK):
        return True
    # A task before it may still write it.
    written = os.path.relpath(place, base)
    written = place if written.startswith("..") else f"./{written}"
    return judge_target(permits, "write", written, str(base), paths.effective(written, str(base))).allowed


def _path(permits: Permits | None, given: Mapping[str, object] | None) -> str | None:
    """The PATH of the child; None where only the run knows it."""
    if any("${{" in str(value) for name, value in (given or {}).items() if name == "PATH"):
        return None
    try:
        own = {name: value for name, value in (given or {}).items() if name == "PATH"}
        return env.compose(permits, own, env.surroundings()).values.get("PATH", os.defpath)
    except Fault:
        return None
