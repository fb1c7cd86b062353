"""What a person is told when a run starts to need them, and by which ways."""

from collections.abc import Callable
from typing import TypeAlias

from handrail.frozen import frozen


@frozen
class Target:
    """The ways by which one person or channel is told."""

    desktop: bool = False
    command: str = ""
    """Run by the shell; what it is told stands in its environment alone."""
    webhook: str = ""
    """Gets the notice as JSON."""

    @property
    def is_empty(self) -> bool:
        """Whether there is no way at all."""
        return not (self.desktop or self.command or self.webhook)


@frozen(kw_only=True)
class Notice:
    """That a run needs a person, and for what."""

    run: str
    workflow: str
    need: str
    """`approval`, `question`, `blocked`, `budget` or `test`."""
    step: str
    message: str
    next_step: str

    @property
    def title(self) -> str:
        """Say in a few words which run needs what."""
        return f"{self.run} needs you: {self.need}"

    @property
    def values(self) -> dict[str, str]:
        """Give everything that is told, by name."""
        return {
            "run": self.run,
            "workflow": self.workflow,
            "need": self.need,
            "step": self.step,
            "message": self.message,
            "next": self.next_step,
            "text": f"{self.title}: {self.message} (next: {self.next_step})",
        }


SendNotice: TypeAlias = Callable[[Target, Notice], tuple[str, ...]]
"""Tells a target by all its ways, within a time, and gives what did not work."""
