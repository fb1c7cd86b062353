"""Every call that came over the network, in the order of their arrival."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

_READS = ("GET", "HEAD")


@dataclass(slots=True)
class Entry:
    """One call."""

    label: str
    """`POST /repos/acme/shop/pulls`, `GRAPHQL markPullRequestReadyForReview`, `GIT push acme/shop`."""
    method: str
    path: str
    query: dict[str, str]
    body: Any
    author: str
    """The login of the caller; empty for nobody."""
    headers: Mapping[str, str]
    """With names in lower case."""
    status: int = 0
    """0 if no answer was sent."""
    answer: Any = None
    fault: str = ""

    @property
    def is_write(self) -> bool:
        """Whether it changes something."""
        if self.method == "GRAPHQL":
            return "mutation" in str(self.body)
        return self.label.startswith("GIT push") or self.method not in (*_READS, "GIT")


@dataclass(slots=True)
class Journal:
    """The calls of a test."""

    entries: list[Entry] = field(default_factory=list[Entry])

    def calls(self, pattern: str = "*") -> list[Entry]:
        """Return the calls whose label matches, such as `POST */comments`."""
        return [each for each in self.entries if fnmatchcase(each.label, pattern)]

    def writes(self, pattern: str = "*") -> list[Entry]:
        """Return the calls that were to change something."""
        return [each for each in self.calls(pattern) if each.is_write]

    def count(self, pattern: str = "*") -> int:
        """Count calls."""
        return len(self.calls(pattern))
