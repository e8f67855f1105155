"""A secret that its store does not hold: the task fails, and is told at the place of the name."""

from __future__ import annotations

from pathlib import Path

import pytest

import nika_nb

HEAD = """\
nika: forecast
secrets:
  key: { source: env, key: NOT_SET_HERE, egress: [ { to: exec } ] }
permits: { exec: [echo] }
tasks:
  get:
"""
AT_THE_END = HEAD + '    exec: { command: [echo], env: { X: "${{ secrets.key }}" } }'
INSIDE = HEAD + '    exec:\n      env: { X: "key ${{ secrets.key }}" }\n      command: [echo]\n'
FOLDED = HEAD + "    exec:\n      command: [echo]\n      env:\n        X: >-\n          ${{ secrets.key }}\n"


@pytest.mark.parametrize("text", [AT_THE_END, INSIDE, FOLDED], ids=["at the end", "inside", "folded"])
def test_the_caret_stands_below_the_name(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Line, column and carets are those of the expression, wherever the secret is declared."""
    monkeypatch.delenv("NOT_SET_HERE", raising=False)
    run = nika_nb.run(text)
    error = run.tasks["get"].error
    assert error is not None
    _, where, line, carets = error["message"].split("\n")
    at = text.index("${{")
    row = text.count("\n", 0, at) + 1
    assert where == f"  line {row}, column {at - text.rindex(chr(10), 0, at)}"
    assert line[carets.index("^") : carets.rindex("^") + 1] == "${{ secrets.key }}"
