"""WorkRail-style assessments to `assess`, and validation criteria to `done_when`."""

from collections.abc import Callable

from handrail.authoring.importers.coven.go_syntax import Untranslatable
from handrail.authoring.importers.nodes import flag_of, items_of, map_of, maps_of, text_of, texts_of, whole_of
from handrail.authoring.importers.workrail.conditions import Lookup, to_expression
from handrail.language.expressions.syntax import Compare, Expression, Filter, Literal, Logic, LogicOperator, Name, Unary
from handrail.language.expressions.unparse import unparse
from handrail.model.source import Mapping, Node
from handrail.model.workflow.values import JsonValue

_LONGEST_PURPOSE = 256
_LONGEST_GUIDANCE = 512
_GROUPS: dict[str, LogicOperator] = {"and": "and", "or": "or"}


def assess(step: Mapping, declared: dict[str, Mapping], note: Callable[[str, Node, str], None]) -> JsonValue:
    """Give the judgment that a step asks for; several assessments become one with all their dimensions."""
    wanted = texts_of(step.get("assessmentRefs"))
    found = [declared[each] for each in wanted if each in declared]
    for each in wanted:
        if each not in declared:
            note("lost", step, f"the assessment '{each}' is declared nowhere")
    if not found:
        return None
    if len(found) > 1:
        note("changed", step, f"the assessments {', '.join(wanted)} are one `assess` with all their dimensions")
    purpose = " ".join(text_of(each.get("purpose")) or "" for each in found).strip()
    dimensions = _dimensions(found, note)
    if not dimensions:
        note("lost", step, "the assessment has no dimensions")
        return None
    made: dict[str, JsonValue] = {"purpose": purpose[:_LONGEST_PURPOSE]} if purpose else {}
    if len(purpose) > _LONGEST_PURPOSE:
        note("changed", step, f"the purpose of the assessment is cut to {_LONGEST_PURPOSE} characters")
    if all(flag_of(each.get("rationaleRequired")) is False for each in found):
        made["rationale"] = "optional"
    return {**made, "dimensions": dimensions, **_follow_up(step, note)}


def _dimensions(assessments: list[Mapping], note: Callable[[str, Node, str], None]) -> dict[str, JsonValue]:
    made: dict[str, JsonValue] = {}
    for each in assessments:
        for dimension in maps_of(each.get("dimensions")):
            _dimension(dimension, made, note)
    return made


def _dimension(dimension: Mapping, made: dict[str, JsonValue], note: Callable[[str, Node, str], None]) -> None:
    name = (text_of(dimension.get("id")) or "").lower().replace(" ", "_").strip("_-")
    levels = list(dict.fromkeys(texts_of(dimension.get("levels"))))
    if not name[:1].isalpha() or len(levels) < 2:
        note("lost", dimension, f"the dimension '{name}' needs an id that starts with a letter and two levels")
        return
    if name in made:
        note("lost", dimension, f"the dimension '{name}' stands in two assessments; the second was left out")
        return
    purpose = (text_of(dimension.get("purpose")) or name)[:_LONGEST_PURPOSE]
    entry: dict[str, JsonValue] = {"purpose": purpose, "levels": list(levels)}
    if flag_of(dimension.get("required")) is False:
        entry["required"] = False
    made[name] = entry


def _follow_up(step: Mapping, note: Callable[[str, Node, str], None]) -> dict[str, JsonValue]:
    levels: list[str] = []
    guidance: list[str] = []
    for each in maps_of(step.get("assessmentConsequences")):
        when, effect = map_of(each.get("when")), map_of(each.get("effect"))
        level = text_of(when.get("anyEqualsLevel")) if when else None
        if level is None or effect is None:
            note("lost", each, "a consequence of the assessment names no level or no effect")
            continue
        levels.append(level)
        guidance.append(text_of(effect.get("guidance")) or "")
        if when is not None and "forAssessment" in when:
            note(
                "changed", each, f"the level '{level}' sends the step back in any dimension, not in one assessment only"
            )
    if not levels:
        return {}
    text = " ".join(dict.fromkeys(part for part in guidance if part))
    if len(text) > _LONGEST_GUIDANCE:
        note("changed", step, f"the guidance of the assessment is cut to {_LONGEST_GUIDANCE} characters")
    made: dict[str, JsonValue] = {"follow_up_when": list(dict.fromkeys(levels))}
    return {**made, "guidance": text[:_LONGEST_GUIDANCE]} if text else made


class Criteria:
    """Translates validation criteria about the text that a step gives."""

    def __init__(self, output: str, lookup: Lookup, note: Callable[[str, Node, str], None]) -> None:
        self._output = Name(output)
        self._lookup = lookup
        self._note = note

    def checks(self, node: Node) -> list[JsonValue]:
        """Give a check for each rule that can be said; the others are noted."""
        rules = items_of(node) or items_of(node.get("and") if isinstance(node, Mapping) else None) or (node,)
        made: list[JsonValue] = []
        for rule in rules:
            try:
                made.append({"expect": unparse(self._rule(rule, 0))})
            except Untranslatable as problem:
                message = text_of(rule.get("message")) if isinstance(rule, Mapping) else None
                about = f' ("{message}")' if message else ""
                self._note("lost", rule, f"a rule of validationCriteria cannot be said: {problem}{about}")
        return made

    def _rule(self, node: Node, depth: int) -> Expression:
        rule = map_of(node)
        if rule is None or depth > 16:
            raise Untranslatable("it is not a rule")
        for key, operator in _GROUPS.items():
            if key in rule:
                operands = tuple(self._rule(each, depth + 1) for each in items_of(rule.get(key)))
                if not operands:
                    raise Untranslatable(f"'{key}' is empty")
                return operands[0] if len(operands) == 1 else Logic(operator, operands)
        if (inner := rule.get("not")) is not None:
            return Unary("not", self._rule(inner, depth + 1))
        found = self._simple(rule)
        condition = rule.get("condition")
        if condition is None:
            return found
        return Logic("or", (Unary("not", to_expression(condition, self._lookup)), found))

    def _simple(self, rule: Mapping) -> Expression:
        kind = text_of(rule.get("type"))
        if kind == "contains" and (text := text_of(rule.get("value"))) is not None:
            return Compare("in", Literal(text), self._output)
        if kind == "length":
            least, most = whole_of(rule.get("min")), whole_of(rule.get("max"))
            length = Filter(self._output, "length")
            bounds: list[Expression] = [] if least is None else [Compare(">=", length, Literal(least))]
            bounds += [] if most is None else [Compare("<=", length, Literal(most))]
            if bounds:
                return bounds[0] if len(bounds) == 1 else Logic("and", tuple(bounds))
        raise Untranslatable(f"the type '{kind}'")


def messages(node: Node) -> list[str]:
    """Give what the rules of validation criteria say, wherever they stand."""
    if isinstance(node, Mapping):
        own = text_of(node.get("message"))
        inner = [text for key in ("and", "or", "not") for text in _inner(node.get(key))]
        return [*([own] if own else []), *inner]
    return _inner(node)


def _inner(node: Node | None) -> list[str]:
    nodes = items_of(node) or ((node,) if isinstance(node, Mapping) else ())
    return [text for each in nodes for text in messages(each)]
