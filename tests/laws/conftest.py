from handrail.testing.leaks import nothing_left_behind
from support.moved_time import moved_time
from support.runtime.fixtures import flows, room, shop

__all__ = ["flows", "moved_time", "nothing_left_behind", "room", "shop"]
