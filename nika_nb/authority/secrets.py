"""Secrets: read from their store at the first access, and known to the masker before anyone gets them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from nika_nb.authority.masking import Masker
from nika_nb.errors import Fault, hiding
from nika_nb.files import plain_bytes
from nika_nb.language.model import Secret, Workflow

UNRESOLVED_CODE = "NIKA-VAR-001"
_LARGEST = 1 << 20  # characters of a value

__all__ = ["Masker", "SecretStore", "hidden_before_a_run"]


class SecretStore(Mapping[str, str]):
    """name → value of the declared secrets, read from its store at the first access.

    Every value that is read is made known to the masker before anyone gets it. Raises Fault
    NIKA-VAR-001 for a secret that its store does not hold.
    """

    def __init__(
        self,
        secrets: Mapping[str, Secret],
        base: str | Path,
        masker: Masker,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._secrets = dict(secrets)
        self._base = Path(base)
        self._masker = masker
        self._environ = os.environ if environ is None else environ
        self._values: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        if name not in self._values:
            value = self._read(self._secrets[name])
            self._masker.add(name, value)
            if all(rule.to != "outputs" for rule in self._secrets[name].egress):
                self._masker.inside.add(name, value)
            self._values[name] = value
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._secrets)

    def __len__(self) -> int:
        return len(self._secrets)

    def __contains__(self, name: object) -> bool:
        return name in self._secrets

    def arm(self) -> None:
        """Make every secret that can be read known to the masker, whether or not it will be used.

        A child may say a secret that no template ever named.
        """
        for name in self._secrets:
            if self.missing(name) is None:
                self[name]

    def is_readable(self, name: str) -> bool:
        """Whether this version reads the store that a secret lies in."""
        return self._secrets[name].source in ("env", "file")

    def missing(self, name: str) -> str | None:
        """Why a secret cannot be read and how to provide it, or None."""
        try:
            self[name]
        except Fault as fault:
            return fault.message
        return None

    def markers(self, marker: Callable[[str, str, str], str]) -> dict[str, str]:
        """name → what stands for its value in an identity: the reference, never the value."""
        return {name: marker(name, secret.source, secret.key) for name, secret in self._secrets.items()}

    def _read(self, secret: Secret) -> str:
        if secret.source == "env":
            return self._from_environment(secret)
        if secret.source == "file":
            return self._from_file(secret)
        raise _unresolved(
            secret,
            "no vault can be read in this version",
            "declare `source: env` with the name of a variable, or `source: file` with a path",
        )

    def _from_environment(self, secret: Secret) -> str:
        value = self._environ.get(secret.key)
        if value:
            return value
        what = "is empty" if value is not None else "is not set"
        raise _unresolved(
            secret,
            f"the environment variable {secret.key} {what}",
            f"set it where the engine starts (`export {secret.key}=…`, in a notebook `%env {secret.key}=…`)",
        )

    def _from_file(self, secret: Secret) -> str:
        path = self._base / os.path.expanduser(secret.key)
        try:
            text = plain_bytes(path, _LARGEST).decode("utf-8")
        except OSError as error:
            why = f"{path} cannot be read: {error.strerror}"
            raise _unresolved(secret, why, "put the value there") from None
        except UnicodeDecodeError:
            raise _unresolved(secret, f"{path} is not UTF-8 text", "store the value as text") from None
        if len(text) > _LARGEST:
            raise _unresolved(secret, f"{path} has more than {_LARGEST >> 20} MiB", "put the value there")
        value = text.removesuffix("\n").removesuffix("\r")
        if not value:
            raise _unresolved(secret, f"{path} is empty", "put the value there")
        return value


@contextmanager
def hidden_before_a_run(workflows: Iterable[Workflow], base: str | Path) -> Iterator[Masker]:
    """What is told of workflows before there is a run, without those of their secrets that can be read."""
    masker = Masker()
    for workflow in workflows:
        SecretStore(workflow.secrets, base, masker).arm()
    before = hiding.set(masker.mask_text)
    try:
        yield masker
    finally:
        hiding.reset(before)


def _unresolved(secret: Secret, why: str, fix: str) -> Fault:
    return Fault(
        UNRESOLVED_CODE,
        f"`secrets.{secret.name}` has no value: {why}; {fix}",
        details={"secret": secret.name, "source": secret.source, "key": secret.key},
    )
