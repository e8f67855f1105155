"""The ids of durable runs: short enough to say, safe as a file name."""

from __future__ import annotations

import re
import secrets

RUN_ID_PATTERN = re.compile(r"^[a-z][a-z0-9-]{0,47}-[0-9a-f]{8}$")


def new_run_id(workflow: str) -> str:
    """`<workflow>-<8 hex>`, the workflow's id cut at 40 characters."""
    return f"{workflow[:40].rstrip('-')}-{secrets.token_hex(4)}"


def is_run_id(text: str) -> bool:
    return RUN_ID_PATTERN.fullmatch(text) is not None
