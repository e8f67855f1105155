"""What a front-end says of itself: VS Code and Colab by their conventions, for neither is tried here."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from IPython.core.interactiveshell import InteractiveShell

from nika_nb.notebook import magic
from tests.notebook.shells import Notebook
from tests.notebook.test_magic import HELLO, traces


@pytest.fixture
def shell(folder: Path) -> Iterator[InteractiveShell]:
    InteractiveShell.clear_instance()
    yield InteractiveShell.instance()
    magic._loaded.clear()
    InteractiveShell.clear_instance()


def test_vs_code_tells_where_the_notebook_lies(shell: InteractiveShell, folder: Path) -> None:
    """Its kernel may have been started elsewhere: traces lie beside the notebook all the same."""
    home = folder / "project"
    home.mkdir()
    (home / "book.ipynb").write_text("{}")
    shell.user_ns["__vsc_ipynb_file__"] = str(home / "book.ipynb")
    shell.run_line_magic("load_ext", "nika_nb")
    run = Notebook(shell).run(HELLO).value
    assert run.trace == traces(home)[0]
    assert run.request.place.notebook == "book.ipynb"


def test_a_path_that_is_no_file_moves_nothing(shell: InteractiveShell, folder: Path) -> None:
    """An untitled notebook has a name and no place."""
    shell.user_ns["__vsc_ipynb_file__"] = "Untitled-1.ipynb"
    shell.run_line_magic("load_ext", "nika_nb")
    assert Notebook(shell).run(HELLO).value.trace == traces(folder)[0]


@pytest.mark.parametrize("works", [True, False])
def test_colab_is_asked_for_its_widgets(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch, works: bool
) -> None:
    """Once, when the extension loads; what it answers keeps nobody from running workflows."""
    asked: list[bool] = []

    def enable() -> None:
        asked.append(works)
        if not works:
            raise RuntimeError("no manager")

    output = ModuleType("google.colab.output")
    output.enable_custom_widget_manager = enable  # type: ignore[attr-defined]
    for name, module in {"google.colab": ModuleType("google.colab"), "google.colab.output": output}.items():
        monkeypatch.setitem(sys.modules, name, module)
    shell.run_line_magic("load_ext", "nika_nb")
    assert asked == [works]
    assert Notebook(shell).run(HELLO).value.state == "completed"
