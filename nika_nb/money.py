"""Sums of money in words: with digits enough to tell them apart, and what nobody knows never as zero."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

_MOST = 10  # decimals that sums are kept with


def money(usd: float) -> str:
    """`$0.00`, `$1,204.50`; below a dollar down to a hundredth of a cent, and below that two digits."""
    return _with(usd, _decimals(usd))


def apart(*sums: float) -> tuple[str, ...]:
    """Sums that stand in one sentence: what differs reads differently."""
    least, different = max(map(_decimals, sums)), len(set(sums))
    decimals = _first(at for at in range(least, _MOST) if len({_with(usd, at) for usd in sums}) == different)
    return tuple(_with(usd, decimals) for usd in sums)


def adding_up(*columns: Sequence[float]) -> Callable[[float], str]:
    """How the sums of a table are told: as exactly as each alone, and so that the parts add up to their sum.

    columns: the parts, and behind them their sum.
    """
    least = max((_decimals(usd) for column in columns for usd in column), default=2)
    decimals = _first(at for at in range(least, _MOST) if all(_adds_up(column, at) for column in columns))
    return lambda usd: _with(usd, decimals)


def cost(usd: float | None, unpriced: bool, say: Callable[[float], str] = money) -> str:
    """`$0.02`, `unpriced`, `$0.02 + unpriced`: of one task, whose price nobody knows in part; often empty."""
    return " + ".join([*([say(usd)] if usd is not None else []), *(["unpriced"] if unpriced else [])])


def spent(usd: float, unpriced: int, say: Callable[[float], str] = money) -> str:
    """`$0.03 + 2 unpriced`: a cost, and of how many tasks nobody knows theirs, which never reads as zero."""
    known = [say(usd)] if usd or not unpriced else []
    return " + ".join([*known, *([f"{unpriced:,} unpriced"] if unpriced else [])])


def spent_said(usd: float, unpriced: int, say: Callable[[float], str] = money) -> str:
    """The same in a sentence: `$0.03 spent`, `$0.03 + 2 unpriced`."""
    return spent(usd, unpriced, say) + ("" if unpriced else " spent")


def _with(usd: float, decimals: int) -> str:
    return f"{'-' if usd < 0 else ''}${abs(usd):,.{decimals}f}"


def _decimals(usd: float) -> int:
    size = abs(usd)  # a stranger's journal may tell of less than nothing
    if size >= 0.0001 or size == 0:
        return 2 if size >= 1 or round(size, 4) == round(size, 2) else 4
    most = min(_MOST, 2 - math.floor(math.log10(size) + 1))
    return max(2, len(f"{size:.{most}f}".rstrip("0").partition(".")[2]))


def _adds_up(column: Sequence[float], decimals: int) -> bool:
    *parts, total = (round(usd, decimals) for usd in column)
    return round(sum(parts), decimals) == total


def _first(decimals: Iterable[int]) -> int:
    return next(iter(decimals), _MOST)
