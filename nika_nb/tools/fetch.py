"""`nika:fetch`: what an address of the web answers, as text or as JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from nika_nb import values
from nika_nb.authority.hosts import Site, read_site
from nika_nb.catalog.arguments import ARGUMENTS
from nika_nb.errors import Fault, hidden
from nika_nb.language import jq as language
from nika_nb.tools.base import ARGUMENTS_CODE, Tool, Use, text_of
from nika_nb.tools.jq import one_value
from nika_nb.tools.web import FAILED_CODE, Request, Web
from nika_nb.values import nearest, to_text, type_name

NAME = "nika:fetch"
LATER_CODE = "NIKA-IMPL-001"

_METHODS = ARGUMENTS[NAME]["method"].of
_MODES = ("raw", "jq")
_LATER_MODES = tuple(mode for mode in ARGUMENTS[NAME]["mode"].of if mode not in _MODES)
_LATER = ("form", "multipart", "traverse")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_NEVER = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
# What frames a message or chooses its receiver is not the author's.
_OURS = frozenset(
    {"connection", "content-length", "expect", "host", "keep-alive", "te", "trailer", "transfer-encoding"}
    | {"upgrade", "proxy-authorization", "proxy-connection"}
)


async def _fetch(use: Use, arguments: Mapping[str, Any]) -> Any:
    site = _site(text_of(arguments, "url", NAME))
    web = Web(use)
    web.enter(site, "url")
    mode, program = _mode(arguments)
    raw = await web.send(_request(site, arguments))
    if mode == "raw":
        return _text(site, raw, "utf-8")
    return await one_value(use, program, _json(site, raw), FAILED_CODE)


def _site(url: str) -> Site:
    try:
        return read_site(url)
    except ValueError as error:
        raise Fault(ARGUMENTS_CODE, f"`url:` cannot be fetched: {error}; write `https://host/path`") from None


def _mode(arguments: Mapping[str, Any]) -> tuple[str, str]:
    """(raw or jq, the program). Raises Fault for what is wrong, and for what is not there yet."""
    mode = text_of(arguments, "mode", NAME, "markdown")
    if mode not in (*_MODES, *_LATER_MODES):
        hint = nearest(mode, (*_MODES, *_LATER_MODES)) or f"it is one of {', '.join(_MODES)}"
        raise Fault(ARGUMENTS_CODE, f"`{NAME}` has no `mode: {hidden(mode)[:40]}`; {hint}")
    lack = later(arguments)
    if lack is not None:
        raise Fault(LATER_CODE, "; ".join(filter(None, lack)))
    for name in ("jq", "selector"):
        if (name == mode) != (arguments.get(name) is not None):
            what = f"needs `{name}:`" if name == mode else f"takes no `{name}:`"
            raise Fault(ARGUMENTS_CODE, f"`mode: {mode}` {what}")
    program = text_of(arguments, "jq", NAME, "")
    if mode == "jq":
        language.parse(program)  # a program that is none is not worth a request
    return mode, program


def later(arguments: Mapping[str, Any]) -> tuple[str, str] | None:
    """What these arguments ask for that is not part of this version, and what to write instead."""
    for name in _LATER:
        if arguments.get(name) is not None:
            return f"`{name}:` of `{NAME}` is not part of this version", ""
    mode = arguments.get("mode", "markdown")
    if mode not in _LATER_MODES:
        return None
    what = f"`mode: {mode}`" if "mode" in arguments else f"turning a page into {mode}, the usual mode,"
    return f"{what} is not part of this version", "write `mode: raw`, or `mode: jq`"


def _request(site: Site, arguments: Mapping[str, Any]) -> Request:
    method = text_of(arguments, "method", NAME, "GET")
    if method not in _METHODS:
        hint = nearest(method, _METHODS) or f"it is one of {', '.join(_METHODS)}"
        raise Fault(ARGUMENTS_CODE, f"`{NAME}` has no `method: {hidden(method)[:40]}`; {hint}")
    headers = _headers(arguments)
    body = arguments.get("body")
    if body is None or isinstance(body, (bytes, bytearray)):
        return Request(method, site, headers, None if body is None else bytes(body))
    if not isinstance(body, str):
        headers.setdefault("content-type", "application/json")
        body = _as_json(body)
    return Request(method, site, headers, body.encode("utf-8"))


def _as_json(body: Any) -> str:
    try:
        return values.dumps(body)
    except (TypeError, ValueError, RecursionError):
        raise Fault(ARGUMENTS_CODE, "`body:` is text, bytes or a JSON value, and this is none") from None


def _headers(arguments: Mapping[str, Any]) -> dict[str, str]:
    """The author's headers by their names in lower case. No message here shows a value."""
    given = arguments.get("headers")
    if not isinstance(given, (dict, type(None))):
        raise Fault(ARGUMENTS_CODE, f"`headers:` is an object, not {type_name(given)}")
    headers: dict[str, str] = {}
    for name, value in (given or {}).items():
        key = name.lower()
        if not _TOKEN.fullmatch(name) or key in headers:
            raise Fault(ARGUMENTS_CODE, f"`{hidden(name)[:40]}` is not the name of one header")
        if key in _OURS:
            raise Fault(ARGUMENTS_CODE, f"the header `{name}` follows from the request: remove it")
        if not isinstance(value, (str, int, float)):
            raise Fault(ARGUMENTS_CODE, f"the header `{name}` is text, not {type_name(value)}")
        text = to_text(value).strip(" \t")
        if _NEVER.search(text):
            raise Fault(ARGUMENTS_CODE, f"the header `{name}` holds a line break or a control character")
        headers[key] = text
    return headers


def _text(site: Site, raw: bytes, encoding: str) -> str:
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        what = f"does not answer in UTF-8 text (byte {error.start}); let a program store the bytes"
        raise _unusable(site, what) from None


def _json(site: Site, raw: bytes) -> Any:
    try:
        return values.loads(_text(site, raw, "utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise _unusable(site, f"does not answer in JSON: {error}") from None


def _unusable(site: Site, what: str) -> Fault:
    return Fault(FAILED_CODE, f"`{site}` {what}", details={"host": site.host}, transient=False)


TOOL = Tool(
    NAME,
    _fetch,
    required=("url",),
    optional=("method", "headers", "body", "form", "multipart", "mode", "jq", "selector", "traverse"),
    says="Asks an address of the web. `mode: raw` returns the text, `mode: jq` what the expression in "
    "`jq` makes of the JSON.",
    shapes={
        "url": {"type": "string"},
        "method": {"enum": list(_METHODS)},
        "headers": {"type": "object"},
        "mode": {"enum": list(_MODES)},
        "jq": {"type": "string"},
    },
)
