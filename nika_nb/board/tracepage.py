"""A journal as something to look at and to take away, for front-ends that hide the folder it lies in."""

from __future__ import annotations

import gzip
from base64 import b64encode
from pathlib import PurePath

from nika_nb.board.clean import block, clean, inline
from nika_nb.board.style import MONO, QUIET, plain
from nika_nb.values import plural

CARRIED = 4 << 20  # bytes of a journal that a page can still carry in one link
TRAVELS = 16 << 10  # bytes of a packed journal that every still may carry
SHOWN = 100_000  # characters that are unfolded


def mimebundle(name: str, data: bytes) -> dict[str, str]:
    """A journal's file as a link that downloads it and its lines folded below; as text, its lines."""
    return {"text/html": trace_html(name, data), "text/plain": clean(data.decode("utf-8", "replace"), SHOWN)}


def trace_html(name: str, data: bytes) -> str:
    """The same, as HTML to stand in a panel."""
    newline = b"\n"
    size = f"{plural(data.count(newline), 'event')} · {len(data):,} bytes"
    lines = block(data[: SHOWN * 4].decode("utf-8", "replace"), SHOWN)
    style = f"{MONO};font-size:11px;line-height:1.4;white-space:pre-wrap;overflow-wrap:anywhere"
    body = f'<div style="{style};max-height:320px;overflow:auto;padding:4px 0">{lines}</div>'
    summary = f'<summary style="cursor:pointer">{inline(name)}</summary>'
    return plain(f'{_link(name, data)} <span style="{QUIET}">{size}</span><details>{summary}{body}</details>')


def packed(data: bytes) -> bytes:
    """A journal small enough to be carried by every still, as gzip; empty where it is not."""
    found = gzip.compress(data, mtime=0)
    return found if len(found) <= TRAVELS else b""


def packed_link(path: str, data: bytes) -> str:
    """A link that downloads a packed journal."""
    name = inline(PurePath(path).name) + ".gz"
    address = f"data:application/gzip;base64,{b64encode(data).decode('ascii')}"
    return (
        f'<a download="{name}" href="{address}" style="color:inherit;text-decoration:underline">download</a>'
    )


def _link(name: str, data: bytes) -> str:
    if len(data) > CARRIED:
        return f'<span style="{QUIET}">too large to download from here</span>'
    address = f"data:application/x-ndjson;base64,{b64encode(data).decode('ascii')}"
    return (
        f'<a download="{inline(name)}" href="{address}" style="text-decoration:underline">Download trace</a>'
    )
