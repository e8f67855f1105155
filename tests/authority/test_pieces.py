"""What a jq program cuts out of an opaque secret is masked as the secret is, wherever it goes from there."""

from __future__ import annotations

from pathlib import Path

import pytest

import nika_nb
from nika_nb.authority.masking import MASK, Masker
from nika_nb.authority.pieces import stretches

KEY = "sk-live-ABCDEFGHIJKLMNOP-qrstuvwxyz0123456789"


def test_stretches() -> None:
    """As far as both go, each once; eight characters at least."""
    assert list(stretches("x ABCDEFGHIJ y vwxyz012 z", KEY)) == ["ABCDEFGHIJ", "vwxyz012"]
    assert list(stretches("live-AB", KEY)) == []
    assert list(stretches(KEY, KEY)) == [KEY]


def known(value: str, made: object, source: object) -> Masker:
    masker = Masker()
    masker.add("k", value)
    masker.inside.add("k", value)
    masker.learn(made, source)
    return masker


def test_pieces_are_known_from_then_on() -> None:
    """In whatever form; a short one is none, and what is not made of the secret is not looked at."""
    masker = known(KEY, ["sk", {"ABCDEFGHIJKLMNOP": "<qrstuvwxyz012>"}], {"a": [f"Bearer {KEY}"]})
    assert masker.mask("ABCDEFGHIJKLMNOP, qrstuvwxyz012, sk") == f"{MASK}, {MASK}, sk"
    assert masker.inside.mask("ABCDEFGHIJKLMNOP") == MASK
    assert masker.mask("QUJDREVGR0hJSktMTU5PUA==") != "QUJDREVGR0hJSktMTU5PUA=="
    assert known(KEY, "ABCDEFGHIJ", "no secret").mask("ABCDEFGHIJ") == "ABCDEFGHIJ"


@pytest.mark.parametrize(
    "value",
    ["postgres://app:s3cr3t-pw@db.example.com/production", '{"region": "eu-central", "key": "s3cr3t-pw"}'],
)
def test_what_has_parts_has_no_pieces(value: str) -> None:
    """Of an address and of JSON it is known which parts are credentials: the rest may be said."""
    masker = known(value, ["production", "eu-central"], value)
    assert masker.mask("production eu-central s3cr3t-pw") == f"production eu-central {MASK}"


FLOW = """\
nika: cut
secrets: {key: {source: env, key: K, egress: [{to: "nika:jq"}, {to: exec}, OUT]}}
permits: {exec: ["echo", "sh"]}
tasks:
  split: {invoke: {tool: "nika:jq", args: {input: "${{ secrets.key }}", expression: 'split("-")'}}}
  fails: {invoke: {tool: "nika:jq", args: {input: "${{ secrets.key }}", expression: 'error(.[3:30])'}}}
  named: {exec: {command: ["echo", "${{ secrets.key }}"]}, extract: {part: ".[10:40]"}}
  later:
    with: {part: "${{ tasks.split.output[2] }}", more: "${{ tasks.named.part }}"}
    exec: {command: ["echo", "got ${{ with.part }} and ${{ with.more }}"]}
outputs: {OUTPUTS}
"""


def test_in_a_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The task's output, what a program says of it later, a jq that fails, what `extract:` names."""
    monkeypatch.setenv("K", KEY)
    text = FLOW.replace("OUTPUTS", 'n: "${{ tasks.later.status }}"').replace(", OUT", "")
    run = nika_nb.run(text)
    told = [repr(run), str(run.tasks), run._repr_mimebundle_()["text/html"], run.trace.read_text("utf-8")]
    assert run.tasks["split"].output == ["sk", "live", MASK, MASK]
    assert run.tasks["later"].output == f"got {MASK} and {MASK}"
    assert [text for text in told if "ABCDEFGH" in text or "qrstuvwx" in text] == []


def test_what_its_owner_lets_out_leaves(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the outputs, as the whole of it would: the task keeps it to itself."""
    monkeypatch.setenv("K", KEY)
    text = FLOW.replace("OUTPUTS", 'n: "${{ tasks.split.output }}"').replace("OUT", '{to: "outputs"}')
    run = nika_nb.run("\n".join(line for line in text.splitlines() if "fails:" not in line))
    assert run.outputs["n"] == KEY.split("-")
    assert run.tasks["split"].output == ["sk", "live", MASK, MASK]
