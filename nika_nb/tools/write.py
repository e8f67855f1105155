"""`nika:write`: a whole file at once, or nothing; returns the path as it was given."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nika_nb.errors import Fault
from nika_nb.files import opened
from nika_nb.tools.base import Tool, Use, flag_of, in_thread, text_of
from nika_nb.values import to_text

NAME = "nika:write"
TROUBLE_CODE = "NIKA-BUILTIN-WRITE-001"
EXISTS_CODE = "NIKA-BUILTIN-WRITE-002"
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY  # to write into one nobody has to list it


async def _write(use: Use, arguments: Mapping[str, Any]) -> str:
    path = text_of(arguments, "path", NAME)
    overwrite = flag_of(arguments, "overwrite", NAME, True)
    flag_of(arguments, "create_dirs", NAME, False)
    content = _content(arguments["content"])
    place = Path(use.place("write", path))
    await in_thread(lambda: _put(path, place, content, overwrite))
    return path


def _content(value: Any) -> bytes:
    if value is None:
        raise Fault(
            TROUBLE_CODE,
            "`content:` is null, most often because an upstream value is missing; "
            'to write that word, pass the string "null"',
        )
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    return to_text(value).encode("utf-8", "surrogatepass")


def _put(path: str, place: Path, content: bytes, overwrite: bool) -> None:
    """The granted path speaks for its folders: they are made, whatever `create_dirs:` says."""
    try:
        if place.exists() and not place.is_file():
            raise Fault(TROUBLE_CODE, f"`{path}` is there and is no regular file", details={"path": path})
        _make(place.parent)
        folder = opened(place.parent, _FOLDER)
        try:
            _move_in(folder, place.name, content, overwrite)
        finally:
            os.close(folder)
    except OSError as error:
        code, what = TROUBLE_CODE, f"cannot be written: {error.strerror}"
        if isinstance(error, FileExistsError) and place.is_file():
            code, what = EXISTS_CODE, "exists and `overwrite:` is false"
        raise Fault(code, f"`{path}` {what}", details={"path": path}) from None


def _make(folder: Path) -> None:
    """The folder and all above it, one by one: a path may have thousands."""
    for place in reversed((folder, *folder.parents)):
        if not place.is_dir():
            place.mkdir(exist_ok=True)


def _move_in(folder: int, name: str, content: bytes, overwrite: bool) -> None:
    """Written beside the target and moved into place, so that no reader ever sees half a file."""
    beside = f".{name[:40]}.{secrets.token_hex(4)}.part"
    made = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666, dir_fd=folder)
    try:
        with os.fdopen(made, "wb") as file:
            file.write(content)
            with contextlib.suppress(FileNotFoundError):
                before = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
                os.fchmod(made, stat.S_IMODE(before) if stat.S_ISREG(before) else 0o600)
        if overwrite:
            os.replace(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
        else:  # refused where the file is there, even since a moment ago
            os.link(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(beside, dir_fd=folder)


TOOL = Tool(
    NAME,
    _write,
    required=("path", "content"),
    optional=("create_dirs", "overwrite"),
    says="Writes a file and returns its path. An existing one is replaced unless `overwrite` is false.",
    shapes={
        "path": {"type": "string"},
        "content": {"type": "string"},
        "create_dirs": {"type": "boolean"},
        "overwrite": {"type": "boolean"},
    },
)
