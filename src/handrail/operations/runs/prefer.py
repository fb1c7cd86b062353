"""How far a run continues alone, and what it may risk: set by a person, for new runs or for a running one."""

import uuid
from typing import TypeAlias

from handrail.engine.state.preferences import PreferenceChange, decide_preferences
from handrail.errors import UsageError
from handrail.frozen import frozen
from handrail.model.diagnostics import Report
from handrail.model.workflow.settings import NO_PULL
from handrail.operations.views.inner_steps import suggest_way_back
from handrail.operations.workflows.repository_config import read_configured
from handrail.runtime.history import plan_of, state_of
from handrail.runtime.run_writer import RunWriter, require_recordable
from handrail.sources.config.config import read_user_config
from handrail.sources.tiers import Location

Preference: TypeAlias = PreferenceChange


@frozen
class PreferenceSettings:
    """The preferences of the configuration, and why a part of them does not count."""

    change: PreferenceChange
    unused: str = ""


@frozen
class RunPreferences:
    """The preferences of a run from now on."""

    run: str
    autonomy: str
    risk: str


def read_preferences(place: Location) -> PreferenceSettings:
    """Return the preferences for new runs of connected agents: the user's first, then a trusted repository's."""
    own = read_user_config(place.folders, Report()).pull
    found = read_configured(place)
    theirs = NO_PULL if found is None else found.config.pull
    change = PreferenceChange(by="", autonomy=own.autonomy, risk=own.risk)
    if found is None or theirs == NO_PULL:
        return PreferenceSettings(change)
    if found.distrust:
        return PreferenceSettings(
            change, f"[pull] in {found.shown} is not used until your user trusts it: {found.distrust}"
        )
    merged = PreferenceChange(by=change.by, autonomy=own.autonomy or theirs.autonomy, risk=own.risk or theirs.risk)
    return PreferenceSettings(merged)


def prefer(writer: RunWriter, run: str, change: PreferenceChange) -> RunPreferences:
    """Set how far a run continues alone from now on, and what it may risk."""
    state = state_of(writer.log, run)
    for given in (change.autonomy, change.risk, change.by):
        require_recordable("the preference", given)
    if not change.autonomy and not change.risk:
        hint = f"handrail prefer {run} --autonomy full_auto_stop_on_user_deps"
        raise UsageError("no preference was given", next_step=hint)
    if state.is_over:
        raise UsageError(f"{run} has already ended ({state.status})", next_step=suggest_way_back(state))
    if decide_preferences(plan_of(writer.log, state.plan), state, change, 0.0):
        key = f"prefer:{uuid.uuid4().hex}"
        writer.send(run, key, "prefer", autonomy=change.autonomy, risk=change.risk, by=change.by)
    return RunPreferences(run, change.autonomy or state.autonomy, change.risk or state.risk)
