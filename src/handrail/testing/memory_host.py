"""In-memory twins of `Sandbox` and `Windows`: they keep what they are asked for, and touch nothing of the machine."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from handrail.ports.sandboxes import Confined


@dataclass(slots=True)
class MemorySandbox:
    """A `Sandbox` that only notes what it is to confine."""

    problem: str = ""
    """Why no sandbox can be made."""
    confined: list[Confined] = field(default_factory=list[Confined])

    def unusable(self, *, network: bool = True) -> str:  # noqa: ARG002 - the same with and without
        """Say why no sandbox can be made."""
        return self.problem

    def remedy(self) -> str:
        """Say what helps where no sandbox can be made."""
        return "make it usable"

    def wrap(self, argv: tuple[str, ...], confined: Confined) -> tuple[str, ...]:
        """Give the arguments behind a word that stands for the sandbox."""
        self.confined.append(confined)
        return ("sandbox", *argv)


@dataclass(slots=True)
class MemoryWindows:
    """`Windows` that nobody sees."""

    problem: str = ""
    """Why there can be no windows."""
    shown: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    """By call, the session and the name of its window."""

    def missing(self) -> str:
        """Say why there can be no windows."""
        return self.problem

    def remedy(self) -> str:
        """Say what helps where there can be none."""
        return "install them"

    def show(self, session: str, name: str, call: str, words: Sequence[str]) -> bool:  # noqa: ARG002 - nothing is run
        """Note that a window shows a call."""
        self.shown[call] = session, name
        return not self.problem
