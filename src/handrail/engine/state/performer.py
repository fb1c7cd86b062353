"""Who performs a step of a run that somebody holds."""

from handrail.model.history.run_state import RunState

OF_AGENTS = frozenset({"agent", "guided", "delegate"})
"""Steps that an agent performs, whoever else performs the others."""


def holds_all(state: RunState) -> bool:
    """Tell whether the holder performs every step itself, so that the engine begins none as its own."""
    return bool(state.held_by) and state.hands == "all"


def is_holders(state: RunState, action: str) -> bool:
    """Tell whether a step is for the holder of the run, and not for the engine."""
    return bool(state.held_by) and (state.hands == "all" or action in OF_AGENTS)
