"""Seals: what they bind, what they show of a cut or an edit, and that no key leaves its file."""

from __future__ import annotations

import json
import stat
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nika_nb.engine.events import Event
from nika_nb.errors import UsageError
from nika_nb.trace.artifact import ArtifactRefused, decode_artifact
from nika_nb.trace.keys import SigningKey, new_key, public_key, signing_key
from nika_nb.trace.reader import read
from nika_nb.trace.seal import Sealing, digest
from nika_nb.trace.verify import Demands, verify
from nika_nb.trace.writer import Journal
from tests.doors import rewritten
from tests.trace.journals import SOURCE, START, story, uuid_at, write

SEED = bytes(range(32))
OTHER = bytes(range(1, 33))


@pytest.fixture
def key(tmp_path: Path) -> SigningKey:
    return of_seed(tmp_path, SEED)


def of_seed(folder: Path, seed: bytes) -> SigningKey:
    path = folder / f"seed-{seed[0]}"
    path.write_bytes(seed)
    return signing_key(path)


def promised(events: list[Event], key: SigningKey) -> list[Event]:
    """The same run, started where a key is at hand."""
    return [replace(events[0], fields=events[0].fields | {"seal_key": key.public.id}), *events[1:]]


def sealed(folder: Path, key: SigningKey, events: list[Event] | None = None) -> Path:
    """A journal that was sealed when its run ended."""
    journal = Journal(folder, run="call-1", correlation="run-1")
    events = promised(story(), key) if events is None else events
    sink = Sealing(journal, key, journal, events[0].fields["workflow_sha256"])
    for event in events:
        sink(event)
    journal.close()
    assert (journal.error, journal.path is not None) == (None, True)
    assert journal.path is not None
    return journal.path


def of(key: SigningKey) -> Demands:
    return Demands(public_key=key.public, sealed=True)


def test_a_sealed_journal(tmp_path: Path, key: SigningKey) -> None:
    """The verdict line says SEALED, by which key, and with which head."""
    path = sealed(tmp_path, key)
    verdict = verify(path, of(key))
    assert (verdict.verdict, verdict.exit_code, verdict.events) == ("sealed", 0, 24)
    assert verdict.sentence.startswith(f"SEALED — 24 events · chain intact · head {verdict.head}")
    assert verdict.sentence.endswith(f"sealed with key {key.public.id}")
    assert read(path).state == "completed"


def test_what_a_seal_covers(tmp_path: Path, key: SigningKey) -> None:
    """The head and the count before it, the text that ran, the engine, the outputs; and nothing of a key."""
    path = sealed(tmp_path, key)
    trace = read(path)
    before, seal = trace.frames[-2], trace.frames[-1]
    covers = json.loads(seal.get("covers"))
    assert covers == {
        "engine": "nika-nb/1",
        "events": 23,
        "head": seal.chain,
        "outputs": digest(before.get("outputs")),
        "workflow": trace.prologue["workflow_sha256"],
    }
    assert seal.fields.keys() == {"seal_format", "covers", "key", "sig"}
    raw = path.read_bytes()
    assert SEED not in raw
    assert SEED.hex().encode() not in raw


def test_without_a_public_key_the_seal_is_only_mentioned(tmp_path: Path, key: SigningKey) -> None:
    """Nothing is called SEALED that nobody checked."""
    verdict = verify(sealed(tmp_path, key))
    assert verdict.verdict == "clean"
    assert verdict.sentence.startswith("OK — 24 events")
    assert verdict.sentence.endswith(f"it says key {key.public.id} sealed it: not checked")


@pytest.mark.parametrize("lines", [1, 2, 12])
def test_a_cut_off_tail_of_a_sealed_journal(tmp_path: Path, key: SigningKey, lines: int) -> None:
    """Detected where the seal is required; without its end the promise of the first frame tells it too."""
    path = sealed(tmp_path, key)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-lines]))
    verdict = verify(path, of(key))
    assert (verdict.verdict, verdict.exit_code) == ("unsealed", 2)
    assert verdict.sentence.startswith(f"NOT SEALED — {24 - lines} events")
    unasked = verify(path)
    assert (unasked.verdict, unasked.exit_code) == (("unsealed", 2) if lines == 1 else ("incomplete", 0))
    assert "its first frame promises a seal" in unasked.sentence
    assert unasked.intact


def test_a_cut_off_tail_of_an_unsealed_journal(tmp_path: Path) -> None:
    """Named as what it is: killed or cut; the head that was kept tells which."""
    path = write(tmp_path, story())
    head = verify(path).head
    assert head is not None
    assert verify(path, Demands(expect_head=head)).verdict == "clean"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-3]))
    unasked = verify(path)
    assert (unasked.verdict, unasked.exit_code) == ("incomplete", 0)
    assert "it was killed, or its end was cut off" in unasked.sentence
    cut = verify(path, Demands(expect_head=head))
    assert (cut.verdict, cut.exit_code) == ("cut", 2)
    assert cut.sentence.startswith(
        f"CUT — 20 events · chain intact · head {unasked.head} · {head} was expected"
    )


def test_lines_added_behind_the_head_that_was_kept(tmp_path: Path) -> None:
    """The chain holds, and still it is not the journal of that day."""
    path = write(tmp_path, story()[:20])
    head = verify(path).head
    longer = verify(write(tmp_path / "longer", story()), Demands(expect_head=head))
    assert (longer.verdict, longer.exit_code) == ("grown", 2)
    assert "the expected head is that of event 20" in longer.sentence


def test_a_torn_tail_and_a_head(tmp_path: Path, key: SigningKey) -> None:
    """Half a line behind the kept head takes nothing away; half a seal is none."""
    path = write(tmp_path, story())
    head = verify(path).head
    path.write_bytes(path.read_bytes() + b'{"chain"')
    assert verify(path, Demands(expect_head=head)).verdict == "torn"
    half = sealed(tmp_path / "half", key)
    half.write_bytes(half.read_bytes()[:-30])
    assert verify(half, of(key)).verdict == "unsealed"
    behind = sealed(tmp_path / "behind", key)
    behind.write_bytes(behind.read_bytes() + b"\0" * 9)
    verdict = verify(behind, of(key))
    assert (verdict.verdict, verdict.checked) == ("torn", True)
    assert f"sealed with key {key.public.id}" in verdict.sentence


@pytest.mark.parametrize("text", ["", "abc", "0" * 63, "0" * 65, "G" * 64])
def test_a_head_is_given_whole(text: str) -> None:
    """A part of a head proves as little as none."""
    with pytest.raises(UsageError, match="64 hex digits"):
        Demands(expect_head=text)


def test_a_required_seal_needs_a_key(key: SigningKey) -> None:
    """Anybody can seal with a key of their own."""
    with pytest.raises(UsageError, match="whose seal"):
        Demands(sealed=True)


@dataclass
class Case:
    """What is done to the members of the last line, re-chained, and what the verdict says."""

    name: str
    change: Callable[[dict[str, Any]], Any]
    said: str


def _covering(**other: Any) -> Callable[[dict[str, Any]], None]:
    def change(fields: dict[str, Any]) -> None:
        covers = json.loads(fields["covers"]) | other
        fields["covers"] = json.dumps(covers, separators=(",", ":"), sort_keys=True)

    return change


def _put(**other: Any) -> Callable[[dict[str, Any]], None]:
    return lambda fields: fields.update(other)


CASES = [
    Case("another count", _covering(events=22), "made over another events"),
    Case("another head", _covering(head="0" * 64), "made over another head"),
    Case("another text", _covering(workflow="0" * 64), "made over another workflow"),
    Case("another engine", _covering(engine="0.1"), "made over another engine"),
    Case("other outputs", _covering(outputs="0" * 64), "made over another outputs"),
    Case("something besides", _covering(more=1), "did not sign it"),
    Case("a signature of zeros", _put(sig="0" * 128), "did not sign it"),
    Case("half a signature", _put(sig="0" * 64), "its signature is none"),
    Case("no signature", _put(sig=None), "its signature is none"),
    Case("another format", _put(seal_format="nika-nb-seal/2"), "a format that is not known"),
    Case("another key's name", _put(key="0" * 64), "another key than the first frame promises"),
    Case("written otherwise", lambda f: f.update(covers=f["covers"].replace(",", ", ", 1)), "as it should"),
    Case("no object", _put(covers="[]"), "as it should"),
    Case("no text", _put(covers=7), "as it should"),
    Case("something more", _put(more=1), "its last line is not written as a seal is"),
    Case("a flood", _put(covers="[" + ",".join(["{}"] * 64) + "]"), "ProofFlood"),
    Case("a well", _put(covers="[" * 33 + "]" * 33), "TooDeep"),
    Case("twice the same name", _put(covers='{"head":1,"head":2}'), "Malformed"),
    Case("a long name", _put(covers=json.dumps({"n" * 257: 1}).replace(" ", "")), "IdOverflow"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_seal_that_is_not_this_journals(tmp_path: Path, key: SigningKey, case: Case) -> None:
    """Its chain holds and the seal does not: exit code 2, with the reason, and nothing is resumed from it."""

    def change(shape: dict[str, Any]) -> None:
        if shape["kind"] == "run_sealed":
            case.change(shape["fields"])

    verdict = verify(rewritten(sealed(tmp_path, key), change), of(key))
    assert (verdict.verdict, verdict.exit_code, verdict.intact) == ("seal-broken", 2, False)
    assert verdict.sentence.startswith("SEAL BROKEN — 24 events")
    assert case.said in verdict.sentence


def test_the_seal_of_somebody_else(tmp_path: Path, key: SigningKey) -> None:
    """A journal that was sealed again with another key is not sealed with mine."""
    other = of_seed(tmp_path, OTHER)
    path = sealed(tmp_path, other)
    assert verify(path, of(other)).verdict == "sealed"
    refused = verify(path, of(key))
    assert (refused.verdict, refused.exit_code) == ("seal-broken", 2)
    assert f"another key than {key.public.id}" in refused.sentence
    posing = replace(other, public=replace(other.public, id=key.public.id))
    assert f"key {key.public.id} did not sign it" in verify(sealed(tmp_path / "b", posing), of(key)).sentence


def test_frames_behind_a_seal(tmp_path: Path, key: SigningKey) -> None:
    """A seal is the last line."""
    path = sealed(tmp_path, key)
    journal = Journal(tmp_path / "longer", run="call-1", correlation="run-1")
    sink = Sealing(journal, key, journal, story()[0].fields["workflow_sha256"])
    for event in [*promised(story(), key), Event("workflow_completed", {}, 1, "")]:
        sink(event)
    journal.close()
    assert journal.path is not None
    for trace in (journal.path, _appended(path)):
        assert verify(trace).verdict == "seal-broken"
        assert "frames stand behind the seal" in verify(trace, of(key)).sentence


def _appended(path: Path) -> Path:
    from nika_nb.trace.frame import encode, link

    last = path.read_bytes().splitlines()[-1]
    line = encode(Event("nb_note", {}, 1, ""), link(last), "call-1", "run-1")
    path.write_bytes(path.read_bytes() + line + b"\n")
    return path


@settings(max_examples=400, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 255), st.booleans(), st.booleans())
def test_no_byte_can_be_changed_under_a_seal(
    tmp_path_factory: pytest.TempPathFactory, at: int, flip: int, cut: bool, late: bool
) -> None:
    """Any byte changed, or the file cut anywhere: it is not called sealed. Half of the tries hit the seal."""
    folder = tmp_path_factory.getbasetemp() / "bytes"
    folder.mkdir(exist_ok=True)
    key = of_seed(folder, SEED)
    data = sealed(folder, key).read_bytes().rstrip(b"\n")
    begin = data.rindex(b"\n") if late else 0
    at = begin + at % (len(data) - begin)
    changed = data[:at] if cut else data[:at] + bytes([data[at] ^ flip]) + data[at + 1 :]
    path = folder / "changed.ndjson"
    path.write_bytes(changed)
    verdict = verify(path, of(key))
    assert not verdict.checked
    assert verdict.exit_code


def test_the_line_of_a_seal_follows_from_the_line_before(tmp_path: Path, key: SigningKey) -> None:
    """Its time, its id, its run and its form: none of them can be put otherwise."""
    path = sealed(tmp_path, key)
    lines = path.read_bytes().splitlines(keepends=True)
    shape = json.loads(lines[-1])
    for other in (
        {"timestamp": shape["timestamp"] + 1},
        {"id": {"uuid": "019ffc44-2df8-7510-b116-000000000099"}},
        {"run": None},
        {"correlation": "another"},
        {"more": 1},
        {"fields": [*shape["fields"], {"key": "more", "value": 1}]},
        {"fields": shape["fields"][::-1]},
    ):
        text = json.dumps(shape | other, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()
        path.write_bytes(b"".join([*lines[:-1], text]))
        assert "its last line is not written as a seal is" in verify(path, of(key)).sentence
    path.write_bytes(b"".join(lines[:-1]) + json.dumps(shape).encode())
    assert verify(path, of(key)).verdict == "seal-broken"


def test_the_same_run_is_sealed_with_the_same_bytes(tmp_path: Path, key: SigningKey) -> None:
    """Nothing in a seal is of chance."""
    assert sealed(tmp_path / "a", key).read_bytes() == sealed(tmp_path / "b", key).read_bytes()


def test_outputs_in_pages_are_covered(tmp_path: Path, key: SigningKey) -> None:
    """Also those that are too large for a line."""
    events = promised(story(), key)
    text = json.dumps({"sum": "ß🦋" * 60_000}, ensure_ascii=False)
    events[-1] = replace(events[-1], fields=events[-1].fields | {"outputs": text})
    path = sealed(tmp_path, key, events)
    assert verify(path, of(key)).verdict == "sealed"
    seal = read(path).frames[-1]
    assert json.loads(seal.get("covers"))["outputs"] == digest(text)


@pytest.mark.parametrize("end", ["workflow_failed", "workflow_paused", "workflow_cancelled"])
def test_every_stop_is_sealed(tmp_path: Path, key: SigningKey, end: str) -> None:
    """A failed, a paused and a cancelled run as well; they have no outputs."""
    events = promised(story(), key)
    events[-1] = replace(events[-1], kind=end, fields={"workflow": "w", "task": "ask"})
    path = sealed(tmp_path, key, events)
    assert verify(path, of(key)).verdict == "sealed"
    assert "outputs" not in json.loads(read(path).frames[-1].get("covers"))


def test_a_run_that_never_ended_has_no_seal(tmp_path: Path, key: SigningKey) -> None:
    """A killed writer cannot attest its own death."""
    path = sealed(tmp_path, key, promised(story(), key)[:-1])
    assert verify(path).verdict == "incomplete"
    assert verify(path, of(key)).verdict == "unsealed"


def test_a_journal_that_broke_off_is_not_sealed(tmp_path: Path, key: SigningKey) -> None:
    """Whoever watches the events sees no seal either: there is no head to vouch for."""
    journal = Journal(tmp_path, run="call-1", correlation="run-1")
    seen: list[str] = []

    def sink(event: Event) -> None:
        journal(event)
        seen.append(event.kind)

    sealing = Sealing(sink, key, journal, "0" * 64)
    sealing(story()[0])
    sealing(Event("task_failed", {"odd": ["x" * 1000] * 2000}, START, uuid_at(2)))  # fits no line
    assert journal.retired
    sealing(story()[-1])
    assert seen == ["workflow_started", "task_failed", "workflow_completed"]


def test_an_unsealed_journal_and_a_key(tmp_path: Path, key: SigningKey) -> None:
    """Where no seal is required, that there is none is said all the same."""
    verdict = verify(write(tmp_path, story()), Demands(public_key=key.public))
    assert (verdict.verdict, verdict.exit_code) == ("clean", 0)
    assert verdict.sentence.endswith("there is NO SEAL to check")


def test_a_command_without_a_witness_stays_told(tmp_path: Path, key: SigningKey) -> None:
    """A seal says who vouches for a journal, not that it is complete."""
    events = [event for event in promised(story(), key) if event.kind != "permit_checked"]
    verdict = verify(sealed(tmp_path, key, events), of(key))
    assert verdict.verdict == "sealed"
    assert verdict.sentence.endswith("a command ran and no frame witnesses its permit")


# -- keys --------------------------------------------------------------------------------------


def test_a_published_vector(tmp_path: Path) -> None:
    """The first test of RFC 8032: a bare seed, an empty message."""
    path = tmp_path / "seed"
    path.write_bytes(bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"))
    signature = signing_key(path).sign(b"")
    assert signature.hex().startswith("e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155")
    bare = tmp_path / "public"
    bare.write_bytes(bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"))
    assert public_key(bare).holds(signature, b"")
    assert not public_key(bare).holds(signature, b" ")
    assert public_key(bare).id == signing_key(path).public.id


def test_a_new_key(tmp_path: Path) -> None:
    """The secret for its owner alone, the public one beside it; neither is ever written over."""
    path = tmp_path / "key.pem"
    key, public = new_key(path)
    assert (stat.S_IMODE(path.stat().st_mode), public) == (0o600, tmp_path / "key.pem.pub")
    assert signing_key(path).public.id == key.public.id == public_key(public).id
    before = path.read_bytes()
    for _ in range(2):
        with pytest.raises(UsageError, match="is there already"):
            new_key(path)
        assert path.read_bytes() == before
        public.unlink(missing_ok=True)
    assert not public.exists()
    with pytest.raises(UsageError, match="cannot be written"):
        new_key(tmp_path / "nowhere" / "key")


RSA_NOT = "-----BEGIN PRIVATE KEY-----\nTk9ULUEtS0VZ\n-----END PRIVATE KEY-----\n"


@pytest.mark.parametrize(
    "content",
    [b"", b"k" * 31, b"k" * 33, RSA_NOT.encode(), b"secret-" * 9, b"secret-" * 9000],
    ids=["empty", "a byte too few", "a byte too many", "pem of nothing", "text", "large"],
)
def test_a_file_that_holds_no_key(tmp_path: Path, content: bytes) -> None:
    """Refused in a sentence that names the file and shows nothing of it."""
    path = tmp_path / "key"
    path.write_bytes(content)
    for load in (signing_key, public_key):
        with pytest.raises(UsageError) as caught:
            load(path)
        assert str(path) in str(caught.value)
        assert "secret" not in str(caught.value)
        assert caught.value.__cause__ is None


def test_keys_of_other_kinds(tmp_path: Path) -> None:
    """A passphrase, another algorithm, the wrong half of a pair."""
    from cryptography.hazmat.primitives import serialization as forms
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519

    def pem(key: Any, lock: Any) -> bytes:
        return bytes(key.private_bytes(forms.Encoding.PEM, forms.PrivateFormat.PKCS8, lock))

    path = tmp_path / "key"
    path.write_bytes(pem(ed25519.Ed25519PrivateKey.generate(), forms.BestAvailableEncryption(b"pass")))
    with pytest.raises(UsageError, match="passphrase"):
        signing_key(path)
    path.write_bytes(pem(ec.generate_private_key(ec.SECP256R1()), forms.NoEncryption()))
    with pytest.raises(UsageError, match="is none of Ed25519"):
        signing_key(path)
    _, public = new_key(tmp_path / "pair")
    with pytest.raises(UsageError, match="is none: neither PEM"):
        signing_key(public)
    with pytest.raises(UsageError, match="is a signing key: give the public one"):
        public_key(tmp_path / "pair")


def test_no_key_can_be_seen(key: SigningKey) -> None:
    """Neither a key's repr nor that of what holds it shows more than the public id."""
    assert repr(key) == f"SigningKey(public=PublicKey(id='{key.public.id}'))"
    assert SEED.hex() not in repr(key)


def test_a_missing_extra_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing else of the package needs it."""
    for name in [name for name in sys.modules if name.startswith("cryptography")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    path = tmp_path / "seed"
    path.write_bytes(SEED)
    for call in (lambda: signing_key(path), lambda: public_key(path), lambda: new_key(tmp_path / "k")):
        with pytest.raises(UsageError, match="pip install cryptography"):
            call()
    assert verify(write(tmp_path, story())).verdict == "clean"


# -- documents that somebody else may have written -----------------------------------------------


@pytest.mark.parametrize(
    ("raw", "refusal"),
    [
        (b'"' + b"x" * (1 << 20) + b'"', "Oversized"),
        (b"[" * 33 + b"]" * 33, "TooDeep"),
        (b"[" * 500_000, "TooDeep"),
        (b'{"a":' * 33 + b"1" + b"}" * 33, "TooDeep"),
        (b"{", "Malformed"),
        (b'{"a":1,"a":2}', "Malformed"),
        (b"[NaN]", "Malformed"),
        (b"\xff", "Malformed"),
        (b'"\\ud800"', "Malformed"),
        (b"[" + b",".join([b"[]"] * 64) + b"]", "ProofFlood"),
        (b'{"' + b"n" * 257 + b'":1}', "IdOverflow"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_document_beyond_a_bound(raw: bytes, refusal: str) -> None:
    """Refused whole, each bound by its name, before anything is made of it."""
    with pytest.raises(ArtifactRefused) as caught:
        decode_artifact(raw, nodes=64)
    assert caught.value.refusal == refusal


def test_a_document_within_the_bounds() -> None:
    """At the bounds themselves nothing is refused; brackets inside a text are no depth."""
    assert decode_artifact(b"[" * 32 + b"]" * 32) is not None
    assert decode_artifact(json.dumps({"t": "[{" * 99 + '\\"'}).encode(), nodes=1)
    assert decode_artifact(b"[" + b",".join([b"[]"] * 63) + b"]", nodes=64) is not None
    assert decode_artifact(b'{"' + b"n" * 256 + b'":1}') is not None


def test_the_source_is_what_the_seal_names(tmp_path: Path, key: SigningKey) -> None:
    """The hash it covers is that of the text that the journal holds."""
    import hashlib

    covers = json.loads(read(sealed(tmp_path, key)).frames[-1].get("covers"))
    assert covers["workflow"] == hashlib.sha256(SOURCE.encode()).hexdigest()
