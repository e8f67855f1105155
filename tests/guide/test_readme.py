"""What the README shows can be written: sound workflows, Python, links that lead somewhere."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import nika_nb
from tests.check.guide.test_topics import CHILD
from tests.guide.reference import README

TEXT = README.read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)
WHOLE = [body.removeprefix("%%nika\n") for kind, body in BLOCKS if kind == "yaml" and "nika: " in body]


@pytest.mark.parametrize("text", WHOLE, ids=[text.split("\n", 1)[0] for text in WHOLE])
def test_a_workflow_that_is_shown_passes_the_check(tmp_path: Path, text: str) -> None:
    """Every one that stands there whole."""
    (tmp_path / "audit.nika.yaml").write_text(CHILD)
    (tmp_path / "shown.nika.yaml").write_text(text)
    assert [str(one) for one in nika_nb.check(tmp_path / "shown.nika.yaml").errors] == []


def test_python_that_is_shown_can_be_read() -> None:
    """A cell may await."""
    shown = [body for kind, body in BLOCKS if kind == "python"]
    assert shown
    for body in shown:
        compile(body, "README.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def test_every_link_leads_somewhere() -> None:
    """To a heading of this page, or to a file that is there."""
    plain = re.sub(r"^```.*?^```", "", TEXT, flags=re.DOTALL | re.MULTILINE)
    headings = {_anchor(title) for title in re.findall(r"^#+ (.+)$", plain, re.MULTILINE)}
    targets = re.findall(r"\]\(([^)\s]+)\)", plain)
    assert [one for one in targets if one.startswith("#") and one[1:] not in headings] == []
    files = [one for one in targets if not one.startswith(("#", "http"))]
    assert [one for one in files if not (README.parent / one).exists()] == []


def _anchor(title: str) -> str:
    """How a page on the web calls a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
