"""The arguments of the 28 builtins: their names, what each one holds, which ones are needed."""

from __future__ import annotations

from typing import Literal, NamedTuple

Kind = Literal["any", "text", "flag", "whole", "number", "object", "list", "texts", "word", "condition"]


class Arg(NamedTuple):
    """`of` lists the words of a `word`; `least` is the lowest `whole`; `texts` is one text or several."""

    kind: Kind = "any"
    required: bool = False
    of: tuple[str, ...] = ()
    least: int = 0


def _word(*of: str, required: bool = False) -> Arg:
    return Arg("word", required, of)


_ANY, _NEEDED = Arg(), Arg(required=True)
_TEXT, _NEEDED_TEXT = Arg("text"), Arg("text", True)
_FLAG, _WHOLE, _OBJECT = Arg("flag"), Arg("whole"), Arg("object")

_MODES = ("markdown", "article", "text", "selector", "jq", "metadata", "links", "feed", "sitemap", "raw")
_FORMATS = ("json", "yaml", "toml", "csv")
_ASPECTS = ("1:1", "16:9", "9:16", "4:3", "3:4", "3:2", "2:3", "21:9")
_ASSETS = {"output_dir": _NEEDED_TEXT, "filename_prefix": _TEXT, "manifest": _FLAG, "metadata": _OBJECT}

ARGUMENTS: dict[str, dict[str, Arg]] = {
    "nika:log": {"message": _ANY, "level": _word("debug", "info", "warn", "error"), "data": _ANY},
    "nika:emit": {"event_type": _NEEDED_TEXT, "payload": _ANY},
    "nika:assert": {"condition": Arg("condition", True), "message": _ANY},
    "nika:prompt": {
        "message": _NEEDED,
        "mode": _word("confirm", "input", "choice"),
        "choices": Arg("list"),
        "default": _ANY,
    },
    "nika:done": {"result": _ANY},
    "nika:wait": {"duration": _TEXT, "until": _TEXT, "timeout": _TEXT},
    "nika:read": {"path": _NEEDED_TEXT, "encoding": _TEXT, "binary": _FLAG},
    "nika:write": {"path": _NEEDED_TEXT, "content": _NEEDED, "create_dirs": _FLAG, "overwrite": _FLAG},
    "nika:edit": {"path": _NEEDED_TEXT, "find": _NEEDED_TEXT, "replace": _NEEDED_TEXT, "count": _WHOLE},
    "nika:glob": {"pattern": _NEEDED_TEXT, "exclude": Arg("texts")},
    "nika:grep": {"pattern": _NEEDED_TEXT, "path": _TEXT, "case_insensitive": _FLAG},
    "nika:jq": {"input": _ANY, "expression": _NEEDED_TEXT},
    "nika:json_diff": {"before": _NEEDED, "after": _NEEDED},
    "nika:validate": {"data": _NEEDED, "schema": _NEEDED, "format": _word("json", "yaml")},
    "nika:json_merge_patch": {"target": _NEEDED, "patch": _NEEDED},
    "nika:convert": {
        "input": _NEEDED,
        "from": _word(*_FORMATS, required=True),
        "to": _word(*_FORMATS, required=True),
        "has_header": _FLAG,
        "formula_guard": _FLAG,
    },
    "nika:uuid": {"version": _word("v7", "v4")},
    "nika:decide": {"bundle": _NEEDED, "evidence": _NEEDED},
    "nika:date": {
        "op": _word("now", "add", "subtract", "format", "parse", "diff", required=True),
        **dict.fromkeys(("tz", "base", "duration", "input", "format", "start", "end", "unit"), _TEXT),
    },
    "nika:hash": {
        "content": _NEEDED,
        "op": _word("hash", "sign", "verify"),
        "algo": _word("blake3", "sha256", "sha512"),
        "encoding": _word("hex", "base64"),
        **dict.fromkeys(("key", "public_key", "signature"), _TEXT),
    },
    "nika:fetch": {
        "url": _NEEDED_TEXT,
        "method": _word("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD"),
        "headers": _OBJECT,
        "body": _ANY,
        "form": _OBJECT,
        "multipart": Arg("list"),
        "mode": _word(*_MODES),
        "jq": _TEXT,
        "selector": _TEXT,
        "traverse": _OBJECT,
    },
    "nika:notify": {
        "channel": _word("webhook", "slack", "email", "discord", "sms"),
        "target": _NEEDED_TEXT,
        "message": _NEEDED,
        "severity": _TEXT,
        "data": _ANY,
    },
    "nika:compose": {"workflow_yaml": _NEEDED_TEXT},
    "nika:inspect": {"view": _word("cost", "records", "dag_info", "threads", required=True)},
    "nika:chart": {
        "data": _NEEDED,
        "chart": Arg("object", True),
        "out": _NEEDED_TEXT,
        "semantics": _OBJECT,
        "compile_to": _TEXT,
    },
    "nika:image_generate": {
        "prompt": _NEEDED_TEXT,
        **_ASSETS,
        "provider": _word("local", "openai", "gemini", "xai", "mock"),
        "mode": _word("generate", "edit"),
        **dict.fromkeys(("model", "image", "mask", "size"), _TEXT),
        "images": Arg("list"),
        "n": Arg("whole", least=1),
        "aspect_ratio": _word(*_ASPECTS),
        "quality": _word("auto", "low", "medium", "high", "ultra"),
        "format": _word("png", "jpeg", "webp"),
        "background": _word("auto", "transparent", "opaque"),
        **dict.fromkeys(("compression", "seed", "timeout_ms"), _WHOLE),
        "provider_options": _OBJECT,
        **dict.fromkeys(("save", "debug"), _FLAG),
    },
    "nika:image_fx": {
        "input": _NEEDED_TEXT,
        "out": _NEEDED_TEXT,
        "ops": Arg("list", True),
        "seed": _WHOLE,
    },
    "nika:tts_generate": {
        "text": _NEEDED_TEXT,
        **_ASSETS,
        "provider": _word("local", "openai", "elevenlabs", "mock"),
        **dict.fromkeys(("model", "voice"), _TEXT),
        "format": _word("mp3", "wav", "auto"),
        "speed": Arg("number"),
        "timeout_ms": _WHOLE,
    },
}

# What people write when they mean another argument.
MEANT: dict[tuple[str, str], str] = {
    ("nika:jq", "query"): "expression",
    ("nika:jq", "expr"): "expression",
    ("nika:jq", "filter"): "expression",
    ("nika:jq", "program"): "expression",
    ("nika:jq", "data"): "input",
    ("nika:write", "text"): "content",
    ("nika:write", "data"): "content",
    ("nika:write", "body"): "content",
    ("nika:wait", "seconds"): "duration",
    ("nika:wait", "sleep"): "duration",
    ("nika:log", "text"): "message",
    ("nika:log", "msg"): "message",
    ("nika:prompt", "question"): "message",
    ("nika:prompt", "text"): "message",
    ("nika:prompt", "options"): "choices",
    ("nika:fetch", "uri"): "url",
    ("nika:fetch", "extract"): "mode",
    ("nika:fetch", "json"): "body",
    ("nika:assert", "expression"): "condition",
    ("nika:assert", "that"): "condition",
    ("nika:read", "file"): "path",
    ("nika:image_generate", "reference_images"): "images",
    ("nika:validate", "value"): "data",
    ("nika:validate", "input"): "data",
}
