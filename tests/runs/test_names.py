"""What is asked for by a name that nothing has: it is told what there is."""

from __future__ import annotations

from pathlib import Path

import pytest

import nika_nb

FLOW = """\
nika: flow
permits: { exec: ["echo"] }
tasks:
  hash_notes: { exec: { command: ["echo", "a"] } }
  count: { exec: { command: ["echo", "b"] } }
outputs:
  checksums: ${{ tasks.hash_notes.output }}
  words: ${{ tasks.count.output }}
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> nika_nb.Run:
    monkeypatch.chdir(tmp_path)
    return nika_nb.run(FLOW)


def test_an_output_and_a_task_that_are_not_there(run: nika_nb.Run) -> None:
    """All there are, and the one that may be meant; here, and for a run that was read from its trace."""
    assert run.trace is not None
    for one in (run, nika_nb.attach(run.trace)):
        with pytest.raises(KeyError) as caught:
            one.outputs["checksum"]
        said = "there is no output `checksum`; there are `checksums`, `words`: did you mean `checksums`?"
        assert str(caught.value) == said
        assert isinstance(caught.value, nika_nb.NikaError)
        with pytest.raises(nika_nb.UsageError, match=r"no task `x`; there are `hash_notes`, `count`$"):
            one.tasks["x"]
        assert one.outputs.get("checksum") is None
        assert one.outputs == {"checksums": "a", "words": "b"}


def test_a_step_and_an_output_of_a_replay_that_are_not_there(run: nika_nb.Run) -> None:
    """The steps that have a name, as they settled, and the outputs that are known by then."""
    replay = run.replay()
    settled = "(`hash_notes`, `count`|`count`, `hash_notes`)"
    with pytest.raises(
        nika_nb.UsageError, match=f"`nope` settles at no step of this run; there are {settled}$"
    ):
        replay.at("nope")
    with pytest.raises(KeyError, match="did you mean `count`"):
        replay[-1].outputs["coumt"]
    assert replay[-1].outputs.get("coumt") is None


MISSPELLED = [
    ("${{ hash_note.output }}", "did you mean `tasks.hash_notes.output`?"),
    ("${{ itm.output }}", "did you mean `tasks.itms.output`?"),  # not `item`, which is the language's
    ("${{ task.itms.output }}", "did you mean `tasks`?"),
    ("${{ topc }}", "did you mean `inputs.topic`?"),
]


@pytest.mark.parametrize(("island", "said"), MISSPELLED, ids=[island for island, _ in MISSPELLED])
def test_what_the_author_named_is_meant_before_what_the_language_names(island: str, said: str) -> None:
    """A misspelled task is a task."""
    text = (
        'nika: s\npermits: { exec: ["ls"] }\ninputs: { topic: { type: string, default: x } }\ntasks:\n'
        '  hash_notes: { exec: { command: ["ls"] } }\n  itms: { exec: { command: ["ls"] } }\n'
        f'  b: {{ with: {{ x: "{island}" }}, exec: {{ command: ["ls"] }} }}\n'
    )
    assert said in nika_nb.check(text).render()


def test_an_input_that_nobody_gave_is_null_and_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before a run and in its plan; not where the type admits null, a default stands, or a value is given."""
    monkeypatch.chdir(tmp_path)
    text = (
        "nika: s\npermits: {}\ninputs:\n  region: { type: string }\n"
        "  zone: { type: { union: [string, null] } }\n"
        "  level: { type: string, default: info }\n"
        'tasks:\n  a: { infer: { prompt: "in ${{ inputs.region }}" } }\n'
        "outputs: { region: '${{ inputs.region }}', zone: '${{ inputs.zone }}' }\n"
    )
    run = nika_nb.run(text, model="mock/echo")
    assert run.outputs == {"region": None, "zone": None}
    said = "`region` is not given and has no default: null stands in"
    assert run.notices == [said]
    assert said in nika_nb.plan_resume(text, None, model="mock/echo").notices
    assert nika_nb.run(text, model="mock/echo", vars={"region": "x"}).notices == []
