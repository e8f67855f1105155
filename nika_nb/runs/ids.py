"""The ids of durable runs: short enough to say, safe as a file name; from a seed where a run declares one."""

from __future__ import annotations

import hashlib
import re
import secrets

from nika_nb.language.model import RunSpec

RUN_ID_PATTERN = re.compile(r"^[a-z][a-z0-9-]{0,47}-[0-9a-f]{8}$")


def seed_of(declared: RunSpec, resumed: str | None = None) -> int | None:
    """What everything random in an invocation is made from; None where chance is real.

    resumed: the head of the trace that it resumes. What follows a trace does not repeat its ids.
    """
    if declared.entropy == "ambient":
        return None
    seed = declared.seed or 0
    if resumed is None:
        return seed
    return int.from_bytes(hashlib.sha256(f"{seed}/{resumed}".encode()).digest()[:8], "big")


def new_run_id(workflow: str, seed: int | None = None) -> str:
    """`<workflow>-<8 hex>`, the workflow's id cut at 40 characters; the hex from the seed, if any."""
    tail = secrets.token_hex(4) if seed is None else f"{seed & 0xFFFFFFFF:08x}"
    return f"{workflow[:40].rstrip('-')}-{tail}"


def new_invocation_id(seed: int | None = None) -> str:
    """The id of one invocation: 16 hex characters."""
    return secrets.token_hex(8) if seed is None else f"{seed & 0xFFFFFFFFFFFFFFFF:016x}"


def is_run_id(text: object) -> bool:
    return isinstance(text, str) and RUN_ID_PATTERN.fullmatch(text) is not None
