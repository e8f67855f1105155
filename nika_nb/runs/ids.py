"""The ids of durable runs: short enough to say, safe as a file name."""

from __future__ import annotations

import re
import secrets

RUN_ID_PATTERN = re.compile(r"^[a-z][a-z0-9-]{0,47}-[0-9a-f]{8}$")


def new_run_id(workflow: str, seed: int | None = None) -> str:
    """`<workflow>-<8 hex>`, the workflow's id cut at 40 characters; the hex from the seed, if any."""
    tail = secrets.token_hex(4) if seed is None else f"{seed & 0xFFFFFFFF:08x}"
    return f"{workflow[:40].rstrip('-')}-{tail}"


def new_invocation_id(seed: int | None = None) -> str:
    """The id of one invocation: 16 hex characters."""
    return secrets.token_hex(8) if seed is None else f"{seed & 0xFFFFFFFFFFFFFFFF:016x}"


def is_run_id(text: str) -> bool:
    return RUN_ID_PATTERN.fullmatch(text) is not None
