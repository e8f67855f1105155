"""The wall between the rooms: every import of the package's source, held against one table."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "nika_nb"

# What every room may use: no room of their own.
COMMON = frozenset({"errors", "values", "settings", "openers", "doors", "files", "money", "interrupts"})

BELOW_RUNS = frozenset(
    [
        "catalog",
        "language",
        "authority",
        "plan",
        "check",
        "engine",
        "providers",
        "mcp",
        "tools",
        "verbs",
        "trace",
        "board",
    ]
)

MAY: dict[str, frozenset[str]] = {
    room: frozenset(allowed.split())
    for room, allowed in {
        "errors": "",
        "values": "",
        "settings": "",
        "openers": "",
        "doors": "",
        "files": "",
        "money": "",
        "interrupts": "",
        "catalog": "",
        "language": "catalog",
        "authority": "catalog language",
        "plan": "language authority",
        "check": "catalog language authority plan",
        "engine": "catalog language authority plan",
        "providers": "catalog",
        "mcp": "",
        "tools": "catalog language authority engine providers",
        "verbs": "catalog language authority plan engine providers mcp tools",
        "trace": "catalog plan engine",
        "board": "catalog plan engine trace",
        "runs": " ".join(BELOW_RUNS),
        "tables": "plan trace runs",
        "books": "language check",
        "notebook": "check board runs tables books",
        "cli": "check board runs trace books server",
        "server": "check board runs trace books",
        "__init__": "check errors notebook runs tables",
        "__main__": "cli",
    }.items()
}

# Single doors through the wall: (the file, the room it may use besides), each with its reason.
DOORS: dict[tuple[str, str], str] = {
    ("tools/compose.py", "check"): "a composed workflow is judged by the same check as a written one",
    ("board/framed.py", "tables"): "`.table(…)` is where people look for it; imported when it is asked for",
}

# Heavy libraries and the only rooms that may name them, at any depth of the code.
ONLY_IN: dict[str, frozenset[str]] = {
    "pandas": frozenset({"tables"}),
    "IPython": frozenset({"notebook", "runs"}),
    "ipywidgets": frozenset({"notebook"}),
    "nbformat": frozenset({"books"}),
    "sqlite3": frozenset({"runs"}),
    "yaml": frozenset({"language"}),
    "jaq": frozenset({"language"}),
    "jsonschema_rs": frozenset({"language", "tools", "verbs", "server"}),
    "blake3": frozenset({"values"}),
    "rfc8785": frozenset({"values"}),
}


@dataclass(frozen=True)
class Import:
    """One import: where it stands, what it names."""

    file: str
    line: int
    module: str

    @property
    def room(self) -> str:
        return room_of(self.file)

    @property
    def wanted(self) -> str | None:
        """The room of ours that is imported; None for the package itself or something foreign."""
        parts = self.module.split(".")
        return parts[1] if parts[0] == "nika_nb" and len(parts) > 1 else None

    def __str__(self) -> str:
        return f"nika_nb/{self.file}:{self.line} imports {self.module}"


def room_of(file: str) -> str:
    return Path(file).parts[0].removesuffix(".py")


def imports() -> Iterator[Import]:
    """Every import of every module, those inside functions and for type checkers included."""
    for path in sorted(PACKAGE.rglob("*.py")):
        file = str(path.relative_to(PACKAGE))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), file)):
            yield from _named(node, file)


def _named(node: ast.AST, file: str) -> Iterator[Import]:
    if isinstance(node, ast.Import):
        for name in node.names:
            yield Import(file, node.lineno, name.name)
    elif isinstance(node, ast.ImportFrom):
        base = node.module or ""
        if node.level:
            inside = ["nika_nb", *Path(file).parent.parts]
            base = ".".join([*inside[: len(inside) - node.level + 1], *([base] if base else [])])
        if base == "nika_nb":
            yield from (Import(file, node.lineno, f"nika_nb.{name.name}") for name in node.names)
        else:
            yield Import(file, node.lineno, base)


FOUND = tuple(imports())


def test_every_folder_has_a_row_in_the_table() -> None:
    """A new room is drawn in first."""
    rooms = {room_of(str(path.relative_to(PACKAGE))) for path in PACKAGE.rglob("*.py")}
    assert rooms <= set(MAY)


@pytest.mark.parametrize("room", sorted(MAY))
def test_a_room_imports_only_what_it_may(room: str) -> None:
    """Itself, what every room may use, and what the table lists for it."""
    allowed = MAY[room] | COMMON | {room}
    if room in COMMON:
        allowed = COMMON
    refused = [
        str(found)
        for found in FOUND
        if found.room == room and found.wanted is not None and found.wanted not in allowed
        and found.wanted != "__version__" and (found.file, found.wanted) not in DOORS
    ]  # fmt: skip
    assert not refused, "\n".join(refused)


def test_every_door_is_used() -> None:
    """An exception that nobody needs any more is walled up."""
    used = {(found.file, found.wanted) for found in FOUND}
    missing = [file for file, _ in DOORS if not (PACKAGE / file).exists()]
    assert {door for door in DOORS if door[0] not in missing} <= used


@pytest.mark.parametrize("library", sorted(ONLY_IN))
def test_a_heavy_library_has_its_room(library: str) -> None:
    """Only the rooms that are about it may name it."""
    named = [found for found in FOUND if found.module.split(".")[0] == library]
    outside = [str(found) for found in named if found.room not in ONLY_IN[library]]
    assert not outside, "\n".join(outside)


def test_the_package_knows_no_relative_and_no_star_imports() -> None:
    """Every import says where it comes from."""
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path}:{node.lineno}"
                assert all(name.name != "*" for name in node.names), f"{path}:{node.lineno}"


ROOM_NAMED = re.compile(r"nika_nb\.(\w+)[.:\w]*")


def test_rooms_are_named_by_strings_in_two_places_only() -> None:
    """What is imported by its name goes around the wall: only the package's doors may choose so."""
    named: set[str] = set()
    for path in PACKAGE.rglob("*.py"):
        file = str(path.relative_to(PACKAGE))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
            match = ROOM_NAMED.fullmatch(text)
            if match and match[1] in MAY and match[1] != room_of(file):
                named.add(file)
    assert named == {"__init__.py", "openers.py"}
