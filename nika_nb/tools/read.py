"""`nika:read`: a file's text, or its bytes where they are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nika_nb.errors import Fault
from nika_nb.files import NoFile, judged_bytes
from nika_nb.tools.base import ARGUMENTS_CODE, Tool, Use, flag_of, in_thread, text_of

NAME = "nika:read"
ABSENT_CODE = "NIKA-BUILTIN-READ-001"
TROUBLE_CODE = "NIKA-BUILTIN-READ-002"
BINARY_CODE = "NIKA-BUILTIN-READ-003"


async def _read(use: Use, arguments: Mapping[str, Any]) -> str | bytes:
    path = text_of(arguments, "path", NAME)
    encoding = text_of(arguments, "encoding", NAME, "utf-8")
    if encoding.lower().replace("-", "").replace("_", "") != "utf8":
        raise Fault(ARGUMENTS_CODE, f"`{NAME}` reads utf-8, not {encoding}; use `binary: true` for the rest")
    binary = flag_of(arguments, "binary", NAME, False)
    place = Path(use.place("read", path))
    raw = await in_thread(lambda: _bytes(path, place))
    return raw if binary else _text(path, raw)


def _bytes(path: str, place: Path) -> bytes:
    try:
        return judged_bytes(place)
    except FileNotFoundError:
        raise _trouble(ABSENT_CODE, path, f"does not exist (looked at {place})") from None
    except NoFile:  # a pipe or a device may never end
        raise _trouble(TROUBLE_CODE, path, "is not a regular file") from None
    except OSError as error:
        raise _trouble(TROUBLE_CODE, path, f"cannot be read: {error.strerror}") from None


def _text(path: str, raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        what = f"is not UTF-8 text (byte {error.start}); read it with `binary: true`"
        raise _trouble(BINARY_CODE, path, what) from None


def _trouble(code: str, path: str, what: str) -> Fault:
    return Fault(code, f"`{path}` {what}", details={"path": path})


TOOL = Tool(
    NAME,
    _read,
    required=("path",),
    optional=("encoding", "binary"),
    says="Reads a file and returns its text.",
    shapes={"path": {"type": "string"}, "encoding": {"enum": ["utf-8"]}, "binary": {"type": "boolean"}},
)
