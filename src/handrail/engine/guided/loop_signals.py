"""Reads whether a step's result continues or stops the loop around it."""

from collections.abc import Sequence

from handrail.engine.guided.prompts import LOOP_CONTROL
from handrail.model.workflow.values import JsonValue

_KEYS = frozenset({"kind", "decision", "loopId", "metadata"})


def loop_control(artifacts: Sequence[JsonValue]) -> str:
    """Return the decision of the newest valid loop-control artifact; empty if there is none."""
    for each in reversed(artifacts):
        if not isinstance(each, dict) or each.get("kind") != LOOP_CONTROL:
            continue
        decision = each.get("decision")
        if decision in ("continue", "stop") and each.keys() <= _KEYS:
            return str(decision)
    return ""
