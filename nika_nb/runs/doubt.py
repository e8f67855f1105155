"""Effects in doubt: whoever asks for it is asked before what was running at a crash is run again."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from nika_nb.engine.contract import Answer, Asks, Call, Prompt, Reply, Verbs, unit_key
from nika_nb.errors import Fault
from nika_nb.language.model import Task, Workflow
from nika_nb.plan.plan import Plan
from nika_nb.tools.prompt import DECLINED_CODE, NAME, WrongAnswer, read_answer, shown_hash
from nika_nb.trace.fields import names_of
from nika_nb.trace.memory import JournalMemory
from nika_nb.trace.trace import Trace
from nika_nb.verbs.behind import Given, itself


def in_doubt(memory: JournalMemory, workflow: Workflow) -> frozenset[str]:
    """The tasks and items that were running at a crash and whose verb would be set to work again.

    A question has no effect, and a cleanup cannot wait for an answer.
    """
    units = memory.in_doubt()
    known = {name: task for name, task in workflow.tasks.items() if not exempt(task)}
    return frozenset(unit_key(task, item) for task, item in units if task in known)


def exempt(task: Task) -> bool:
    """Whether a task is never in doubt."""
    return task.is_cleanup or task.action.get("tool") == NAME


def carried(trace: Trace) -> frozenset[str]:
    """What was in doubt when a run paused over it: it is still, where it has not been answered."""
    return frozenset(names_of(trace.prologue.get("in_doubt")))


class AskFirst:
    """Verbs that ask a confirmation before they touch what is in doubt.

    Yes runs it again. No fails it with NIKA-CANCEL-001: its gates and its `on_error` decide.
    """

    def __init__(
        self,
        verbs: Verbs,
        doubtful: Collection[str],
        answers: Mapping[str, Answer],
        plan: Plan,
        given: Given,
    ) -> None:
        self._verbs = verbs
        self._doubtful = doubtful
        self._answers = answers
        self._plan = plan
        self._given = given

    async def run(self, call: Call) -> Reply:
        key = unit_key(call.task, call.item)
        if key in self._doubtful and call.attempt == 1:
            self._ask(call, self._prompt(call, key))
        return await self._verbs.run(call)

    def _prompt(self, call: Call, key: str) -> Prompt:
        message = (
            f"`{key}` was running when the run broke off: what it does may have happened, or half of it. "
            "Run it again?"
        )
        waits = itself(self._plan, call.task, self._given)
        return Prompt(
            call.task,
            "confirm",
            message,
            item=call.item,
            gates=waits.tasks,
            effects=waits.effects,
            shown_hash=shown_hash("confirm", message, (), waits.tasks, waits.effects),
        )

    def _ask(self, call: Call, prompt: Prompt) -> None:
        """Raises Asks while there is no answer, Fault where it is no."""
        answer = self._answers.get(prompt.key)
        if answer is None:
            raise Asks(prompt)
        try:
            again = not answer.declined and read_answer(prompt, answer.value)
        except WrongAnswer:
            raise Asks(prompt) from None
        fields: dict[str, Any] = {"mode": prompt.mode, "decision": "allow" if again else "deny"}
        call.attach("approval_decided", fields | {"source": answer.source, "shown_hash": prompt.shown_hash})
        if not again:
            raise Fault(
                DECLINED_CODE,
                f"`{prompt.key}` was running when the run broke off, and was not to be run again",
                details={"prompt": prompt.key, "outcome": "declined"},
                transient=False,
            )
