"""`nika:fetch` as written: one payload, the mode's own argument, a bounded crawl, an address that is one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nika_nb.authority.floor import BLOCKED_CODE
from nika_nb.authority.hosts import closed_port, read_site
from nika_nb.check.problem import Problem, is_open
from nika_nb.language.model import Task

Args = dict[str, Any]

_PAYLOADS = ("body", "form", "multipart")
_WITH_BODY = ("POST", "PUT", "PATCH")
_MOST_PARTS = 64
_MOST_PAGES = 25
_KNOWN_PART = "it knows name, value, path, filename and content_type"
_KNOWN_CRAWL = "it knows max_pages and respect_robots"


def judge_fetch(args: Args, task: Task) -> Iterator[Problem]:
    yield from _address(args["url"])
    yield from _payload(args)
    yield from _mode(args)
    if isinstance(args.get("multipart"), list):
        yield from _parts(args["multipart"])
    if isinstance(args.get("traverse"), dict):
        yield from _crawl(args, args["traverse"])


def _address(url: str) -> Iterator[Problem]:
    head = url.split("${{", 1)[0]
    scheme, sign, rest = head.partition("://")
    if is_open(url) and "/" not in rest:  # the host is known to the run alone
        head = f"{scheme}://host" if sign else "https://host"
    try:
        site = read_site(head)
    except ValueError as error:
        yield Problem(f"`{url}` cannot be fetched: {error}", "write `https://host/path`", ("url",))
        return
    if site.credentials:
        sentence = "a name or password before the host is never sent"
        yield Problem(sentence, "write it as a header: `headers: { authorization: … }`", ("url",))
    if why := closed_port(site.port):
        sentence = f"`{site}` is never reached: {why}"
        yield Problem(sentence, "no permit opens this port", ("url",), BLOCKED_CODE)


def _payload(args: Args) -> Iterator[Problem]:
    found = [name for name in _PAYLOADS if name in args]
    if len(found) > 1:
        sentence = f"`{found[0]}` and `{found[1]}` exclude each other: a request has one payload"
        yield Problem(sentence, "keep one of them", (found[1],))
    method = args.get("method", "GET")
    own = next((name for name in ("form", "multipart") if name in args), None)
    if own is None:
        return
    if not is_open(method) and method not in _WITH_BODY:
        yield Problem(f"`{own}` cannot be sent with {method}", "write `method: POST`", (own,))
    headers = args.get("headers")
    for name in headers if isinstance(headers, dict) else ():
        if name.lower() == "content-type":
            yield Problem(
                f"`{own}` sets the content type itself",
                "remove this header",
                ("headers", name),
                about_name=True,
            )
    form = args.get("form")
    for name, value in form.items() if isinstance(form, dict) else ():
        if not isinstance(value, (str, int, float)):
            sentence = f"the form field `{name}` is a text, a number, or true or false"
            yield Problem(sentence, "reshape it with `nika:jq`", ("form", name))


def _mode(args: Args) -> Iterator[Problem]:
    mode = args.get("mode", "markdown")
    for name in ("jq", "selector"):
        if name in args and not is_open(mode) and mode != name:
            yield Problem(
                f"`{name}` belongs to `mode: {name}`", f"write `mode: {name}`, or remove it", (name,)
            )
        if mode == name and name not in args:
            yield Problem(f"`mode: {name}` needs `{name}:`", f"write `{name}: …`", ("mode",))


def _parts(parts: list[Any]) -> Iterator[Problem]:
    if not 1 <= len(parts) <= _MOST_PARTS:
        yield Problem(f"`multipart` has 1 to {_MOST_PARTS} parts", "", ("multipart",))
    for number, part in enumerate(parts):
        if is_open(part):
            continue
        path = ("multipart", number)
        shape = part if isinstance(part, dict) else {}
        if "name" not in shape or ("value" in shape) == ("path" in shape):
            hint = "write `{ name: …, value: … }`, or `{ name: …, path: … }` for a file"
            yield Problem("a part has a name, and either a value or the path of a file", hint, path)
        for key in shape.keys() - {"name", "value", "path", "filename", "content_type"}:
            yield Problem(f"a part has no `{key}`", _KNOWN_PART, (*path, key), about_name=True)


def _crawl(args: Args, traverse: Args) -> Iterator[Problem]:
    for name in ("mode", "selector", "jq", *_PAYLOADS):
        if name in args:
            yield Problem(
                f"`{name}` and `traverse` exclude each other", "a crawl returns whole pages", (name,)
            )
    method = args.get("method", "GET")
    if not is_open(method) and method != "GET":
        yield Problem("a crawl only reads", "remove `method:`", ("method",))
    pages = traverse.get("max_pages")
    if not is_open(pages) and not (type(pages) is int and 1 <= pages <= _MOST_PAGES):
        place = ("traverse", "max_pages") if "max_pages" in traverse else ("traverse",)
        yield Problem(
            f"`traverse` needs `max_pages:` from 1 to {_MOST_PAGES}", "write `{ max_pages: 5 }`", place
        )
    polite = traverse.get("respect_robots", True)
    if not is_open(polite) and not isinstance(polite, bool):
        yield Problem("`respect_robots` is true or false", "", ("traverse", "respect_robots"))
    for key in traverse.keys() - {"max_pages", "respect_robots"}:
        yield Problem(f"`traverse` has no `{key}`", _KNOWN_CRAWL, ("traverse", key), about_name=True)
