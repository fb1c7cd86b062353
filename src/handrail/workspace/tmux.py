"""Windows of tmux in which a person watches agents, on Handrail's own server: the user's tmux is left alone."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import handrail
from handrail.frozen import frozen
from handrail.late_import import late_import
from handrail.ports.processes import MARK
from handrail.workspace.git.data_places import hash_path

if TYPE_CHECKING:
    from handrail.processes import local_programs
else:
    local_programs = late_import("handrail.processes.local_programs")

PROGRAM = "tmux"
INSTALL = "install tmux (apt install tmux, brew install tmux)"
_TIMEOUT = 10.0
_TRIES = 3
_CALL = "@handrail_call"
_BOOT = "import sys; sys.path.append(sys.argv.pop(1)); from handrail.cli.main import main; main()"
_OPTIONS = (
    *("set-option", "-g", "history-limit", "50000", ";", "set-option", "-g", "mouse", "on", ";"),
    *("set-option", "-g", "status-right", " leave: C-b d, other windows: C-b n ", ";"),
    *("set-option", "-g", "status-right-length", "60", ";"),
)


@frozen
class Window:
    """One window: its id in tmux and what it shows."""

    id: str
    call: str
    """The folder of the process that it shows."""


@frozen
class Sessions:
    """The `Windows` of one data folder: sessions that end with their last window, and the server with them."""

    folder: Path

    @property
    def server(self) -> str:
        """The name of the server for `tmux -L`."""
        return f"handrail-{hash_path(self.folder.resolve())}"

    def unavailable_reason(self) -> str:
        """Explain why there can be no windows on this machine; empty where there can."""
        return explain_unavailable()

    def remedy(self) -> str:
        """Explain what helps where there can be none."""
        return INSTALL

    def show(self, session: str, name: str, call: str, words: Sequence[str]) -> bool:
        """Make sure that a window shows a call, with a command of Handrail; return whether there is one."""
        for _ in range(_TRIES):
            windows = self.windows(session)
            if any(each.call == call for each in windows):
                return True
            # A session that ends this very moment takes a new window with it: then it is created again.
            made = self._make_window(session, name, words, new=not windows)
            if made and self._query("set-option", "-w", "-t", made, _CALL, call) is not None:
                return True
        return False

    def find(self, session: str, call: str) -> str | None:
        """Find the window of a call; None once it is closed."""
        return next((each.id for each in self.windows(session) if each.call == call), None)

    def list_sessions(self) -> frozenset[str]:
        """Name the sessions that are open."""
        folder = Path(os.environ.get("TMUX_TMPDIR") or "/tmp") / f"tmux-{os.getuid()}"  # noqa: S108 - only looked at
        # Mostly there is no server to ask, and no program has to be started to know that.
        if not (folder / self.server).exists():
            return frozenset()
        return frozenset((self._query("list-sessions", "-F", "#{session_name}") or "").splitlines())

    def windows(self, session: str) -> tuple[Window, ...]:
        """List the windows of a session; none where there is no such session."""
        listed = self._query("list-windows", "-t", f"={session}", "-F", f"#{{window_id}} #{{{_CALL}}}") or ""
        rows = (line.partition(" ") for line in listed.splitlines())
        return tuple(Window(number, call) for number, _, call in rows)

    def attaching(self, session: str, window: str) -> tuple[str, ...]:
        """Build the arguments that show a window to a person."""
        return (PROGRAM, "-L", self.server, "attach-session", "-t", f"={session}:{window}")

    def _make_window(self, session: str, name: str, words: Sequence[str], *, new: bool) -> str | None:
        root = str(Path(handrail.__file__).parents[1])
        shown = (sys.executable, "-P", "-X", "utf8", "-c", _BOOT, root, *words)
        told = ("-d", "-P", "-F", "#{window_id}", "-n", name, "-c", "/")
        if new:
            return self._query("start-server", ";", *_OPTIONS, "new-session", *told, "-s", session, "--", *shown)
        return self._query("new-window", *told, "-t", f"={session}:", "--", *shown)

    def _query(self, *words: str) -> str | None:
        """Run a tmux command and return its output; None where it fails."""
        try:
            ran = subprocess.run(  # noqa: S603
                [PROGRAM, "-L", self.server, "-f", os.devnull, *words],
                cwd="/",
                env=environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_TIMEOUT,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return ran.stdout.strip() if ran.returncode == 0 else None


def explain_unavailable() -> str:
    """Explain why there can be no sessions on this machine; empty where there can."""
    return "" if shutil.which(PROGRAM) else f"tmux is not installed: there is no `{PROGRAM}` on the PATH"


def environment() -> dict[str, str]:
    """Build the environment of the server and its windows: no secrets, and no mark of a step that called us."""
    return {name: value for name, value in local_programs.handrail_environment(os.environ).items() if name != MARK}


class Tmux:
    """Implements the port `WindowSystem` with tmux."""

    def unavailable_reason(self) -> str:
        """Explain why there can be no windows on this machine; empty where there can."""
        return explain_unavailable()

    def remedy(self) -> str:
        """Explain what helps where there can be none."""
        return INSTALL

    def windows_of(self, folder: Path) -> Sessions:
        """Return the windows of a data folder."""
        return Sessions(folder)
