"""A clock that a test sets, beside one that nobody can set: time passes on both, and jumps on one."""

from dataclasses import dataclass

from handrail.runtime.ports import SteadyClock

NOON = 1_000_000.0


@dataclass
class SetClock:
    """The time of day and the seconds since the machine was started; neither moves by itself."""

    wall: float = NOON
    steady: float = 50.0
    boot: str = "first"

    def passes(self, seconds: float) -> None:
        """Let time pass."""
        self.wall += seconds
        self.steady += seconds

    def restarts(self) -> None:
        """Start the machine again."""
        self.boot, self.steady = f"{self.boot}, again", 0.0

    @property
    def clock(self) -> SteadyClock:
        """What a process that begins now goes by."""
        return SteadyClock(lambda: self.wall, lambda: self.steady, self.boot)
