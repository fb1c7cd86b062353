"""Implements the port `Programs` on this machine."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from handrail.late_import import late_import
from handrail.processes.environment import marks_of

if TYPE_CHECKING:
    from handrail.ports.programs import DetachedProgram, InstalledProgram
    from handrail.processes import detach, machine_tools
else:
    detach = late_import("handrail.processes.detach")
    machine_tools = late_import("handrail.processes.machine_tools")


class LocalPrograms:
    """Programs on the PATH."""

    def find(self, names: Iterable[str]) -> "Mapping[str, InstalledProgram | None]":
        """Look for programs, all at once; None for a missing one."""
        return machine_tools.find_tools(names)

    def exit_code_of(self, name: str, words: Iterable[str]) -> int | None:
        """Run a program with arguments and return its exit code."""
        return machine_tools.exit_code_of(name, words)

    def start_detached(self, words: Sequence[str], environ: Mapping[str, str], output: Path) -> "DetachedProgram":
        """Run a command line of Handrail in a session of its own."""
        return detach.start_detached(words, environ, output)

    def environment_marks(self, environ: Mapping[str, str]) -> dict[str, str]:
        """Compute a hash for each variable that commands see."""
        return marks_of(environ)
