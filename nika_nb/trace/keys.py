"""The files of the keys that seal a journal and that judge a seal: Ed25519, the extra `[sign]`."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nika_nb.doors import install
from nika_nb.errors import UsageError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

_BOUND = 16 << 10  # bytes of a key's file
_RAW = 32  # bytes of a bare seed or a bare public key


@dataclass(frozen=True, slots=True)
class PublicKey:
    """What judges a seal. id: the SHA-256 of its 32 bytes, in hex; a journal holds that and nothing else."""

    id: str
    _key: Ed25519PublicKey = field(repr=False)

    def holds(self, signature: bytes, message: bytes) -> bool:
        """Whether the owner of this key signed that message."""
        from cryptography.exceptions import InvalidSignature

        try:
            self._key.verify(signature, message)
        except InvalidSignature:
            return False
        return True


@dataclass(frozen=True, slots=True)
class SigningKey:
    """What seals a journal."""

    public: PublicKey
    _key: Ed25519PrivateKey = field(repr=False)

    def sign(self, message: bytes) -> bytes:
        """64 bytes, the same for the same message."""
        return self._key.sign(message)


def signing_key(path: Path) -> SigningKey:
    """The key in a file: PEM, or the 32 bytes of its seed. Raises UsageError; never shows what is in it."""
    found = _ed25519()
    raw = _read(path, "the signing key")
    if len(raw) == _RAW:
        return _signing(found.Ed25519PrivateKey.from_private_bytes(raw))
    key = _parse(path, "the signing key", lambda: _serialization().load_pem_private_key(raw, None))
    if not isinstance(key, found.Ed25519PrivateKey):
        raise UsageError(
            f"the signing key {path} is none of Ed25519: make one with `nika-nb trace key new PATH`"
        )
    return _signing(key)


def public_key(path: Path) -> PublicKey:
    """The public key in a file: PEM, or its 32 bytes. Raises UsageError."""
    found = _ed25519()
    raw = _read(path, "the public key")
    if b"PRIVATE KEY" in raw:
        raise UsageError(f"{path} is a signing key: give the public one, {path.name}.pub, and keep this one")
    if len(raw) == _RAW:
        return _public(found.Ed25519PublicKey.from_public_bytes(raw))
    key = _parse(path, "the public key", lambda: _serialization().load_pem_public_key(raw))
    if not isinstance(key, found.Ed25519PublicKey):
        raise UsageError(f"the public key {path} is none of Ed25519")
    return _public(key)


def new_key(path: Path) -> tuple[SigningKey, Path]:
    """Makes a key: the file, for its owner alone, and the public one beside it; (the key, that file).

    Raises UsageError where either file is there already: a key is never written over.
    """
    key = _ed25519().Ed25519PrivateKey.generate()
    forms = _serialization()
    secret = key.private_bytes(forms.Encoding.PEM, forms.PrivateFormat.PKCS8, forms.NoEncryption())
    public = key.public_key().public_bytes(forms.Encoding.PEM, forms.PublicFormat.SubjectPublicKeyInfo)
    beside = path.with_name(f"{path.name}.pub")
    if beside.exists():
        raise UsageError(f"{beside} is there already: a key is never written over")
    _create(path, secret, 0o600)
    _create(beside, public, 0o644)
    return _signing(key), beside


def exposed(path: Path) -> bool:
    """Whether others than its owner may read a signing key's file."""
    try:
        return bool(path.stat().st_mode & 0o077)
    except OSError:
        return False


def _signing(key: Any) -> SigningKey:
    return SigningKey(_public(key.public_key()), key)


def _public(key: Any) -> PublicKey:
    return PublicKey(hashlib.sha256(key.public_bytes_raw()).hexdigest(), key)


def _read(path: Path, what: str) -> bytes:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise UsageError(f"{what} {path} is no file")
        with path.open("rb") as stream:
            raw = stream.read(_BOUND + 1)
    except OSError as error:
        raise UsageError(f"{what} {path} cannot be read: {error.strerror}") from None
    if len(raw) > _BOUND:
        raise UsageError(f"{what} {path} is larger than the {_BOUND} bytes of a key: it was not read")
    return raw


def _parse(path: Path, what: str, load: Callable[[], Any]) -> Any:
    try:
        return load()
    except TypeError:
        raise UsageError(f"{what} {path} is locked with a passphrase, which is not supported") from None
    except Exception:  # noqa: BLE001 - what a library says of a key's bytes is not passed on
        raise UsageError(f"{what} {path} is none: neither PEM nor {_RAW} bytes") from None


def _create(path: Path, content: bytes, mode: int) -> None:
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except FileExistsError:
        raise UsageError(f"{path} is there already: a key is never written over") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None
    with os.fdopen(fd, "wb") as stream:
        stream.write(content)


def _ed25519() -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise UsageError(f"sealing needs the package `cryptography`: {install('cryptography')}") from None
    return ed25519


def _serialization() -> Any:
    from cryptography.hazmat.primitives import serialization

    return serialization
