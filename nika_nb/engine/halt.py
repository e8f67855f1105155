"""That a run was ended: from then on nothing begins, also where a cancellation was not heard."""

from __future__ import annotations

import asyncio


class Halt:
    """times: how often the run was ended. One event loop only."""

    def __init__(self) -> None:
        self.times = 0

    def heed(self, owed: bool) -> None:
        """Raises CancelledError where nothing may begin: the second time also what is `owed`."""
        if self.times > int(owed):
            raise asyncio.CancelledError
