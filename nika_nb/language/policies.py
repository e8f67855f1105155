"""What surrounds a task's work: when it runs, over what, how often, and what a failure becomes."""

from __future__ import annotations

import re
from typing import cast

from nika_nb.catalog import grammar
from nika_nb.errors import Fault
from nika_nb.language import cel
from nika_nb.language.findings import Findings
from nika_nb.language.model import ForEach, Lift, OnError, Retry
from nika_nb.language.nodes import Map, Node, Scalar, Seq, kind_of
from nika_nb.language.shape import Shape
from nika_nb.language.template import Plain, Text, Value, only_island
from nika_nb.language.written import has_island, value_of
from nika_nb.values import duration_ms

_CODE = re.compile(r"NIKA-[A-Z]{2,9}(?:-[A-Z][A-Z0-9_]{1,15})?-[0-9]{3}")
_BINDING = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)+")


def read_when(node: Node, findings: Findings) -> Value | bool | None:
    """True, False, or one island whose expression has the shape of a yes or no."""
    if isinstance(node, Scalar) and isinstance(node.value, bool):
        return node.value
    if not has_island(node):
        hint = _as_condition(node) or "write `when: ${{ a == b }}`, or true or false without quotes"
        shown = f"`{node.text[:60]}`" if isinstance(node, Scalar) and node.text else kind_of(node)
        findings.error("NIKA-VAR-005", f"`when:` takes an expression, not {shown}", node.span, hint)
        return None
    value = value_of(node, findings)
    if isinstance(value, Plain):
        return None  # its fault is found already
    island = only_island(value)
    if island is None:
        _several(value, node, findings)
        return None
    if not _asks(island.expr):
        findings.error(
            "NIKA-VAR-005",
            f"`{island.text[:80]}` is a value, not a condition",
            island.span,
            _meant(island.expr),
        )
        return None
    return value


def _as_condition(node: Node) -> str:
    """What to write for words that read as a condition; else empty."""
    if not isinstance(node, Scalar) or not isinstance(node.value, str):
        return ""
    if node.text in ("true", "false"):
        return f"write `when: {node.text}`, without quotes"
    try:
        return f"write `when: ${{{{ {node.text} }}}}`" if _asks(cel.parse(node.text)) else ""
    except Fault:
        return ""


def _meant(expr: cel.Expr) -> str:
    constant = cel.slips.value(expr.name) if isinstance(expr, cel.syntax.Ident) else None
    if constant:
        return f"write `{constant}`"
    named = isinstance(expr, (cel.syntax.Member, cel.syntax.Index))
    also = ", also where it is true or false" if named else ""
    return f"compare it{also}: `== true`, `!= null`, `> 0`, or `size(…) > 0`"


def _several(value: Value, node: Node, findings: Findings) -> None:
    parts = value.parts if isinstance(value, Text) else ()
    many = sum(not isinstance(part, str) for part in parts) > 1
    findings.error(
        "NIKA-VAR-005",
        "`when:` is one `${{ }}` and nothing around it",
        node.span,
        "put both sides into one: `${{ a && b }}`" if many else "put the whole condition inside the braces",
    )


def _asks(expr: cel.Expr) -> bool:
    """Whether an expression has the shape of a yes or no, as far as its form tells."""
    match expr:
        case cel.syntax.Literal(value=value):
            return isinstance(value, bool)
        case cel.syntax.Binary() | cel.syntax.Not():
            return True
        case cel.syntax.Call(name=name):
            return name != "size"
        case cel.syntax.Choice(then=then, other=other):
            return not (_never_asks(then) or _never_asks(other)) and (_asks(then) or _asks(other))
    return False


def _never_asks(expr: cel.Expr) -> bool:
    return not _asks(expr) and not isinstance(expr, (cel.syntax.Ident, cel.syntax.Member, cel.syntax.Index))


def read_timeout(node: Node, findings: Findings) -> int | None:
    """Milliseconds."""
    text = node.value if isinstance(node, Scalar) else None
    found = duration_ms(text) if isinstance(text, str) else None
    if found is not None:
        return found
    shown = f"`{node.text[:40]}`" if isinstance(node, Scalar) else kind_of(node)
    findings.error(
        "NIKA-PARSE-010",
        f"`timeout:` takes a duration, and {shown} is none",
        node.span,
        'write "30s", "5m" or "1h30m": units h m s ms us ns from large to small, above 0, at most 24h',
    )
    return None


def read_for_each(node: Node, findings: Findings) -> ForEach | None:
    shape = Shape(findings)
    found = shape.mapping(node, "`for_each:`", "write `for_each: { items: … }`")
    if found is None:
        return None
    shape.closed(found, grammar.FOR_EACH, "`for_each:`")
    items = found.get("items")
    if items is None:
        hint = "write `items: ${{ with.rows }}` or a list"
        shape.lacks(found, ("items",), "`for_each:` has no `items:`", hint)
        return None
    if not isinstance(items, Seq) and not (isinstance(items, Scalar) and isinstance(items.value, str)):
        shape.wrong("`items`", "a list or a `${{ }}` that yields one", items)
        return None
    parallel = shape.whole(found.get("max_parallel"), "`max_parallel`", 1)
    fast = shape.flag(found.get("fail_fast"), "`fail_fast`")
    return ForEach(value_of(items, findings), parallel, fast, found.span)


def read_retry(node: Node, findings: Findings) -> Retry | None:
    shape = Shape(findings, "NIKA-PARSE-011")
    found = shape.mapping(node, "`retry:`", "write `retry: { max_attempts: 3 }`")
    if found is None:
        return None
    shape.closed(found, grammar.RETRY, "`retry:`")
    if "max_attempts" not in found.entries:
        hint = "write `max_attempts: 3`: the first try counts"
        shape.lacks(found, ("max_attempts",), "`retry:` has no `max_attempts:`", hint)
        return None
    attempts = shape.whole(found.entries["max_attempts"].value, "`max_attempts`", 1)
    if attempts is None:
        return None
    return Retry(
        max_attempts=attempts,
        backoff_ms=_whole(found, "backoff_ms", shape),
        backoff_strategy=_word(found, "backoff_strategy", shape),
        backoff_max_ms=_whole(found, "backoff_max_ms", shape),
        jitter=_flag(found, "jitter", shape),
        on_codes=_codes(found, shape),
        span=found.span,
    )


def _whole(found: Map, key: str, shape: Shape) -> int | None:
    return shape.whole(found.get(key), f"`{key}`")


def _word(found: Map, key: str, shape: Shape) -> str | None:
    return shape.one_of(found.get(key), f"`{key}`", grammar.BACKOFFS)


def _flag(found: Map, key: str, shape: Shape) -> bool | None:
    return shape.flag(found.get(key), f"`{key}`")


def _codes(found: Map, shape: Shape) -> tuple[str, ...] | None:
    node = found.get("on_codes")
    items = shape.texts(node, "`on_codes`")
    if items is None:
        return None
    for item in items:
        if not _CODE.fullmatch(item.text):
            shape.refuse(f"`{item.text[:60]}` is not an error code", item, "codes look like NIKA-EXEC-001")
    if not items and node is not None:
        shape.refuse("`on_codes` is empty, so it never applies", node, "list codes, or leave it out")
    return tuple(item.text for item in items)


def read_on_error(node: Node, findings: Findings) -> OnError | None:
    shape = Shape(findings, "NIKA-PARSE-012")
    found = shape.mapping(node, "`on_error:`", "write `on_error: { recover: … }` or `{ skip: true }`")
    if found is None:
        return None
    shape.closed(found, grammar.ON_ERROR, "`on_error:`", grammar.DEAD_ON_ERROR)
    recover = found.get("recover")
    skip = _flag(found, "skip", shape)
    if (recover is None) == ("skip" not in found.entries):
        hint = "write exactly one of `recover: …` and `skip: true`"
        if recover is not None:
            shape.refuse("`recover` and `skip` exclude each other", found, hint)
        else:
            shape.lacks(found, ("recover", "skip"), "`on_error:` does nothing", hint)
        return None
    if recover is None and skip is not True:
        if skip is False:
            shape.refuse("`skip: false` does nothing", found, "leave `on_error:` out: a failure fails anyway")
        return None
    value = value_of(recover, findings) if recover is not None else None
    return OnError(value, bool(skip), _codes(found, shape), found.span)


def read_lift(node: Node, findings: Findings) -> tuple[Lift, ...]:
    shape = Shape(findings)
    items = shape.items(node, "`lift:`", "write `lift: [{ law: …, because: … }]`")
    if items is not None and not items:
        shape.refuse("`lift:` is empty", node, "remove it")
    return tuple(lift for item in items or [] if (lift := _lift(item, shape)) is not None)


def _lift(node: Node, shape: Shape) -> Lift | None:
    found = shape.mapping(node, "an entry of `lift:`", "write `{ law: …, because: … }`")
    if found is None:
        return None
    shape.closed(found, grammar.LIFT, "`lift:`")
    missing = [key for key in ("law", "because") if key not in found.entries]
    for key in missing:
        sentence, hint = f"an entry of `lift:` has no `{key}:`", "name the law, and the reason in words"
        shape.lacks(found, (key,), sentence, hint)
    if missing:
        return None
    law = shape.one_of(found.entries["law"].value, "`law`", grammar.LAWS)
    because = shape.text(found.entries["because"].value, "`because`", empty=False)
    origin = found.get("from")
    if law is None or because is None or not _origin(origin, law, found, shape):
        return None
    return Lift(law, cast(Scalar, origin).text if origin is not None else None, because, found.span)


def _origin(node: Node | None, law: str, found: Map, shape: Shape) -> bool:
    if node is None:
        if law == "taint":
            shape.refuse("`law: taint` needs the binding in `from:`", found, "write `from: inputs.<name>`")
        return law != "taint"
    if law != "taint":
        shape.refuse(f"`from:` does not belong to `law: {law}`", node, "remove it")
        return False
    text = shape.text(node, "`from`")
    if text is not None and not _BINDING.fullmatch(text):
        shape.refuse(f"`{text[:60]}` is not a binding", node, "write `inputs.<name>` without `${{ }}`")
        return False
    return text is not None
