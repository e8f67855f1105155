"""The pictures of a `vision:` list: files are judged and read here, addresses are judged and passed on."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from nika_nb.authority import hosts
from nika_nb.errors import Fault, hidden
from nika_nb.files import NoFile, judged_bytes
from nika_nb.providers.base import Picture
from nika_nb.tools.base import Use, as_text, in_thread

LARGEST = 20 << 20  # bytes of one picture

_HEADS = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"))


async def pictures(use: Use, written: Iterable[Mapping[str, Any]]) -> tuple[Picture, ...]:
    """Raises Fault NIKA-SEC-004/-005 for what is outside the boundary, NIKA-INFER-001 for no picture."""
    return tuple([await _picture(use, item) for item in written])


async def _picture(use: Use, item: Mapping[str, Any]) -> Picture:
    if item["source"] == "url":
        return _address(use, as_text(item["url"], "`url:`"))
    path = as_text(item["path"], "`path:`")
    place = Path(use.place("read", path))
    raw = await in_thread(lambda: _read(path, place))
    return Picture(data=base64.b64encode(raw).decode("ascii"), media_type=_media_type(path, raw))


def _address(use: Use, url: str) -> Picture:
    """Judged like a fetch of our own, for the machine that fetches it may be this one."""
    try:
        site = hosts.read_site(url)
    except ValueError as why:
        raise _unusable(f"the address of a picture, `{hidden(url)[:200]}`, is no use: {why}") from None
    verdict = hosts.judge(use.permits, site.host, site.port)
    use.obey(verdict, hosts.refusal_code(verdict))
    return Picture(url=url)


def _read(path: str, place: Path) -> bytes:
    try:
        raw = judged_bytes(place, LARGEST + 1)
    except (FileNotFoundError, NoFile):  # a pipe or a device may never end
        raise _unusable(f"the picture `{path}` is not there (looked at {place})") from None
    except OSError as error:
        raise _unusable(f"the picture `{path}` cannot be read: {error.strerror}") from None
    if len(raw) > LARGEST:
        raise _unusable(f"the picture `{path}` has more than {LARGEST >> 20} MiB")
    return raw


def _media_type(path: str, raw: bytes) -> str:
    for head, kind in _HEADS:
        if raw.startswith(head):
            return kind
    if raw[:4] == b"RIFF" and raw[8:12] == b"WEBP":
        return "image/webp"
    raise _unusable(f"`{path}` is no picture that models read: PNG, JPEG, GIF or WebP")


def _unusable(sentence: str) -> Fault:
    return Fault("NIKA-INFER-001", sentence, transient=False)
