"""What the arguments of one builtin must be to each other, beyond their names and kinds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from nika_nb.check.fetch_rules import judge_fetch
from nika_nb.check.problem import Problem, is_open
from nika_nb.language.cel.syntax import as_reference
from nika_nb.language.model import Task
from nika_nb.language.template import only_island
from nika_nb.values import nearest, to_text, type_name

Args = dict[str, Any]
Rule = Callable[[Args, Task], Iterator[Problem]]

_EVENT = re.compile(r"[a-z][a-z0-9_.-]*")
_DURATION = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?(?:ns|us|µs|ms|s|m|h))+")  # a wait may be longer than a day


def _prompt(args: Args, task: Task) -> Iterator[Problem]:
    mode, code = args.get("mode", "confirm"), "NIKA-BUILTIN-PROMPT-002"
    choices = args.get("choices")
    if mode == "choice" and not choices:
        hint = "write `choices: [first, second]`"
        yield Problem("`mode: choice` needs `choices:` with at least one entry", hint, (), code)
    if "choices" in args and not is_open(mode) and mode != "choice":
        yield Problem(f"`choices:` means nothing in `mode: {mode}`", "write `mode: choice`", ("choices",))
    default = args.get("default")
    if default is None or is_open(default) or is_open(mode):
        return
    if mode == "confirm" and not isinstance(default, bool):
        shown = f"`{default}`"
        yield Problem(f"a confirmation's `default:` is true or false, not {shown}", "", ("default",), code)
    elif mode == "input" and not isinstance(default, str):
        hint = f'put it in quotes: "{to_text(default)}"' if isinstance(default, (bool, int, float)) else ""
        yield Problem(
            f"the `default:` of an input is text, not {type_name(default)}", hint, ("default",), code
        )
    elif mode == "choice" and isinstance(choices, list) and not any(map(is_open, choices)):
        texts = [to_text(choice) for choice in choices]
        if default not in texts:
            hint = nearest(to_text(default), texts) or f"write one of {', '.join(texts)}"
            yield Problem(
                f"the default `{to_text(default)}` is none of the choices", hint, ("default",), code
            )


def _wait(args: Args, task: Task) -> Iterator[Problem]:
    code = "NIKA-BUILTIN-WAIT-003"
    if ("duration" in args) == ("until" in args):
        both = "duration" in args
        sentence = "`duration` and `until` exclude each other" if both else "`nika:wait` has no end"
        yield Problem(
            sentence, "write exactly one of `duration:` and `until:`", ("until",) if both else (), code
        )
    if "timeout" in args and "duration" in args:
        yield Problem("`timeout` caps `until:` only", "a `duration:` ends by itself: remove it", ("timeout",))
    for name in ("duration", "timeout"):
        value = args.get(name)
        if isinstance(value, str) and not is_open(value) and not _DURATION.fullmatch(value):
            hint = 'write "500ms", "30s", "5m" or "1h30m"'
            yield Problem(f"`{name}: {value}` is not a duration", hint, (name,))
    until = args.get("until")
    if isinstance(until, str) and not is_open(until) and not _is_moment(until):
        yield Problem(f"`until: {until}` is not a moment", 'write "2026-05-23T09:00:00Z"', ("until",))


def _is_moment(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _convert(args: Args, task: Task) -> Iterator[Problem]:
    source, target = args.get("from"), args.get("to")
    if source == target and not is_open(source):
        sentence = f"from `{source}` to `{target}` converts nothing"
        yield Problem(
            sentence, "choose another format, or leave the task out", ("to",), "NIKA-BUILTIN-CONVERT-001"
        )


def _emit(args: Args, task: Task) -> Iterator[Problem]:
    name = args.get("event_type")
    if isinstance(name, str) and not is_open(name) and not _EVENT.fullmatch(name):
        hint = "use lower-case letters, digits, `_`, `.` and `-`, starting with a letter"
        yield Problem(f"`{name}` cannot name an event", hint, ("event_type",), "NIKA-BUILTIN-EMIT-001")


def _merge(args: Args, task: Task) -> Iterator[Problem]:
    for name in ("target", "patch"):
        if not isinstance(args[name], dict) and not is_open(args[name]):
            sentence = f"`{name}` of a merge patch is an object"
            yield Problem(sentence, "", (name,), "NIKA-BUILTIN-JSON_MERGE_PATCH-001")


def _validate(args: Args, task: Task) -> Iterator[Problem]:
    if not isinstance(args["schema"], (dict, str, bool)):
        yield Problem("`schema` is a JSON Schema: an object, or the text of one", "", ("schema",))


_HASH_ONLY = {"hash": ("algo",), "sign": ("key",), "verify": ("public_key", "signature")}
_HASH_NEEDS = {"hash": (), "sign": ("key",), "verify": ("public_key", "signature")}


def _hash(args: Args, task: Task) -> Iterator[Problem]:
    op, code = args.get("op", "hash"), "NIKA-BUILTIN-HASH-001"
    if is_open(op):
        return
    for name in _HASH_NEEDS[op]:
        if name not in args:
            yield Problem(f"`op: {op}` needs `{name}:`", f"write `{name}: …`", (), code)
    for other, names in _HASH_ONLY.items():
        for name in names:
            if other != op and name in args:
                yield Problem(
                    f"`{name}` belongs to `op: {other}`", f"write `op: {other}`, or remove it", (name,), code
                )
    if op == "sign" and "key" in args and not _is_secret(task, "key"):
        hint = 'write `key: "${{ secrets.<name> }}"` and declare the secret'
        yield Problem("the key that signs must come from `secrets`", hint, ("key",), code)


def _is_secret(task: Task, name: str) -> bool:
    island = only_island(task.action.arguments.get(name))
    path = as_reference(island.expr) if island is not None else None
    return path is not None and path.root == "secrets"


_DATE_NEEDS = {
    "now": (), "add": ("base", "duration"), "subtract": ("base", "duration"), "format": ("input", "format"),
    "parse": ("input",), "diff": ("start", "end"),
}  # fmt: skip


def _date(args: Args, task: Task) -> Iterator[Problem]:
    for name in _DATE_NEEDS.get(args["op"], ()):
        if name not in args:
            yield Problem(
                f"`op: {args['op']}` needs `{name}:`", f"write `{name}: …`", (), "NIKA-BUILTIN-DATE-001"
            )


def _image(args: Args, task: Task) -> Iterator[Problem]:
    code = "NIKA-BUILTIN-IMAGE_GENERATE-001"
    sources = [name for name in ("image", "images") if name in args]
    if args.get("mode") == "edit" and not sources:
        yield Problem("`mode: edit` needs the picture to edit", "write `image: path.png`", (), code)
    if len(sources) == 2:
        yield Problem(
            "`image` and `images` exclude each other", "keep `images:` for several", ("image",), code
        )
    if sources and args.get("mode", "generate") == "generate":
        yield Problem(
            f"`{sources[0]}` means nothing without `mode: edit`", "write `mode: edit`", (sources[0],), code
        )
    if args.get("save") is False:
        yield Problem("`save: false` is not possible: pictures land on disk", "remove it", ("save",), code)
    count = args.get("n")
    if isinstance(count, int) and count > 10:
        yield Problem("`n` is at most 10", "fan out with `for_each:` for more", ("n",), code)
    if args.get("background") == "transparent" and args.get("format") == "jpeg":
        sentence = "a JPEG cannot be transparent"
        yield Problem(sentence, "write `format: png` or `format: webp`", ("background",), code)


def _image_fx(args: Args, task: Task) -> Iterator[Problem]:
    code, ops = "NIKA-BUILTIN-IMAGE_FX-001", args["ops"]
    if not isinstance(ops, list):
        return
    if not 1 <= len(ops) <= 32:
        yield Problem("`ops` lists 1 to 32 steps", "", ("ops",), code)
    for number, op in enumerate(ops):
        if isinstance(op, dict) and len(op) == 1 and next(iter(op)) not in _IMAGE_OPS:
            name = next(iter(op))
            hint = nearest(name, _IMAGE_OPS) or f"the steps are {', '.join(_IMAGE_OPS)}"
            yield Problem(f"there is no image step `{name}`", hint, ("ops", number), code)
        elif not is_open(op) and not (isinstance(op, dict) and len(op) == 1):
            yield Problem(
                "an image step is one name with its settings",
                "write `- grayscale: {}`",
                ("ops", number),
                code,
            )


_IMAGE_OPS = (
    "resize", "crop", "levels", "grayscale", "palette_map", "dither", "duotone", "pixelate", "halftone",
    "grain", "vignette", "chromatic_aberration", "scanlines", "glitch", "ascii",
)  # fmt: skip


def _chart(args: Args, task: Task) -> Iterator[Problem]:
    code, out = "NIKA-BUILTIN-CHART-004", args["out"]
    if isinstance(out, str) and not is_open(out) and not out.endswith(".svg"):
        yield Problem("a chart is written as SVG", "let `out:` end in `.svg`", ("out",), code)
    kinds = ("bar", "line", "area_band", "scatter", "heatmap")
    kind = args["chart"].get("type") if isinstance(args["chart"], dict) else None
    if isinstance(kind, str) and not is_open(kind) and kind not in kinds:
        hint = nearest(kind, kinds) or f"the types are {', '.join(kinds)}"
        yield Problem(f"there is no chart type `{kind}`", hint, ("chart", "type"), code)


def _speech(args: Args, task: Task) -> Iterator[Problem]:
    code, text, speed = "NIKA-BUILTIN-TTS_GENERATE-001", args["text"], args.get("speed")
    if isinstance(text, str) and not is_open(text) and not 0 < len(text) <= 4096:
        yield Problem(
            "`text` has 1 to 4096 characters", "fan longer scripts out with `for_each:`", ("text",), code
        )
    if isinstance(speed, (int, float)) and not 0.25 <= speed <= 4:
        yield Problem("`speed` lies between 0.25 and 4", "", ("speed",), code)


RULES: dict[str, Rule] = {
    "nika:prompt": _prompt,
    "nika:wait": _wait,
    "nika:convert": _convert,
    "nika:emit": _emit,
    "nika:json_merge_patch": _merge,
    "nika:validate": _validate,
    "nika:hash": _hash,
    "nika:date": _date,
    "nika:fetch": judge_fetch,
    "nika:image_generate": _image,
    "nika:image_fx": _image_fx,
    "nika:chart": _chart,
    "nika:tts_generate": _speech,
}
