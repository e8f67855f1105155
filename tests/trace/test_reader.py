"""Reading: whatever happened to the file, the frames up to there come back and the rest is said."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nika_nb.catalog.frames import ENGINE_VERSION, FILE_BOUND, LINE_BOUND
from nika_nb.errors import UsageError
from nika_nb.trace import paging
from nika_nb.trace.frame import Frame
from nika_nb.trace.lines import TraceUnreadable, lines
from nika_nb.trace.memory import JournalMemory
from nika_nb.trace.reader import frames, read, tail
from nika_nb.trace.trace import prompts_of
from nika_nb.trace.verify import verify
from nika_nb.trace.writer import Journal
from nika_nb.values import dumps
from tests.trace.journals import SOURCE, Events, completed, edited, started, story, unchained, write


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path, story())


def test_a_whole_trace(path: Path) -> None:
    """What the prologue names, the source, the values, the outputs, the head and the state."""
    trace = read(path)
    assert (trace.workflow, trace.engine_version, trace.run_id) == ("naïve-archive", ENGINE_VERSION, "run-1")
    assert (trace.state, trace.torn, trace.damage, trace.running) == ("completed", False, None, False)
    assert trace.source == SOURCE
    assert trace.inputs == {"topic": "notebook"}
    assert trace.input_values == {"topic": "é"}
    assert trace.outputs == {"sum": "e3b0 ✔"}
    assert trace.prompts == ()
    assert trace.head == verify(path).head
    assert trace.lines == len(trace.frames) == len(story())
    assert trace.size == path.stat().st_size


def test_every_reference_trace_is_read(conformance: Path) -> None:
    """All 61 stored journals of another engine, to their last line."""
    traces = [read(path) for path in sorted((conformance / "reference-traces").glob("*.ndjson"))]
    assert len(traces) == 61
    assert {trace.engine_version for trace in traces} == {"0.97.0"}
    assert sum(len(trace.frames) for trace in traces) == 478
    assert not any(trace.torn or trace.damage for trace in traces)
    assert sorted({trace.state for trace in traces}) == ["completed", "failed"]


def test_cut_at_every_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever a crash cuts a journal, paged output and wide characters included, its whole lines are used.

    Only where not even the first line is whole, the file is no journal.
    """
    monkeypatch.setattr(paging, "PAGE_BOUND", 200)
    path = write(tmp_path, story())
    whole = read(path).frames
    assert sum(frame.kind == "nb_output_page" for frame in whole) > 2
    data = path.read_bytes()
    ends = [at for at, byte in enumerate(data) if byte == 0x0A]
    for size in range(len(data), -1, -1):
        with path.open("r+b") as stream:
            stream.truncate(size)
        held = sum(end <= size for end in ends)
        if held == 0:
            with pytest.raises(TraceUnreadable):
                read(path)
            continue
        trace = read(path)
        assert trace.frames == whole[:held]
        at_rest = size in (ends[held - 1], ends[held - 1] + 1)
        assert trace.torn is not at_rest
        assert trace.damage is None
        JournalMemory(trace)
        expected = "torn" if not at_rest else "clean" if held == len(whole) else "incomplete"
        assert verify(path).verdict == expected


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_no_file_is_too_strange(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Bytes replaced, dropped or thrown in anywhere: described, never another exception."""
    folder = tmp_path_factory.mktemp("strange")
    whole = write(folder, story(40)[:8]).read_bytes()
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, min(len(whole), start + 300)))
    path = folder / "strange.ndjson"
    path.write_bytes(whole[:start] + data.draw(st.binary(max_size=200)) + whole[end:])
    verify(path)
    try:
        trace = read(path)
    except TraceUnreadable:
        return
    JournalMemory(trace)
    assert trace.lines >= len(trace.frames) > 0
    assert trace.state
    assert isinstance(trace.sources(), dict)
    tail(path)


@pytest.mark.parametrize(
    ("new", "why"),
    [("\0" * 400, "NUL"), ('{"chain":"ab","fie{"chain":"cd"}', "not a whole"), ("{}", "no kind")],
)
def test_a_bad_line_in_the_middle_is_said(path: Path, new: str, why: str) -> None:
    """The frames before it are used; its number and what is wrong with it are told, not hidden."""
    texts = path.read_text().split("\n")
    path.write_text("\n".join([*texts[:4], new, *texts[5:]]))
    trace = read(path)
    assert len(trace.frames) == 4
    assert trace.damage is not None
    assert trace.damage.line == 5
    assert why in trace.damage.why
    assert not trace.torn
    assert trace.state == "incomplete"


def test_two_fused_lines_are_said(path: Path) -> None:
    """A newline that was lost makes two events one unreadable line, and neither is guessed."""
    texts = path.read_text().split("\n")
    texts[4:6] = [texts[4] + texts[5]]
    path.write_text("\n".join(texts))
    damage = read(path).damage
    assert damage is not None
    assert (damage.line, "fused" in damage.why) == (5, True)


def test_a_line_beyond_the_bound_is_not_parsed(path: Path) -> None:
    """Its length is told and the reading stops there, without ever holding the line."""
    texts = path.read_text().split("\n")
    texts[4] = "x" * (LINE_BOUND + 10)
    path.write_text("\n".join(texts))
    damage = read(path).damage
    assert damage is not None
    assert f"{LINE_BOUND + 10} bytes" in damage.why


def test_the_longest_legal_line_is_read(path: Path) -> None:
    """Exactly the bound is still a line."""
    line = json.dumps({"kind": "x", "fields": [{"key": "t", "value": ""}]})
    line = line.replace('""', '"' + "y" * (LINE_BOUND - len(line)) + '"')
    assert len(line) == LINE_BOUND
    path.write_text(path.read_text() + line + "\n")
    assert read(path).frames[-1].kind == "x"


def test_a_file_beyond_the_bound_is_not_opened(tmp_path: Path) -> None:
    """The size is looked at before anything is parsed (the file here is sparse)."""
    path = tmp_path / "huge.ndjson"
    with path.open("wb") as stream:
        stream.truncate(FILE_BOUND + 1)
    with pytest.raises(TraceUnreadable, match="beyond"):
        read(path)
    assert verify(path).exit_code == 2


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "empty"),
        ("\n\n", "empty"),
        ("hello\nworld\n", "line 1"),
        ('{"chain":"74', "torn"),
        ("{}\n", "torn"),
    ],
)
def test_what_is_no_journal(tmp_path: Path, content: str, why: str) -> None:
    """A file without a frame at its beginning is refused with what it is instead."""
    path = tmp_path / "other.ndjson"
    path.write_text(content)
    with pytest.raises(TraceUnreadable, match=why) as caught:
        read(path)
    assert str(path) in str(caught.value)
    assert caught.value.exit_code == 3


def test_no_such_file(tmp_path: Path) -> None:
    """A path that is not there, or is a folder, is a mistake of the request."""
    with pytest.raises(UsageError, match="there is no trace at"):
        read(tmp_path / "nothing.ndjson")
    with pytest.raises(UsageError, match="is a folder"):
        read(tmp_path)


def test_blank_lines_are_counted_and_skipped(path: Path) -> None:
    """They are no frames, and the numbers of the lines after them stay those of the file."""
    text = path.read_text().replace("\n", "\n\n", 1)
    path.write_text(text)
    trace = read(path)
    assert [frame.line for frame in trace.frames[:3]] == [1, 3, 4]


def test_a_trace_without_chain_is_read(path: Path) -> None:
    """Old and captured journals are data too."""
    assert read(unchained(path)).state == "completed"


@pytest.mark.parametrize(
    ("kind", "state"),
    [
        ("workflow_completed", "completed"),
        ("workflow_failed", "failed"),
        ("workflow_cancelled", "cancelled"),
        ("workflow_paused", "paused"),
        ("task_completed", "incomplete"),
    ],
)
def test_the_state_is_the_last_frame_s(tmp_path: Path, kind: str, state: str) -> None:
    """Also behind a seal or a delivered notice."""
    make = Events()
    make("workflow_started", **started())
    make(kind, workflow="w", task="t")
    make("run_sealed", seal_format=1)
    make("notify_delivered", target_host="example.org")
    assert read(write(tmp_path, make.made)).state == state


def test_a_second_run_in_the_same_file_has_its_own_end(tmp_path: Path) -> None:
    """Two journals put together: an end in the middle is no end."""
    make = Events()
    make("workflow_started", **started())
    make("workflow_paused", workflow="w", task="ask")
    make("workflow_started", **started())
    make("task_scheduled", task="ask")
    assert read(write(tmp_path, make.made)).state == "incomplete"


def test_every_open_question_of_a_pause(tmp_path: Path) -> None:
    """Task, item, mode, choices, default, gates, effects and the hash of what was shown."""
    shown = [
        {
            "task": "ask",
            "item": 3,
            "mode": "choice",
            "message": "Which? 🦋",
            "choices": ["a", "b"],
            "shown_hash": "h1",
        },
        {
            "task": "go",
            "mode": "confirm",
            "message": "Go?",
            "default": None,
            "gates": ["ship"],
            "effects": ["exec"],
        },
    ]
    make = Events()
    make("workflow_started", **started())
    make("workflow_paused", workflow="w", task="ask", prompts=dumps(shown))
    first, second = read(write(tmp_path, make.made)).prompts
    assert (first.task, first.item, first.mode, first.choices) == ("ask", 3, "choice", ("a", "b"))
    assert (first.message, first.shown_hash, first.has_default) == ("Which? 🦋", "h1", False)
    assert (second.item, second.has_default, second.gates, second.effects) == (
        None,
        True,
        ("ship",),
        ("exec",),
    )


def test_the_one_question_of_a_reference_trace(tmp_path: Path) -> None:
    """Another engine names a single prompt in the frame's own fields."""
    make = Events()
    make("workflow_started", **started())
    make(
        "workflow_paused",
        workflow="w",
        task="ask",
        mode="choice",
        message="Which?",
        choices='["a",2]',
        approval_shown_hash="h9",
    )
    (prompt,) = read(write(tmp_path, make.made)).prompts
    assert (prompt.task, prompt.mode, prompt.choices, prompt.shown_hash) == (
        "ask",
        "choice",
        ("a", "2"),
        "h9",
    )


def test_a_source_in_pages_with_a_child(tmp_path: Path) -> None:
    """Pages join by name; the workflow's own text is the one that the prologue's digest names."""
    make = Events()
    make("workflow_started", **started())
    for number, page in enumerate(paging.pages(SOURCE, 16)):
        make("nb_source_page", name="a.yaml", page=number, pages=len(paging.pages(SOURCE, 16)), text=page)
    make("nb_source_page", name="child.yaml", page=0, pages=1, text="nika: child")
    path = write(tmp_path, make.made)
    trace = read(path)
    assert trace.sources() == {"a.yaml": SOURCE, "child.yaml": "nika: child"}
    assert trace.source == SOURCE
    assert read(edited(path, "nika: na", "nika: nb")).source is None
    assert replace(trace, frames=trace.frames[:3]).source is None


def test_large_inputs_and_outputs_come_back(tmp_path: Path) -> None:
    """Values too large for their frames are joined from the pages around them."""
    rows = {"rows": ["é🦋"] * 100_000}
    make = Events()
    make("workflow_started", **started(input_values=dumps(rows)))
    make("workflow_completed", workflow="w", outputs=dumps(rows))
    trace = read(write(tmp_path, make.made))
    assert trace.frames[0].kind == "workflow_started"
    assert trace.input_values == rows
    assert trace.outputs == rows


def test_reading_while_it_is_written(tmp_path: Path) -> None:
    """Every look sees a prefix, never damage; following by offset meets each frame exactly once."""
    make = Events()
    make("workflow_started", **started())
    for number in range(400):
        make("task_completed", **completed(f"t{number}", "é" * (number * 37 % 50_000)))
    make("workflow_completed", workflow="w")
    journal = Journal(tmp_path)
    journal(make.made[0])
    assert journal.path is not None

    def go_on() -> None:
        for event in make.made[1:]:
            journal(event)

    thread = threading.Thread(target=go_on)
    thread.start()
    followed: list[Frame] = []
    counts: list[int] = []
    offset = line = 0
    while thread.is_alive() or not counts:
        trace = read(journal.path)
        assert trace.damage is None
        assert not trace.torn
        counts.append(len(trace.frames))
        step = tail(journal.path, offset, line)
        followed += step.frames
        offset, line = step.offset, step.line
    thread.join()
    followed += tail(journal.path, offset, line).frames
    journal.close()
    assert counts == sorted(counts)
    assert tuple(followed) == read(journal.path).frames


def test_half_a_line_of_a_living_writer_is_no_tear(tmp_path: Path) -> None:
    """It is being written; only when the writer is gone it has been torn."""
    journal = Journal(tmp_path)
    journal(story()[0])
    assert journal.path is not None
    with journal.path.open("ab") as stream:
        stream.write(b'{"chain":"half')
    assert (read(journal.path).torn, read(journal.path).state) == (False, "running")
    journal.close()
    assert (read(journal.path).torn, read(journal.path).state) == (True, "incomplete")


def test_a_reading_ends_where_the_file_ended(path: Path) -> None:
    """What is appended behind half a line meanwhile is not taken for a line of its own."""
    path.write_bytes(b"one\nhal")
    with path.open("rb") as stream:
        found = []
        for line in lines(stream):
            found.append((line.number, line.data, line.whole))
            with path.open("ab") as more:
                more.write(b"f\nthree\n" if len(found) == 2 else b"")
    assert found == [(1, b"one", True), (2, b"hal", False)]


def test_following_waits_for_whole_lines(path: Path) -> None:
    """Half a line is left for the next look; a bad line is said and not stepped over."""
    data = path.read_bytes()
    cut = data.index(b"\n", 2000) + 20
    path.write_bytes(data[:cut])
    first = tail(path)
    path.write_bytes(data)
    second = tail(path, first.offset, first.line)
    assert (*first.frames, *second.frames) == read(path).frames
    path.write_bytes(data + b"rubbish\n")
    third = tail(path, second.offset, second.line)
    assert third.damage is not None
    assert (third.frames, third.offset, third.damage.line) == ((), second.offset, second.line + 1)


def test_following_waits_for_every_page_of_a_pause(tmp_path: Path) -> None:
    """Pages that the pause has not followed yet are looked at again, with it: no question is lost."""
    asked = [{"task": "ask", "item": at, "mode": "input", "message": "?" * 300} for at in range(3000)]
    events = [*story()[:3], Events()("workflow_paused", task="ask", mode="input", prompts=dumps(asked))]
    path = write(tmp_path, events)
    data = path.read_bytes()
    whole = read(path)
    for pages in (0, 1, 5):
        cut = ends_of_lines(data)[len(whole.frames) - 2 - pages]
        path.write_bytes(data[:cut])
        begun, cut_off = tail(path), read(path)
        path.write_bytes(data)
        rest = tail(path, begun.offset, begun.line)
        assert (*begun.frames, *rest.frames) == whole.frames
        assert len(prompts_of(rest.frames[-1])) == 3000
        assert begun.offset == cut_off.size


def ends_of_lines(data: bytes) -> list[int]:
    return [at + 1 for at, byte in enumerate(data) if byte == 10]


def test_frames_can_be_streamed(path: Path) -> None:
    """One at a time, for whoever wants no list; how it ended is known at the end."""
    path.write_bytes(path.read_bytes()[:-5])
    stream = frames(path)
    kinds = [frame.kind for frame in stream]
    assert kinds[0] == "workflow_started"
    assert (stream.torn, stream.lines) == (True, len(kinds) + 1)


def test_a_hundred_thousand_frames(tmp_path: Path) -> None:
    """A long journal is read whole, every line checked against the chain."""
    make = Events()
    make("workflow_started", **started())
    for number in range(100_000):
        make("task_scheduled", task=f"t{number}", verb="exec", note="exec · true")
    path = write(tmp_path, make.made)
    trace = read(path)
    assert len(trace.frames) == 100_001
    assert verify(path).head == trace.head
