"""The sandbox of an agent: bubblewrap, with the machine read-only and the worktree writable.

1. Git can commit, but its hooks and its settings cannot be changed, nor where a worktree looks for them: what is
written there would run later, outside of the sandbox.
2. The temporary folder is private to the sandbox, and the sockets of services that start programs are hidden.
3. If no sandbox can be made here the call is refused, never made without one.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from handrail.errors import WorkspaceFault
from handrail.frozen import frozen
from handrail.ports.sandboxes import SandboxPolicy
from handrail.workspace.git.repositories import common_dir, git_dir

PROGRAM = "bwrap"
TEMPORARY = Path("/tmp")  # noqa: S108 - programs expect this path; the sandbox has its own
_OWN = (TEMPORARY, Path("/dev"))
"""Folders that are private to the sandbox: their outside content is not visible inside."""
_TIMEOUT = 10.0
_SERVICES = ("/run/user", "/run/dbus", "/run/podman", "/run/containerd")
_SOCKETS = ("/run/docker.sock", "/run/systemd/private")
_WRITTEN = ("objects", "refs", "logs", "reftable")
"""What git writes in the folder that all worktrees share, when it commits in one of them."""
# Interrupts are for the agent: the sandbox processes around it would die before it could clean up.
_SPARED = 'trap "" INT TERM; exec "$@"'
_HEEDED = (
    "import os,signal,sys; [signal.signal(n,signal.SIG_DFL) for n in (signal.SIGINT,signal.SIGTERM)]; "
    "os.execvp(sys.argv[1],sys.argv[1:])"
)


@frozen
class Bubblewrap:
    """The `Sandbox` of this machine."""

    def unusable(self, *, network: bool = True) -> str:
        """Explain why no sandbox can be made on this machine; empty where it can."""
        return unusable(network=network)

    def remedy(self) -> str:
        """Explain what helps where no sandbox can be made."""
        return remedy()

    def wrap(self, argv: tuple[str, ...], confined: SandboxPolicy) -> tuple[str, ...]:
        """Build the arguments that run a command in a sandbox."""
        return wrap_command(argv, confined)


def wrap_command(argv: tuple[str, ...], confined: SandboxPolicy) -> tuple[str, ...]:
    """Build the arguments that run a command in a sandbox."""
    around = ("/bin/sh", "-c", _SPARED, "sh", PROGRAM, *_base_arguments(network=confined.network), *_places(confined))
    inside = (sys.executable, "-I", "-S", "-c", _HEEDED, *argv)
    return (*around, "--chdir", str(confined.workspace), "--", *inside)


def unusable(*, network: bool = True) -> str:
    """Explain why no sandbox can be made on this machine; empty where it can."""
    program = shutil.which(PROGRAM)
    if program is None:
        return f"bubblewrap is not installed: there is no `{PROGRAM}` on the PATH"
    try:
        ran = subprocess.run(  # noqa: S603 (a tool of the user, by its full path)
            [program, *_base_arguments(network=network), "--", "/bin/sh", "-c", ":"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap does not work here: {error}"
    said = ran.stderr.decode(errors="replace").strip().splitlines() or [f"exit code {ran.returncode}"]
    return f"bubblewrap does not work here: {said[-1].removeprefix('bwrap: ')}" if ran.returncode else ""


def remedy() -> str:
    """Explain what helps where no sandbox can be made."""
    if shutil.which(PROGRAM) is None:
        return "install it (Linux: apt install bubblewrap, dnf install bubblewrap), or write `sandbox: none`"
    return "allow user namespaces on this machine (`bwrap --ro-bind / / true` must work), or write `sandbox: none`"


def _base_arguments(*, network: bool) -> Iterator[str]:
    """Yield the options of every sandbox: all read-only, its own devices and processes, only the rights of the user."""
    yield from ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", str(TEMPORARY))
    yield from ("--unshare-pid", "--unshare-ipc", "--cap-drop", "ALL", "--setenv", "TMPDIR", str(TEMPORARY))
    for folder in _SERVICES:
        yield from ("--tmpfs", folder) if os.path.isdir(folder) else ()  # noqa: PTH112 (the paths are strings)
    for socket in _SOCKETS:
        yield from ("--ro-bind", os.devnull, socket) if os.path.exists(socket) else ()  # noqa: PTH110
    yield from () if network else ("--unshare-net",)


def _places(confined: SandboxPolicy) -> Iterator[str]:
    for path in confined.readable:
        hidden = any(folder in path.parents for folder in _OWN)
        yield from _bind("--ro-bind", path) if hidden and path.exists() else ()
    open_ones = confined.writable if confined.closed else (confined.workspace, *confined.writable)
    for path in open_ones:
        yield from _bind("--bind", path) if path.exists() else ()
    yield from _bind_read_only(confined.workspace) if confined.closed else _git(confined.workspace)


def _bind_read_only(workspace: Path) -> Iterator[str]:
    """Make a worktree and its repository readable; they may be in the temporary folder."""
    yield from _bind("--ro-bind", workspace)
    with suppress(WorkspaceFault):
        yield from _bind("--ro-bind", common_dir(workspace)) if (workspace / ".git").exists() else ()


def _git(workspace: Path) -> Iterator[str]:
    """Let git commit in a worktree, and protect the settings and hooks that it obeys."""
    dot = workspace / ".git"
    if not dot.exists():
        return
    try:
        own, common = git_dir(workspace).resolve(), common_dir(workspace)
    except WorkspaceFault:
        yield from _bind("--ro-bind", dot)
        return
    if own != common:
        # It may be in a writable folder, or in the temporary folder.
        yield from _bind("--ro-bind", common)
    for path in (own,) if own == common else (own, *(common / name for name in _WRITTEN)):
        yield from _bind("--bind", path) if _is_there(path) else ()
    for path in (*((dot,) if dot.is_file() else ()), *_git_control_files(own, common)):
        yield from _bind("--ro-bind", path)


def _git_control_files(own: Path, common: Path) -> Iterator[Path]:
    """Yield what decides which settings and hooks git uses, as far as it is in writable folders."""
    if own == common:
        for name in ("hooks", "info"):
            (own / name).mkdir(exist_ok=True)
    # Settings of this worktree alone. Nobody but the user may create that file, even if git does not read it yet:
    # `git sparse-checkout` makes git read it. An empty one changes nothing.
    (own / "config.worktree").touch()
    ours = common / "refs" / "handrail"
    names = ("hooks", "config", "commondir", "gitdir", "config.worktree", "modules")
    # A linked worktree has its own; those of a checkout apply to all worktrees, and hold their folders.
    shared = ("info", "worktrees") if own == common else ()
    yield from (path for path in (*(own / name for name in (*names, *shared)), ours) if path.exists())


def _is_there(path: Path) -> bool:
    """Whether a folder exists; the one of the reflogs is created where it does not, since git would create it."""
    if path.name == "logs":
        path.mkdir(exist_ok=True)
    return path.is_dir()


def _bind(how: str, path: Path) -> tuple[str, str, str]:
    return how, str(path), str(path)
