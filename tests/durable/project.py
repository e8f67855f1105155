"""A project with durable runs in it: the workflows of these tests, and what they leave behind."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nika_nb import runs
from nika_nb.runs.inspecting import Inspection
from tests.doors import frames, marks, program, traces

# Two questions and what hangs on them; `say` notes what ran in a file beside the journal.
SLOW = """\
nika: slow
permits: {exec: ["./slow"]}
tasks:
  ask: {invoke: {tool: "nika:prompt", args: {message: "Go on?"}}}
  slow:
    with: {go: "${{ tasks.ask.output }}"}
    when: ${{ with.go == true }}
    exec: {command: ["./slow"]}
outputs: {said: "${{ tasks.slow.output }}"}
"""
GATE = """\
nika: gate
inputs: {topic: {type: string, default: plain}}
permits: {exec: ["./say"]}
tasks:
  prep: {exec: {command: ["./say", "prep", "${{ inputs.topic }}"]}}
  ask:
    after: {prep: success}
    invoke: {tool: "nika:prompt", args: {message: "Ship it?"}}
  name:
    after: {prep: success}
    on_error: {recover: nobody, on_codes: [NIKA-CANCEL-001]}
    invoke: {tool: "nika:prompt", args: {message: "Who says so?", mode: input}}
  ship:
    with: {go: "${{ tasks.ask.output }}", who: "${{ tasks.name.output }}"}
    when: ${{ with.go == true }}
    exec: {command: ["./say", "ship", "${{ with.who }}"]}
outputs:
  topic: "${{ tasks.prep.output }}"
  shipped: "${{ tasks.ship.output }}"
"""

# One question, nothing else.
ASK = """\
nika: ask
tasks:
  ask: {invoke: {tool: "nika:prompt", args: {message: "Go on?"}}}
outputs: {go: "${{ tasks.ask.output }}"}
"""

DONE = """\
nika: done
permits: {exec: ["./say"]}
tasks:
  say: {exec: {command: ["./say", "say", "hello"]}}
outputs: {said: "${{ tasks.say.output }}"}
"""

FAILS = """\
nika: fails
permits: {exec: ["./say"]}
tasks:
  say: {exec: {command: ["./say", "FAIL", "hello"]}}
"""


@dataclass(frozen=True)
class Project:
    """A folder with a program in it; the current one."""

    root: Path

    def started(self, text: str, **options: Any) -> Inspection:
        found = runs.start(text, **options)
        assert isinstance(found, Inspection), found.to_json()
        return found

    def deployed(self, name: str = "gate", text: str = GATE, **bindings: Any) -> Path:
        """A deployment made from a file, whose path comes back."""
        path = self.root / f"{name}.nika.yaml"
        path.write_text(text, encoding="utf-8")
        runs.deploy(name, path, bindings)
        return path

    def ran(self, name: str = "gate", **inputs: Any) -> Inspection:
        found = runs.run_deployment(name, inputs)
        assert isinstance(found, Inspection), found.to_json()
        return found

    @property
    def traces(self) -> list[Path]:
        return traces(self.root)

    @property
    def journals(self) -> list[Path]:
        """Whatever lies there, in no order: also what has not got its first line yet."""
        return list((self.root / ".nika" / "traces").glob("*.ndjson"))

    @property
    def marks(self) -> dict[str, int]:
        """What ran, and how often."""
        return dict(marks(self.root / "marks"))

    def bytes(self) -> dict[str, bytes]:
        """Every journal as it stands."""
        return {path.name: path.read_bytes() for path in self.traces}

    def without_say(self) -> None:
        (self.root / "say").rename(self.root / "gone")

    def with_say(self) -> None:
        (self.root / "gone").rename(self.root / "say")


def project(root: Path) -> Project:
    program(root, "say", 'echo "$1" >> marks\ntest "$1" = FAIL && exit 7\nprintf %s "$2"')
    return Project(root)


def words_in(shape: Any) -> str:
    """Everything that a result says, as one text."""
    return json.dumps(shape, ensure_ascii=False)


def kinds_of(path: Path) -> list[str]:
    return [frame["kind"] for frame in frames(path)]


def touched(path: Path) -> tuple[int, int]:
    """When a file was last written, and its size."""
    stat = os.stat(path)
    return stat.st_mtime_ns, stat.st_size
