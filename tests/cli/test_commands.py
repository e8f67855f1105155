"""A word that is no command: where it stands, or what may have been meant."""

from __future__ import annotations

import pytest

from tests.doors import Terminal


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "nika-nb: which command? `nika-nb --help` lists them"),
        (("runs",), "nika-nb runs: which command? `nika-nb runs --help` lists them"),
        (("checkpoints", "x"), "'checkpoints' stands in a group: `nika-nb runs checkpoints`"),
        (("ls",), "'ls' stands in a group: `nika-nb trace ls` or `nika-nb book ls`"),
        (("chek", "flow.nika.yaml"), "'chek' is none of check, run, answer"),
        (("chek", "flow.nika.yaml"), "did you mean `check`?"),
    ],
)
def test_a_line_without_a_command_says_what_to_write(
    words: tuple[str, ...], told: str, terminal: Terminal
) -> None:
    ended = terminal(*words)
    assert ended.code == 3
    assert told in ended.err
