from handrail.testing.leaks import nothing_left_behind
from support.pull.fixtures import pull

__all__ = ["nothing_left_behind", "pull"]
