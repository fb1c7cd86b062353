"""How an agent's process is started on this machine: in the sandbox that its step asks for, with a window to watch it.

A window is for a person who wants to look: the agent neither knows of it nor depends on it. The agent's keeper stays
the parent of its process, so a window may be closed, and tmux may be killed, at any time. That a person wants
windows for a run is not a fact of the run: it is noted in a file beside its processes.
"""

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import handrail
from handrail.frozen import frozen
from handrail.model.history.run_state import Pending, RunState
from handrail.model.workflow.values import JsonValue
from handrail.ports.agents import AgentCall
from handrail.ports.sandboxes import OwnFolders, Sandbox, SandboxPolicy
from handrail.runtime.handlers.agents.hindrances import Refusal

if TYPE_CHECKING:
    from handrail.ports.windows import Windows

_MANNER = ("tmux", "sandbox", "network")
VIEW = "view"
"""The subcommand of `handrail` that a window runs."""
_WISH = "tmux"
ATTACHMENTS = "attachments"
"""The folder of a run that holds the attachments of its issue, beside those of its commands."""


def launch_options(spec: Mapping[str, JsonValue]) -> dict[str, str]:
    """Pick from the intent of a call how its process is to be started."""
    return {name: str(spec[name]) for name in _MANNER if name in spec}


def strip_launch_options(call: AgentCall) -> AgentCall:
    """Return a call without options for a sandbox or a window."""
    return replace(call, options={name: each for name, each in call.options.items() if name not in _MANNER})


@frozen
class AgentHost:
    """What this machine offers to agents besides processes: a sandbox to confine them, windows to watch them."""

    sandbox: Sandbox
    windows: "Windows"
    own_folders: OwnFolders

    def hindrance(self, manner: Mapping[str, str]) -> Refusal | None:
        """Explain why a call cannot be made in the manner that is asked for; None where it can."""
        if manner.get("tmux") and (why := self.windows.unavailable_reason()):
            return Refusal(why, f"{self.windows.remedy()}, or write `tmux: false`", missing=False)
        if manner.get("sandbox") == "bwrap" and (why := self.sandbox.unusable(network=has_network(manner))):
            return Refusal(why, self.sandbox.remedy(), missing=False)
        return None

    def wrap(
        self,
        argv: tuple[str, ...],
        manner: Mapping[str, str],
        agent: str,
        env: Mapping[str, str],
        places: tuple[Path, ...],
    ) -> tuple[str, ...]:
        """Build the arguments that start a call; `places` are the worktree and folders that it may read."""
        if manner.get("sandbox") != "bwrap":
            return argv
        workspace, *inputs = places
        ours = (Path(env.get("HOME", "/")), Path(sys.prefix), Path(sys.base_prefix), Path(handrail.__file__).parents[1])
        programs = (Path(word).parent for word in argv if word.startswith("/") and Path(word).is_file())
        confined = SandboxPolicy(
            workspace.resolve(),
            has_network(manner),
            self.own_folders(agent, env),
            (*ours, *programs, *inputs),
            closed=manner.get("access") == "read",
        )
        return self.sandbox.wrap(argv, confined)


def has_network(manner: Mapping[str, str]) -> bool:
    """Whether a call in a sandbox reaches the network."""
    return manner.get("network") != "off"


if TYPE_CHECKING:
    from handrail.ports.windows import Windows


def request_windows(folder: Path, root: str) -> None:
    """Note that a person wants windows for a run that they started and for the runs that come from it."""
    place = folder / root
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    (place / _WISH).touch(mode=0o600)


def needs_window(folder: Path, root: str, spec: dict[str, JsonValue]) -> bool:
    """Whether a call is to have a window: its step or a person asks for it."""
    return bool(spec.get("tmux")) or (folder / root / _WISH).exists()


def show(windows: "Windows", state: RunState, pending: Pending, agent: str, place: Path) -> bool:
    """Make sure that a call has a window; return whether it has one."""
    source = state.pinned or state.source
    repository = state.workspace if source is None else source.repository
    # One session for the run that a person started and all runs that come from it.
    session = state.family
    words = (VIEW, str(place), agent, repository, f"{session} {pending.address}")
    return windows.show(session, pending.address, str(place), words)
