"""The gallery in JupyterLab, as a reader meets it: opened, looked at, run from top to bottom, gone on."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

from tests.browser.conftest import Book, Lab
from tests.browser.test_lab import outputs, until
from tests.doors import newest, of
from tests.gallery.execute import BOOKS

pytestmark = pytest.mark.browser

NAME = "03-human-in-the-loop.ipynb"


def test_a_reader_opens_runs_and_answers(lab: Lab, page: Any) -> None:
    """No dead widget where it is opened; every cell runs with a human there; the last question is theirs."""
    folder = lab.root / "gallery"
    folder.mkdir()
    shutil.copy(BOOKS / NAME, folder)
    page.goto(f"{lab.url}/lab/tree/{folder.name}/{NAME}?reset")
    page.locator(".jp-NotebookPanel .jp-Cell").first.wait_for(timeout=60_000)
    found = Book(page, folder / NAME)
    found.idle()
    last = len(found.save().cells) - 1
    until(lambda: "A headline for" in outputs(found.cell(last)), "the outputs that were committed")
    assert "Error displaying widget" not in page.locator(".jp-Notebook").inner_text()

    page.locator('[data-command="notebook:restart-run-all"]').first.click()
    until(lambda: found.cell(last).get_by_label("Your answer").count() == 1, "the inbox")
    found.idle()
    cell = found.cell(last)
    cell.get_by_label("Your answer").fill("Once is enough")
    cell.get_by_role("button", name="Submit").first.click()
    until(lambda: "Send “Once is enough” to colleagues?" in outputs(cell), "the next question")
    cell.get_by_role("button", name="Yes, continue").first.click()
    until(lambda: of(newest(folder), "workflow_completed"), "the end of the run")
    assert (folder / "newsletter.md").read_text(encoding="utf-8").startswith("# Once is enough")
