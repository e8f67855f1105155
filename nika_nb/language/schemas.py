"""JSON Schemas at work: a value judged by one, one judged by itself; nothing outside of it is ever read."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from nika_nb.language import dialect
from nika_nb.language.misfit import misfit
from nika_nb.values import Json, dumps


def judge(schema: dict[str, Any], value: Json) -> str | None:
    """None when a value fits a lowered schema, else a sentence: where, and what is expected.

    Bytes stand for their base64 text, and fit only where bytes are expected.
    """
    if isinstance(value, (bytes, bytearray)):
        members = schema.get("anyOf", [schema])
        fits = schema == {} or any("contentEncoding" in member for member in members)
        return None if fits else "bytes do not fit this type"
    error = next(iter(_validator(dumps(schema)).iter_errors(value)), None)
    return None if error is None else misfit(error)


@lru_cache(maxsize=256)
def _validator(schema: str) -> Any:
    import jsonschema_rs

    return jsonschema_rs.validator_for(
        _for_every_script(json.loads(schema)), validate_formats=True, retriever=refuse_to_retrieve, mask="it"
    )


def _for_every_script(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_for_every_script(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: _for_every_script(value) for key, value in schema.items()}
    if isinstance(made.get("pattern"), str):
        made["pattern"] = dialect.unicode_aware(made["pattern"])
    return made


def schema_fault(schema: Json) -> str | None:
    """What keeps a JSON Schema from being used, as one line; nothing outside of it is ever read."""
    import jsonschema_rs

    try:
        jsonschema_rs.validator_for(schema, retriever=refuse_to_retrieve)
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        return str(error).split("\n", 1)[0][:200]
    return None


def refuse_to_retrieve(uri: str) -> Any:
    """The retriever for every schema here: a reference leads nowhere, neither to a file nor to a host."""
    raise ValueError(f"a schema may not refer to {uri}")
