"""Many texts at once are found as one by one."""

from __future__ import annotations

import random
import threading

import pytest

from nika_nb.authority import needles
from nika_nb.authority.needles import Needles


def found_one_by_one(known: list[str], text: str) -> tuple[str, ...]:
    here = {needle for needle in known if needle and needle in text}
    return tuple(sorted(here, key=lambda needle: (-len(needle), needle)))


@pytest.mark.parametrize("few", [0, 1000], ids=["looked up", "searched"])
def test_they_are_found_wherever_they_stand(monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    """Short and long ones, with the same beginning, one in the other, at the ends of the text."""
    monkeypatch.setattr(needles, "_FEW", few)
    chance = random.Random(5)
    for _ in range(300):
        known = ["".join(chance.choices("abé", k=chance.randint(0, 7))) for _ in range(12)]
        text = "".join(chance.choices("abé", k=chance.randint(0, 30)))
        looked_for = Needles()
        looked_for.add(known[:6])
        looked_for.add(known[6:])
        assert looked_for.within(text) == found_one_by_one(known, text)


def test_more_may_come_while_others_look() -> None:
    """Nothing that was known before is missed meanwhile."""
    looked_for = Needles()
    looked_for.add(["known"])
    adding = threading.Thread(target=lambda: [looked_for.add([f"new-{at}"]) for at in range(3000)])
    adding.start()
    while adding.is_alive():
        assert "known" in looked_for.within("this is known")
    adding.join()
    assert len(looked_for.all) == 3001
