"""The builtins as the `invoke` verb runs them: what they return, refuse, and leave on disk."""

from __future__ import annotations

import asyncio
import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from nika_nb.engine.contract import Reply
from nika_nb.errors import Fault
from nika_nb.language.model import Permits
from nika_nb.tools.base import Asking
from nika_nb.verbs.invoke import Invoke
from tests.verbs.calls import Recorder, permits

FILES = permits(tools=["nika:read", "nika:write"], read=["./**"], write=["./**"])


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    return Recorder(str(tmp_path))


def use(recorder: Recorder, tool: str, block: Permits | None = FILES, **arguments: Any) -> Reply:
    call = recorder.call("invoke", {"tool": tool, "args": arguments})
    return asyncio.run(Invoke(block, Asking()).run(call))


def fault(recorder: Recorder, tool: str, block: Permits | None = FILES, **arguments: Any) -> Fault:
    with pytest.raises(Fault) as caught:
        use(recorder, tool, block, **arguments)
    return caught.value


def test_log(recorder: Recorder) -> None:
    """A log line is shown at once and journaled; it returns null and needs no grant."""
    said = {"level": "warn", "message": "42 rows", "data": {"b": 1, "a": 2}}
    assert use(recorder, "nika:log", None, **said).output is None
    assert recorder.shown == [("log", 'warn · 42 rows · {"a":2,"b":1}\n')]
    assert recorder.attached == [("nb_log", said | {"data": '{"a":2,"b":1}'})]


def test_log_never_fails_for_what_it_was_told(recorder: Recorder) -> None:
    """Whatever it is given, a log lands as well as it can."""
    for message in (None, 3, [1], {"a": b"\xff"}, b"\xff", float("nan")):
        assert use(recorder, "nika:log", None, message=message, level=7).output is None
    assert use(recorder, "nika:log", None).output is None


def test_assert(recorder: Recorder) -> None:
    """True passes on as true; false fails with the author's sentence."""
    assert use(recorder, "nika:assert", None, condition=True, message="m").output is True
    found = fault(recorder, "nika:assert", None, condition=False, message="n must be 4")
    assert (found.code, found.message) == ("NIKA-BUILTIN-ASSERT-001", "n must be 4")
    assert fault(recorder, "nika:assert", None, condition=False).message == "the condition does not hold"
    assert "not string" in fault(recorder, "nika:assert", None, condition="yes").message
    assert recorder.processes == [None] * 4


def test_read(recorder: Recorder, tmp_path: Path) -> None:
    """Text comes back as it is, bytes where they are asked for."""
    (tmp_path / "a.txt").write_bytes("é\r\n".encode())
    assert use(recorder, "nika:read", path="./a.txt").output == "é\r\n"
    assert use(recorder, "nika:read", path="a.txt", encoding="UTF-8").output == "é\r\n"
    assert use(recorder, "nika:read", path="a.txt", binary=True).output == "é\r\n".encode()


def test_read_failures(recorder: Recorder, tmp_path: Path) -> None:
    """Each failure has its code, names the path and the way out; nothing here can hang."""
    (tmp_path / "binary").write_bytes(b"ab\xff")
    os.mkfifo(tmp_path / "fifo")
    cases: list[tuple[str, str, dict[str, Any]]] = [
        ("NIKA-BUILTIN-READ-001", "`gone.txt` does not exist", {"path": "gone.txt"}),
        ("NIKA-BUILTIN-READ-002", "`.` is not a regular file", {"path": "."}),
        ("NIKA-BUILTIN-READ-002", "`fifo` is not a regular file", {"path": "fifo"}),
        ("NIKA-BUILTIN-READ-002", "cannot be read: Not a directory", {"path": "binary/x"}),
        ("NIKA-BUILTIN-READ-003", "(byte 2); read it with `binary: true`", {"path": "binary"}),
        ("NIKA-BUILTIN-001", "utf-8, not latin-1", {"path": "binary", "encoding": "latin-1"}),
        ("NIKA-BUILTIN-001", "`path:` as a string, not integer", {"path": 3}),
        ("NIKA-BUILTIN-001", "`binary:` as true or false", {"path": "binary", "binary": "yes"}),
        ("NIKA-BUILTIN-001", "needs the argument `path`", {}),
        ("NIKA-BUILTIN-001", "no argument `paht`; did you mean `path`?", {"paht": "x"}),
    ]
    for code, sentence, arguments in cases:
        found = fault(recorder, "nika:read", **arguments)
        assert found.code == code, found
        assert sentence in found.message


def test_write(recorder: Recorder, tmp_path: Path) -> None:
    """The path comes back as it was given; the file holds the content, and nothing else is left."""
    assert use(recorder, "nika:write", path="./a.txt", content="é\n").output == "./a.txt"
    assert (tmp_path / "a.txt").read_bytes() == "é\n".encode()
    use(recorder, "nika:write", path="a.txt", content={"b": [1, None], "a": 2.5})
    assert (tmp_path / "a.txt").read_text() == '{"a":2.5,"b":[1,null]}'
    use(recorder, "nika:write", path="b", content=b"\xff\0")
    assert (tmp_path / "b").read_bytes() == b"\xff\0"
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "b"]


def test_write_makes_the_folders_of_a_granted_path(recorder: Recorder, tmp_path: Path) -> None:
    """A grant that covers the path speaks for its folders, whatever `create_dirs:` says."""
    use(recorder, "nika:write", path="out/deep/a", content="x", create_dirs=False)
    assert (tmp_path / "out" / "deep" / "a").read_text() == "x"


def test_write_into_a_thousand_folders(recorder: Recorder, tmp_path: Path) -> None:
    """As deep as the system lets a path go, folders are made, one after the other."""
    path = "out/" + "d/" * 1200 + "x"
    use(recorder, "nika:write", path=path, content="deep")
    written = tmp_path / path
    assert written.read_text() == "deep"
    written.unlink()
    os.removedirs(written.parent)  # nobody who clears up afterwards gets that deep


def test_write_keeps_what_is_not_to_be_replaced(recorder: Recorder, tmp_path: Path) -> None:
    """`overwrite: false` refuses an existing file and leaves it whole."""
    use(recorder, "nika:write", path="a", content="first", overwrite=False)
    found = fault(recorder, "nika:write", path="a", content="second", overwrite=False)
    assert found.code == "NIKA-BUILTIN-WRITE-002"
    assert (tmp_path / "a").read_text() == "first"
    assert os.listdir(tmp_path) == ["a"]


def test_write_keeps_the_mode_and_follows_granted_links(recorder: Recorder, tmp_path: Path) -> None:
    """A replaced file keeps its permissions; a link to a granted file is written through."""
    (tmp_path / "run.sh").write_text("old")
    (tmp_path / "run.sh").chmod(0o750)
    (tmp_path / "link").symlink_to("run.sh")
    use(recorder, "nika:write", path="link", content="new")
    assert (tmp_path / "run.sh").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "run.sh").stat().st_mode) == 0o750
    assert (tmp_path / "link").is_symlink()


def test_write_failures(recorder: Recorder, tmp_path: Path) -> None:
    """Null, a folder, a device and a file in the way are refused, and nothing is left beside."""
    (tmp_path / "file").write_text("x")
    os.mkfifo(tmp_path / "fifo")
    cases: list[tuple[str, dict[str, Any]]] = [
        ("`content:` is null", {"path": "a", "content": None}),
        ("is no regular file", {"path": ".", "content": "x"}),
        ("is no regular file", {"path": "fifo", "content": "x"}),
        ("cannot be written", {"path": "file/below", "content": "x"}),
        ("cannot be written: File name too long", {"path": "n" * 300, "content": "x"}),
    ]
    for sentence, arguments in cases:
        found = fault(recorder, "nika:write", **arguments)
        assert found.code == "NIKA-BUILTIN-WRITE-001", found
        assert sentence in found.message
    assert sorted(os.listdir(tmp_path)) == ["fifo", "file"]


def test_a_reader_never_sees_half_a_file(recorder: Recorder, tmp_path: Path) -> None:
    """While a file is replaced over and over, every look at it finds one whole content."""
    path = tmp_path / "state"
    path.write_text("a" * 200_000)
    seen: set[str] = set()
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            text = path.read_text()
            seen.add(f"{len(text)}{''.join(sorted(set(text)))}")

    reader = threading.Thread(target=look)
    reader.start()
    try:
        for letter in "bababababa" * 3:
            use(recorder, "nika:write", path="state", content=letter * 200_000)
    finally:
        stop.set()
        reader.join()
    assert seen <= {"200000a", "200000b"}


READER = permits(tools=["nika:*"], read=["./**"])
REFUSED = [
    ("no block", None, "nika:read", {"path": "a"}),
    ("no tool grant", permits(read=["./**"]), "nika:read", {"path": "a"}),
    ("no path grant", permits(tools=["nika:read"]), "nika:read", {"path": "a"}),
    ("reading is not writing", READER, "nika:write", {"path": "a", "content": "x"}),
    ("out of the folder", FILES, "nika:read", {"path": "../a"}),
    ("out of the folder in writing", FILES, "nika:write", {"path": "/etc/x", "content": "x"}),
]


@pytest.mark.parametrize(("name", "block", "tool", "arguments"), REFUSED, ids=[case[0] for case in REFUSED])
def test_the_boundary(
    recorder: Recorder, tmp_path: Path, name: str, block: Permits | None, tool: str, arguments: dict[str, Any]
) -> None:
    """A file tool needs its own grant and its path's; a refusal is witnessed and touches nothing."""
    (tmp_path / "a").write_text("before")
    assert fault(recorder, tool, block, **arguments).code == "NIKA-SEC-004"
    assert not recorder.decisions[-1].allowed
    assert (tmp_path / "a").read_text() == "before"


def test_a_link_out_of_the_folder_is_refused(recorder: Recorder, tmp_path: Path) -> None:
    """What a path leads to is judged, for reading and for writing."""
    outside = tmp_path / "outside"
    outside.write_text("secret")
    base = tmp_path / "base"
    base.mkdir()
    (base / "link").symlink_to(outside)
    recorder.base = str(base)
    assert fault(recorder, "nika:read", path="link").code == "NIKA-SEC-004"
    assert fault(recorder, "nika:write", path="link", content="x").code == "NIKA-SEC-004"
    assert outside.read_text() == "secret"


def test_unknown_tools(recorder: Recorder) -> None:
    """A name that is no tool says which ones there are."""
    block = permits(tools=["**"])
    found = fault(recorder, "nika:raed", block)
    assert found.code == "NIKA-INVOKE-001"
    assert found.message == "there is no tool `nika:raed` here; did you mean `nika:read`?"
    assert fault(recorder, "mcp:db/query", block).code == "NIKA-MCP-001"


def test_a_tool_grant_is_witnessed(recorder: Recorder) -> None:
    """Every decision about a tool is reported, granted ones too."""
    use(recorder, "nika:log", None, message="x")
    assert [(d.plane, d.gate, d.allowed) for d in recorder.decisions] == [("tool", "nika:log", True)]


def test_a_cancelled_write_is_whole(recorder: Recorder, tmp_path: Path) -> None:
    """A cancellation waits for a write in progress: afterwards nothing goes on behind it."""
    arguments = {"path": "big", "content": "x" * 30_000_000}
    call = recorder.call("invoke", {"tool": "nika:write", "args": arguments})

    async def scenario() -> None:
        writing = asyncio.create_task(Invoke(FILES, Asking()).run(call))
        while not recorder.processes:
            await asyncio.sleep(0)
        await asyncio.sleep(0.002)
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
        before = {name: (tmp_path / name).stat().st_size for name in os.listdir(tmp_path)}
        assert before in ({}, {"big": 30_000_000})

    asyncio.run(scenario())
