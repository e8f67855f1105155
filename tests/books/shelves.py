"""Notebooks for these tests, written as Jupyter writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

HELLO = """\
nika: hello
model: mock/echo
inputs: { name: { type: string, default: you } }
tasks:
  greet: { infer: { prompt: "hello ${{ inputs.name }}" } }
outputs: { said: "${{ tasks.greet.output }}" }
"""

BYE = HELLO.replace("hello", "bye")

# A notebook as they were ten years ago, with its cells in worksheets.
OLD: dict[str, Any] = {
    "nbformat": 3,
    "nbformat_minor": 0,
    "metadata": {"name": ""},
    "worksheets": [
        {
            "cells": [
                {
                    "cell_type": "code",
                    "language": "python",
                    "input": f"%%nika\n{HELLO}",
                    "outputs": [],
                    "metadata": {},
                }
            ]
        }
    ],
}

KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}


def code(source: str, cell_id: str) -> Any:
    return new_code_cell(source, id=cell_id)  # type: ignore[no-untyped-call]


def magic(text: str, line: str = "", cell_id: str = "flow") -> Any:
    """A code cell that holds a workflow."""
    return code(f"%%nika {line}".rstrip() + f"\n{text}", cell_id)


def book(path: Path, *cells: Any, metadata: Any = KERNEL) -> Path:
    """A notebook file with these cells."""
    path.parent.mkdir(parents=True, exist_ok=True)
    made: Any = new_notebook(cells=list(cells), metadata=metadata)  # type: ignore[no-untyped-call]
    nbformat.write(made, str(path))  # type: ignore[no-untyped-call]
    return path


def story(path: Path, *cells: Any) -> Path:
    """A notebook that also has prose and Python in it: the extension, then these cells."""
    prose: Any = new_markdown_cell("# A story\n\n%%nika\nnika: told", id="prose")  # type: ignore[no-untyped-call]
    return book(path, prose, code("%load_ext nika_nb", "load"), *cells)
