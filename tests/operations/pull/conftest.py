from handrail.testing.leaks import nothing_left_behind
from support.pull.fixtures import pull
from support.runtime.fixtures import room, shop

__all__ = ["nothing_left_behind", "pull", "room", "shop"]
