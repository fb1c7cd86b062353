"""Combines a workflow's `capabilities` with those of the feature of that name into one list, which the engine uses.

1. The key `capabilities` takes precedence; the feature adds what the key does not name.
2. The feature's defaults are ignored where the workflow sets any level itself.
3. Where both set different levels, that is reported, and the key wins.
"""

from collections.abc import Iterator
from typing import cast

from handrail.authoring.workrail.schema import LEVELS
from handrail.compiler.workrail.message_names import quote_name
from handrail.compiler.workrail.tree import items, mapping
from handrail.model.diagnostics import Report
from handrail.model.source import Entry, Mapping, Node, Scalar, Sequence
from handrail.model.workflow.values import JsonValue

FEATURE = "wr.features.capabilities"
_OF_FEATURE = ("required", "preferred")


def read_levels(root: Mapping) -> Iterator[tuple[str, str | None, Node | Entry]]:
    """Read `capabilities` in both forms as name, level and node, with no level where a capability holds a list."""
    for entry in mapping(root, "capabilities") or ():
        value = entry.value
        if isinstance(value, Scalar):
            yield entry.name, str(value.value), entry
        elif isinstance(value, Sequence) and entry.name in LEVELS:
            for item in value.items:
                yield (str(item.value) if isinstance(item, Scalar) else ""), entry.name, item
        else:
            yield entry.name, None, entry


def feature_levels(given: Mapping | None, declared: dict[str, str], report: Report) -> dict[str, str]:
    """Read the levels in a feature's settings, reporting what contradicts the workflow or itself."""
    levels: dict[str, str] = {}
    for level in _OF_FEATURE:
        for item in items(given, level) if given is not None else ():
            name = str(item.value) if isinstance(item, Scalar) else ""
            known = declared.get(name) or levels.setdefault(name, level)
            if known != level:
                other = f"but the workflow's capabilities say {known}" if name in declared else f"and {known} too"
                message = f"the feature says that {quote_name(name)} is {level}, {other}; {known} takes precedence"
                report.warning("capability-conflict", message, item, "declare it in one place, or with the same level")
    return {name: declared.get(name, level) for name, level in levels.items()} | declared


def merge_levels(config: dict[str, JsonValue], levels: dict[str, str]) -> dict[str, JsonValue]:
    """Put the effective levels into a feature's settings; without any, its defaults stay."""
    if not levels:
        return config
    lists = {level: [name for name, one in sorted(levels.items()) if one == level] for level in _OF_FEATURE}
    return {**config, **cast("dict[str, JsonValue]", lists)}
