"""The jq gate: which programs belong to the language, and what is said of the others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jaq
import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from nika_nb.errors import Fault
from nika_nb.language.jq import parse
from nika_nb.language.jq.vocabulary import FORMATS, FUNCTIONS, PRELUDE, REFUSED

ACCEPTED = {
    "identity": ".",
    "deep path": ".a.b_1.C",
    "index from either end": ".a[0][-1]",
    "iteration": ".a[].b[]?",
    "quoted key": '.["a b"]',
    "a keyword as a field": ".if.and",
    "spaces and lines": " .a\n\t|\r\n .b ",
    "slices": ".[1:3], .[:2], .[2:], .[length - 1:length]?",
    "pipe of functions": "map(select(.a > 1)) | sort_by(.a) | length",
    "alternative": '.a // .b // "none"',
    "comparison": ".a == 1",
    "comparisons apart": ".a == 1 and .b <= 2 or .c != 3",
    "comparison in parentheses": "(.a == 1) == true",
    "arithmetic": "1 + 2.5 * .a - -3 / 1e3",
    "negated call": "sort_by(-.a)",
    "object": '{a, "b c": 1, if: 2, (.k): .v | tostring, "s"}',
    "object with pipes": "{a: .x | length, b: .y // 1}",
    "empty literals": "{}, [], null, true, false",
    "reduce": "reduce .[] as $x (0; . + $x)",
    "formats": " | ".join(f"@{name}" for name in sorted(FORMATS)),
    "binding": ". as $x | .a | [$x, .]",
    "array binding": ". as [$a, $b] | $a + $b",
    "rebinding": "1 as $x | 2 as $x | $x",
    "binding in an argument": "any(.[]; . as $x | $x > 1)",
    "condition": "if .a then 1 elif .b then 2 else 3 end",
    "try": "try error catch ., try .a",
    "interpolation": '"a \\(.b | "c \\(.d)") e"',
    "parentheses in interpolation": '"\\((1 + 2) * (3))"',
    "escapes": r'"\"\\\/\b\f\n\r\t\u00e9"',
    "raw line feed in a string": '"a\nb"',
    "definitions": "def twice: . * 2; def four: twice | twice; four",
    "call of any width": "range(1; 10; 2)",
    "postfix of anything": '{a: 1}.a, [1][0], "abc"[1:], (1).a?, @json[0:1], map(.)[0]',
    "long but flat": " | ".join(["(.a)"] * 200),
    "deep but legal": "[" * 30 + "1" + "]" * 30,
}


@pytest.mark.parametrize("program", ACCEPTED.values(), ids=ACCEPTED)
def test_accepts(program: str) -> None:
    """Programs of the language pass, and the evaluator can read every one of them."""
    parse(program)
    jaq.compile(program)


ENDLESS, OUTSIDE, CLOCK, REGEX = "may never end", "outside the input", "clock", "regular expression"

# name → program, the refused part, what is said
REFUSALS = {
    "recurse": (".a | recurse", "recurse", ENDLESS),
    "recursive descent": ("[.. | .a]", "..", ENDLESS),
    "while": ("[while(. < 9; . + 1)]", "while", ENDLESS),
    "until": ("until(. > 9; . + 1)", "until", ENDLESS),
    "repeat": ("repeat(.)", "repeat", ENDLESS),
    "a definition that calls itself": ("def f: 1 + f; f", (11, 12), ENDLESS),
    "a definition inside": ("map(def f: 1; f)", "def", "start of the program"),
    "a definition with parameters": ("def f(g): g; f(1)", (5, 6), "no parameters"),
    "a definition of a known name": ("def map: 1; .", "map", "already has a meaning"),
    "a definition of a refused name": ("def now: 1; now", (4, 7), "already has a meaning"),
    "a definition twice": ("def f: 1; def f: 2; f", (14, 15), "defined twice"),
    "env": ("env.HOME", "env", OUTSIDE),
    "$ENV": ('"\\($ENV.HOME)"', "$ENV", OUTSIDE),
    "input": ("[inputs]", "inputs", OUTSIDE),
    "import": ('import "a" as a; .', "import", OUTSIDE),
    "debug": (".a | debug", "debug", "writes outside"),
    "now": (". + {at: now}", "now", CLOCK),
    "strftime": ('.t | strftime("%Y")', "strftime", CLOCK),
    "halt": ("halt", "halt", "ends the process"),
    "match": ('[match("a")]', "match", REGEX),
    "sub": ('sub("a"; "b")', "sub", REGEX),
    "split by regex": ('split(", *"; "g")', "split", "takes 1 argument, not 2"),
    "unknown function": ("lenght", "lenght", "did you mean `length`?"),
    "a field without its dot": ("user.name", "user", "a field is read as `.user`"),
    "too few arguments": (". | map", "map", "takes 1 argument, not 0"),
    "too many arguments": ("first(1; 2)", "first", "takes 0 or 1 arguments, not 2"),
    "unknown format": ("@cvs", "@cvs", "did you mean `@csv`?"),
    "format with a string": ('@uri "a"', '"a"', "does not belong here"),
    "unbound variable": (". + {at: $now}", "$now", "not bound"),
    "a variable out of its pipe": ("(1 as $x | $x) + $x", (17, 19), "not bound"),
    "misspelt variable": (". as $total | $totl", "$totl", "did you mean `$total`?"),
    "the fold's name in its start": ("reduce .[] as $x ($x; .)", (18, 20), "not bound"),
    "the fold's name after it": ("reduce .[] as $x (0; .) | $x", (26, 28), "not bound"),
    "as in an operand": ("1 + . as $x | $x", "as", "in parentheses"),
    "as without a pipe": (". as $x", (6, 7), "`|` is missing"),
    "object pattern": (". as {a: $x} | $x", "{", "after `as`"),
    "chained comparison": ("1 < 2 < 3", (6, 7), "do not chain"),
    "chained comparison over a sum": ("1 < 2 + 3 < 4", (10, 11), "do not chain"),
    "assignment": (".a |= 1", "|=", "assigns nothing"),
    "modulo": ("5 % 2", "%", "not in the grammar"),
    "double minus": ("--1", (1, 2), "a value is missing"),
    "condition without else": ("if . then 1 end", "end", "`else` is missing"),
    "empty slice": (".[:]", "]", "a value is missing"),
    "quoted field": ('.a."b"', '"b"', '`.["…"]`'),
    "quoted key": ('."b"', '"b"', '`.["…"]`'),
    "dot before a bracket": (".a.[0]", (3, 4), "a field name is missing"),
    "blank after the dot": (". a", "a", "does not belong here"),
    "shorthand variable": (". as $x | {$x}", (11, 13), "write `x: $x`"),
    "number as a key": ("{1: 2}", "1", "a key"),
    "trailing comma": ("{a: 1,}", "}", "a key"),
    "computed key alone": ("{(.a)}", "}", "`:` is missing"),
    "unfinished pipe": (".a |", "|", "at the end"),
    "two pipes": (".a | | b", (5, 6), "a value is missing"),
    "unclosed bracket": ("[1, 2", "2", "`]` is missing"),
    "unclosed string": ('.a + "x', '"', "closing quote"),
    "unclosed interpolation": ('"a\\(1', "1", "is missing in the string"),
    "empty interpolation": ('"a\\( )"', ')"', "inside"),
    "unknown escape": (r'"a\x"', r"\x", "not an escape"),
    "half a pair": (r'"\ud83d"', r"\ud83d", "no half of a pair"),
    "half a pair, raw": ('"\ud83d"', "\ud83d", "surrogate"),
    "number without its end": ("1.", "1.", "not a number"),
    "single quotes": ("'a'", (0, 1), "double quotes"),
    "comment": (". # a", "#", "no comment"),
    "C's and": (". && .", (2, 3), "write `and`"),
    "C's or": (". || .", "||", "write `or`"),
    "C's not": ("!.a", "!", "write `| not`"),
    "a template": (".items[0].${{ const.key }}", "$", "`${{ }}` does not belong"),
    "a flag": ("-n", "n", "not a function"),
    "nothing": ("  ", (1, 2), "empty program"),
    "too deep": ("[" * 65 + "]" * 65, (64, 65), "nested deeper"),
    "too deep by try": ("try " * 65 + "1", None, "nested deeper"),
}


@pytest.mark.parametrize(("program", "where", "said"), REFUSALS.values(), ids=REFUSALS)
def test_refuses(program: str, where: str | tuple[int, int] | None, said: str) -> None:
    """Each refusal says what was met and why, and points at exactly that part."""
    with pytest.raises(Fault) as caught:
        parse(program)
    assert caught.value.code == "NIKA-VAR-005"
    assert said in caught.value.message
    span = caught.value.span
    assert span is not None
    if isinstance(where, str):
        where = (program.index(where), program.index(where) + len(where))
    if where is not None:
        assert (span.start, span.end) == where


def test_says_which_functions_are_called() -> None:
    """The verdict on an accepted program is the set of functions it calls, wherever they stand."""
    assert parse('def f: length; map(f) | "\\(first | tostring)"') == {"length", "map", "first", "tostring"}
    assert parse(".a") == frozenset()


def test_knows_how_many_arguments_the_evaluator_takes() -> None:
    """Every function exists in the evaluator with every number of arguments that is accepted."""
    for name, counts in FUNCTIONS.items():
        for count in counts:
            call = name + (f"({'; '.join(['.'] * count)})" if count else "")
            parse(call)
            jaq.compile(PRELUDE.get(name, "") + call)


def test_no_function_is_both_allowed_and_refused() -> None:
    """The closed set and the refused names have nothing in common."""
    assert not FUNCTIONS.keys() & REFUSED.keys()


RECIPES = [
    "map(.a)",
    "map(select(.a))",
    "group_by(.key)",
    "map(.val) | add",
    "[range(0; length; 2) as $i | .[$i:$i+2]]",
    '[leaf_paths as $p | {($p|join(".")): getpath($p)}] | add',
    'reduce to_entries[] as $e (.; setpath($e.key/"."; $e.value))',
    '"Hello \\(.name), age \\(.age)"',
    "@base64",
    "@base64d",
    ".[0] * .[1]",
]


@pytest.mark.parametrize("program", RECIPES)
def test_accepts_the_recipes_for_former_tools(program: str) -> None:
    """What the standard library recommends instead of a tool belongs to the language."""
    parse(program)


def _programs(folder: Path) -> Iterator[tuple[Path, str]]:
    for path in sorted(folder.rglob("*.y*ml")):
        try:
            document = yaml.load(path.read_text(), yaml.CSafeLoader)
        except (yaml.YAMLError, UnicodeDecodeError):
            continue
        tasks = document.get("tasks") if isinstance(document, dict) else None
        for task in tasks.values() if isinstance(tasks, dict) else ():
            for program in _of_task(task) if isinstance(task, dict) else ():
                yield path, re.sub(r"\$\{\{.*?\}\}", "1", program)


def _of_task(task: dict[str, Any]) -> Iterator[str]:
    extract, invoke = task.get("extract"), task.get("invoke")
    yield from (text for text in (extract or {}).values() if isinstance(text, str))
    arguments = invoke.get("args") if isinstance(invoke, dict) else None
    if isinstance(arguments, dict):
        keys = {"nika:jq": "expression", "nika:fetch": "jq"}
        program = arguments.get(keys.get(str(task["invoke"].get("tool")), ""))
        if isinstance(program, str):
            yield program


def test_accepts_every_program_of_the_valid_workflows(conformance: Path) -> None:
    """Of the programs in the public suite only those that are there to be refused are refused."""
    refused = set()
    count = 0
    for _, program in _programs(conformance):
        count += 1
        if verdict(program) is not None:
            refused.add(program)
    assert count > 100
    assert refused == {".foo | | bad", ".items[0].1", "-n", ".a |"}


PIECES = """
. .a .b .[] [ ] { } ( ) , | : ; ? // + - * / == < as and or if then elif else end try catch reduce def
$x $y 1 2.5 "s" "\\( )" : null true @json map length select test f .. % = \\
"""


def verdict(program: str) -> Fault | None:
    try:
        parse(program)
    except Fault as fault:
        return fault
    return None


@given(st.one_of(st.text(), st.lists(st.sampled_from(PIECES.split()), max_size=14).map(" ".join)))
@example('"\\')
@example('"\\u1')
def test_never_raises_anything_but_a_fault(text: str) -> None:
    """Whatever stands there, the answer is yes or a Fault with a place inside the text."""
    fault = verdict(text)
    if fault is None:
        jaq.compile("".join(PRELUDE.values()) + text)
    else:
        assert fault.code == "NIKA-VAR-005"
        assert fault.span is not None
        assert 0 <= fault.span.start <= fault.span.end <= len(text)


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("{} | {}".format, inner, inner),
        st.builds(
            "({}) {} ({})".format, inner, st.sampled_from(["+", "-", "*", "/", "==", "<", "//", "and"]), inner
        ),
        inner.map("[{}]".format),
        inner.map("map({})".format),
        st.builds("{{a: ({}), b, (tostring): ({})}}".format, inner, inner),
        st.builds("if {} then {} else 1 end".format, inner, inner),
        st.builds(". as $x | ({}) + $x".format, inner),
        st.builds(". as [$x] | ({})".format, inner),
        st.builds("reduce ({}) as $x (0; {})".format, inner, inner),
        st.builds("try ({}) catch .".format, inner),
        st.builds('"a\\({})b"'.format, inner),
        st.builds(".[({})]?".format, inner),
        st.builds("(.)[({}):]".format, inner),
        st.builds("({}), ({})".format, inner, inner),
    )


LEAVES = st.sampled_from(
    [
        ".",
        ".a",
        ".[0]",
        ".[]",
        "1",
        "2.5",
        '"s"',
        "null",
        "length",
        "keys",
        "tostring",
        "@json",
        "empty",
        "type",
    ]
)
PROGRAMS = st.recursive(LEAVES, _grown, max_leaves=8)


@given(PROGRAMS)
def test_what_the_grammar_makes_is_accepted_and_compiles(program: str) -> None:
    """A program made from the grammar passes the gate, and the evaluator agrees."""
    parse(program)
    jaq.compile(program)
