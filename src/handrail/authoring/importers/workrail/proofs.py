"""Converts WorkRail-style validation criteria to `done_when`."""

from collections.abc import Callable

from handrail.authoring.importers.coven.go_syntax import Untranslatable
from handrail.authoring.importers.nodes import int_of, items_of, map_of, text_of
from handrail.authoring.importers.workrail.conditions import Lookup, translate_condition
from handrail.language.expressions.syntax import Compare, Expression, Filter, Literal, Logic, LogicOperator, Name, Unary
from handrail.language.expressions.unparse import unparse
from handrail.model.source import Mapping, Node
from handrail.model.workflow.values import JsonValue

_GROUPS: dict[str, LogicOperator] = {"and": "and", "or": "or"}


class Criteria:
    """Translates validation criteria about the text that a step returns."""

    def __init__(self, output: str, lookup: Lookup, note: Callable[[str, Node, str], None]) -> None:
        self._output = Name(output)
        self._lookup = lookup
        self._note = note

    def checks(self, node: Node) -> list[JsonValue]:
        """Return a check for each rule that can be expressed; the others are noted."""
        rules = items_of(node) or items_of(node.get("and") if isinstance(node, Mapping) else None) or (node,)
        made: list[JsonValue] = []
        for rule in rules:
            try:
                made.append({"expect": unparse(self._rule(rule, 0))})
            except Untranslatable as problem:
                message = text_of(rule.get("message")) if isinstance(rule, Mapping) else None
                about = f' ("{message}")' if message else ""
                self._note("lost", rule, f"a rule of validationCriteria cannot be translated: {problem}{about}")
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
        return Logic("or", (Unary("not", translate_condition(condition, self._lookup)), found))

    def _simple(self, rule: Mapping) -> Expression:
        kind = text_of(rule.get("type"))
        if kind == "contains" and (text := text_of(rule.get("value"))) is not None:
            return Compare("in", Literal(text), self._output)
        if kind == "length":
            least, most = int_of(rule.get("min")), int_of(rule.get("max"))
            length = Filter(self._output, "length")
            bounds: list[Expression] = [] if least is None else [Compare(">=", length, Literal(least))]
            bounds += [] if most is None else [Compare("<=", length, Literal(most))]
            if bounds:
                return bounds[0] if len(bounds) == 1 else Logic("and", tuple(bounds))
        raise Untranslatable(f"the type '{kind}'")


def messages(node: Node) -> list[str]:
    """Collect the messages of the rules in validation criteria, at any depth."""
    if isinstance(node, Mapping):
        own = text_of(node.get("message"))
        inner = [text for key in ("and", "or", "not") for text in _collect_messages(node.get(key))]
        return [*([own] if own else []), *inner]
    return _collect_messages(node)


def _collect_messages(node: Node | None) -> list[str]:
    nodes = items_of(node) or ((node,) if isinstance(node, Mapping) else ())
    return [text for each in nodes for text in messages(each)]
