"""Fields of a frame that may come from anywhere: what is not of its shape says nothing, and stops nobody."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nika_nb.trace.fields import names_of
from nika_nb.trace.lineage import remember
from nika_nb.trace.reader import read
from tests.trace.journals import story, write


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('["a","b[3]"]', ("a", "b[3]")),
        ('["a",1,null,["b"]]', ("a",)),
        ("[]", ()),
        ('{"a":1}', ()),
        ('"a"', ()),
        ("[", ()),
        ("[" * 9999, ()),
        (["a"], ()),
        (None, ()),
    ],
)
def test_names_in_a_field(text: Any, names: tuple[str, ...]) -> None:
    """A list in JSON text gives its texts; anything else gives none."""
    assert names_of(text) == names


def test_a_broken_field_stops_no_resume(tmp_path: Path) -> None:
    """The resume that broke off behind it is used all the same."""
    first, *rest = story()
    earlier = write(tmp_path, story())
    resumed = {"resumed_trace": earlier.name, "resumed_head": read(earlier).head, "forced": "[no list"}
    begun = replace(first, fields=first.fields | resumed)
    later = write(tmp_path, [begun, *rest[:3]])
    memory, notices = remember(read(later), ())
    assert notices == [f"{later.name} broke off: what it had not reached is looked up in {earlier.name}"]
    assert memory.forced == frozenset()
