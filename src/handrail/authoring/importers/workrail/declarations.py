"""Converts what guides a whole workflow: rules, references, features, capabilities and slots, to their native keys."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from handrail.authoring.importers.finish import find_misfit
from handrail.authoring.importers.nodes import data_of, items_of, map_of, maps_of, text_of
from handrail.authoring.native import guidance
from handrail.authoring.shapes.shapes import Shape
from handrail.model.source import Entry, Mapping, Node
from handrail.model.workflow.values import JsonValue

_Data: TypeAlias = dict[str, JsonValue]
_Note: TypeAlias = Callable[[str, Node | Entry, str], None]
_REFERENCE = {
    "id": "id",
    "title": "title",
    "source": "source",
    "purpose": "purpose",
    "authoritative": "authoritative",
    "resolveFrom": "resolve_from",
}


class Declarations:
    """Translates what a file declares besides its steps."""

    def __init__(self, root: Mapping, note: _Note) -> None:
        self._root = root
        self._note = note

    def run(self) -> _Data:
        """Return the native keys; what does not fit the format is noted and left out."""
        made: _Data = {
            "guidance": self._rules(),
            "references": self._references(),
            "features": self._features(),
            "capabilities": self._capabilities(),
            "extension_points": self._slots(),
        }
        return {key: value for key, value in made.items() if value}

    def _rules(self) -> list[JsonValue]:
        found = ((text_of(item), item) for item in items_of(self._root.get("metaGuidance")))
        kept = (
            text for text, item in found if text and self._is_valid([text], guidance.GUIDANCE, item, "metaGuidance")
        )
        return list(dict.fromkeys(kept))

    def _references(self) -> list[JsonValue]:
        made: dict[str, JsonValue] = {}
        for each in maps_of(self._root.get("references")):
            data: _Data = {_REFERENCE[entry.name]: data_of(entry.value) for entry in each if entry.name in _REFERENCE}
            name = str(data.get("id"))
            if name in made:
                self._note("lost", each, f"the reference '{name}' is declared twice; the second was left out")
            elif self._is_valid([data], guidance.REFERENCES, each, "references"):
                made[name] = data
        return list(made.values())

    def _features(self) -> list[JsonValue]:
        made: list[JsonValue] = []
        for item in items_of(self._root.get("features")):
            data = data_of(item)
            if data not in made and self._is_valid([data], guidance.FEATURES, item, "features"):
                made.append(data)
        written = [step for step in _steps(self._root.get("steps"), 0) if "prompt" in step]
        if made and written:
            names = ", ".join(text_of(step.get("id")) or "" for step in written)
            message = f"features are added to every prompt; WorkRail adds them only to prompt blocks, so not to {names}"
            self._note("changed", self._root.entries["features"], message)
        return made

    def _capabilities(self) -> _Data:
        made: _Data = {}
        for entry in map_of(self._root.get("capabilities")) or ():
            if self._is_valid({entry.name: data_of(entry.value)}, guidance.CAPABILITIES, entry, "capabilities"):
                made[entry.name] = data_of(entry.value)
        return made

    def _slots(self) -> _Data:
        made: _Data = {}
        for each in maps_of(self._root.get("extensionPoints")):
            name = text_of(each.get("slotId")) or ""
            keys = (("default", "default"), ("purpose", "purpose"), ("acceptedKinds", "accepts"))
            slot = {new: data_of(node) for old, new in keys if (node := each.get(old)) is not None}
            if not slot.get("accepts"):
                slot.pop("accepts", None)
            if name in made:
                self._note("lost", each, f"the slot '{name}' is declared twice; the second was left out")
            elif self._is_valid({name: slot}, guidance.EXTENSION_POINTS, each, "extensionPoints"):
                made[name] = slot
        return made

    def _is_valid(self, data: JsonValue, shape: Shape, at: Node | Entry, key: str) -> bool:
        problem = find_misfit(data, shape)
        if problem:
            self._note("lost", at, f"an entry of '{key}' was left out: {problem}")
        return not problem


def slot_names(declared: _Data) -> frozenset[str]:
    """Return the names of the declared slots."""
    slots = declared.get("extension_points")
    return frozenset(slots) if isinstance(slots, dict) else frozenset()


def _steps(node: Node | None, depth: int) -> Iterator[Mapping]:
    for step in maps_of(node) if depth < 24 else ():
        yield step
        yield from _steps(step.get("body"), depth + 1)
