"""The agent calls that events record, how they are counted, and who makes them while somebody holds the run."""

import re

from rpds import HashTrieMap

from handrail.model.history.events import StepBegan
from handrail.model.history.run_state import RunState
from handrail.model.workflow.values import JsonValue

_ROUND = re.compile(r"@\d+|#\d+(?=[/@]|$)")
GUIDED = frozenset({"guided", "delegate"})
"""Steps whose performer gets one task at a time, and whose result is refused if it does not meet the requirements."""
OF_AGENTS = GUIDED | {"agent"}
"""Steps that an agent performs, whoever performs the others."""


def is_for_holder(began: StepBegan) -> bool:
    """Whether a step was begun for the holder of the run, that is, without a call that the engine could make."""
    return began.action in OF_AGENTS and call_of(began) is None


def call_of(began: StepBegan) -> dict[str, JsonValue] | None:
    """Return the agent call by which the engine performs a step; None if it calls none."""
    call = began.spec if began.action == "agent" else began.spec.get("call")
    return call if isinstance(call, dict) else None


def turn_key(address: str) -> str:
    """Strip rounds and repetition numbers of a flow from an address, so that all of its calls are counted together."""
    return _ROUND.sub("", address)


def count_call(turns: "HashTrieMap[str, int]", address: str) -> "HashTrieMap[str, int]":
    """Count a call, over all rounds and for its own round."""
    for key in {turn_key(address), address}:
        turns = turns.insert(key, turns.get(key, 0) + 1)
    return turns


def uncount_call(turns: "HashTrieMap[str, int]", address: str) -> "HashTrieMap[str, int]":
    """Undo the count of a call that is repeated."""
    for key in {turn_key(address), address}:
        turns = turns.insert(key, max(turns.get(key, 0) - 1, 0))
    return turns


def holds_all(state: RunState) -> bool:
    """Whether the holder performs every step itself, so that the engine begins none as its own."""
    return bool(state.held_by) and state.hands == "all"


def is_holders(state: RunState, action: str) -> bool:
    """Whether a step is for the holder of the run, and not for the engine."""
    return bool(state.held_by) and (state.hands == "all" or action in OF_AGENTS)
