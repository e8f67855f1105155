"""The notebooks without a front-end: executed, saved, and read on a page that runs nothing."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

BOOKS = Path(__file__).resolve().parents[2] / "notebooks"


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The quickstart, executed by `jupyter execute` in a folder with blanks and an umlaut in its name."""
    folder = tmp_path_factory.mktemp("ein Büch mit Leerzeichen")
    shutil.copy(BOOKS / "01-quickstart.ipynb", folder)
    command = [
        sys.executable,
        "-m",
        "jupyter",
        "execute",
        "01-quickstart.ipynb",
        "--inplace",
        "--timeout=120",
    ]
    subprocess.run(command, cwd=folder, check=True, timeout=240, capture_output=True)
    return folder / "01-quickstart.ipynb"


def texts(path: Path) -> list[str]:
    """The plain text of every output, in order."""
    notebook: Any = nbformat.read(str(path), as_version=4)  # type: ignore[no-untyped-call]
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return [str(o.get("text") or o.get("data", {}).get("text/plain", "")) for o in outputs]


def test_the_quickstart_runs_to_its_end(executed: Path) -> None:
    """Every cell runs; runs complete, skip by name, say why, pause for the human who is not there."""
    text = "\n".join(texts(executed))
    assert text.count("4/4 done") == 3
    assert "resumed · 4 skipped (cache hit) · 0 ran live" in text
    assert "definition changed: exec.command" in text
    assert "↷  count_notes  cache hit (resume)" in text
    assert "◇ paused · 1 open question" in text
    assert "mock(echo) · A title for: one flag, one task" in text


def test_a_page_without_a_kernel_shows_every_task_and_its_state(executed: Path) -> None:
    """nbconvert's HTML holds each task's name and final state, the question and how to answer it."""
    command = [sys.executable, "-m", "jupyter", "nbconvert", "--to", "html", executed.name]
    subprocess.run(command, cwd=executed.parent, check=True, timeout=120, capture_output=True)
    page = executed.with_suffix(".html").read_text(encoding="utf-8")
    for task in ("hash_notes", "count_notes", "pack_assets", "manifest", "draft", "ask", "publish", "title"):
        assert task in page
    for said in ("cache hit (resume)", "completed", "paused", "Publish this?", "%nika answer"):
        assert said in page
    assert str(executed.parent) not in page.replace("file://", "")


def test_the_saved_file_names_no_folder_of_this_machine(executed: Path) -> None:
    """A notebook is handed on: no absolute path is left in it."""
    assert str(executed.parent) not in executed.read_text(encoding="utf-8")


def test_only_the_open_form_is_a_widget(executed: Path) -> None:
    """Finished panels are plain HTML and text in the file; the one open form alone has a widget."""
    notebook: Any = nbformat.read(str(executed), as_version=4)  # type: ignore[no-untyped-call]
    keys = [key for cell in notebook.cells for out in cell.get("outputs", []) for key in out.get("data", {})]
    assert keys.count("application/vnd.jupyter.widget-view+json") == 1
