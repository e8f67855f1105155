"""The top level of a document: its name, and every block beside `tasks:`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar, cast

from nika_nb.catalog import grammar
from nika_nb.catalog.builtins import BUILTINS
from nika_nb.catalog.grammar import SecretSource
from nika_nb.errors import Span
from nika_nb.language.determinism import read_run
from nika_nb.language.findings import Findings
from nika_nb.language.model import Const, Egress, Input, Output, Secret, Workflow
from nika_nb.language.nodes import Entry, Map, Node, Scalar, Seq, kind_of
from nika_nb.language.permits import read_permits
from nika_nb.language.shape import Shape
from nika_nb.language.strays import stray_tasks
from nika_nb.language.tasks import read_tasks
from nika_nb.language.types import TypeExpr, read_type
from nika_nb.language.written import islands_in, literal_of, value_of
from nika_nb.values import Json, nearest

T = TypeVar("T")

_NAME = re.compile(r"[a-z][a-z0-9-]*")
_ADDRESSLESS = ("exec", "infer", "agent", "outputs")
_PLACES = "name one tool, or exec, infer, agent, outputs"
_INDENT = "indent it under `tasks:`"
_VERSION = re.compile(r"v[0-9]+")


def read_workflow(root: Node | None, findings: Findings) -> Workflow | None:
    """The workflow of a document; None where the root is no mapping."""
    if not isinstance(root, Map):
        _no_workflow(root, findings)
        return None
    shape = Shape(findings)
    shape.closed(root, grammar.ENVELOPE, "a workflow", {**_outside(root), **grammar.DEAD_ENVELOPE})
    return Workflow(
        id=_name(root, findings),
        source=findings.source,
        tasks=read_tasks(root, findings),
        model=_model(root, shape),
        inputs=_named(root, "inputs", _input, shape),
        consts=_named(root, "const", _const, shape),
        secrets=_named(root, "secrets", _secret, shape),
        permits=read_permits(node, findings) if (node := root.get("permits")) is not None else None,
        run=read_run(root, shape),
        outputs=_named(root, "outputs", _output, shape),
        spans={key: entry.span for key, entry in root.entries.items()},
    )


def _outside(root: Map) -> dict[str, grammar.Dead]:
    """What stands at the top level and is a task."""
    return {
        name: grammar.Dead("NIKA-PARSE-005", f"`{name[:80]}` is not a key of a workflow, but a task", _INDENT)
        for name in stray_tasks(root)
    }


def _no_workflow(root: Node | None, findings: Findings) -> None:
    hint = "start with `nika: <name>` and a `tasks:` mapping"
    if root is None or (isinstance(root, Scalar) and root.value is None):
        findings.error("NIKA-PARSE-002", "there is no workflow here: the text is empty", Span(0, 0), hint)
    elif isinstance(root, Seq):
        sentence = "a workflow is a mapping, and this text is a list"
        findings.error("NIKA-PARSE-002", sentence, root.span, hint)
    else:
        sentence = f"a workflow is a mapping, and this text is {kind_of(root)}"
        findings.error("NIKA-PARSE-002", sentence, root.span, hint)


def _name(root: Map, findings: Findings) -> str:
    node = root.get("nika")
    if node is None:
        hint = "write `nika: <name>` as the first line"
        if not Shape(findings).told(root, "nika"):
            findings.error("NIKA-PARSE-002", "`nika:` is missing: it names the workflow", _start(root), hint)
        return ""
    value = node.value if isinstance(node, Scalar) else None
    if isinstance(value, str) and _NAME.fullmatch(value) and not _VERSION.fullmatch(value):
        return value
    shown = f"`{node.text[:60]}`" if isinstance(node, Scalar) and node.text else kind_of(node)
    findings.error(
        "NIKA-PARSE-003",
        f"`nika:` holds the name of the workflow, and {shown} is none",
        node.span,
        f"use lower-case letters, digits and `-`, starting with a letter: {_slug(str(value))}",
    )
    return str(value) if isinstance(value, str) else ""


def _slug(text: str) -> str:
    """The name that a text would be."""
    slug = re.sub(r"[^a-z0-9]+", "-", text.lower().replace("'", ""))[:60].strip("-")
    return slug if _NAME.fullmatch(slug) and not _VERSION.fullmatch(slug) else "my-workflow"


def _start(root: Map) -> Span:
    return Span(root.span.start, min(root.span.start + 1, root.span.end))


def _model(root: Map, shape: Shape) -> str | None:
    return shape.text(root.get("model"), "`model:`", empty=False)


def _named(
    root: Map, key: str, reader: Callable[[str, Entry, Shape], T | None], shape: Shape
) -> dict[str, T]:
    """Every entry of one block by name; unsound entries are left out."""
    node = root.get(key)
    found = shape.mapping(node, f"`{key}:`")
    made = {name: reader(name, entry, shape) for name, entry in found.entries.items()} if found else {}
    return {name: value for name, value in made.items() if value is not None}


def _input(name: str, entry: Entry, shape: Shape) -> Input | None:
    what = f"the input `{name}`"
    found = shape.mapping(entry.value, what, "write `{ type: string }`")
    if found is None:
        return None
    shape.closed(found, grammar.INPUT, what)
    typed = _type(found, what, shape)
    required = shape.flag(node, f"`required` of {what}") if (node := found.get("required")) else False
    if typed is None or required is None:
        return None
    default = found.get("default")
    if default is not None:
        _conforms(default, typed, f"the default of `{name}`", shape)
    return Input(
        name=name,
        type=typed,
        required=required,
        has_default=default is not None,
        default=_literal(default, f"the default of `{name}`", shape),
        description=_description(found, what, shape),
        span=entry.span,
    )


def _type(found: Map, what: str, shape: Shape) -> TypeExpr | None:
    if "type" not in found.entries:
        shape.lacks(found, ("type",), f"{what} has no `type:`", "write `type: string`, or another type")
        return None
    return read_type(found.entries["type"].value, shape.findings)


def _description(found: Map, what: str, shape: Shape) -> str:
    return shape.text(found.get("description"), f"`description` of {what}") or ""


def _literal(node: Node | None, what: str, shape: Shape) -> Json:
    """The JSON of a place where nothing is ever resolved."""
    if node is None:
        return None
    for scalar in islands_in(node):
        shape.findings.error(
            "NIKA-VAR-005",
            f"{what} is a literal: `${{{{ }}}}` is not resolved here",
            scalar.span,
            "write the value itself, or put a backslash before `${{` to mean the text",
        )
    return literal_of(node)


def _conforms(node: Node, typed: TypeExpr, what: str, shape: Shape) -> None:
    problem = typed.conforms(literal_of(node))
    if problem:
        shape.findings.error(
            "NIKA-DEFAULT-001",
            f"{what} does not fit its type: {problem}",
            node.span,
            "change the value or the type",
        )


def _const(name: str, entry: Entry, shape: Shape) -> Const | None:
    """A mapping with both `type` and `value` is a typed constant, anything else a literal."""
    found = entry.value
    if not isinstance(found, Map) or not {"type", "value"} <= found.entries.keys():
        return Const(name, _literal(found, f"the constant `{name}`", shape), None, entry.span)
    shape.closed(found, grammar.CONST, f"the constant `{name}`")
    typed = _type(found, f"the constant `{name}`", shape)
    value = found.entries["value"].value
    if typed is not None:
        _conforms(value, typed, f"the constant `{name}`", shape)
    return Const(name, _literal(value, f"the constant `{name}`", shape), typed, entry.span)


def _secret(name: str, entry: Entry, shape: Shape) -> Secret | None:
    stored = Shape(shape.findings, "NIKA-PARSE-014")
    what = f"the secret `{name}`"
    found = stored.mapping(entry.value, what, "name where it is kept: `{ source: env, key: NAME }`")
    if found is None:
        return None
    if "value" in found.entries:
        stored.refuse(f"{what} stands here in clear", found.entries["value"].key, "name its store instead")
        return None
    shape.closed(found, grammar.SECRET, what)
    source = found.get("source")
    if source is None:
        hint = "`source: env` with a `key:`, or `source: file` with a `path:`"
        stored.lacks(found, ("source",), f"{what} has no `source:`", hint)
        return None
    kept = stored.one_of(source, f"`source` of {what}", grammar.SECRET_SOURCES)
    if kept is None:
        return None
    key = _store_key(found, kept, what, stored)
    egress = _egress(found, what, shape)
    return Secret(name, cast(SecretSource, kept), key, egress, entry.span) if key is not None else None


def _store_key(found: Map, source: str, what: str, shape: Shape) -> str | None:
    wanted, other = ("path", "key") if source == "file" else ("key", "path")
    if other in found.entries:
        shape.refuse(
            f"{what} has a `{other}:`, and `source: {source}` takes a `{wanted}:`", found.entries[other].key
        )
    node = found.get(wanted)
    if node is None:
        hint = f"`source: {source}` takes a `{wanted}:`"
        shape.lacks(found, (wanted,), f"{what} has no `{wanted}:`", hint)
        return None
    text = shape.text(node, f"`{wanted}` of {what}", empty=False)
    if text is not None and "${{" in text:
        shape.refuse(f"`{wanted}` of {what} is a literal", node, "write the name itself")
        return None
    return text


def _egress(found: Map, what: str, shape: Shape) -> tuple[Egress, ...]:
    node = found.get("egress")
    items = shape.items(node, f"`egress` of {what}", "write `egress: [{ to: … }]`")
    return tuple(rule for item in items or [] if (rule := _destination(item, what, shape)) is not None)


def _destination(node: Node, what: str, shape: Shape) -> Egress | None:
    found = shape.mapping(node, f"an `egress` of {what}", "write `{ to: … }`")
    if found is None:
        return None
    shape.closed(found, grammar.EGRESS, "`egress`")
    if "to" not in found.entries:
        shape.lacks(found, ("to",), f"an `egress` of {what} has no `to:`", _PLACES)
        return None
    to = shape.text(found.entries["to"].value, "`to`", empty=False)
    host = shape.text(found.get("host"), "`host`", empty=False)
    own = shape.flag(item, "`host_from_self`") if (item := found.get("host_from_self")) is not None else False
    if host is not None and own:
        shape.refuse("`host` and `host_from_self` exclude each other", found, "keep the one that is true")
        return None
    if to is not None and not _can_go(to, found, shape, addressed=host is not None or bool(own)):
        return None
    return Egress(to, host, bool(own), node.span) if to is not None and own is not None else None


def _can_go(to: str, found: Map, shape: Shape, addressed: bool) -> bool:
    """Whether there is such a place; a place without an address takes no host."""
    if to in _ADDRESSLESS and addressed:
        sentence = f"`to: {to}` has no address, so a host narrows nothing there"
        shape.refuse(sentence, found, "remove the host")
        return False
    if to in _ADDRESSLESS or to in BUILTINS or to.startswith("mcp:"):
        return True
    hint = nearest(to, (*BUILTINS, *_ADDRESSLESS)) or _PLACES
    shape.refuse(f"`{to[:60]}` is no place that a secret can go to", found.entries["to"].value, hint)
    return False


def _output(name: str, entry: Entry, shape: Shape) -> Output | None:
    what = f"the output `{name}`"
    if not isinstance(entry.value, Map):
        if shape.text(entry.value, what) is None:
            return None
        return Output(name, value_of(entry.value, shape.findings), None, "", entry.span)
    found = entry.value
    shape.closed(found, grammar.OUTPUT, what)
    if "value" not in found.entries:
        hint = "write `value: ${{ tasks.<id>.output }}`"
        shape.lacks(found, ("value",), f"{what} has no `value:`", hint)
        return None
    node = found.entries["value"].value
    if shape.text(node, f"`value` of {what}") is None:
        return None
    typed = read_type(item, shape.findings) if (item := found.get("type")) is not None else None
    return Output(name, value_of(node, shape.findings), typed, _description(found, what, shape), entry.span)
