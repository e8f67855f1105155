"""A journal in a page: to read, and to take away."""

from __future__ import annotations

import base64
import re

from nika_nb.board.tracepage import CARRIED, mimebundle, trace_html

DATA = b'{"kind":"workflow_started"}\n{"kind":"workflow_completed"}\n'


def test_the_link_holds_the_very_bytes() -> None:
    """What is downloaded verifies like the file."""
    found = re.search(
        r'download="a.ndjson" href="data:application/x-ndjson;base64,([^"]+)"', trace_html("a.ndjson", DATA)
    )
    assert found
    assert base64.b64decode(found.group(1)) == DATA


def test_the_lines_can_be_read_in_place() -> None:
    """Folded HTML and plain text show the lines; the size is said."""
    bundle = mimebundle("a.ndjson", DATA)
    assert "2 events · 58 bytes" in bundle["text/html"]
    assert "&quot;workflow_completed&quot;" in bundle["text/html"]
    assert bundle["text/plain"] == DATA.decode()


def test_a_journal_too_large_for_a_link_says_so() -> None:
    """A page is not made to carry what would choke it."""
    page = trace_html("a.ndjson", b"x" * (CARRIED + 1))
    assert "too large to download from here" in page
    assert len(page) < 120_000
