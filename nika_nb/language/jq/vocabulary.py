"""The closed vocabulary of `jq-subset/0.1`: its functions and formats, and why the others are refused.

The functions marked as admitted are not in the published set. Workflows that the public suite calls
valid use them, and they are bounded by their input: regular expressions run in linear time here.
"""

from __future__ import annotations

GRAMMAR = "jq-subset/0.1"

# name → how many arguments it takes
FUNCTIONS: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("length", "keys", "values", "type", "not", "empty", "add"), (0,)),
    **dict.fromkeys(("sort", "unique", "reverse", "min", "max"), (0,)),
    **dict.fromkeys(("to_entries", "from_entries", "tostring", "tonumber", "tojson", "fromjson"), (0,)),
    **dict.fromkeys(("leaf_paths", "ascii_downcase", "ascii_upcase", "floor", "ceil", "fabs"), (0,)),
    **dict.fromkeys(("error", "flatten", "first", "last", "paths"), (0, 1)),
    **dict.fromkeys(("has", "map", "map_values", "select", "join", "split", "del", "getpath"), (1,)),
    **dict.fromkeys(("sort_by", "group_by", "unique_by", "min_by", "max_by", "with_entries"), (1,)),
    **dict.fromkeys(("ltrimstr", "rtrimstr", "startswith", "endswith"), (1,)),
    **dict.fromkeys(("any", "all"), (0, 1, 2)),
    "range": (1, 2, 3),
    "setpath": (2,),
    # admitted
    "transpose": (0,),
    "contains": (1,),
    "test": (1, 2),
    "gsub": (2, 3),
}

FORMATS = frozenset({"base64", "base64d", "text", "json", "csv", "tsv", "uri"})

KEYWORDS = frozenset(
    {"true", "false", "null", "if", "then", "elif", "else", "end", "try", "catch", "reduce", "def", "as"}
    | {"and", "or"}
)

ENDLESS = "may never end, and an expression must · walk with `paths` and `getpath`, or fold with `reduce`"
AMBIENT = "reads what lies outside the input · bind the value and pass it in"
_OUTPUT = "writes outside the value · return what you want to see"
_CLOCK = "is the clock's, which an expression cannot see · take the time from `nika:date` and pass it in"
_PROCESS = "ends the process, and an expression only computes a value · fail with `error(…)`"
_REGEX = "is a regular expression function · of these only `test` and `gsub` are admitted"

REFUSED: dict[str, str] = {
    **dict.fromkeys(("recurse", "recurse_down", "while", "until", "repeat"), ENDLESS),
    **dict.fromkeys(("env", "input", "inputs", "input_filename", "input_line_number"), AMBIENT),
    **dict.fromkeys(("import", "include", "modulemeta", "get_search_list"), AMBIENT),
    **dict.fromkeys(("debug", "stderr"), _OUTPUT),
    **dict.fromkeys(("now", "localtime", "gmtime", "mktime", "strftime", "strptime"), _CLOCK),
    **dict.fromkeys(
        ("strflocaltime", "date", "todate", "fromdate", "todateiso8601", "fromdateiso8601"), _CLOCK
    ),
    **dict.fromkeys(("halt", "halt_error"), _PROCESS),
    **dict.fromkeys(("foreach", "label", "break"), "is not in the grammar · fold with `reduce`"),
    "limit": "is not in the grammar · take a slice, `[…][:n]`",
    **dict.fromkeys(("match", "sub", "splits", "scan", "capture"), _REGEX),
}

# what is written where it cannot stand → the way it is done
MISPLACED: dict[str, str] = {
    "..": f"`..` {ENDLESS}",
    "||": "there is no `||`: write `or`",
    "%": "`%` is not in the grammar: divide and round with `floor`",
    "?//": "`?//` is not in the grammar: bind with plain names",
    "as": "`as` binds one term at the head of a pipe: put what stands before it in parentheses",
    "def": "a `def` stands at the start of the program, before everything else",
    **dict.fromkeys(
        ("=", "|=", "+=", "-=", "*=", "/=", "%=", "//="),
        "an expression assigns nothing: build the new value with `map_values`, `with_entries` or `setpath`",
    ),
}

# What the evaluator lacks, or does otherwise than jq: `setpath` makes the containers that are missing.
PRELUDE: dict[str, str] = {
    "leaf_paths": "def leaf_paths: paths(scalars); ",
    "setpath": (
        'def setpath($path; $value): if ($path | type) != "array" then error("a path is an array")'
        " elif $path == [] then $value else $path[0] as $key"
        ' | ($key | type == "number") as $index'
        " | if . == null then (if $index then [] else {} end) else . end"
        ' | if $index and type == "array" and $key >= length'
        " then . + [range($key - length + 1) | null] else . end"
        " | .[$key] |= setpath($path[1:]; $value) end; "
    ),
}
