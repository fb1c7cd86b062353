"""The list of runs, read without the rest of a log."""

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from handrail.ports.log import Holder


class NeedsWholeLog(Exception):
    """It takes the whole log to read the list, or to say what is wrong with it."""


class RunList(Protocol):
    """What a log says of its runs in a few words."""

    def documents(self, prefix: str = "") -> dict[str, dict[str, Any]]:
        """Give the summaries of the runs whose ids begin so, by id."""
        ...

    def holder(self, run: str) -> "Holder | None":
        """Say which process drives a run."""
        ...

    def content(self, digest: str) -> bytes | None:
        """Give a content by its digest."""
        ...
