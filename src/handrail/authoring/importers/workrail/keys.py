"""The keys of WorkRail-style steps: which are carried over, which are noted, and the order of the native ones."""

from collections.abc import Iterator

from handrail.authoring.importers.nodes import map_of, maps_of, text_of
from handrail.model.source import Entry, Mapping, Node
from handrail.model.workflow.values import JsonValue

STEP_KEYS = frozenset(
    {
        *("id", "title", "type", "prompt", "promptBlocks", "promptFragments", "agentRole", "guidance", "askForFiles"),
        *("requireConfirmation", "runCondition", "outputContract", "assessmentRefs", "assessmentConsequences"),
        *("validationCriteria", "verification", "loop", "body", "templateCall", "templateId", "args"),
        *("functionDefinitions", "functionCalls", "functionReferences", "parallelDelegations", "synthesis"),
    }
)
"""Keys that are carried over; all others are noted."""

NOTED = {
    "hasValidation": "it has no meaning in WorkRail either",
    "notesOptional": "notes are not required in Handrail; `returns` asks for a result",
    "modelTier": "choose a model with `agent: NAME/MODEL`",
    "audit": "write the audit as a separate agent step, or as `type: review`",
}
DETAILS = {"functionDefinitions": ("parameters", "scope"), "functionCalls": ("args",)}
"""Keys without a counterpart inside the items of a step's lists."""
LOOP_CONTRACT = "wr.contracts.loop_control"
_ORDER = (
    *("name", "type", "description", "when", "for_each", "as", "while", "until", "for", "max_iterations", "on_max"),
    *("use", "workflow", "input", "role", "session", "prompt", "message", "show", "max", "output", "returns"),
    *("assess", "retry", "done_when", "steps"),
)


def pairs(node: Node | None, key: str, value: str) -> dict[str, str]:
    """Map one text of each map in a list to another."""
    return {text_of(each.get(key)) or "": text_of(each.get(value)) or "" for each in maps_of(node)}


def find_dropped_entries(step: Mapping) -> Iterator[tuple[Entry, str]]:
    """Find what is left out of a step's lists and of its loop, with the key that contains it."""
    for key, details in DETAILS.items():
        for each in maps_of(step.get(key)):
            yield from ((entry, key) for entry in each if entry.name in details)
    loop = map_of(step.get("loop"))
    source = map_of(loop.get("conditionSource")) if loop is not None else None
    if source is not None:
        yield from ((entry, "conditionSource") for entry in source if entry.name == "loopId")


def join_conditions(conditions: list[JsonValue]) -> JsonValue:
    """Join conditions so that all of them must hold."""
    if any(each is False for each in conditions):
        return False
    texts = [str(each) for each in conditions if each is not True]
    if not texts:
        return True
    return texts[0] if len(texts) == 1 else " and ".join(f"({text})" for text in texts)


def order_keys(step: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Sort the keys of a step and of its body in the order in which people write them."""
    body = step.get("steps")
    if isinstance(body, list):
        step = {**step, "steps": [order_keys(inner) if isinstance(inner, dict) else inner for inner in body]}
    return {key: step[key] for key in _ORDER if key in step}
