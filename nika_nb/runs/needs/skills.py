"""Skills: the files that agents name, readable and permitted."""

from __future__ import annotations

from collections.abc import Iterator

from nika_nb.authority.skills import MALFORMED_CODE, UNREADABLE_CODE, open_skill
from nika_nb.errors import Fault
from nika_nb.runs.lack import Lack
from nika_nb.runs.needs.sought import Sought

_HINTS = {
    UNREADABLE_CODE: "put the file there, readable; the path counts from the workflow's own folder",
    MALFORMED_CODE: "write it as a skill: front matter with a name and a description, then the text",
}


def look_up(sought: Sought) -> Iterator[Lack]:
    for task in sought.tasks:
        for path in task.action.get("skills") or () if task.action.verb == "agent" else ():
            try:
                open_skill(sought.workflow.permits, str(path), str(sought.folder), sought.read)
            except Fault as fault:
                hint = _HINTS.get(fault.code, "")
                yield Lack(fault.code, f"`{task.id}`: {fault}", hint, task.id)
