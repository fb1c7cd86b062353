"""Windows on agents at work, for a person who wants to look: the agent neither knows of them nor depends on them.

Whoever keeps the agent stays the keeper of its process, so a window may be closed, and tmux may be killed, at any
time. That a person wants windows for a run is no fact of the run: it stands in a file beside its processes.
"""

import re
from pathlib import Path

from handrail.model.history.run_state import Pending, RunState
from handrail.model.workflow.values import JsonValue
from handrail.ports.windows import Windows

VIEW = "view"
"""The command of Handrail that a window runs."""
_WISH = "tmux"
_DESCENT = re.compile(r"(\.[0-9]+)+$", re.ASCII)


def session_of(run: str) -> str:
    """Give the session of a run: that of the run that a person started, shared by all that come from it."""
    return _DESCENT.sub("", run)


def wish(folder: Path, run: str) -> None:
    """Note that a person wants windows for a run and the runs that come from it."""
    place = folder / session_of(run)
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    (place / _WISH).touch(mode=0o600)


def wished(folder: Path, run: str, spec: dict[str, JsonValue]) -> bool:
    """Whether a call is to have a window: its step says so, or a person did."""
    return bool(spec.get("tmux")) or (folder / session_of(run) / _WISH).exists()


def show(windows: Windows, state: RunState, pending: Pending, agent: str, place: Path) -> bool:
    """See to it that a call has a window; tells whether it has."""
    source = state.pinned or state.source
    repository = state.workspace if source is None else source.repository
    session = session_of(state.run)
    words = (VIEW, str(place), agent, repository, f"{session} {pending.address}")
    return windows.show(session, pending.address, str(place), words)
