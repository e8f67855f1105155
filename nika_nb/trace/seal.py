"""The seal of a journal: a last frame whose signature binds head, count, workflow, engine and outputs."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from nika_nb.catalog.frames import ENGINE_VERSION, RUN_ENDS, SEALED
from nika_nb.engine.events import Event, Sink
from nika_nb.trace.artifact import NODE_BOUND, ArtifactRefused, decode_artifact
from nika_nb.trace.frame import Frame, encode
from nika_nb.trace.keys import PublicKey, SigningKey
from nika_nb.values import dumps_sorted

SEAL_FORMAT = "nika-nb-seal/1"

_SIGNATURE = re.compile(r"[0-9a-f]{128}")


class Chained(Protocol):
    """The journal that a seal is about."""

    @property
    def head(self) -> str | None: ...

    @property
    def events(self) -> int: ...

    @property
    def retired(self) -> bool: ...


class Sealing:
    """A sink before a sink: behind the frame that ends the run it adds the frame that seals the journal.

    journal: where the events that are handed on are written; workflow: the hash of the text that runs.
    """

    def __init__(self, sink: Sink, key: SigningKey, journal: Chained, workflow: str) -> None:
        self._sink = sink
        self._key = key
        self._journal = journal
        self._workflow = workflow

    def __call__(self, event: Event) -> None:
        self._sink(event)
        head = self._journal.head
        if event.kind in RUN_ENDS and head is not None and not self._journal.retired:
            outputs = event.get("outputs")
            covers = facts(
                head,
                self._journal.events,
                self._workflow,
                ENGINE_VERSION,
                digest(outputs) if outputs else None,
            )
            self._sink(_sealed(event, covers, self._key))


def facts(head: str | None, events: int, workflow: Any, engine: Any, outputs: str | None) -> dict[str, Any]:
    """What a seal covers; outputs: the digest of their JSON text, None where the run has none."""
    found = {"head": head, "events": events, "workflow": workflow, "engine": engine}
    return found | ({"outputs": outputs} if outputs is not None else {})


def digest(text: str) -> str:
    """SHA-256 of a JSON text as it stands in the journal."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _sealed(end: Event, covers: Mapping[str, Any], key: SigningKey) -> Event:
    text = dumps_sorted(covers)
    return _event(end.id, end.at, text, key.public.id, key.sign(_message(text)).hex())


def _event(end_id: str, at: int, covers: Any, key: Any, signature: Any) -> Event:
    """The frame of a seal: all of it follows from the frame before it and from these three."""
    fields = {"seal_format": SEAL_FORMAT, "covers": covers, "key": key, "sig": signature}
    return Event(SEALED, fields, at, _id(end_id))


def _message(covers: str) -> bytes:
    """What is signed: nothing that was signed for another purpose can stand in for it."""
    return f"{SEAL_FORMAT}\n{covers}".encode()


def _id(event_id: str) -> str:
    """A UUIDv7 of the end's own millisecond, made from its id: the same journal twice."""
    try:
        moment = UUID(event_id).bytes[:6]
    except ValueError:
        return ""
    noise = bytearray(hashlib.sha256(f"{event_id}/{SEALED}".encode()).digest()[:16])
    noise[:6] = moment
    noise[6] = noise[6] & 0x0F | 0x70
    noise[8] = noise[8] & 0x3F | 0x80
    return str(UUID(bytes=bytes(noise)))


@dataclass(frozen=True, slots=True)
class Seal:
    """A seal as it was read: its frame and line, the frame before it, what the journal says of itself."""

    frame: Frame
    line: bytes
    end: Frame
    before: Mapping[str, Any]

    @property
    def key(self) -> str:
        """The id of the key that it names; any text."""
        return str(self.frame.get("key"))

    def fault(self) -> str:
        """Why the seal is not this journal's, whoever signed it; empty where it fits."""
        if self.frame.get("seal_format") != SEAL_FORMAT:
            return "its seal has a format that is not known here"
        text = self.frame.get("covers")
        if self._rewritten() != self.line:
            return "its last line is not written as a seal is"
        try:
            covers = decode_artifact(str(text).encode("utf-8", "replace"), nodes=NODE_BOUND)
        except ArtifactRefused as refused:
            return f"what the seal covers cannot be read: {refused}"
        if not isinstance(covers, dict) or dumps_sorted(covers) != text:
            return "what the seal covers is not written as it should be"
        wrong = [name for name, value in self.before.items() if covers.get(name) != value]
        wrong += [name for name in ("outputs",) if name in covers and name not in self.before]
        return f"the seal was made over another {' and '.join(wrong)}" if wrong else ""

    def _rewritten(self) -> bytes:
        """The line as whoever seals would have written it: nothing in it is left to chance."""
        frame = self.frame
        event = _event(
            self.end.id, self.end.timestamp, frame.get("covers"), frame.get("key"), frame.get("sig")
        )
        return encode(event, frame.chain or "", self.end.run, self.end.correlation)

    def refused_by(self, key: PublicKey) -> str:
        """Why that key did not make the seal; empty where it did."""
        if self.key != key.id:
            return f"the seal was made with another key than {key.id}"
        signature = self.frame.get("sig")
        if not isinstance(signature, str) or not _SIGNATURE.fullmatch(signature):
            return "its signature is none"
        holds = key.holds(bytes.fromhex(signature), _message(str(self.frame.get("covers"))))
        return "" if holds else f"key {key.id} did not sign it"
