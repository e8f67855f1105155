"""That a run was ended: from then on nothing begins, also where a cancellation is not heard."""

from __future__ import annotations

import asyncio


class Halt:
    """The end of one run, as often as it was asked for. `ask` from any thread, the rest on its loop.

    above: of the run that calls this one, where that has to go on for this one to.
    """

    def __init__(self, above: Halt | None = None) -> None:
        self._above = above
        self._asked = 0
        self.times = 0

    def ask(self) -> None:
        """From here on nothing begins, though the loop may hear of it later."""
        self._asked += 1

    def hear(self) -> None:
        """The loop has heard of it: whatever is under way is being cancelled."""
        self.times += 1

    async def heed(self, owed: bool) -> None:
        """To be awaited before anything begins. What is `owed` is ended by the second time only.

        Raises CancelledError; one that is on its way strikes here.
        """
        while self.times <= owed and self._comes(owed):
            await asyncio.sleep(0)
        self.check(owed)

    def check(self, owed: bool) -> None:
        """Raises CancelledError where the loop has heard."""
        if self.times > owed:
            raise asyncio.CancelledError

    def _comes(self, owed: bool) -> bool:
        """Whether the end was asked for, here or further up."""
        if max(self._asked, self.times) > owed:
            return True
        return not owed and self._above is not None and self._above._comes(owed=False)
