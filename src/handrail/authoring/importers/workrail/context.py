"""Maps the context variables of a WorkRail-style workflow to the results of steps.

In WorkRail any step may set any variable of one shared context. Here a variable is a field of the result of the first
step that names it in its prompt; one that no earlier step names is an input.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

from handrail.authoring.importers.guessed_types import type_like
from handrail.authoring.importers.names import make_identifier, value_name
from handrail.authoring.importers.nodes import items_of, map_of, maps_of, text_of, texts_of
from handrail.language.expressions.syntax import Attribute, Binary, Expression, Filter, ListDisplay, Literal, Name
from handrail.model.source import Mapping, Node
from handrail.model.workflow.values import JsonValue

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DEFAULTS: dict[str, str | float | bool] = {"string": "", "bool": False, "number": 0}
LOOP_VARS = {"itemVar": "currentItem", "indexVar": "currentIndex", "iterationVar": "currentIteration"}


@dataclass(slots=True, eq=False)
class SourceStep:
    """A step in the order of the file, with the words of its prompt and the fields that others read from it."""

    node: Mapping
    name: str
    loop: "SourceStep | None" = None
    words: frozenset[str] = frozenset()
    order: float = 0
    contract: str = ""
    """The contract pack that its result must match."""
    returns: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def is_certain(self) -> bool:
        """Whether the step always runs before what follows it."""
        return self.loop is None and "runCondition" not in self.node

    @property
    def has_result(self) -> bool:
        """Whether an agent performs the step, so that it has a result."""
        return not any(key in self.node for key in ("templateCall", "templateId", "loop", "parallelDelegations"))


def words_of(step: Mapping) -> frozenset[str]:
    """Collect every word of the texts that a step gives to its agent."""
    return frozenset(_WORD.findall(" ".join(_texts(step, 0))))


def _texts(step: Mapping, depth: int) -> list[str]:
    parts = [text_of(step.get("agentRole")) or "", text_of(step.get("prompt")) or "", *texts_of(step.get("guidance"))]
    blocks = map_of(step.get("promptBlocks"))
    for entry in blocks or ():
        parts.extend(_flat(entry.value, depth))
    parts.extend(text_of(each.get("text")) or "" for each in maps_of(step.get("promptFragments")))
    return parts


def _flat(node: Node, depth: int) -> list[str]:
    if depth > 4:
        return []
    if isinstance(node, Mapping):
        return [word for entry in node for word in (entry.name, *_flat(entry.value, depth + 1))]
    return [text_of(node) or "", *(word for item in items_of(node) for word in _flat(item, depth + 1))]


class Context:
    """Finds variables for a step, and records what steps must return and which inputs are needed."""

    def __init__(self, places: list[SourceStep], changed: Callable[[SourceStep, str], None]) -> None:
        self.inputs: dict[str, dict[str, JsonValue]] = {"goal": {"type": "string"}}
        self._places = places
        telling = [place for place in places if place.has_result]
        self._first = {word: place for place in reversed(telling) for word in place.words}
        self._changed = changed

    def value(self, variable: str, at: SourceStep, like: object = None, *, after: bool = False) -> Expression:
        """Return a variable as it is before a step runs, or after it."""
        own = self._loop_variable(variable, at)
        if own is not None:
            return own
        producers = self._producers(variable, at.order + after)
        return self._latest(producers, variable, like) if producers else self._input(variable, type_like(like), at)

    def between_rounds(
        self, variable: str, loop: SourceStep, like: object = None
    ) -> tuple[Expression, list[SourceStep]]:
        """Return a variable as it is before each round of a loop, and the steps of the body that set it."""
        body = [place for place in self._places if place.loop is loop and place.has_result and variable in place.words]
        if not body:
            return self.value(variable, loop, like), []
        return self._latest([body[-1], *self._producers(variable, loop.order)], variable, like), body

    def is_known(self, variable: str, at: SourceStep) -> bool:
        """Whether a prompt can show the variable."""
        if variable in self.inputs or self._loop_variable(variable, at) is not None:
            return True
        return bool(self._producers(variable, at.order))

    def is_own(self, variable: str, at: SourceStep) -> bool:
        """Whether the step itself is the first that can set the variable."""
        return at.has_result and variable in at.words and not self.is_known(variable, at)

    def _producers(self, variable: str, before: float) -> list[SourceStep]:
        """Find the steps that set a variable, latest first: the first one that names it, and those that end a loop."""
        first = self._first.get(variable)
        found = [each for each in self._places if each.order < before and (each is first or variable in each.returns)]
        return sorted(found, key=lambda each: -each.order)

    def _loop_variable(self, variable: str, at: SourceStep) -> Expression | None:
        loop = map_of(at.loop.node.get("loop")) if at.loop is not None else None
        if loop is None:
            return None
        names = {text_of(loop.get(key)) or usual: key for key, usual in LOOP_VARS.items()}
        match names.get(variable):
            case "itemVar" if text_of(loop.get("type")) == "forEach":
                return Name(value_name(variable))
            case "indexVar":
                return Binary("-", Name("round"), Literal(1))
            case "iterationVar":
                return Name("round")
            case _:
                return None

    def _latest(self, producers: list[SourceStep], variable: str, like: object) -> Expression:
        """Return the newest value, falling back from each step that may not have run to the value before it."""
        certain = next((at for at, each in enumerate(producers) if each.is_certain), None)
        used = producers if certain is None else producers[: certain + 1]
        for each in used:
            self._register(each, variable, type_like(like))
        found: Expression | None = None if certain is not None else _empty_value(used[0].returns[variable])
        for each in reversed(used):
            own = Attribute(Name(value_name(make_identifier(each.name))), variable)
            found = own if found is None else Filter(own, "default", (found,))
        return cast("Expression", found)

    def _register(self, producer: SourceStep, variable: str, kind: str) -> None:
        if variable not in producer.returns:
            is_first = producer is self._first.get(variable)
            why = "which names it first" if is_first else "which sets it for the next round"
            message = f"the context variable '{variable}' is now a field of the result of '{producer.name}', {why}"
            self._changed(producer, message)
        producer.returns[variable] = _join_kinds(producer.returns.get(variable), kind)

    def _input(self, variable: str, kind: str, at: SourceStep) -> Expression:
        name = value_name(variable)
        known = self.inputs.get(name)
        if known is None:
            default: JsonValue = [] if kind == "list" else _DEFAULTS.get(kind)
            self.inputs[name] = {"type": kind, "default": default}
            shown = "nothing" if default is None else json.dumps(default)
            message = f"no earlier step names '{variable}'; it is now an input of type {kind}, default {shown}"
            self._changed(at, message)
        elif known.get("type") != kind and "default" in known and kind != "json":
            known.update({"type": "json"})
        return Name(name)


def _join_kinds(known: str | None, kind: str) -> str:
    if known is None or known == kind:
        return kind
    if "json" in (known, kind) and known != kind:
        return kind if known == "json" else known
    return "json"


def _empty_value(kind: str) -> Expression:
    return ListDisplay(()) if kind == "list" else Literal(_DEFAULTS.get(kind, ""))
