from handrail.testing.leaks import nothing_left_behind
from support.agents.fixtures import room

__all__ = ["nothing_left_behind", "room"]
