"""Workflows for the terminal: one that completes, one that fails, one that pauses, one that is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doors import program

GOOD = """\
nika: good
permits: {exec: ["./say"]}
inputs: {word: {type: string, default: "grüß dich 🦋"}}
tasks:
  a: {exec: {command: ["./say", "a", "${{ inputs.word }}"]}}
  b: {with: {a: "${{ tasks.a.output }}"}, exec: {command: ["./say", "b", "${{ with.a }}!"]}}
outputs:
  said: "${{ tasks.b.output }}"
"""

BAD = """\
nika: bad
permits: {exec: ["./say", "false"]}
tasks:
  a: {exec: {command: ["./say", "a", "fine"]}}
  b: {after: {a: success}, exec: {command: ["false"]}}
  c: {after: {b: success}, exec: {command: ["./say", "c", "never"]}}
outputs:
  said: "${{ tasks.a.output }}"
"""

ASKS = """\
nika: asks
permits: {exec: ["./say"]}
tasks:
  a: {exec: {command: ["./say", "a", "ready"]}}
  ask: {after: {a: success}, invoke: {tool: "nika:prompt", args: {message: "Go on?"}}}
outputs:
  went: "${{ tasks.ask.output }}"
"""

REFUSED = """\
nika: refused
permits: {exec: ["./say"]}
tasks:
  a: {exec: {command: ["./say", "a", "${{ inputs.nobody }}"]}}
"""


@pytest.fixture
def files(folder: Path) -> Path:
    """A folder with the four of them and their program, which leaves marks."""
    program(folder, "say", 'echo "$1" >> marks\nprintf %s "$2"')
    for name, text in {"good": GOOD, "bad": BAD, "asks": ASKS, "refused": REFUSED}.items():
        (folder / f"{name}.nika.yaml").write_text(text, encoding="utf-8")
    return folder
