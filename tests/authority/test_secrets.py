"""Secrets come from their store when they are first read, and the masker knows them before anyone."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from nika_nb.authority.secrets import Masker, SecretStore
from nika_nb.errors import Fault
from nika_nb.language.model import Secret
from nika_nb.plan.identity import secret_marker
from tests.verbs.calls import NOWHERE


def secret(name: str, source: Literal["env", "file", "vault"], key: str) -> Secret:
    return Secret(name, source, key, (), NOWHERE)


def store(*secrets: Secret, base: Path | str = "/", **environ: str) -> tuple[SecretStore, Masker]:
    masker = Masker()
    return SecretStore({one.name: one for one in secrets}, base, masker, environ), masker


def test_an_environment_secret() -> None:
    """The value is the variable's, and it is masked from the moment it was read."""
    values, masker = store(secret("token", "env", "MY_TOKEN"), MY_TOKEN="hunter22")
    assert not masker.found("hunter22")
    assert values["token"] == "hunter22"
    assert masker.found("hunter22")
    assert list(values) == ["token"]
    assert "token" in values


@pytest.mark.parametrize("text", ["hunter22", "hunter22\n", "hunter22\r\n"])
def test_a_file_secret(text: str, tmp_path: Path) -> None:
    """The value is the file's text without the newline that editors add."""
    (tmp_path / "key").write_text(text, newline="")
    values, _ = store(secret("key", "file", "./key"), base=tmp_path)
    assert values["key"] == "hunter22"


def test_a_file_secret_keeps_its_inner_newlines(tmp_path: Path) -> None:
    """Only one newline at the end is taken off."""
    (tmp_path / "key").write_text("a\nb\n\n")
    values, _ = store(secret("key", "file", "key"), base=tmp_path)
    assert values["key"] == "a\nb\n"


def test_a_home_folder_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`~` in a path is the home folder."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "key").write_text("hunter22")
    values, _ = store(secret("key", "file", "~/key"))
    assert values["key"] == "hunter22"


MISSING = [
    (secret("token", "env", "NOT_SET"), "variable NOT_SET is not set"),
    (secret("token", "env", "EMPTY"), "variable EMPTY is empty"),
    (secret("token", "file", "/nowhere/at/all"), "/nowhere/at/all cannot be read"),
    (secret("token", "vault", "prod/key"), "no vault"),
]


@pytest.mark.parametrize(("missing", "why"), MISSING, ids=lambda part: getattr(part, "key", ""))
def test_a_missing_secret_says_how_to_provide_it(missing: Secret, why: str) -> None:
    """The failure names the secret, its store, and what to do; it is an unresolved reference."""
    values, _ = store(missing, EMPTY="")
    with pytest.raises(Fault, match=why) as caught:
        values["token"]
    assert caught.value.code == "NIKA-VAR-001"
    assert "`secrets.token`" in caught.value.message
    assert values.missing("token") == caught.value.message


def test_arming_knows_what_no_template_named() -> None:
    """Every secret that can be read is masked, even if only a child ever says it."""
    values, masker = store(secret("a", "env", "A"), secret("b", "env", "B"), A="hunter22")
    values.arm()
    assert masker.mask("hunter22") != "hunter22"
    assert masker.names == ["a"]


def test_markers_never_read_a_store() -> None:
    """What stands for a secret in an identity is its reference; the store is not asked."""
    values, masker = store(secret("token", "env", "NOT_SET"))
    assert values.markers(secret_marker) == {"token": secret_marker("token", "env", "NOT_SET")}
    assert masker.names == []
