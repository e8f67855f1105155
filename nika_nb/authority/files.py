"""Files that a workflow names and that are read before anything runs: plain ones of a bounded size."""

from __future__ import annotations

from nika_nb.files import plain_bytes
from nika_nb.language.encoding import DOCUMENT_CAP


def read_plain(path: str) -> bytes:
    """The bytes of a plain file, at most one more than a document may have. Raises OSError."""
    return plain_bytes(path, DOCUMENT_CAP)
