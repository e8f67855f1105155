"""Takes a node for what its place asks for, or says what stands there instead."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from nika_nb.catalog.grammar import Dead
from nika_nb.language.findings import Findings
from nika_nb.language.nodes import Map, Node, Scalar, Seq, kind_of
from nika_nb.values import closest, nearest

STRUCTURE = "NIKA-PARSE-019"


class Shape:
    """Readers of one shape each. What does not fit is found under `code` and becomes None.

    A node that is not there becomes None as well, and nothing is found.
    """

    def __init__(self, findings: Findings, code: str = STRUCTURE) -> None:
        self.findings = findings
        self.code = code

    def refuse(self, message: str, node: Node, hint: str = "") -> None:
        self.findings.error(self.code, message, node.span, hint)

    def wrong(self, what: str, wanted: str, node: Node, hint: str = "") -> None:
        self.refuse(f"{what} must be {wanted}, not {kind_of(node)}", node, hint)

    def mapping(self, node: Node | None, what: str, hint: str = "") -> Map | None:
        if node is None or isinstance(node, Map):
            return node
        self.wrong(what, "a mapping", node, hint)
        return None

    def closed(
        self, found: Map, keys: Sequence[str], what: str, dead: Mapping[str, Dead] | None = None
    ) -> None:
        """Every key outside the closed set is found, with what it was probably meant to be."""
        dead = dead or {}
        for key, entry in found.entries.items():
            if key in keys:
                continue
            if self.findings.full:
                return
            known = dead.get(key) or _unknown(key, keys, what, dead)
            self.findings.meant |= {(found.span, name) for name in known.instead if name in keys}
            hint = known.hint or f"{what} knows {', '.join(keys)}"
            self.findings.error(known.code, known.sentence, entry.key.span, hint)

    def told(self, found: Map, *keys: str) -> bool:
        """Whether a finding says already that one of these keys stands here under another name."""
        return any((found.span, key) in self.findings.meant for key in keys)

    def lacks(self, found: Map, keys: Sequence[str], message: str, hint: str = "") -> None:
        """None of these keys is there: one slip is one problem."""
        if not self.told(found, *keys):
            self.refuse(message, found, hint)

    def text(self, node: Node | None, what: str, *, empty: bool = True) -> str | None:
        if node is None:
            return None
        if isinstance(node, Scalar) and isinstance(node.value, str):
            if empty or node.value.strip():
                return node.value
            self.refuse(f"{what} is empty", node)
            return None
        self.wrong(what, "text", node, _quote(node))
        return None

    def flag(self, node: Node | None, what: str) -> bool | None:
        if node is None:
            return None
        if isinstance(node, Scalar) and isinstance(node.value, bool):
            return node.value
        self.wrong(what, "true or false", node, _not_yes_no(node))
        return None

    def whole(self, node: Node | None, what: str, least: int = 0) -> int | None:
        if node is None:
            return None
        value = node.value if isinstance(node, Scalar) else None
        if isinstance(value, int) and not isinstance(value, bool):
            if value >= least:
                return value
            self.refuse(f"{what} must be at least {least}", node)
            return None
        if isinstance(node, Scalar) and isinstance(value, float):
            self.refuse(f"{what} must be a whole number, not `{node.text[:40]}`", node)
        else:
            self.wrong(what, "a whole number", node, _unquote(node))
        return None

    def one_of(
        self, node: Node | None, what: str, known: Sequence[str], also: Sequence[str] = ()
    ) -> str | None:
        """One of the words. also: what else may be written, which the caller has read by then."""
        if node is None:
            return None
        value = node.value if isinstance(node, Scalar) else None
        if isinstance(value, str) and value in known:
            return value
        shown = f"`{value}`" if isinstance(value, str) else kind_of(node)
        hint = nearest(value, known) if isinstance(value, str) else ""
        self.refuse(f"{what} is one of {', '.join([*known, *also])}, not {shown}", node, hint)
        return None

    def items(self, node: Node | None, what: str, hint: str = "") -> list[Node] | None:
        if node is None:
            return None
        if isinstance(node, Seq):
            return node.items
        self.wrong(what, "a list", node, hint)
        return None

    def texts(self, node: Node | None, what: str) -> list[Scalar] | None:
        """The scalars of a list of texts; None when any item is something else."""
        items = self.items(node, what)
        if items is None:
            return None
        sound = [item for item in items if self.text(item, f"an item of {what}") is not None]
        return [item for item in sound if isinstance(item, Scalar)] if len(sound) == len(items) else None


def _unknown(key: str, keys: Sequence[str], what: str, dead: Mapping[str, Dead]) -> Dead:
    hint = nearest(key, keys) or _elsewhere(key, dead)
    return Dead("NIKA-PARSE-005", f"`{key[:80]}` is not a key of {what}", hint)


def _elsewhere(key: str, dead: Mapping[str, Dead]) -> str:
    """A hint where a key is nearly one that has its place elsewhere."""
    meant = closest(key, [name for name, known in dead.items() if known.moved])
    return f"did you mean `{meant}`? {dead[meant].sentence}: {dead[meant].hint}" if meant else ""


def names(found: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in found)


def _quote(node: Node) -> str:
    return f'put it in quotes: "{node.text[:40]}"' if isinstance(node, Scalar) and node.text else ""


def _unquote(node: Node) -> str:
    looks = isinstance(node, Scalar) and isinstance(node.value, str) and node.text.strip().isdecimal()
    return "write it without quotes" if looks else ""


def _not_yes_no(node: Node) -> str:
    if not isinstance(node, Scalar) or not isinstance(node.value, str):
        return ""
    word = node.value.strip().lower()
    if word in ("yes", "on", "true"):
        return "write true, without quotes"
    return "write false, without quotes" if word in ("no", "off", "false") else ""
