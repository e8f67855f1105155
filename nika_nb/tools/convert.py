"""`nika:convert`: one value from JSON, YAML, TOML or CSV into another of them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, time
from typing import Any

from nika_nb import values
from nika_nb.catalog.arguments import ARGUMENTS
from nika_nb.errors import Fault, hidden
from nika_nb.language.documents import read_yaml, write_yaml
from nika_nb.tools.base import Tool, Use, in_thread, text_of
from nika_nb.tools.tables import read_csv, write_csv
from nika_nb.values import Json, nearest, type_name

NAME = "nika:convert"
SHAPE_CODE = "NIKA-BUILTIN-CONVERT-001"
INPUT_CODE = "NIKA-BUILTIN-CONVERT-002"

_FORMATS = ARGUMENTS[NAME]["from"].of


async def _convert(use: Use, arguments: Mapping[str, Any]) -> Json:
    source, target = _format(arguments, "from"), _format(arguments, "to")
    if source == target:
        raise Fault(SHAPE_CODE, f"from {source} to {target} converts nothing: leave the task out")
    has_header = _flag(arguments, "has_header", True)
    guard = _flag(arguments, "formula_guard", False)
    given = arguments["input"]

    def work() -> Json:
        return _write(target, _read(source, given, has_header), has_header, guard)

    return await in_thread(work)


def _format(arguments: Mapping[str, Any], name: str) -> str:
    form = text_of(arguments, name, NAME)
    if form not in _FORMATS:
        hint = nearest(form, _FORMATS) or f"it is one of {', '.join(_FORMATS)}"
        raise Fault(SHAPE_CODE, f"`{NAME}` knows no `{name}: {hidden(form)[:60]}`; {hint}")
    return form


def _flag(arguments: Mapping[str, Any], name: str, default: bool) -> bool:
    value = arguments.get(name, default)
    if not isinstance(value, bool):
        raise Fault(SHAPE_CODE, f"`{name}:` is true or false, not {type_name(value)}")
    return value


def _read(source: str, given: Any, has_header: bool) -> Json:
    """The value that the input denotes: text is parsed, anything else already is what it says."""
    try:
        if isinstance(given, (bytes, bytearray)):
            given = bytes(given).decode("utf-8")
        if isinstance(given, str):
            return _parsed(source, given, has_header)
        if source == "csv":
            raise ValueError(f"CSV is text, and the input is {type_name(given)}")
        values.dumps(given)
        return given
    except RecursionError:
        raise Fault(INPUT_CODE, f"the input is no {source}: it is nested too deeply") from None
    except (ValueError, TypeError) as error:
        raise Fault(INPUT_CODE, f"the input is no {source}: {error}", details={"from": source}) from None


def _parsed(source: str, text: str, has_header: bool) -> Json:
    match source:
        case "json":
            return values.loads(text.removeprefix("\ufeff"))
        case "yaml":
            return read_yaml(text)
        case "toml":
            return _from_toml(text)
        case _:
            return read_csv(text, has_header)


def _from_toml(text: str) -> Json:
    import tomllib

    found = _plain(tomllib.loads(text.removeprefix("\ufeff")))
    values.dumps(found)  # TOML knows nan and inf, JSON does not
    return found


def _plain(value: Any) -> Json:
    """Moments as ISO 8601 text: JSON has none."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value.isoformat() if isinstance(value, (datetime, date, time)) else value


def _write(target: str, value: Json, has_header: bool, guard: bool) -> Json:
    """JSON is the value itself; the other formats are text."""
    try:
        match target:
            case "json":
                return value
            case "yaml":
                return write_yaml(value)
            case "toml":
                return _to_toml(value)
            case _:
                return write_csv(value, has_header, guard)
    except RecursionError:
        raise Fault(INPUT_CODE, f"the input cannot be {target}: it is nested too deeply") from None
    except ValueError as error:
        raise Fault(INPUT_CODE, f"the input cannot be {target}: {error}", details={"to": target}) from None


def _to_toml(value: Json) -> str:
    import tomli_w

    if not isinstance(value, dict):
        raise ValueError(f"a TOML document is an object, not {type_name(value)}")
    if (place := _null_in(value)) is not None:
        raise ValueError(f"TOML has no null, and one stands at `{place}`")
    return tomli_w.dumps(value)


def _null_in(value: Json, place: str = "") -> str | None:
    """Where the first null stands, None where there is none."""
    if value is None:
        return place
    if not isinstance(value, (dict, list)):
        return None
    items: Any = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        inside = f"{place}[{key}]" if isinstance(key, int) else f"{place}.{key}".lstrip(".")
        if (found := _null_in(item, inside)) is not None:
            return found
    return None


_FORMAT = {"enum": list(_FORMATS)}

TOOL = Tool(
    NAME,
    _convert,
    required=("input", "from", "to"),
    optional=("has_header", "formula_guard"),
    says="Converts between JSON, YAML, TOML and CSV. JSON comes out as a value, the others as text.",
    shapes={
        "from": _FORMAT,
        "to": _FORMAT,
        "has_header": {"type": "boolean"},
        "formula_guard": {"type": "boolean"},
    },
)
