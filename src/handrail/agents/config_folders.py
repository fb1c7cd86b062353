"""Where an agent keeps its own data on this machine."""

from collections.abc import Mapping
from pathlib import Path

from handrail.ports.agent_profiles import AgentProfile


def find_config_folders(profile: AgentProfile, env: Mapping[str, str]) -> tuple[Path, ...]:
    """Find the folders and files of an agent in the environment that it gets, as far as they exist."""
    named = env.get(profile.config.variable, "")
    home = Path(env.get("HOME", "/"))
    paths = (Path(named),) if named else tuple(home / path for path in profile.config.paths)
    return tuple(path for path in paths if path.exists())
