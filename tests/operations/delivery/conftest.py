from handrail.testing.leaks import nothing_left_behind
from support.runtime.fixtures import flows, room, shop

__all__ = ["flows", "nothing_left_behind", "room", "shop"]
