"""How a person is notified when a run starts to need them, and by which means."""

from collections.abc import Callable
from typing import TypeAlias

from handrail.frozen import frozen


@frozen
class NoticeTarget:
    """The means by which one person or channel is notified."""

    desktop: bool = False
    command: str = ""
    """Run by the shell; the notice is passed in its environment only."""
    webhook: str = ""
    """Receives the notice as JSON."""

    @property
    def is_empty(self) -> bool:
        """Whether there is no means at all."""
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
        """Describe in a few words which run needs what."""
        return f"{self.run} needs you: {self.need}"

    @property
    def values(self) -> dict[str, str]:
        """Return everything that is reported, by name."""
        return {
            "run": self.run,
            "workflow": self.workflow,
            "need": self.need,
            "step": self.step,
            "message": self.message,
            "next": self.next_step,
            "text": f"{self.title}: {self.message} (next: {self.next_step})",
        }


SendNotice: TypeAlias = Callable[[NoticeTarget, Notice], tuple[str, ...]]
"""Notifies a target by all its means, within a time limit, and returns what did not work."""
