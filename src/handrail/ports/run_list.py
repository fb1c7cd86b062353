"""The list of runs, read without the rest of a log."""

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from handrail.model.history.run_lines import Filter, Row
    from handrail.ports.log import Holder


class NeedsWholeLog(Exception):
    """It takes the whole log to read the list, or to say what is wrong with it."""


class RunList(Protocol):
    """What a log says of its runs in a few words."""

    def rows(self, wanted: "Filter") -> "tuple[Row, ...]":
        """Give the wanted summaries."""
        ...

    def count(self, wanted: "Filter") -> int:
        """Say how many runs are wanted, whatever the limit."""
        ...

    def holder(self, run: str) -> "Holder | None":
        """Say which process drives a run."""
        ...

    def content(self, digest: str) -> bytes | None:
        """Give a content by its digest."""
        ...
