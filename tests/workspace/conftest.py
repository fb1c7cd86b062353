from handrail.testing.leaks import nothing_left_behind
from support.workspace.fixtures import git_home, room, shop

__all__ = ["git_home", "nothing_left_behind", "room", "shop"]
