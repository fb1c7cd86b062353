"""What a test provides: results in place of commands, answers in place of a person; it knows what was used."""

import shlex
from dataclasses import dataclass, field, replace
from typing import cast

from handrail.authoring.scripts.address_patterns import find_key
from handrail.model.history.events import StepBegan
from handrail.model.source import Entry, Mapping, Node, plain
from handrail.model.workflow.values import JsonValue
from handrail.operations.scenarios.read import list_items


@dataclass(slots=True)
class StepReplacements:
    """What a test provides for steps, by address: one value for every time, or a list used one by one."""

    given: Mapping | None
    used: dict[str, int] = field(default_factory=dict[str, int])
    """Each key with how often it was used."""

    def take(self, *addresses: str) -> Node | None:
        """Return what is next for a step, under the first of its addresses that has something, or None."""
        for address in addresses:
            found = None if self.given is None else find_key(address, self.given.entries)
            entry = None if found is None or self.given is None else self.given.entries[found.key]
            if entry is not None:
                number = self.used[entry.name] = self.used.get(entry.name, 0) + 1
                items = list_items(entry.value)
                repeats = items == (entry.value,)
                return items[0] if repeats else items[number - 1] if number <= len(items) else None
        return None

    def list_unused(self) -> list[tuple[Entry, Node]]:
        """Return what was never used, each with its key."""
        return [
            (entry, item)
            for entry in self.given or ()
            for item in list_items(entry.value)[self.used.get(entry.name, 0) :]
        ]


@dataclass(slots=True)
class CommandReplacement:
    """Replaces the commands of a step with the results that a test provides."""

    results: StepReplacements
    replaced: dict[str, None] = field(default_factory=dict[str, None])
    """The addresses of steps whose commands did not run."""

    def __call__(self, began: StepBegan) -> StepBegan:
        """Return an intent whose only command has the result from the test; unchanged if the test provides none."""
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
