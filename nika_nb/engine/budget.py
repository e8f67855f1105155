"""What a run may cost, and what it has cost so far."""

from __future__ import annotations

from collections.abc import Callable

from nika_nb.engine.contract import Usage
from nika_nb.money import apart

CROSSED_CODE = "NIKA-RUN-1704"


def beyond(spent: float, cap: float) -> str:
    """That a run has cost more than it may, for people; what comes of that is said behind it."""
    paid, most = apart(spent, cap)
    return f"the run has cost {paid}, more than its cap of {most}"


class Budget:
    """USD of one durable run. cap: None for a run without one. spent: what its earlier invocations cost."""

    def __init__(self, cap: float | None = None, spent: float = 0.0) -> None:
        self.cap = cap
        self.spent = spent

    def add(self, usage: Usage) -> None:
        """Count one call of a model; a call without a price counts nothing."""
        self.spent = round(self.spent + (usage.cost_usd or 0.0), 10)

    @property
    def crossed(self) -> bool:
        """Whether nothing more may be started."""
        return self.cap is not None and self.spent > self.cap

    def sentence(self, left_off: int) -> str:
        """Why the run ends, for people."""
        left = "1 task was" if left_off == 1 else f"{left_off} tasks were"
        return (
            f"{CROSSED_CODE} · {beyond(self.spent, self.cap or 0.0)}: "
            f"{left} not started or not gone on with; resume with a higher cap to go on"
        )

    @property
    def passed(self) -> str:
        """What is said where something that had begun went beyond the cap, and came to its end."""
        return f"{beyond(self.spent, self.cap or 0.0)}, which was passed here"

    def below(self, spend: Callable[[Usage], None]) -> Budget:
        """The same cap for a called workflow, whose costs are its caller's: `spend` counts them."""
        return _Below(self, spend)


class _Below(Budget):
    def __init__(self, above: Budget, spend: Callable[[Usage], None]) -> None:
        super().__init__(above.cap)
        self._above = above
        self._spend = spend

    def add(self, usage: Usage) -> None:
        self._spend(usage)
        self.spent = self._above.spent

    @property
    def crossed(self) -> bool:
        return self._above.crossed
