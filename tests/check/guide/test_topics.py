"""The guide tells of all that there is, of nothing else, and what it shows works."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import nika_nb
from nika_nb.catalog.codes import CODES
from nika_nb.catalog.providers import SERVED
from nika_nb.catalog.purposes import PURPOSES
from nika_nb.catalog.ways import OURS, UNUSED, WAYS, way_out
from nika_nb.check.editing.keys import LEVELS
from nika_nb.check.guide import language
from nika_nb.check.guide.page import Sample
from nika_nb.check.guide.samples import SAMPLES
from nika_nb.check.guide.topics import START, help_on, names, topics
from nika_nb.engine.retries import backoff_ms
from nika_nb.errors import Span, UsageError
from nika_nb.language import cel
from nika_nb.language.model import Retry
from nika_nb.providers.registry import known
from nika_nb.runs.vocabulary import tool_words
from nika_nb.verbs.agent import DEFAULT_TURNS

PACKAGE = Path(nika_nb.__file__).parent
SHOWN = list(dict.fromkeys(text for texts in SAMPLES.values() for text in texts))
CHILD = """\
nika: audit
inputs: { folder: { type: path, required: true } }
tasks: { say: { invoke: { tool: "nika:log", args: { message: "${{ inputs.folder }}" } } } }
"""


@pytest.mark.parametrize("text", SHOWN, ids=[text.split("\n", 1)[0] for text in SHOWN])
def test_what_is_shown_passes_the_check(tmp_path: Path, text: str) -> None:
    """Every sample is a whole workflow, without a single finding."""
    (tmp_path / "audit.nika.yaml").write_text(CHILD)
    (tmp_path / "shown.nika.yaml").write_text(text)
    assert not nika_nb.check(tmp_path / "shown.nika.yaml").diagnostics


def test_every_key_tool_and_code_has_its_page() -> None:
    """Nothing that may be written is without help, and every page can be drawn."""
    found = topics(tool_words())
    keys = {name for keys in LEVELS.values() for name in keys}
    assert keys | set(tool_words()) | set(START) <= set(found)
    for name in names(tool_words()):
        assert str(help_on(name, tool_words())).startswith(name)


def test_every_argument_is_explained() -> None:
    """A tool takes these arguments and no others; what each is for stands in one table."""
    taken = {name: {*tool.required, *tool.optional} for name, tool in tool_words().items()}
    assert {name: set(said) for name, said in PURPOSES.items()} == taken


def test_every_code_says_what_to_do() -> None:
    """A code has a way out, or is raised by nothing; nothing is explained that does not exist."""
    source = "".join(
        path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py") if path.parent.name != "catalog"
    )
    assert [code for code in CODES if not way_out(code) and code not in UNUSED] == []
    assert [code for code in UNUSED if code in source or code not in CODES] == []
    assert set(WAYS) <= set(CODES) | set(OURS)
    raised = set(re.findall(r"NIKA-[A-Z]+(?:-[A-Z_]+)?-\d+", source))
    assert raised <= set(CODES) | set(OURS)


def test_what_holds_without_a_key() -> None:
    """The defaults that the guide names are those of the engine."""
    assert LEVELS["agent"]["max_turns"].default == str(DEFAULT_TURNS)
    retry = Retry(9, None, None, None, False, None, Span(0, 0))
    delays = [backoff_ms(retry, attempt, None) for attempt in (1, 2, 9)]  # type: ignore[arg-type]
    assert delays == [1000, 2000, 60_000]
    told = LEVELS["retry"]
    defaults = (told["backoff_ms"].default, told["backoff_strategy"].default, told["backoff_max_ms"].default)
    assert defaults == ("1000", "exponential", "60000")


def test_the_models_that_run_are_the_ones_of_this_version() -> None:
    """What Tab offers can be called."""
    assert known() == SERVED


def test_every_type_that_is_shown_is_one() -> None:
    """Each row of the types can be written; T and U stand for any other."""
    for written, _ in language._TYPES.rows:
        typed = re.sub(r"\b[TU]\b", "string", written)
        text = f"nika: x\ninputs: {{ i: {{ type: {typed} }} }}\ntasks: {{ t: {{ exec: {{ shell: ls }} }} }}\n"
        found = [one.code for one in nika_nb.check(text).errors]
        assert "NIKA-TYPE-001" not in found, written


def test_every_grant_that_is_shown_is_one() -> None:
    """Each row of the boundary can be written."""
    for written, _ in language._PERMITS.rows:
        block = "{}" if written == "permits: {}" else f"{{ {written} }}"
        text = f"nika: x\npermits: {block}\ntasks: {{ t: {{ invoke: {{ tool: nika:log }} }} }}\n"
        assert not nika_nb.check(text).errors, written


def test_the_expressions_beside_pythons_are_ours() -> None:
    """What stands beside a Python form can be read."""
    for _, ours in language._PYTHON.rows[:-2]:
        for one in re.split(r", or |, ", ours):
            cel.parse(one)


ASKED = [
    ("a tool without its prefix", "fetch", "nika:fetch"),
    ("a key with its way", "exec.decode", "decode"),
    ("a key with its colon", "retry:", "retry"),
    ("a code in small letters", "var-005", "NIKA-VAR-005"),
    ("a code of this runtime", "NIKA-NB-003", "NIKA-NB-003"),
    ("what it is called elsewhere", "cel", "expressions"),
    ("a key that is gone", "depends_on", "depends_on"),
    ("what the language does not call so", "retries", "retry"),
    ("the library", "pandas", "python"),
    ("the rehearsal", "mock", "models"),
    ("a name in expressions", "item", "expressions"),
    ("the level, not the key of that name", "workflow", "workflow"),
    ("several of them", "workflows", "workflow"),
]


@pytest.mark.parametrize(("name", "word", "page"), ASKED, ids=[one[0] for one in ASKED])
def test_a_topic_is_found_however_it_is_spelled(name: str, word: str, page: str) -> None:
    """The page of that name is given."""
    assert help_on(word, tool_words()).name == page


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("fech", "fetch"),
        ("typs", "types"),
        ("NIKA-VAR-055", "NIKA-VAR-005"),
        ("nika:readd", "read"),
        ("parquet", "types, permits"),
        ("quux", "types, permits"),
    ],
)
def test_what_is_no_topic_is_told_what_may_be_meant(word: str, meant: str) -> None:
    """The nearest one, or where to begin."""
    with pytest.raises(UsageError, match="there is no help on") as refused:
        help_on(word, tool_words())
    assert meant in str(refused.value)


def test_the_keys_of_a_workflow_are_one_page() -> None:
    """And the key of `invoke:` that is called alike is told of below them."""
    page = str(help_on("workflow", tool_words()))
    assert all(key in page for key in LEVELS["workflow"])
    assert LEVELS["invoke"]["workflow"].help in " ".join(page.split())


def test_a_key_with_its_way_is_told_of_from_there() -> None:
    """`exec` is a verb, and a grant below `permits`."""
    assert help_on("exec", tool_words()).about.startswith("of a task")
    assert help_on("permits.exec", tool_words()).about.startswith("of `permits` · Programs")


def test_a_word_that_is_gone_says_from_where() -> None:
    """Each place has its own answer, and the keys that it names can be asked for."""
    page = help_on("vars", tool_words())
    assert page.about.startswith("of a workflow · `vars:` is gone")
    assert [str(block).partition(" · ")[0] for block in page.blocks] == ["of a task"]
    assert page.also == ("inputs", "const", "secrets", "with")


def test_a_key_names_the_tool_that_is_called_alike() -> None:
    """`prompt` is what a model is asked, and the tool that asks a person."""
    assert "nika:prompt" in help_on("prompt", tool_words()).also


def test_a_script_is_shown_where_python_is_asked_for() -> None:
    """A function is no task yet; what to do instead is one page, with the workflow and the script."""
    page = help_on("python", tool_words())
    samples = [block for block in page.blocks if isinstance(block, Sample)]
    assert [one.language for one in samples] == ["yaml", "python"]
    assert "decode: json" in samples[0].text
