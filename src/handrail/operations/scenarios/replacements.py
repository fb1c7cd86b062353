"""What a test holds ready: results in place of commands, answers in place of a person; it knows what was used."""

import shlex
from dataclasses import dataclass, field, replace
from typing import cast

from handrail.authoring.scripts.address_patterns import find_key
from handrail.model.history.events import StepBegan
from handrail.model.source import Entry, Mapping, Node, plain
from handrail.model.workflow.values import JsonValue
from handrail.operations.scenarios.read import listed


@dataclass(slots=True)
class Prepared:
    """What a test holds ready for steps, by address: one thing for every time, or a list of one after the other."""

    given: Mapping | None
    used: dict[str, int] = field(default_factory=dict[str, int])
    """Key with how often it was asked for."""

    def take(self, *addresses: str) -> Node | None:
        """Give what is next for a step, under the first of its addresses that has something; None when none is left."""
        for address in addresses:
            entry = self._entry(address)
            if entry is not None:
                number = self.used[entry.name] = self.used.get(entry.name, 0) + 1
                items = listed(entry.value)
                repeats = items == (entry.value,)
                return items[0] if repeats else items[number - 1] if number <= len(items) else None
        return None

    def left(self) -> list[tuple[Entry, Node]]:
        """Give what was never used, with the key it stands under."""
        return [
            (entry, item) for entry in self.given or () for item in listed(entry.value)[self.used.get(entry.name, 0) :]
        ]

    def _entry(self, address: str) -> Entry | None:
        found = None if self.given is None else find_key(address, self.given.entries)
        return None if found is None or self.given is None else self.given.entries[found.key]


@dataclass(slots=True)
class Replacing:
    """Puts the results that a test gives in the place of the commands of a step."""

    results: Prepared
    replaced: dict[str, None] = field(default_factory=dict[str, None])
    """Addresses of steps whose commands did not run."""

    def __call__(self, began: StepBegan) -> StepBegan:
        """Give an intent whose only command has the result that the test gives; the same where it gives none."""
        result = self.results.take(began.address)
        if result is None:
            return began
        self.replaced[began.address] = None
        given = cast("dict[str, JsonValue]", plain(result))
        commands = cast("list[dict[str, JsonValue]]", began.spec["commands"])
        name: JsonValue = commands[0]["name"] if commands else "command"
        said: dict[str, JsonValue] = {"name": name, "script": _script(given), "values": {}, "files": [], "sources": {}}
        return replace(began, spec={**began.spec, "commands": [said]})


def _script(given: dict[str, JsonValue]) -> str:
    out, err = (shlex.quote(str(given.get(name, ""))) for name in ("stdout", "stderr"))
    return f"printf %s {out}; printf %s {err} >&2; exit {given.get('exit', 0)}"
