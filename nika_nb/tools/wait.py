"""`nika:wait`: lets time pass on the run's own clock, for a while or until a moment."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from nika_nb.errors import Fault, hidden
from nika_nb.tools.base import ARGUMENTS_CODE, Tool, Use, text_of
from nika_nb.values import duration_seconds

NAME = "nika:wait"
TIMEOUT_CODE = "NIKA-BUILTIN-WAIT-001"
PAST_CODE = "NIKA-BUILTIN-WAIT-002"
SHAPE_CODE = "NIKA-BUILTIN-WAIT-003"

_LONGEST = 366 * 24 * 3600.0  # seconds


async def _wait(use: Use, arguments: Mapping[str, Any]) -> None:
    given = [name for name in ("duration", "until") if arguments.get(name) is not None]
    if len(given) != 1:
        what = "`duration:` and `until:` exclude each other" if given else "a wait needs an end"
        raise Fault(SHAPE_CODE, f"{what}: write exactly one of `duration:` and `until:`")
    capped = arguments.get("timeout") is not None
    if given == ["until"]:
        limit = _seconds(arguments, "timeout") if capped else _LONGEST
        await _wait_until(use, text_of(arguments, "until", NAME), limit)
        return
    if capped:
        raise Fault(ARGUMENTS_CODE, "`timeout:` caps `until:` only; a `duration:` ends by itself: remove it")
    await use.call.sleep(_seconds(arguments, "duration"))


async def _wait_until(use: Use, until: str, limit: float) -> None:
    """A moment beyond the limit fails when the limit is over, as any other timeout does."""
    left = (_moment(until) - use.call.now()) / 10**9
    if left < 0:
        raise Fault(PAST_CODE, f"`until: {until}` has passed {-left:,.0f} s ago; compute a moment that comes")
    await use.call.sleep(min(left, limit))
    if left > limit:
        raise Fault(TIMEOUT_CODE, f"`until: {until}` was still {left - limit:,.0f} s away at the timeout")


def _moment(text: str) -> int:
    """Unix nanoseconds of an ISO 8601 moment; UTC where it names no zone."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        hint = 'write "2026-05-23T09:00:00Z"'
        raise Fault(ARGUMENTS_CODE, f"`until: {hidden(text)[:60]}` is not a moment; {hint}") from None
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    since = aware - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 10**9 + since.microseconds * 1000


def _seconds(arguments: Mapping[str, Any], name: str) -> float:
    text = text_of(arguments, name, NAME)
    total = duration_seconds(text)
    if total is None:
        hint = 'write "500ms", "30s", "5m" or "1h30m"'
        raise Fault(ARGUMENTS_CODE, f"`{name}: {hidden(text)[:60]}` is not a duration; {hint}")
    if total > _LONGEST:
        raise Fault(ARGUMENTS_CODE, f"`{name}: {hidden(text)[:60]}` is longer than a year")
    return total


TOOL = Tool(
    NAME,
    _wait,
    optional=("duration", "until", "timeout"),
    says="Waits for a duration (30s, 5m, 1h30m) or until an ISO 8601 moment: exactly one of the two.",
    shapes={name: {"type": "string"} for name in ("duration", "until", "timeout")},
)
