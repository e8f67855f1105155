"""The check looks at the names in a task's `env:`."""

from __future__ import annotations

import pytest

import nika_nb
from nika_nb.errors import Diagnostic


def found(names: str) -> list[Diagnostic]:
    task = f"{{ exec: {{ command: [env], env: {{ {names} }} }} }}"
    return [*nika_nb.check(f"nika: a\npermits: {{ exec: [env] }}\ntasks: {{ t: {task} }}\n").diagnostics]


@pytest.mark.parametrize("name", ["LD_PRELOAD", "BASH_ENV", "PERL5OPT", "GIT_CONFIG_COUNT"])
def test_a_variable_that_never_arrives_is_told(name: str) -> None:
    """It is taken out of what the process gets, and its author has to know."""
    [warning] = found(f"A: a, {name}: b")
    assert (warning.code, warning.severity, warning.task) == ("NIKA-AUTH-009", "warning", "t")
    assert f"`{name}`" in warning.message


@pytest.mark.parametrize("name", ["A=B", "1A", "A B", ""])
def test_a_name_that_no_process_can_carry(name: str) -> None:
    """Refused before anything runs."""
    [error] = found(f'"{name}": a')
    assert (error.code, error.severity) == ("NIKA-PARSE-019", "error")


def test_the_usual_names() -> None:
    """Nothing is said of them."""
    assert found("PATH: /bin, PYTHONPATH: ./src, lower: a, _X: b") == []
