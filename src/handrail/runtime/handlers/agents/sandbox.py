"""Puts an agent's process into the sandbox that its step asks for, and says what keeps that from being done."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import handrail
from handrail.agents.config_folders import find_config_folders
from handrail.agents.profiles import find_profile
from handrail.model.workflow.values import JsonValue
from handrail.ports.agents import AgentCall
from handrail.runtime.handlers.agents.hindrances import Refusal
from handrail.workspace import sandbox, tmux

_MANNER = ("tmux", "sandbox", "network")


def manner_of(spec: Mapping[str, JsonValue]) -> dict[str, str]:
    """Give what the intent of a call says about how its process is started."""
    return {name: str(spec[name]) for name in _MANNER if name in spec}


def unwrapped(call: AgentCall) -> AgentCall:
    """Give a call that is started in no particular manner."""
    return replace(call, options={name: each for name, each in call.options.items() if name not in _MANNER})


def hindered(manner: Mapping[str, str]) -> Refusal | None:
    """Say why a call cannot be made in the manner that is asked for."""
    if manner.get("tmux") and (why := tmux.missing()):
        return Refusal(why, f"{tmux.INSTALL}, or write `tmux: false`", missing=False)
    if manner.get("sandbox") == "bwrap" and (why := sandbox.unusable(network=has_network(manner))):
        return Refusal(why, sandbox.remedy(), missing=False)
    return None


def wrapped(
    argv: tuple[str, ...], manner: Mapping[str, str], agent: str, env: Mapping[str, str], places: tuple[Path, Path]
) -> tuple[str, ...]:
    """Give the arguments of a call as they are started; `places` are the work tree and the folder of its inputs."""
    if manner.get("sandbox") != "bwrap":
        return argv
    workspace, inputs = places
    ours = (Path(env.get("HOME", "/")), Path(sys.prefix), Path(sys.base_prefix), Path(handrail.__file__).parents[1])
    programs = (Path(word).parent for word in argv if word.startswith("/") and Path(word).is_file())
    profile = find_profile(agent)
    confined = sandbox.Confined(
        workspace.resolve(),
        has_network(manner),
        () if profile is None else find_config_folders(profile, env),
        (*ours, *programs, inputs),
        closed=manner.get("access") == "read",
    )
    return sandbox.sandboxed(argv, confined)


def has_network(manner: Mapping[str, str]) -> bool:
    """Whether a call in a sandbox reaches the network."""
    return manner.get("network") != "off"
