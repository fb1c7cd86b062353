"""What an agent finds out while it walks: a value for each variable of a workflow, in whatever form it is asked.

An agent sets a variable at a step whose prompt names it. In a loop the value may change from round to round.
"""

import json
import random
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, cast

from support.pull.room import Json

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ROUND = re.compile(r"@(\d+)/")
_FIXED = re.compile(r'"(?:items|count)": "(\w+)"')
"""How often a loop repeats is not changed in the middle of it."""
_COMPARED = ("equals", "not_equals", "contains", "gt", "gte", "lt", "lte", "in")
ITEMS: list[Json] = [{"id": "1", "name": "One"}, {"id": "2", "name": "Two"}]


@dataclass
class FoundValues:
    """One way that the work may turn out."""

    raw: Json
    salt: str
    changes: bool = False
    """Whether values change from round to round of a loop."""
    choices: dict[str, list[Any]] = field(init=False)

    def __post_init__(self) -> None:
        self.choices = {name: usable(values) for name, values in variables_in(self.raw).items()}
        self._fixed = set(_FIXED.findall(json.dumps(self.raw)))

    def value(self, variable: str, address: str) -> Any:
        """The value that a step finds for a variable."""
        chance = random.Random(f"{self.salt} {variable}")
        order = chance.sample(self.choices[variable], len(self.choices[variable]))
        found = _ROUND.search(address)
        changes = self.changes and variable not in self._fixed
        return order[(int(found[1]) if found and changes else 0) % len(order)]

    def at_start(self, inputs: Iterable[str]) -> Json:
        """What whoever starts a run knows already."""
        return {name: self.value(name, "") for name in inputs if name in self.choices}

    def named_in(self, text: str, address: str) -> Json:
        """The variables that a prompt names, with their values."""
        words = set(_WORD.findall(text))
        return {name: self.value(name, address) for name in sorted(self.choices) if name in words}

    def decide(self, address: str) -> str:
        """Say whether a loop goes on: some stop at once, others after two rounds."""
        found = _ROUND.search(address)
        rounds = random.Random(f"{self.salt} rounds").choice([1, 2])
        return "continue" if found and int(found[1]) < rounds else "stop"


def usable(values: list[Any]) -> list[Any]:
    """Values of one type: those that are compared with, and one that is none of them."""
    if not values:
        return [True, False]
    if any(isinstance(each, list) for each in values):
        return [ITEMS, ITEMS[:1]]
    if all(isinstance(each, bool) for each in values):
        return [True, False]
    if all(isinstance(each, int | float) for each in values):
        numbers = cast("list[float]", values)
        return sorted({*numbers, min(numbers) - 1, max(numbers) + 1})
    return [*dict.fromkeys(str(each) for each in values), "something else"]


def variables_in(node: Any) -> dict[str, list[Any]]:
    """The variables that conditions and loops read, each with what it is compared with."""
    found: dict[str, list[Any]] = {}
    if isinstance(node, list):
        for each in cast("list[Any]", node):
            _join(found, variables_in(each))
    if isinstance(node, dict):
        each_of = cast("Json", node)
        if isinstance(each_of.get("var"), str):
            _join(found, {each_of["var"]: _compared(each_of)})
        for key, kind in (("items", [ITEMS]), ("count", [2])):
            if isinstance(each_of.get(key), str) and "maxIterations" in each_of:
                _join(found, {each_of[key]: kind})
        for each in each_of.values():
            _join(found, variables_in(each))
    return found


def _compared(condition: Json) -> list[Any]:
    values = [condition[key] for key in _COMPARED if key in condition]
    flat = [value for each in values for value in (cast("list[Any]", each) if isinstance(each, list) else [each])]
    return [each for each in flat if each is not None]


def _join(found: dict[str, list[Any]], more: dict[str, list[Any]]) -> None:
    for name, values in more.items():
        found.setdefault(name, []).extend(values)
