from handrail.testing.leaks import nothing_left_behind
from support.agents.fixtures import room
from support.moved_time import moved_time

__all__ = ["moved_time", "nothing_left_behind", "room"]
