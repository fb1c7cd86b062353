"""The state, the plan and the events of a run, as the log holds them."""

from handrail.engine.state.budgets import run_limits
from handrail.runtime.history import events_of, plan_of, readable_state, state_of

__all__ = ["events_of", "plan_of", "readable_state", "run_limits", "state_of"]
