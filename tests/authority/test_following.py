"""A pattern that is followed covers what its regular expression covers, however long both are."""

from __future__ import annotations

import random

from nika_nb.authority import globs

PIECES = ["a", "b", "/", "*", "**", "?", "[ab]", "[!a]", "[^b/]", "/**/", "**/", "/**", ".", "]", "[b-a]"]


def test_it_covers_the_same() -> None:
    """Which of the two ways is taken is a question of time alone."""
    chance = random.Random(7)
    for _ in range(5_000):
        pattern = "".join(chance.choices(PIECES, k=chance.randrange(1, 7)))
        text = "".join(chance.choices("ab/.\n:", k=chance.randrange(9)))
        stops = chance.choice(["/", "/:"])
        followed = pattern == text or globs._follower(pattern, stops).covers(text)
        assert followed == bool(globs._compiled((pattern,), stops).fullmatch(text)), (pattern, text)


def test_a_long_path_below_many_stars() -> None:
    """Beside others, and with what follows a `!`."""
    path = "./data/" + "x/" * 5_000 + "a.csv"
    assert globs.admits(["./other", "./data/**/x/**/*/**/*.csv"], path)
    assert not globs.admits(["./data/**", "!./data/**/x/**/*/**/*.csv"], path)
    assert not globs.admits(["./data/**/x/**/*/**/*.txt"], path)
