"""What this machine knows of an agent by its name: its account, and the folders that are its own."""

from collections.abc import Mapping
from pathlib import Path

from handrail.agents.config_folders import find_config_folders
from handrail.agents.logins import find_account
from handrail.agents.profiles import find_profile


def find_agent_account(agent: str, env: Mapping[str, str]) -> str:
    """Name the account that an agent is logged in to; empty where that is not known."""
    profile = find_profile(agent)
    return "" if profile is None else find_account(profile, env)


def find_agent_folders(agent: str, env: Mapping[str, str]) -> tuple[Path, ...]:
    """Find the folders in which an agent keeps its own matters, which a sandbox leaves writable."""
    profile = find_profile(agent)
    return () if profile is None else find_config_folders(profile, env)
