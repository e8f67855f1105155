"""Files that run when they are loaded, known by the names that addresses give them."""

from __future__ import annotations

import re
from urllib.parse import unquote

_CLASSES: dict[str, tuple[str, ...]] = {
    "a serialized object that runs code when it is loaded": (
        "pkl", "pickle", "dill", "joblib", "pt", "pth", "ckpt",
    ),
    "a script": (
        "py", "sh", "bash", "zsh", "ps1", "bat", "cmd", "rb", "pl", "php", "js", "mjs", "ipynb",
    ),
    "an executable": ("exe", "dll", "so", "dylib", "wasm", "jar"),
}  # fmt: skip
_NAMES = {extension: name for name, extensions in _CLASSES.items() for extension in extensions}
_VERSION = re.compile(r"(\.so)(?:\.[0-9]+)+$")

LAW = "data-as-code"  # the law that a task lifts to fetch one all the same


def code_of(path: str) -> str | None:
    """What kind of code the path of an address names, however it is spelled; None for data."""
    while (decoded := unquote(path)) != path:
        path = decoded
    name = path.rpartition("/")[2].lower().rstrip(". \t")
    name = _VERSION.sub(r"\1", name)
    return _NAMES.get(name.rpartition(".")[2]) if "." in name else None
