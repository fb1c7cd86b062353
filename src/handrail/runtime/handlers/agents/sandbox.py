"""Puts an agent's process into the sandbox that its step asks for, and says what keeps that from being done."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import handrail
from handrail.frozen import frozen
from handrail.model.workflow.values import JsonValue
from handrail.ports.agents import AgentCall
from handrail.ports.sandboxes import Confined, OwnFolders, Sandbox
from handrail.ports.windows import Windows
from handrail.runtime.handlers.agents.hindrances import Refusal

_MANNER = ("tmux", "sandbox", "network")


def manner_of(spec: Mapping[str, JsonValue]) -> dict[str, str]:
    """Give what the intent of a call says about how its process is started."""
    return {name: str(spec[name]) for name in _MANNER if name in spec}


def unwrapped(call: AgentCall) -> AgentCall:
    """Give a call that is started in no particular manner."""
    return replace(call, options={name: each for name, each in call.options.items() if name not in _MANNER})


@frozen
class AgentHost:
    """What this machine has for agents beside processes: a sandbox to confine them, windows to watch them."""

    sandbox: Sandbox
    windows: Windows
    own_folders: OwnFolders

    def hindrance(self, manner: Mapping[str, str]) -> Refusal | None:
        """Say why a call cannot be made in the manner that is asked for."""
        if manner.get("tmux") and (why := self.windows.missing()):
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
        places: tuple[Path, Path],
    ) -> tuple[str, ...]:
        """Give the arguments of a call as they are started; `places` are the work tree and the folder of its inputs."""
        if manner.get("sandbox") != "bwrap":
            return argv
        workspace, inputs = places
        ours = (Path(env.get("HOME", "/")), Path(sys.prefix), Path(sys.base_prefix), Path(handrail.__file__).parents[1])
        programs = (Path(word).parent for word in argv if word.startswith("/") and Path(word).is_file())
        confined = Confined(
            workspace.resolve(),
            has_network(manner),
            self.own_folders(agent, env),
            (*ours, *programs, inputs),
            closed=manner.get("access") == "read",
        )
        return self.sandbox.wrap(argv, confined)


def has_network(manner: Mapping[str, str]) -> bool:
    """Whether a call in a sandbox reaches the network."""
    return manner.get("network") != "off"
