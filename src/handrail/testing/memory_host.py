"""In-memory twins of `Sandbox` and `Windows`, which record requests and leave the machine alone."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from handrail.ports.sandboxes import SandboxPolicy


@dataclass(slots=True)
class MemorySandbox:
    """A `Sandbox` that only records what it would confine."""

    problem: str = ""
    """Why no sandbox can be created."""
    confined: list[SandboxPolicy] = field(default_factory=list[SandboxPolicy])

    def unusable(self, *, network: bool = True) -> str:  # noqa: ARG002 - the same with and without
        """Explain why no sandbox can be created."""
        return self.problem

    def remedy(self) -> str:
        """Suggest what to do where no sandbox can be created."""
        return "make it usable"

    def wrap(self, argv: tuple[str, ...], confined: SandboxPolicy) -> tuple[str, ...]:
        """Prefix the arguments with a word that stands for the sandbox."""
        self.confined.append(confined)
        return ("sandbox", *argv)


@dataclass(slots=True)
class MemoryWindows:
    """`Windows` that are never displayed."""

    problem: str = ""
    """Why no windows can be opened."""
    shown: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    """The session and window name of each call."""

    def unavailable_reason(self) -> str:
        """Explain why no windows can be opened."""
        return self.problem

    def remedy(self) -> str:
        """Suggest what to do where no windows can be opened."""
        return "install them"

    def show(self, session: str, name: str, call: str, words: Sequence[str]) -> bool:  # noqa: ARG002 - nothing is run
        """Record that a window shows a call."""
        self.shown[call] = session, name
        return not self.problem
