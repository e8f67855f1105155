"""The gallery, executed in clean folders. `python -m tests.gallery.execute [NAME…]` renews its outputs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import nbformat

ROOT = Path(__file__).resolve().parents[2]
BOOKS = ROOT / "notebooks"

WIDGET = "application/vnd.jupyter.widget-view+json"

_AT_ONCE = 2
_STEERS = ("NIKA_", "JUPYTER_", "PYTHON", "VIRTUAL_ENV")  # variables that change what is run, or where
_KEYS = ("_KEY", "_TOKEN", "_SECRET")


def gallery() -> list[Path]:
    """The committed notebooks, in the order of their numbers."""
    return sorted(BOOKS.glob("*.ipynb"))


def executed(
    books: Iterable[Path], folder: Path, python: str = sys.executable, **env: str
) -> dict[str, Path]:
    """name → a copy that was executed, each in a folder of its own that held only what is committed.

    python: whose environment executes them. Raises CalledProcessError where a cell fails.
    """
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        copies = pool.map(lambda book: _executed(book, folder / book.stem, python, env), books)
        return {copy.stem: copy for copy in copies}


def _executed(book: Path, folder: Path, python: str, env: dict[str, str]) -> Path:
    folder.mkdir(parents=True)
    copy = Path(shutil.copy(book, folder))
    shutil.copy(BOOKS / "share.nika.yaml", folder)
    shutil.copytree(BOOKS / "traces", folder / "traces")
    jupyter(python, "execute", copy.name, "--inplace", "--timeout=120", folder=folder, **env)
    return copy


def jupyter(python: str, *words: str, folder: Path, **env: str) -> None:
    """One command of Jupyter in the environment of an interpreter. Raises CalledProcessError."""
    done = subprocess.run(
        [python, "-m", "jupyter", *words],
        cwd=folder,
        env=environment(python) | env,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    if done.returncode != 0:
        print(done.stderr[-4000:], file=sys.stderr)
        done.check_returncode()


def environment(python: str) -> dict[str, str]:
    """As where an interpreter's environment is active, without keys and without anything that steers."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(_STEERS) and not name.endswith(_KEYS)
    }
    return kept | {"PATH": os.pathsep.join([str(Path(python).parent), kept.get("PATH", "")])}


def read(book: Path) -> Any:
    return nbformat.read(str(book), as_version=4)  # type: ignore[no-untyped-call]


def cleaned(notebook: Any) -> Any:
    """Without what is of the moment or dead in a file: times, widgets and their state, how text was sent."""
    notebook.metadata = nbformat.from_dict(
        {
            "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        }
    )
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict({"tags": cell.metadata.tags} if "tags" in cell.metadata else {})
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(WIDGET, None)
        if cell.cell_type == "code":
            cell.outputs = _joined(output for output in cell.outputs if _says(output))
    return notebook


def _says(output: Any) -> bool:
    """Whether anything is left without the widget."""
    return "data" not in output or any(output["data"].values())


def _joined(outputs: Iterable[Any]) -> list[Any]:
    """Text that came in pieces as one piece."""
    found: list[Any] = []
    for output in outputs:
        if (
            found
            and output.output_type == found[-1].output_type == "stream"
            and output.name == found[-1].name
        ):
            found[-1].text += output.text
        else:
            found.append(output)
    return found


def main(names: list[str]) -> None:
    chosen = [book for book in gallery() if not names or any(name in book.name for name in names)]
    with tempfile.TemporaryDirectory() as folder:
        copies = executed(chosen, Path(folder))
        for book in chosen:
            notebook = cleaned(read(copies[book.stem]))
            nbformat.write(notebook, str(book))  # type: ignore[no-untyped-call]
            print(f"{book.name} · {book.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
