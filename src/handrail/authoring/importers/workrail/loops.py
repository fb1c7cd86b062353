"""Converts WorkRail-style loops to native ones: what decides, and the maximum number of rounds."""

from collections.abc import Callable
from dataclasses import replace

from handrail.authoring.importers.coven.go_syntax import Untranslatable
from handrail.authoring.importers.names import make_identifier, value_name
from handrail.authoring.importers.nodes import int_of, map_of, text_of
from handrail.authoring.importers.workrail.conditions import negate, translate_condition
from handrail.authoring.importers.workrail.context import LOOP_VARS, Context, SourceStep
from handrail.authoring.importers.workrail.keys import LOOP_CONTRACT
from handrail.frozen import frozen
from handrail.language.expressions.syntax import Expression
from handrail.language.expressions.unparse import unparse
from handrail.model.source import Mapping, Node
from handrail.model.workflow.values import JsonValue

MAX_ROUNDS = 1000


@frozen
class LoopSettings:
    """How a loop repeats: its keys, and the conditions for the steps of a round after a certain one."""

    keys: dict[str, JsonValue]
    guards: tuple[tuple[float, str], ...] = ()


def rounds_of(
    place: SourceStep, body: list[SourceStep], context: Context, note: Callable[[str, Node, str], None]
) -> LoopSettings:
    """Determine how a loop repeats."""
    loop = map_of(place.node.get("loop"))
    if loop is None:
        note("lost", place.node, "the loop has no settings; it runs once")
        return LoopSettings({"for": 1, "max_iterations": 1})
    most = int_of(loop.get("maxIterations"))
    if most is None or not 1 <= most <= MAX_ROUNDS:
        note("changed", loop, f"'maxIterations' must be between 1 and {MAX_ROUNDS}")
        most = MAX_ROUNDS if most is not None and most > 1 else 1
    found = _translate_loop(place, loop, body, context, note)
    return replace(found, keys={**found.keys, "max_iterations": most})


def _translate_loop(
    place: SourceStep, loop: Mapping, body: list[SourceStep], context: Context, note: Callable[[str, Node, str], None]
) -> LoopSettings:
    try:
        match text_of(loop.get("type")):
            case "forEach":
                taken = "the items are read once, when the loop starts; WorkRail reads them before every step"
                note("changed", loop, f"{taken}. Items that have an `id` are identified by it, so ids must be unique")
                return LoopSettings(_translate_for_each(place, loop, context))
            case "for":
                if int_of(loop.get("count")) is None:
                    note(
                        "changed",
                        loop,
                        "the number of rounds is read once, when the loop starts; WorkRail reads it before every step",
                    )
                return LoopSettings(_translate_for(place, loop, context))
            case "while" | "until" as kind:
                return _conditional(kind, place, body, context, note)
            case kind:
                raise Untranslatable(f"the type '{kind}'")
    except Untranslatable as problem:
        note(
            "lost", loop, f"the loop's end condition cannot be translated ({problem}); it runs once until you write one"
        )
        return LoopSettings({"for": 1})


def _translate_for_each(place: SourceStep, loop: Mapping, context: Context) -> dict[str, JsonValue]:
    items = text_of(loop.get("items"))
    if not items:
        raise Untranslatable("'items' does not name a variable")
    found = unparse(context.value(items, place, []))
    name = value_name(text_of(loop.get("itemVar")) or LOOP_VARS["itemVar"])
    return {"for_each": "${" + found + "}", "as": name}


def _translate_for(place: SourceStep, loop: Mapping, context: Context) -> dict[str, JsonValue]:
    count = int_of(loop.get("count"))
    if count is not None:
        return {"for": max(0, min(count, MAX_ROUNDS))}
    name = text_of(loop.get("count"))
    if not name:
        raise Untranslatable("'count' is neither a number nor a variable")
    return {"for": unparse(context.value(name, place, 0))}


def _conditional(
    kind: str, place: SourceStep, body: list[SourceStep], context: Context, note: Callable[[str, Node, str], None]
) -> LoopSettings:
    loop = map_of(place.node.get("loop"))
    source = map_of(loop.get("conditionSource")) if loop is not None else None
    deciders = [each for each in body if each.contract == LOOP_CONTRACT]
    condition = source.get("condition") if source is not None else loop.get("condition") if loop is not None else None
    if deciders and (condition is None or source is None):
        return _decision_rounds(deciders)
    if condition is None:
        raise Untranslatable("no step of the body ends the loop, and there is no condition")
    setters: list[SourceStep] = []

    def lookup(variable: str, like: object) -> Expression:
        found, inside = context.between_rounds(variable, place, like)
        setters.extend(inside)
        return found

    expression = translate_condition(condition, lookup)
    goes_on = unparse(negate(expression) if kind == "until" else expression)
    last = max((each.order for each in setters), default=None)
    if any(each.order != last for each in setters):
        names = ", ".join(dict.fromkeys(each.name for each in setters))
        note("changed", place.node, f"the loop's condition is tested when {names} are all done, not after each of them")
    return LoopSettings({"while": goes_on}, () if last is None else ((last, goes_on),))


def _decision_rounds(deciders: list[SourceStep]) -> LoopSettings:
    """Build the loop for decisions to stop, which skip the rest of the round."""
    stops = [f"{_decision(each)} == 'stop'" for each in deciders]
    guards = tuple((each.order, f"{_decision(each)} != 'stop'") for each in deciders)
    return LoopSettings({"until": " or ".join(stops)}, guards)


def _decision(decider: SourceStep) -> str:
    own = f"{value_name(make_identifier(decider.name))}.decision"
    return f"{own} | default('continue')" if "runCondition" in decider.node else own
