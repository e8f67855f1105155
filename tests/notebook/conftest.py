"""A notebook's displays without a notebook: what was shown, and what stands there now."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from nika_nb.notebook import magic, questions
from nika_nb.notebook.lookout import Lookout
from tests.kernels import Page, kernel
from tests.notebook.shells import Notebook


class Shown:
    """Every display in order; an update replaces what stands under its id, as a front-end does.

    An update of what was never shown is seen by nobody.
    """

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []

    @property
    def now(self) -> list[dict[str, Any]]:
        """The mimebundles that a reader sees, from top to bottom."""
        places: dict[str, dict[str, Any]] = {}
        for message in self.sent:
            place = message["transient"]["display_id"]
            if place in places or not message["update"]:
                places[place] = message["data"]
        return list(places.values())

    @property
    def text(self) -> str:
        """All of that as plain text."""
        return "\n".join(str(bundle.get("text/plain", "")) for bundle in self.now)


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Iterator[Shown]:
    """Catches what is displayed while a test runs; a lookout of its own looks often, and no longer."""
    found, lookout = Shown(), Lookout(0.02)
    monkeypatch.setattr(questions, "lookout", lookout)

    def publish(data: dict[str, Any], metadata: Any = None, source: Any = None, **more: Any) -> None:
        found.sent.append(
            {"data": data, "transient": more.get("transient", {}), "update": more.get("update")}
        )

    monkeypatch.setattr(InteractiveShell.instance().display_pub, "publish", publish)
    yield found
    lookout.rest()


@pytest.fixture
def notebook(folder: Path) -> Iterator[Notebook]:
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "nika_nb")
    yield Notebook(shell)
    magic._loaded.clear()
    InteractiveShell.clear_instance()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A real kernel with the extension, one for all tests of a file."""
    with kernel(tmp_path_factory.mktemp("notebook")) as found:
        yield found
