"""A builtin as the `invoke` verb uses it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from nika_nb.errors import Fault
from nika_nb.language.model import Permits
from nika_nb.tools.base import Asking
from nika_nb.verbs.invoke import Invoke
from tests.verbs.calls import Recorder


def use(recorder: Recorder, tool: str, permits: Permits | None = None, **arguments: Any) -> Any:
    """What the tool returns. `from_` stands for the argument `from`."""
    named = {name.removesuffix("_"): value for name, value in arguments.items()}
    call = recorder.call("invoke", {"tool": tool, "args": named})
    return asyncio.run(Invoke(permits, Asking()).run(call)).output


def fault(recorder: Recorder, tool: str, **arguments: Any) -> Fault:
    """The Fault that the tool raises."""
    with pytest.raises(Fault) as caught:
        use(recorder, tool, **arguments)
    return caught.value
