"""Files that a workflow names and that are read before anything runs: plain ones of a bounded size."""

from __future__ import annotations

import os

from nika_nb.language.encoding import DOCUMENT_CAP


def read_plain(path: str) -> bytes:
    """The bytes of a plain file, at most one more than a document may have. Raises OSError."""
    if not os.path.isfile(path):  # a pipe or a device may never end
        raise FileNotFoundError(path)
    with open(path, "rb") as file:
        return file.read(DOCUMENT_CAP + 1)
