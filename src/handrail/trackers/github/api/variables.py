"""The variables of an environment that say something about GitHub."""

API_URL = "GITHUB_API_URL"
PUBLIC_TOKENS = ("GH_TOKEN", "GITHUB_TOKEN")
ENTERPRISE_TOKENS = ("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")
ACTIONS = "GITHUB_ACTIONS"
NAMES = (*PUBLIC_TOKENS, *ENTERPRISE_TOKENS, API_URL, ACTIONS, "GH_CONFIG_DIR")
"""A run uses those of whoever started it; its commands and agents do not see them unless they are named."""
