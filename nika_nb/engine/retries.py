"""Whether another attempt is due, and how long it is waited for."""

from __future__ import annotations

import random

from nika_nb.catalog.codes import transient_of
from nika_nb.errors import Fault
from nika_nb.language.model import Retry


def may_retry(retry: Retry | None, fault: Fault, attempt: int) -> bool:
    """Whether another attempt is due: only for transient errors, or for the codes that are listed."""
    if retry is None or attempt >= retry.max_attempts:
        return False
    if retry.on_codes is not None:
        return fault.code in retry.on_codes
    return transient_of(fault.code) if fault.transient is None else fault.transient


def backoff_ms(retry: Retry, attempt: int, chance: random.Random) -> int:
    """Milliseconds to wait after a failed attempt (counted from 1).

    Defaults: 1 s, exponential, at most 60 s, full jitter.
    """
    first = 1000 if retry.backoff_ms is None else retry.backoff_ms
    cap = 60_000 if retry.backoff_max_ms is None else retry.backoff_max_ms
    strategy = retry.backoff_strategy or "exponential"
    factor = {"fixed": 1, "linear": attempt, "exponential": 2 ** min(attempt - 1, 40)}[strategy]
    delay = min(first * factor, cap)
    return delay if retry.jitter is False else round(chance.uniform(0, delay))
