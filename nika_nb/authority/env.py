"""A child's environment: composed from the floor, the declared passthrough and the task; never inherited."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nika_nb.authority.permits import shared
from nika_nb.catalog.environment import FLOOR, is_dangerous
from nika_nb.errors import Fault
from nika_nb.language.model import Permits
from nika_nb.values import to_text

# How a kernel's process is known without importing one: the module is there, and its application is made.
_KERNEL = ("ipykernel.kernelapp", "IPKernelApp")

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Composed:
    """values: what the child gets. passed: the declared names that the engine's environment had."""

    values: dict[str, str]
    passed: tuple[str, ...]


def surroundings() -> Mapping[str, str]:
    """The environment that children's are composed from: this process's, with a kernel's programs first."""
    own = kernel_programs()
    if own is None:
        return os.environ
    path = os.environ.get("PATH", os.defpath)
    return {**os.environ, "PATH": os.pathsep.join([own, path])}


def kernel_programs() -> str | None:
    """The folder that `python` and `pip` lie in for whoever writes in this kernel.

    None outside of a kernel, outside of an environment of its own, and where the PATH begins with it.
    """
    folder = os.path.dirname(sys.executable)
    own = sys.prefix != sys.base_prefix or os.path.isdir(os.path.join(sys.prefix, "conda-meta"))
    first = os.environ.get("PATH", "").partition(os.pathsep)[0]
    return folder if own and folder and first != folder and _in_kernel() else None


def _in_kernel() -> bool:
    module, name = _KERNEL
    application = getattr(sys.modules.get(module), name, None)
    return bool(application is not None and application.initialized())


def program_on(path: str, name: str) -> str | None:
    """The file of a program named without a path; relative folders of a PATH do not count.

    A folder that depends on where the task stands could put its own file under a permitted name.
    """
    folders = [folder for folder in path.split(os.pathsep) if os.path.isabs(folder)]
    return shutil.which(name, path=os.pathsep.join(folders)) if folders else None


def compose(permits: Permits | None, task: Mapping[str, Any] | None, environ: Mapping[str, str]) -> Composed:
    """The environment of one child.

    The task's own map wins over the passthrough, which wins over the floor; the names that can
    make a tool run something unwritten are taken out last. Raises Fault NIKA-EXEC-002 for a name
    or a value that no process can carry.
    """
    declared = shared(permits, lambda boundary: boundary.env)
    passed = tuple(name for name in declared if name in environ and not is_dangerous(name))
    values = {name: environ[name] for name in (*FLOOR, *passed) if name in environ}
    values |= {_name(name): _value(name, value) for name, value in (task or {}).items()}
    return Composed({name: value for name, value in values.items() if not is_dangerous(name)}, passed)


def _name(name: str) -> str:
    if not NAME.fullmatch(name):
        raise Fault(
            "NIKA-EXEC-002",
            f"`env:` has the name {name!r}, which no process can carry; use letters, digits and `_`",
        )
    return name


def _value(name: str, value: Any) -> str:
    text = to_text(value)
    if "\0" in text:
        raise Fault("NIKA-EXEC-002", f"the value of `env: {name}` holds a NUL, which no process can carry")
    return text
