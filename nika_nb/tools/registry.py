"""The builtins of this version, by name."""

from __future__ import annotations

from nika_nb.tools import (
    assertion,
    compose,
    convert,
    done,
    fetch,
    jq,
    json_diff,
    log,
    prompt,
    read,
    validate,
    wait,
    write,
)
from nika_nb.tools.base import Tool

TOOLS: dict[str, Tool] = {
    module.TOOL.name: module.TOOL
    for module in (
        assertion,
        compose,
        convert,
        done,
        fetch,
        jq,
        json_diff,
        log,
        prompt,
        read,
        validate,
        wait,
        write,
    )
}
