"""What runs when it is loaded is known by its name, however the address spells it."""

from __future__ import annotations

import pytest

from nika_nb.authority.artifacts import code_of

SERIALIZED, SCRIPT = "a serialized object that runs code when it is loaded", "a script"

NAMES = [
    ("/model.pkl", SERIALIZED),
    ("/MODEL.PKL", SERIALIZED),
    ("/model.pkl. ", SERIALIZED),
    ("/model%2Epkl", SERIALIZED),
    ("/model%252Epkl", SERIALIZED),
    ("/install.sh", SCRIPT),
    ("/v1.2/install.sh", SCRIPT),
    ("/libz.so", "an executable"),
    ("/libz.so.1.2.11", "an executable"),
    ("/data.json", None),
    ("/sh", None),
    ("/scripts.sh/data.csv", None),
    ("/notes.so.old", None),
    ("/", None),
]


@pytest.mark.parametrize(("path", "kind"), NAMES)
def test_code_is_known_by_its_last_extension(path: str, kind: str | None) -> None:
    """In any case, encoded any number of times, a library with its version; a folder's name says nothing."""
    assert code_of(path) == kind
