"""Money in words: nothing that was paid reads as nothing, and what differs reads differently."""

from __future__ import annotations

import pytest

from nika_nb.money import adding_up, apart, money, spent, spent_said


@pytest.mark.parametrize(
    ("usd", "text"),
    [
        (0, "$0.00"), (0.0031, "$0.0031"), (0.00001, "$0.00001"), (0.0000123, "$0.000012"), (0.01, "$0.01"),
        (0.0149, "$0.0149"), (0.1234567, "$0.1235"), (0.077, "$0.0770"), (0.99996, "$1.00"),
        (1204.5, "$1,204.50"), (1e-12, "$0.00"),
    ],
)  # fmt: skip
def test_money_is_never_rounded_to_nothing(usd: float, text: str) -> None:
    """A call that cost something does not read as free; below a dollar a hundredth of a cent is told."""
    assert money(usd) == text


@pytest.mark.parametrize(
    ("sums", "texts"),
    [
        ((0.06, 0.05), ("$0.06", "$0.05")),
        ((0.00034, 0.0003), ("$0.00034", "$0.00030")),
        ((0.1500001, 0.15), ("$0.1500001", "$0.1500000")),
        ((2.001, 2), ("$2.001", "$2.000")),
        ((0.0002, 0), ("$0.0002", "$0.0000")),
        ((1, 1), ("$1.00", "$1.00")),
    ],
)
def test_sums_that_differ_read_differently(sums: tuple[float, ...], texts: tuple[str, ...]) -> None:
    """With the same number of digits, and no more of them than that takes."""
    assert apart(*sums) == texts


def test_the_parts_of_a_table_add_up_to_what_it_says() -> None:
    """As many digits as that takes, in every cell; where cents do, cents."""
    say = adding_up([0.11, 0.04, 0.15], [0.01, 0.01])
    assert [say(usd) for usd in (0.11, 0.04, 0.15, 0)] == ["$0.11", "$0.04", "$0.15", "$0.00"]
    say = adding_up([1.004, 1.004, 2.008])
    assert [say(1.004), say(2.008)] == ["$1.004", "$2.008"]
    assert adding_up()(0.5) == "$0.50"


def test_what_nobody_knows_is_never_zero() -> None:
    """Beside what is known it is counted; alone it is all that is said."""
    assert spent(0, 0) == "$0.00"
    assert spent(0.02, 0) == "$0.02"
    assert spent(0.02, 3) == "$0.02 + 3 unpriced"
    assert spent(0, 1) == "1 unpriced"
    assert spent_said(0.02, 0) == "$0.02 spent"
    assert spent_said(0.02, 3) == "$0.02 + 3 unpriced"


def test_sums_that_nothing_costs_are_told_all_the_same() -> None:
    """A journal that a stranger wrote may hold any number."""
    assert [money(usd) for usd in (-0.5, -0.00001, -1204.5)] == ["-$0.50", "-$0.00001", "-$1,204.50"]
    assert apart(-0.5, 0.5) == ("-$0.50", "$0.50")
    assert adding_up([-0.25, 0.5, 0.25])(-0.25) == "-$0.25"
