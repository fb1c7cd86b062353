"""The list of runs, read without the rest of a log."""

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from handrail.model.history.run_lines import Filter, Row
    from handrail.ports.log import Holder


class NeedsWholeLog(Exception):
    """The list cannot be read, or its fault described, without opening the whole log."""


class RunList(Protocol):
    """A short view of the runs in a log."""

    def rows(self, wanted: "Filter") -> "tuple[Row, ...]":
        """Return the wanted summaries."""
        ...

    def count(self, wanted: "Filter") -> int:
        """Count the wanted runs, whatever the limit."""
        ...

    def holder(self, run: str) -> "Holder | None":
        """Return which process drives a run."""
        ...

    def content(self, digest: str) -> bytes | None:
        """Read a content by its digest."""
        ...
