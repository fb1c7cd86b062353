from handrail.testing.leaks import nothing_left_behind

__all__ = ["nothing_left_behind"]
