"""What is no single key: types, the boundary, expressions, and where a value may stand."""

from __future__ import annotations

from nika_nb.check.editing.keys import FIELDS, ROOTS
from nika_nb.check.guide.page import Page, Sample, Table
from nika_nb.check.guide.samples import SCRIPT, SKIPS

_TYPES = Table(
    ("type", "what fits"),
    (
        ("string", "a text"),
        ("integer", "a whole number"),
        ("number", "any number that is finite"),
        ("bool", "true or false"),
        ("null", "null, and nothing else"),
        ("path", "a text that names a file"),
        ("uri", "an address: https://…"),
        ("duration", "30s, 5m, 1h30m"),
        ("timestamp", "2026-11-30T08:00:00Z"),
        ("bytes", "bytes, as base64 where JSON holds them"),
        ("{ array: T }", "a list of T"),
        ("{ map: T }", "an object with any keys, each T"),
        ("{ object: { a: T, b: U } }", "an object with exactly these fields"),
        ("{ object: { a: T, b: { optional: U } } }", "`b` may be absent"),
        ("{ object: { a: T }, additional: true }", "more fields may stand there, as in a DataFrame"),
        ("{ union: [T, null] }", "T or null: what is called nullable elsewhere"),
        ("{ union: [T, U] }", "one of several"),
        ("{ enum: [a, b] }", "one of these texts"),
        ("{ string: { min_len: 1, max_len: 80, pattern: '^[a-z]+$' } }", "a text within bounds"),
        ("{ integer: { min: 0, max: 9 } }", "a number within bounds; `number` alike"),
    ),
)  # fmt: skip

_PERMITS = Table(
    ("write", "it admits"),
    (
        ("permits: {}", "nothing that reaches out; without the block the check writes it"),
        ('fs: { read: ["./data/**"] }', "reading below ./data, seen from the notebook or file"),
        ('fs: { write: ["./out/*"] }', "writing right in ./out; `**` goes deeper, a leading `!` takes out"),
        ('net: { http: ["api.example.com"] }', 'this host, by its exact name; "*" for every host'),
        ('exec: ["git", "wc"]', "these programs, by their names as written in `command:`"),
        ("exec: true", "any program, and with it `shell:` lines; a list of programs never admits those"),
        ('tools: ["nika:read"]', "these tools, besides what they reach; one that only computes needs none"),
        ('env: ["CI"]', "variables that children may see"),
    ),
)  # fmt: skip

_PYTHON = Table(
    ("in Python", "here"),
    (
        ("a and b, a or b, not a", "a && b, a || b, !a"),
        ("True, False, None", "true, false, null"),
        ("x if t else y", "t ? x : y"),
        ("len(rows)", "size(rows)"),
        ('"name" in row', 'has(row.name), or "name" in row'),
        ("x not in xs", "!(x in xs)"),
        ("x is None", "x == null"),
        ("text.startswith(s), s in text", "text.startsWith(s), text.contains(s)"),
        ('row["a b"], rows[0]', 'row["a b"], rows[0]; there is no [-1] and no slice'),
        (
            "a + b, sum(xs), int(t), f-strings",
            "not here: nika:jq, or a program; a text takes ${{ }} inside it",
        ),
    ),
)

_PATHS = Table(
    ("path", "what it is", "where it may stand"),
    (
        ("inputs.x", ROOTS["inputs"], "everywhere"),
        ("const.x", "a fixed value", "everywhere"),
        ("with.x", "a value bound in this task's `with:`", "in its verb, `when:`, `for_each:`"),
        ("tasks.x.output", "what a task returned, or null", "in `with:`, `outputs:`, `on_error:`"),
        ("tasks.x.status", FIELDS["status"], "the same"),
        ("tasks.x.error.code", FIELDS["error"], "the same"),
        ("tasks.x.duration_ms", "how long it took; also started_at, ended_at, cause", "the same"),
        ("tasks.x.NAME", "a part that its `extract:` names", "the same"),
        ("group.x", ROOTS["group"], "in `with:`, `outputs:`"),
        ("item, index", "the element of a `for_each`, and its number", "in the verb"),
        ("secrets.x", "a credential", "where its `egress:` lets it go"),
    ),
)  # fmt: skip

_OPERATORS = (
    "Inside `${{ }}` stands CEL, without arithmetic: `== != < <= > >= in && || !`, `t ? x : y`, `size(x)`, "
    "`has(x.y)`, `.contains() .startsWith() .endsWith() .size()`. Both sides of a comparison have one type; "
    "`==` with null is always allowed. A value that is one `${{ }}` keeps its type; inside a longer text it "
    "becomes text."
)

_SKIPPED = (
    "A task whose `when:` is not true is skipped, and its output is null. A task that only reads it, in "
    "`with:`, runs all the same and gets null, so that a default can be made of it. What must not happen "
    "then says so: `after: { x: success }` waits for a success, `when: ${{ with.x != null }}` looks at the "
    "value, and a question is gated by what was answered: `when: ${{ with.go == true }}`."
)

_SCRIPTS = (
    "Python functions are no tasks in this version. A script is: it gets its values as arguments, prints one "
    "JSON value, and `decode: json` makes data of it. `returns:` holds it to a type before anything reads it."
)

_CLEAN = """\
# clean.py
import json, sys
import pandas as pd

df = pd.read_csv(sys.argv[1]).dropna()
print(json.dumps({"rows": len(df), "total": float(df["amount"].sum())}))
"""


def pages() -> tuple[Page, ...]:
    """The topics that are no key, no tool and no code."""
    return (
        Page("types", "What `type:` and `returns:` may say.", (_TYPES,), ("inputs", "returns")),
        Page("permits", "The boundary: what is not listed is refused, before the run and at every use.",
             (_PERMITS,), ("tools", "secrets")),
        Page("expressions", _OPERATORS, (_PATHS, _PYTHON), ("when", "with", "skipped")),
        Page("skipped", _SKIPPED, (Sample(SKIPS),), ("when", "after")),
        Page("python", _SCRIPTS, (Sample(SCRIPT), Sample(_CLEAN, "python")), ("exec", "decode", "types")),
    )  # fmt: skip
