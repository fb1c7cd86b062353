"""A sandbox, which confines the process of an agent to its worktree."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol, TypeAlias

from handrail.frozen import frozen

OwnFolders: TypeAlias = Callable[[str, Mapping[str, str]], tuple[Path, ...]]
"""Returns the folders and files in which an agent, by its name and its variables, stores its own data."""


@frozen
class SandboxPolicy:
    """What a process in a sandbox may access."""

    workspace: Path
    network: bool = True
    writable: tuple[Path, ...] = ()
    """What it may write beside the worktree: the folders in which its program stores its own data."""
    readable: tuple[Path, ...] = ()
    """What it must be able to read, even in the temporary folder of the machine."""
    closed: bool = False
    """Whether the worktree is read-only as well."""


class Sandbox(Protocol):
    """Runs commands in a sandbox."""

    def unusable(self, *, network: bool = True) -> str:
        """Explain why no sandbox can be used on this machine; empty if one can."""
        ...

    def remedy(self) -> str:
        """Describe how to make a sandbox usable."""
        ...

    def wrap(self, argv: tuple[str, ...], confined: SandboxPolicy) -> tuple[str, ...]:
        """Return the arguments that run a command in a sandbox."""
        ...
