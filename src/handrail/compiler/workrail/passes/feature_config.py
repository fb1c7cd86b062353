"""Checks a feature's configuration against its small, closed schema, and fills in the defaults."""

from typing import cast

from handrail.compiler.workrail.message_names import quote_name
from handrail.compiler.workrail.tree import json_value
from handrail.model.diagnostics import Report
from handrail.model.source import Mapping, Node, Sequence
from handrail.model.suggest import did_you_mean
from handrail.model.workflow.values import JsonValue

Schema = dict[str, JsonValue]
CODE = "feature-config"


def feature_config(schema: JsonValue, config: Mapping | None, report: Report) -> dict[str, JsonValue] | None:
    """Return the configuration with its defaults, or None for a feature that has none; problems are reported."""
    if not isinstance(schema, dict):
        if config is not None and config.entries:
            report.error(CODE, "the feature has no settings", config, "write its id alone")
        return None
    properties = cast("dict[str, Schema]", schema.get("properties", {}))
    given: dict[str, JsonValue] = {}
    for entry in config or ():
        known = properties.get(entry.name)
        if known is None:
            hint = "its settings: " + ", ".join(sorted(properties))
            guess = did_you_mean(entry.name, properties)
            report.error(CODE, f"the feature has no setting {quote_name(entry.name)}{guess}", entry, hint)
        else:
            _check(known, entry.value, report)
            given[entry.name] = json_value(entry.value)
    defaults = {name: known["default"] for name, known in properties.items() if "default" in known}
    return {name: given.get(name, defaults.get(name)) for name in sorted({*given, *defaults})}


def config_text(value: JsonValue) -> str:
    """Format a setting as it appears in a feature's text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return ", ".join(config_text(item) for item in value) if isinstance(value, list) else str(value)


def _check(schema: Schema, node: Node, report: Report) -> None:
    if "enum" in schema:
        _check_enum(cast("list[JsonValue]", schema["enum"]), node, report)
    elif schema.get("type") == "array":
        _check_array(schema, node, report)
    elif not _is_valid(str(schema.get("type")), json_value(node)):
        report.error(CODE, f"expected {_NAMES.get(str(schema.get('type')), 'another value')}", node)


_NAMES = {"boolean": "true or false", "integer": "a whole number", "string": "text"}


def _is_valid(wanted: str, value: JsonValue) -> bool:
    match wanted:
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "string":
            return isinstance(value, str)
        case _:
            return True


def _check_enum(allowed: list[JsonValue], node: Node, report: Report) -> None:
    value = json_value(node)
    if value not in allowed:
        words = [str(word) for word in allowed]
        found = quote_name(value) if isinstance(value, str) else "this value"
        guess = did_you_mean(value, words) if isinstance(value, str) else ""
        report.error(CODE, f"{found} is not allowed here{guess}", node, "use one of: " + ", ".join(words))


def _check_array(schema: Schema, node: Node, report: Report) -> None:
    if not isinstance(node, Sequence):
        report.error(CODE, "expected a list", node)
        return
    inner = schema.get("items")
    seen: list[JsonValue] = []
    for item in node.items:
        if isinstance(inner, dict):
            _check(inner, item, report)
        value = json_value(item)
        if schema.get("uniqueItems") and value in seen:
            report.error(CODE, f"{quote_name(str(value))} appears twice in the list", item)
        seen.append(value)
