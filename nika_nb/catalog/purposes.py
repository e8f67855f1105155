"""What each argument of a builtin is for, in a few words, and what holds without it."""

from __future__ import annotations

PURPOSES: dict[str, dict[str, str]] = {
    "nika:assert": {
        "condition": "what has to be true: `${{ with.n > 0 }}`",
        "message": "what the failure says",
    },
    "nika:compose": {"workflow_yaml": "the text of a whole workflow; only an agent may ask"},
    "nika:convert": {
        "input": "the text, or the value",
        "from": "what it is",
        "to": "what it becomes",
        "has_header": "whether a CSV's first row names its columns; without it true",
        "formula_guard": "whether cells that a spreadsheet would compute are made harmless; without it true",
    },
    "nika:done": {"result": "the output of the task; only an agent may call it"},
    "nika:fetch": {
        "url": "the address; its host stands in `permits.net.http`",
        "method": "what is done there; without it GET",
        "headers": "header lines, by name",
        "body": "what is sent: a text, or a value as JSON",
        "form": "fields of a form; not part of this version",
        "multipart": "parts and files; not part of this version",
        "mode": "how the answer is read: write `raw` or `jq`, the others are not part of this version",
        "jq": "the program, under `mode: jq`",
        "selector": "not part of this version",
        "traverse": "not part of this version",
    },
    "nika:jq": {
        "expression": "the program: `.rows | length`",
        "input": "the value it works on; without it null",
    },
    "nika:json_diff": {"before": "the one value", "after": "the other"},
    "nika:log": {
        "message": "the line",
        "level": "how loud it is; without it info",
        "data": "a value beside it",
    },
    "nika:prompt": {
        "message": "the question",
        "mode": "yes or no, a text, or one of `choices`; without it confirm",
        "choices": "what may be chosen, under `mode: choice`",
        "default": "the answer where nobody can give one; without it the run pauses",
    },
    "nika:read": {
        "path": "the file; it stands in `permits.fs.read`",
        "encoding": "how its bytes are read; without it utf-8",
        "binary": "whether it comes as bytes instead of text; without it false",
    },
    "nika:validate": {
        "data": "the value, or its text",
        "schema": "a JSON Schema",
        "format": "what a text in `data` is read as; without it json",
    },
    "nika:wait": {
        "duration": "how long: 30s, 5m, 1h30m",
        "until": "the moment: 2027-01-31T08:00:00Z",
        "timeout": "the longest wait that is accepted, beside `until`",
    },
    "nika:write": {
        "path": "the file; it stands in `permits.fs.write`",
        "content": "what it will hold: a text, or a value as JSON",
        "create_dirs": "folders above a permitted path are made in any case; without it false",
        "overwrite": "whether an existing file is replaced; without it true",
    },
}
