"""A place that becomes a link to elsewhere between judgment and use: what was judged is what is used."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from nika_nb.engine.contract import Call, Permit
from nika_nb.errors import Fault
from nika_nb.tools.base import Asking
from nika_nb.verbs.invoke import Invoke
from tests.verbs.calls import Recorder, permits

GRANTED = permits(tools=["nika:read", "nika:write"], read=["./in/**"], write=["./in/**"])

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="nobody tells what was opened")


@dataclass
class Swapping(Recorder):
    """Does something right behind the decision that lets a file be opened."""

    swap: Callable[[], Any] = field(default=lambda: None)

    def call(self, *args: Any, **kwargs: Any) -> Call:
        def decided(decision: Permit) -> None:
            if decision.plane.startswith("fs"):
                self.swap()

        return replace(super().call(*args, **kwargs), permit=decided)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in" / "sub").mkdir(parents=True)
    (tmp_path / "in" / "sub" / "x").write_text("fine")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "x").write_text("private")
    return tmp_path


def used(folder: Path, swap: Callable[[], Any], tool: str, **arguments: Any) -> Any:
    call = Swapping(str(folder), swap=swap).call("invoke", {"tool": tool, "args": arguments})
    return asyncio.run(Invoke(GRANTED, Asking()).run(call)).output


def linked(place: Path, target: Path) -> Callable[[], None]:
    """Puts a link in the way of a place, what was there aside."""

    def swap() -> None:
        place.rename(place.with_name("aside"))
        place.symlink_to(target)

    return swap


@pytest.mark.parametrize("way", ["in/sub/x", "in/sub"])
def test_a_read_ends_where_it_was_judged_to(folder: Path, way: str) -> None:
    """Be it the file itself or a folder above it that became a link."""
    swap = linked(folder / way, folder / way.replace("in/sub", "out"))
    with pytest.raises(Fault, match="cannot be read") as refused:
        used(folder, swap, "nika:read", path="in/sub/x")
    assert "private" not in str(refused.value)


def test_a_write_ends_where_it_was_judged_to(folder: Path) -> None:
    """Nothing is made in another folder, and nothing is replaced there."""
    swap = linked(folder / "in" / "sub", folder / "out")
    with pytest.raises(Fault, match="cannot be written"):
        used(folder, swap, "nika:write", path="in/sub/x", content="overwritten")
    assert [path.name for path in (folder / "out").iterdir()] == ["x"]
    assert (folder / "out" / "x").read_text() == "private"


def test_a_write_replaces_a_link_and_not_what_it_leads_to(folder: Path) -> None:
    """The file that it was judged for became a link to another one."""
    used(folder, linked(folder / "in/sub/x", folder / "out/x"), "nika:write", path="in/sub/x", content="new")
    assert (folder / "out" / "x").read_text() == "private"
    assert (folder / "in" / "sub" / "x").read_text() == "new"


def test_what_is_replaced_while_it_is_read_is_read(folder: Path) -> None:
    """As editors and `nika:write` do: another file under the same name is no other place."""

    def swap() -> None:
        (folder / "in/new").write_text("newer")
        (folder / "in/new").rename(folder / "in/sub/x")

    assert used(folder, swap, "nika:read", path="in/sub/x") == "newer"


def test_a_name_that_ends_as_a_replaced_file_is_told(folder: Path) -> None:
    """Where the system marks what is gone with ` (deleted)`, a file and a folder may be called so."""
    (folder / "in" / "old (deleted)").mkdir()
    used(folder, lambda: None, "nika:write", path="in/old (deleted)/x (deleted)", content="kept")
    assert used(folder, lambda: None, "nika:read", path="in/old (deleted)/x (deleted)") == "kept"
