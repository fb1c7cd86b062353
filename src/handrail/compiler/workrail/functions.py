"""Lowers function definitions, and determines which of them a step may refer to."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, TypeAlias, cast

from handrail.compiler.workrail.tree import flag, items, json_value, mappings, scalars, text
from handrail.model.diagnostics import Report
from handrail.model.source import Mapping, Node
from handrail.model.suggest import did_you_mean
from handrail.model.workflow.guidance import FunctionDefinition, FunctionParameter

Functions = tuple[FunctionDefinition, ...]
Scope: TypeAlias = Literal["workflow", "loop", "step"]


def lower_functions(node: Mapping, scope: Scope, report: Report) -> tuple[FunctionDefinition, ...]:
    """Lower the definitions of a workflow, a loop or a step."""
    found: dict[str, FunctionDefinition] = {}
    for each in mappings(node, "functionDefinitions"):
        definition = _definition(each, scope)
        if definition.name in found:
            place = each.entries["name"].value
            report.error("duplicate-function", f"function '{definition.name}' is defined twice", place)
        found[definition.name] = definition
    for definition in _find_outer_definitions(node, scope):
        found.setdefault(definition.name, definition)
    return tuple(found.values())


def _find_outer_definitions(node: Mapping, scope: Scope) -> Iterator[FunctionDefinition]:
    """Find what nested steps define with the scope of this workflow or loop."""
    inner = (*mappings(node, "steps"), *mappings(node, "body"))
    for step in inner if scope != "step" else ():
        yield from (
            _definition(each, scope) for each in mappings(step, "functionDefinitions") if text(each, "scope") == scope
        )
        yield from _find_outer_definitions(step, scope)


def _definition(node: Mapping, scope: Scope) -> FunctionDefinition:
    written = cast("Scope | None", text(node, "scope"))
    parameters = tuple(_parameter(each) for each in mappings(node, "parameters"))
    return FunctionDefinition(text(node, "name") or "", text(node, "definition") or "", parameters, written or scope)


def _parameter(node: Mapping) -> FunctionParameter:
    default = node.get("default")
    return FunctionParameter(
        text(node, "name") or "",
        text(node, "type") or "",
        required=flag(node, "required"),
        description=text(node, "description") or "",
        enum=tuple(json_value(item) for item in items(node, "enum")),
        default=json_value(default) if default is not None else None,
    )


def merge_scopes(outer: Functions, own: Functions) -> Functions:
    """Combine the definitions in scope; an inner one replaces an outer one of the same name."""
    names = {definition.name for definition in own}
    return (*(definition for definition in outer if definition.name not in names), *own)


def functions_of_step(step: Mapping, outer: Functions, report: Report) -> Functions:
    """Return the definitions a step may refer to, starting with those it names."""
    in_reach = {each.name: each for each in merge_scopes(outer, lower_functions(step, "step", report))}
    named: dict[str, FunctionDefinition] = {}
    for name, place in _find_references(step):
        found = in_reach.get(name)
        if found is None:
            hint = "defined here: " + ", ".join(sorted(in_reach)) if in_reach else "add it to 'functionDefinitions'"
            guess = did_you_mean(name, in_reach)
            report.warning("unknown-function", f"function '{name}' is not defined{guess}", place, hint)
        else:
            named[name] = _add_arguments(step, found)
    return (*named.values(), *(each for name, each in in_reach.items() if name not in named))


def _add_arguments(step: Mapping, function: FunctionDefinition) -> FunctionDefinition:
    """Add the arguments with which a step calls a function to its definition."""
    calls = (call.get("args") for call in mappings(step, "functionCalls") if text(call, "name") == function.name)
    given = [_arguments(each) for each in calls if isinstance(each, Mapping) and each.entries]
    return replace(function, definition=" ".join((function.definition, *given))) if given else function


def _arguments(args: Mapping) -> str:
    values = ((name, json.dumps(json_value(entry.value), ensure_ascii=False)) for name, entry in args.entries.items())
    return f"Call it with {', '.join(f'{name} = {value}' for name, value in values)}."


def _find_references(step: Mapping) -> Iterator[tuple[str, Node]]:
    for leaf in scalars(step, "functionReferences"):
        # A reference is written `name()`, while the definition is called `name`.
        yield str(leaf.value).removesuffix("()"), leaf
    for call in mappings(step, "functionCalls"):
        yield text(call, "name") or "", call.entries["name"].value
