"""A real JupyterLab and a real chromium, started once for all browser tests."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a browser. Missing one is a failure: these tests are the product's face."""
    found = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if found is None:
        pytest.fail("no chromium is installed; tests/run.sh brings one where it may")
    return found


@dataclass(frozen=True)
class Lab:
    """A JupyterLab server: its address and the folder that it serves."""

    url: str
    root: Path


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """JupyterLab on a free port, without a token, without news."""
    home = tmp_path_factory.mktemp("lab")
    root, config = home / "root", home / "config"
    root.mkdir()
    (config / "labconfig").mkdir(parents=True)
    disabled = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}
    (config / "labconfig" / "page_config.json").write_text(json.dumps(disabled))
    port = _free_port()
    env = os.environ | {
        "JUPYTER_CONFIG_DIR": str(config),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTER_PREFER_ENV_PATH": "1",
        "IPYTHONDIR": str(home / "ipython"),
    }
    command = [
        *(
            sys.executable,
            "-m",
            "jupyterlab",
            "--no-browser",
            "--ip=127.0.0.1",
            f"--port={port}",
            "--allow-root",
        ),
        *("--IdentityProvider.token=", "--ServerApp.password=", "--ServerApp.disable_check_xsrf=True"),
        *("--LabApp.news_url=None", f"--ServerApp.root_dir={root}", "--LabApp.extension_manager=readonly"),
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    with (home / "lab.log").open("wb") as log:
        server = subprocess.Popen(command, env=env, cwd=root, stdout=log, stderr=log, start_new_session=True)
    try:
        _wait_for(f"http://127.0.0.1:{port}/api/status", server, home / "lab.log")
        yield Lab(f"http://127.0.0.1:{port}", root)
    finally:
        server.terminate()
        server.wait(30)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(600):
        if server.poll() is not None:
            break
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            time.sleep(0.2)
    pytest.fail(f"JupyterLab did not start:\n{log.read_text()[-3000:]}")


class Book:
    """One notebook open in the browser."""

    def __init__(self, page: Any, path: Path, front: str = "lab") -> None:
        self.page = page
        self.path = path
        self._front = front

    def cell(self, index: int) -> Any:
        """The cell's element, scrolled into view."""
        cell = self.page.locator(f'[data-windowed-list-index="{index}"]')
        cell.scroll_into_view_if_needed()
        return cell

    def start(self, index: int) -> Any:
        """Runs a cell and does not wait for it."""
        cell = self.cell(index)
        fresh = cell.locator(".jp-InputPrompt").get_by_text("[ ]:")
        cell.locator(".cm-content").first.click()
        self.page.keyboard.press("Shift+Enter")
        for _ in range(10 if self._front == "notebook" else 0):  # what is pressed too early is lost there
            self.page.wait_for_timeout(300)
            if not fresh.count():
                break
            cell.locator(".cm-content").first.click()
            self.page.keyboard.press("Shift+Enter")
        return cell

    def run(self, index: int, timeout: float = 60) -> Any:
        """Runs a cell and waits until the kernel is idle again."""
        cell = self.start(index)
        self.page.wait_for_timeout(150)
        self.idle(timeout)
        return cell

    def idle(self, timeout: float = 60) -> None:
        if self._front == "notebook":
            idle = '.jp-Notebook-ExecutionIndicator[data-status="idle"]'
            self.page.locator(idle).first.wait_for(state="attached", timeout=timeout * 1000)
            return
        self.page.locator(".jp-StatusBar-Widget").get_by_text("| Idle").first.wait_for(timeout=timeout * 1000)

    def kernel_pid(self) -> int:
        """The pid that the notebook's first cell wrote down."""
        return int((self.path.parent / "kernel.pid").read_text())

    def save(self) -> Any:
        """Saves the notebook; what is then on disk."""
        self.page.keyboard.press("Control+s")
        self.page.wait_for_timeout(700)
        return nbformat.read(str(self.path), as_version=4)  # type: ignore[no-untyped-call]


Opener = Callable[..., Book]


@pytest.fixture
def book(lab: Lab, page: Any, request: pytest.FixtureRequest) -> Opener:
    """Opens a new notebook with the given cells, in a folder of its own; in JupyterLab or in Notebook 7."""

    def open_book(*cells: str, name: str = "book", front: str = "lab", page: Any = page) -> Book:
        folder = lab.root / request.node.name.replace("[", "-").replace("]", "")
        folder.mkdir(exist_ok=True)
        first = (
            "import os, pathlib\npathlib.Path('kernel.pid').write_text(str(os.getpid()))\n%load_ext nika_nb"
        )
        notebook = nbformat.v4.new_notebook(  # type: ignore[no-untyped-call]
            cells=[nbformat.v4.new_code_cell(text) for text in (first, *cells)],  # type: ignore[no-untyped-call]
            metadata={
                "kernelspec": {
                    "name": "python3",
                    "display_name": "Python 3 (ipykernel)",
                    "language": "python",
                }
            },
        )
        path = folder / f"{name}.ipynb"
        nbformat.write(notebook, str(path))  # type: ignore[no-untyped-call]
        way = "notebooks" if front == "notebook" else "lab/tree"
        page.goto(f"{lab.url}/{way}/{folder.name}/{path.name}?reset")
        page.locator(".jp-NotebookPanel .jp-Cell").first.wait_for(timeout=60_000)
        found = Book(page, path, front)
        found.idle()
        if front == "notebook":  # it draws its cells a second time
            page.wait_for_load_state("networkidle")
        return found

    return open_book


@pytest.fixture(scope="module")  # while it is open, a loop runs on this thread: other tests bring their own
def browser(chromium: str) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        )
        yield found
        found.close()


@pytest.fixture
def page(browser: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    """A fresh page; NIKA_TEST_SHOTS names a folder for a picture of how each test ended."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    found = context.new_page()
    found.set_default_timeout(30_000)
    # JupyterLab says that a killed kernel restarts; whenever that lies in the way it is dismissed.
    dialog = found.locator(".jp-Dialog")
    found.add_locator_handler(dialog, lambda: dialog.locator("button").last.click())
    yield found
    shots = os.environ.get("NIKA_TEST_SHOTS")
    if shots:
        name = request.node.name.replace("[", "-").replace("]", "")
        found.screenshot(path=str(Path(shots) / f"{name}.png"))
    context.close()
