"""The text of a new configuration."""

from handrail.agents.profiles import every_profile
from handrail.operations.init.config_text import EMPTY


def test_the_example_of_an_agent_is_what_init_would_write_for_the_first() -> None:
    assert EMPTY["agent"].endswith(f'default = "{every_profile()[0].default}"')
