"""The verbs of a run that goes on only to be ended: what is open is asked for, what is due is cleaned up."""

from __future__ import annotations

from nika_nb.catalog.builtins import PROMPT
from nika_nb.engine.contract import Call, Left, Reply, Verbs
from nika_nb.language.model import Workflow


class Leaving:
    """Sets to work only cleanups, questions, which stay open, and called workflows, which do the same."""

    def __init__(self, verbs: Verbs, workflow: Workflow) -> None:
        self._verbs = verbs
        self._tasks = workflow.tasks

    async def run(self, call: Call) -> Reply:
        """Raises Left for everything else."""
        task = self._tasks[call.task]
        if task.is_cleanup or task.called is not None or task.action.get("tool") == PROMPT:
            return await self._verbs.run(call)
        raise Left
