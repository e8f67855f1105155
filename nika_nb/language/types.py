"""Type expressions: read, lowered to JSON Schema, and values judged against them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nika_nb.errors import Span
from nika_nb.values import Json


@dataclass(frozen=True, slots=True)
class TypeExpr:
    """One type as written (`raw`) and its JSON Schema 2020-12 (`schema`)."""

    raw: Json
    schema: dict[str, Any]
    span: Span
