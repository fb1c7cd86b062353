"""The text of a new configuration."""

from handrail.agents.profiles import load_profiles
from handrail.operations.init.config_text import EMPTY


def test_the_example_of_an_agent_is_what_init_would_write_for_the_first() -> None:
    assert EMPTY["agent"].endswith(f'default = "{load_profiles()[0].default}"')
