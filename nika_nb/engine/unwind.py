"""Which cleanups are due: each comes once, when every task that it follows or waits for has ended."""

from __future__ import annotations

from collections.abc import Iterator

from nika_nb.engine.memory import Memory
from nika_nb.plan.edges import by_consumer
from nika_nb.plan.plan import Plan


class Unwinding:
    """Keeps count for the cleanups of one run. `take` gives each of them out once.

    A producer has ended for its cleanups when its verb has, before anybody else sees it settle; a task
    that a cleanup waits for over an edge of `after:` has ended when it has settled.
    """

    def __init__(self, plan: Plan, memory: Memory) -> None:
        edges = [edge for edge in plan.edges if plan.tasks[edge.consumer].task.is_cleanup]
        follows = by_consumer(plan.tasks, (edge for edge in edges if edge.kind == "finally"))
        self._follows = {
            name: tuple(edge.producer for edge in found) for name, found in follows.items() if found
        }
        self._awaits = {name: plan.tasks[name].producers for name in self._follows}
        self._memory = memory
        self._began: set[str] = set()
        self._ended: set[str] = set()
        self._settled: set[str] = set()
        self._stood: set[str] = set()
        self._taken: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return name in self._follows

    def worked(self, name: str) -> None:
        """A task that was set to work has ended, and has not settled yet."""
        self._began.add(name)
        self._ended.add(name)

    def settled(self, name: str, *, stood: bool) -> None:
        """stood: it had worked before this run, and did not again."""
        self._ended.add(name)
        self._settled.add(name)
        if stood:
            self._stood.add(name)

    def take(self, name: str) -> bool:
        """Whether this cleanup is due now; True once at most."""
        if name in self._taken or any(self._lacking(name)):
            return False
        self._taken.add(name)
        return True

    def _lacking(self, name: str) -> Iterator[str]:
        """The tasks that have to end before this cleanup is due."""
        yield from (one for one in self._follows[name] if one not in self._ended)
        yield from (one for one in self._awaits[name] if one not in self._settled)

    def has_work(self, name: str) -> bool:
        """Whether any of its producers was set to work, here or before a stop at which it was still due."""
        return bool(self._worked_for(name))

    def stands(self, name: str) -> bool:
        """Whether it may have cleaned up before, behind a producer that did not run again."""
        return not self._stood.isdisjoint(self._follows[name])

    def _worked_for(self, name: str) -> list[str]:
        follows = self._follows[name]
        return [one for one in follows if one in self._began or self._memory.owes(name, one)]

    def owing(self) -> Iterator[tuple[str, list[str]]]:
        """The cleanups that are still due as the run pauses, each with those that had worked."""
        for name in self._follows:
            if name not in self._taken and (worked := self._worked_for(name)):
                yield name, worked

    def left(self) -> Iterator[str]:
        """The scheduled tasks that have not ended, and on which a cleanup with work to do still waits."""
        for name in self._follows:
            if name not in self._taken and self.has_work(name):
                yield from self._behind(name)

    def _behind(self, cleanup: str) -> Iterator[str]:
        for name in self._lacking(cleanup):
            if name in self._follows:
                yield from self._behind(name)
            else:
                yield name
