"""What is called `%nika why` in a notebook is found under the same word in a terminal."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence

_GROUPS = {
    "why": "trace", "show": "trace", "verify": "trace", "replay": "trace", "diff": "trace",
    "doctor": "trace", "sweep": "trace",
    "deploy": "runs", "deployments": "runs", "undeploy": "runs", "cancel": "runs",
}  # fmt: skip
TOLD = f"also without their group: {', '.join(_GROUPS)} (`nika-nb why` is `nika-nb trace why`)"


def placed(words: Sequence[str]) -> list[str]:
    """The words of a line with the group in front of a command that is called without it."""
    group = _GROUPS.get(words[0]) if words else None
    return [group, *words] if group else list(words)


def commands_of(parser: argparse.ArgumentParser) -> Mapping[str, argparse.ArgumentParser]:
    """The commands that stand below one, by name."""
    return {name: below for action in parser._actions for name, below in named(action).items()}


def named(action: argparse.Action) -> Mapping[str, argparse.ArgumentParser]:
    """The commands that one place of a line takes, by name; none where it takes something else."""
    return action.choices if isinstance(action, argparse._SubParsersAction) else {}
