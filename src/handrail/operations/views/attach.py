"""Opens windows on the agents of a run that are at work, so that a person can watch one."""

from pathlib import Path

from handrail.engine.state.agent_calls import call_of
from handrail.errors import EnvironmentFault, UsageError
from handrail.frozen import frozen
from handrail.model.history.events import StepBegan
from handrail.model.history.run_state import Pending, RunState
from handrail.operations.views.run_tree import root_of
from handrail.operations.views.step_addresses import Member, is_same_step, members
from handrail.operations.views.tmux import require_tmux
from handrail.ports.log import Log
from handrail.ports.machine import Machine
from handrail.ports.processes import Processes, Running
from handrail.ports.windows import OpenWindows, WindowSystem
from handrail.runtime.call_activity import newest_start
from handrail.runtime.event_records import decode_event
from handrail.runtime.handlers.agents.host import request_windows, show
from handrail.runtime.history import state_of


@frozen
class ActiveCall:
    """A call of an agent that is in progress."""

    state: RunState
    pending: Pending
    agent: str
    place: Path
    shown: str
    """The address of its step, relative to the requested run."""


@frozen
class AgentWindow:
    """A window that a person is shown."""

    windows: OpenWindows
    session: str
    call: ActiveCall

    @property
    def window(self) -> str | None:
        """The name of the window in tmux; None once it is closed."""
        return self.windows.find(self.session, str(self.call.place))

    def words(self) -> tuple[str, ...]:
        """Return the command line that shows it."""
        return self.windows.attaching(self.session, self.window or "")


def request_agent_windows(windows: WindowSystem, folder: Path, root: str) -> None:
    """Let every agent of a root run and of its child runs have a window from now on."""
    require_tmux(windows)
    request_windows(folder, root)


def open_sessions(machine: Machine, folder: Path) -> frozenset[str]:
    """Name the tmux sessions that are open: each shows the agents of a run, and of the runs that come from it."""
    return (
        frozenset()
        if machine.windows.unavailable_reason()
        else machine.windows.windows_of(folder.parent).list_sessions()
    )


def attach(log: Log, machine: Machine, folder: Path, run: str, step: str | None) -> AgentWindow:
    """Open windows on all agents of a run that are at work, and return the requested one."""
    require_tmux(machine.windows)
    calls = find_active_calls(log, machine.processes, folder, run)
    meant = [each for each in calls if step is None or is_same_step(each.shown, step)]
    if not meant:
        raise _make_no_agent_error(run, step, calls)
    windows = machine.windows.windows_of(folder.parent)
    for each in calls:
        show(windows, each.state, each.pending, each.agent, each.place)
    found = AgentWindow(windows, root_of(log, run), meant[0])
    if found.window is None:
        message = f"tmux did not open a window on {meant[0].shown}"
        raise EnvironmentFault(message, next_step=f"handrail status {run}; tmux -L {found.windows.server} ls")
    return found


def find_active_calls(log: Log, processes: Processes, folder: Path, run: str) -> tuple[ActiveCall, ...]:
    """List the calls of a run and of its child runs whose agents are at work."""
    found = (_call(log, processes, folder, member) for member in members(log, run))
    return tuple(each for each in found if each is not None)


def _call(log: Log, processes: Processes, folder: Path, member: Member) -> ActiveCall | None:
    state = state_of(log, member.run)
    pending = state.pending
    if pending is None or pending.kind != "step":
        return None
    # A refused step is pending under another number than that of its intent.
    intent = state.steps[pending.address].began
    began = decode_event(log.read(member.run, after=intent - 1, limit=1)[0])
    place = newest_start(folder / member.run / str(pending.seq))
    call = call_of(began) if isinstance(began, StepBegan) else None
    if call is None:
        return None
    if not isinstance(processes.look(str(place)), Running):
        return None
    return ActiveCall(state, pending, str(call.get("agent") or ""), place, f"{member.via}{pending.address}")


def _make_no_agent_error(run: str, step: str | None, calls: tuple[ActiveCall, ...]) -> UsageError:
    if calls and step is not None:
        names = ", ".join(each.shown for each in calls)
        return UsageError(f"no agent is working on '{step}' of {run}", next_step=f"working: {names}")
    return UsageError(f"no agent of {run} is working", next_step=f"handrail status {run}; handrail logs {run}")
