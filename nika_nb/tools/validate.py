"""`nika:validate`: data against a JSON Schema. What does not fit is reported, and fails nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from nika_nb import values
from nika_nb.catalog.arguments import ARGUMENTS
from nika_nb.errors import Fault, hidden
from nika_nb.language.documents import NotData, read_yaml
from nika_nb.language.schemas import refuse_to_retrieve
from nika_nb.tools.base import ARGUMENTS_CODE, Tool, Use, in_thread, text_of
from nika_nb.values import Json, nearest, type_name

NAME = "nika:validate"
SCHEMA_CODE = "NIKA-BUILTIN-VALIDATE-001"
YAML_CODE = "NIKA-BUILTIN-VALIDATE-002"

_MESSAGE_LENGTH = 500
_FORMATS = ARGUMENTS[NAME]["format"].of


async def _validate(use: Use, arguments: Mapping[str, Any]) -> dict[str, Json]:
    schema = _schema(arguments["schema"])
    data = _data(arguments)
    errors = await in_thread(lambda: _errors(schema, data))
    return {"valid": not errors, "errors": errors}


def _schema(given: Any) -> Json:
    """An object, true or false, or the text of one."""
    schema = _parsed(given) if isinstance(given, str) else given
    if not isinstance(schema, (dict, bool)):
        raise Fault(SCHEMA_CODE, f"`schema:` is an object or the text of one, not {type_name(schema)}")
    return schema


def _parsed(text: str) -> Json:
    try:
        return values.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return read_yaml(text)
    except NotData as error:
        raise Fault(SCHEMA_CODE, f"`schema:` is neither JSON nor YAML: {error}") from None


def _data(arguments: Mapping[str, Any]) -> Json:
    form, data = text_of(arguments, "format", NAME, "json"), arguments["data"]
    if form not in _FORMATS:
        hint = nearest(form, _FORMATS) or f"it is one of {', '.join(_FORMATS)}"
        raise Fault(ARGUMENTS_CODE, f"`{NAME}` has no `format: {hidden(form)[:60]}`; {hint}")
    if form == "json":
        return data
    if not isinstance(data, str):
        raise Fault(YAML_CODE, f"`format: yaml` reads text, and `data:` is {type_name(data)}; leave it out")
    try:
        return read_yaml(data)
    except NotData as error:
        raise Fault(YAML_CODE, f"`data:` is not YAML: {error}") from None


def _errors(schema: Json, data: Json) -> list[dict[str, Json]]:
    import jsonschema_rs

    try:
        validator = jsonschema_rs.validator_for(schema, retriever=refuse_to_retrieve)
    except (ValueError, jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError) as error:
        sentence = hidden(str(error)).split("\n", 1)[0][:_MESSAGE_LENGTH]
        raise Fault(SCHEMA_CODE, f"`schema:` is not a valid JSON Schema: {sentence}") from None
    try:
        return [_report(error) for error in validator.iter_errors(data)]
    except (ValueError, RecursionError) as error:
        raise Fault(ARGUMENTS_CODE, f"`data:` is not a JSON value: {error}") from None


def _report(error: Any) -> dict[str, Json]:
    """Where the data does not fit and which rule says so, as JSON pointers."""
    return {
        "message": hidden(str(error.message))[:_MESSAGE_LENGTH],
        "path": _pointer(error.instance_path),
        "schema_path": _pointer(error.schema_path),
    }


def _pointer(steps: Iterable[str | int]) -> str:
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in steps)


TOOL = Tool(
    NAME,
    _validate,
    required=("data", "schema"),
    optional=("format",),
    says="Checks data against a JSON Schema and returns whether it is valid, and every error.",
    shapes={"schema": {"type": ["object", "string", "boolean"]}, "format": {"enum": list(_FORMATS)}},
)
