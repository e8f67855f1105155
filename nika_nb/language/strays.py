"""What a text holds at the wrong place or under a misspelt key: it is told once, and not missed elsewhere."""

from __future__ import annotations

from nika_nb.catalog import grammar
from nika_nb.language.nodes import Map
from nika_nb.values import closest


def stray_tasks(root: Map) -> list[str]:
    """The keys of the top level that hold a task."""
    return [
        name
        for name, entry in root.entries.items()
        if name not in grammar.ENVELOPE
        and isinstance(entry.value, Map)
        and any(verb in entry.value.entries for verb in grammar.VERBS)
    ]


def misspelt(root: Map, block: str) -> str | None:
    """The key that was meant to be this block of the envelope; None where the block is there."""
    if block in root.entries:
        return None
    unknown = [name for name in root.entries if name not in grammar.ENVELOPE]
    return next((name for name in unknown if closest(name, grammar.ENVELOPE) == block), None)


def names_in(root: Map, block: str) -> dict[str, None]:
    """The names that a block declares, in its order, whatever it is called and wherever its tasks stand."""
    node = root.get(misspelt(root, block) or block)
    found = list(node.entries) if isinstance(node, Map) else []
    return dict.fromkeys([*found, *(stray_tasks(root) if block == "tasks" else ())])
