"""A child's environment is composed: floor, declared passthrough, the task's own; never inherited."""

from __future__ import annotations

import pytest

from nika_nb.authority.env import compose
from nika_nb.catalog.environment import DANGEROUS, is_dangerous
from nika_nb.errors import Fault
from tests.verbs.calls import permits

AROUND = {"PATH": "/bin", "HOME": "/home/me", "TOKEN": "t", "SHELL": "/bin/zsh", "LD_PRELOAD": "evil.so"}


def test_only_the_floor_without_a_declaration() -> None:
    """Nothing of the engine's environment passes but the floor, block or no block."""
    for block in (None, permits(), permits(exec=True)):
        assert compose(block, None, AROUND).values == {"PATH": "/bin", "HOME": "/home/me"}


def test_a_declared_name_passes() -> None:
    """A declared name brings its value, and is named; one that is not set brings nothing."""
    composed = compose(permits(env=["TOKEN", "ABSENT"]), None, AROUND)
    assert composed.values == {"PATH": "/bin", "HOME": "/home/me", "TOKEN": "t"}
    assert composed.passed == ("TOKEN",)


def test_the_task_wins_over_the_passthrough() -> None:
    """The task's own map is applied last; its values become text."""
    composed = compose(permits(env=["TOKEN"]), {"TOKEN": "mine", "N": 3, "ON": True, "L": [1]}, AROUND)
    assert composed.values["TOKEN"] == "mine"
    assert (composed.values["N"], composed.values["ON"], composed.values["L"]) == ("3", "true", "[1]")


@pytest.mark.parametrize("name", [*sorted(DANGEROUS), "LD_AUDIT", "DYLD_X", "GIT_CONFIG_COUNT"])
def test_dangerous_names_never_pass(name: str) -> None:
    """A name that makes a tool run something unwritten is taken out, whoever asked for it."""
    composed = compose(permits(env=[name]), {name: "x"}, {name: "x"})
    assert composed.values == {}
    assert composed.passed == ()


def test_ordinary_names_are_not_dangerous() -> None:
    """The floor and everyday names pass."""
    for name in ("PATH", "HOME", "API_KEY", "PYTHONPATH", "CI", "LDFLAGS", "GIT_AUTHOR_NAME"):
        assert not is_dangerous(name)


@pytest.mark.parametrize("name", ["A=B", "", "A B", "1A", "A-B", "BASH_FUNC_x%%", "A\0"])
def test_a_name_no_process_can_carry_is_refused(name: str) -> None:
    """A malformed name fails as a spawn failure that names it."""
    with pytest.raises(Fault, match="no process can carry") as caught:
        compose(permits(), {name: "x"}, {})
    assert caught.value.code == "NIKA-EXEC-002"


def test_a_value_with_a_nul_is_refused() -> None:
    """A NUL would cut the value short."""
    with pytest.raises(Fault, match="`env: A` holds a NUL"):
        compose(permits(), {"A": "x\0y"}, {})
