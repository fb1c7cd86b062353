"""The variables of the demo: those that every command sees, and nothing that the user passes on."""

import os

from handrail.processes.environment import PASS_ENV, filter_environment


def demo_variables() -> dict[str, str]:
    """Return the allow-listed variables of this process."""
    return filter_environment({**os.environ, PASS_ENV: ""})
