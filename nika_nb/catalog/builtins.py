"""The 28 builtin tools: what each one touches, and which argument names its target."""

from __future__ import annotations

from typing import Literal, NamedTuple

Family = Literal["core", "file", "data", "decision", "network", "introspection", "media"]
Effect = Literal["fs.read", "fs.write", "net"]


class Target(NamedTuple):
    """One effect of a builtin, and where its target is written.

    path: the steps into the arguments (`*` is every item of a list). A `pattern` target is a glob
    whose literal prefix is what is read; an `optional` one exists only when that argument does.
    """

    effect: Effect
    path: tuple[str, ...]
    pattern: bool = False
    optional: bool = False


class Builtin(NamedTuple):
    """`loop_only`: exists only inside an agent."""

    family: Family
    targets: tuple[Target, ...] = ()
    loop_only: bool = False

    @property
    def pure(self) -> bool:
        """Whether it computes a value and reaches nothing unless an optional argument asks for it."""
        return all(target.optional for target in self.targets)


def _read(*path: str, optional: bool = False, pattern: bool = False) -> Target:
    return Target("fs.read", path, pattern, optional)


def _write(*path: str) -> Target:
    return Target("fs.write", path)


BUILTINS: dict[str, Builtin] = {
    "nika:assert": Builtin("core"),
    "nika:done": Builtin("core", loop_only=True),
    "nika:emit": Builtin("core"),
    "nika:log": Builtin("core"),
    "nika:prompt": Builtin("core"),
    "nika:wait": Builtin("core"),
    "nika:edit": Builtin("file", (_read("path"), _write("path"))),
    "nika:glob": Builtin("file", (_read("pattern", pattern=True),)),
    "nika:grep": Builtin("file", (_read("path"),)),
    "nika:read": Builtin("file", (_read("path"),)),
    "nika:write": Builtin("file", (_write("path"),)),
    "nika:convert": Builtin("data"),
    "nika:date": Builtin("data"),
    "nika:hash": Builtin("data"),
    "nika:jq": Builtin("data"),
    "nika:json_diff": Builtin("data"),
    "nika:json_merge_patch": Builtin("data"),
    "nika:uuid": Builtin("data"),
    "nika:validate": Builtin("data"),
    "nika:decide": Builtin("decision", (_read("bundle", optional=True),)),
    "nika:fetch": Builtin(
        "network", (Target("net", ("url",)), _read("multipart", "*", "path", optional=True))
    ),
    "nika:notify": Builtin("network", (Target("net", ("target",)),)),
    "nika:compose": Builtin("introspection", loop_only=True),
    "nika:inspect": Builtin("introspection"),
    "nika:chart": Builtin("media", (_write("out"), _read("data", "path", optional=True))),
    "nika:image_fx": Builtin("media", (_read("input"), _write("out"))),
    "nika:image_generate": Builtin(
        "media",
        (
            _write("output_dir"),
            _read("image", optional=True),
            _read("images", "*", optional=True),
            _read("mask", optional=True),
        ),
    ),
    "nika:tts_generate": Builtin("media", (_write("output_dir"),)),
}

# What asks a human; what gives an agent's loop its end; where randomness enters.
PROMPT = "nika:prompt"
DONE = "nika:done"
COMPOSE = "nika:compose"
UUID = "nika:uuid"
