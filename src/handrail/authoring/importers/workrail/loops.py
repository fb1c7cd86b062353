"""WorkRail-style loops to native ones: what decides, and how often at most."""

from collections.abc import Callable

from handrail.authoring.importers.coven.go_syntax import Untranslatable
from handrail.authoring.importers.names import spoken, value_name
from handrail.authoring.importers.nodes import map_of, text_of, whole_of
from handrail.authoring.importers.workrail.conditions import negated, to_expression
from handrail.authoring.importers.workrail.context import LOOP_VARS, Context, Place
from handrail.language.expressions.syntax import Expression
from handrail.language.expressions.unparse import unparse
from handrail.model.source import Mapping, Node
from handrail.model.workflow.values import JsonValue

MOST_ROUNDS = 1000


def loop_keys(
    place: Place, body: list[Place], context: Context, note: Callable[[str, Node, str], None]
) -> dict[str, JsonValue]:
    """Give the keys that say how a loop repeats."""
    loop = map_of(place.node.get("loop"))
    if loop is None:
        note("lost", place.node, "nothing says how the loop repeats; it runs once")
        return {"for": 1, "max_iterations": 1}
    most = whole_of(loop.get("maxIterations"))
    if most is None or not 1 <= most <= MOST_ROUNDS:
        note("changed", loop, f"'maxIterations' must be 1 to {MOST_ROUNDS}")
        most = MOST_ROUNDS if most is not None and most > 1 else 1
    note("changed", loop, "a round runs to its end; WorkRail tests the condition again before every step of it")
    return {**_over(place, loop, body, context, note), "max_iterations": most}


def _over(
    place: Place, loop: Mapping, body: list[Place], context: Context, note: Callable[[str, Node, str], None]
) -> dict[str, JsonValue]:
    try:
        match text_of(loop.get("type")):
            case "forEach":
                return _for_each(place, loop, context)
            case "for":
                return _for(place, loop, context)
            case "while" | "until" as kind:
                return _conditional(kind, place, body, context, note)
            case kind:
                raise Untranslatable(f"the type '{kind}'")
    except Untranslatable as problem:
        note("lost", loop, f"what ends the loop cannot be said ({problem}); it runs once until you write it")
        return {"for": 1}


def _for_each(place: Place, loop: Mapping, context: Context) -> dict[str, JsonValue]:
    items = text_of(loop.get("items"))
    if not items:
        raise Untranslatable("'items' names no variable")
    found = unparse(context.value(items, place, []))
    return {"for_each": "${" + found + "}", "as": value_name(text_of(loop.get("itemVar")) or LOOP_VARS["itemVar"])}


def _for(place: Place, loop: Mapping, context: Context) -> dict[str, JsonValue]:
    count = whole_of(loop.get("count"))
    if count is not None:
        return {"for": max(0, min(count, MOST_ROUNDS))}
    name = text_of(loop.get("count"))
    if not name:
        raise Untranslatable("'count' is neither a number nor a variable")
    return {"for": unparse(context.value(name, place, 0))}


def _conditional(
    kind: str, place: Place, body: list[Place], context: Context, note: Callable[[str, Node, str], None]
) -> dict[str, JsonValue]:
    loop = map_of(place.node.get("loop"))
    source = map_of(loop.get("conditionSource")) if loop is not None else None
    decider = next((each for each in reversed(body) if "decision" in each.returns), None)
    condition = source.get("condition") if source is not None else loop.get("condition") if loop is not None else None
    if decider is not None and (condition is None or source is None):
        return {"until": f"{value_name(spoken(decider.name))}.decision == 'stop'"}
    if condition is None:
        raise Untranslatable("no step of the body decides, and there is no condition")
    in_body = False

    def lookup(variable: str, like: object) -> Expression:
        nonlocal in_body
        found, inside = context.at_end(variable, place, like)
        in_body = in_body or inside
        return found

    expression = to_expression(condition, lookup)
    if kind == "until":
        return {"until": unparse(expression)}
    if not in_body:
        return {"while": unparse(expression)}
    note("changed", place.node, "the first round always runs, as a step of the body sets what the condition tests")
    return {"until": unparse(negated(expression))}
