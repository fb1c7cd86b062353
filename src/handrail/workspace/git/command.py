"""The one place that runs git: a scrubbed environment, no hooks, no monitors, no prompts, errors with a next step.

Git works through a view of the repository (`repository_view`), so that nothing that the repository configures runs.
"""

import os
import select
import signal
import subprocess
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import field, replace
from pathlib import Path

from handrail.errors import WorkspaceFault
from handrail.frozen import frozen
from handrail.processes.process_table import LINUX

_SETTINGS = (
    *("core.hooksPath=/dev/null", "core.fsmonitor=false", "core.untrackedCache=false", "core.splitIndex=false"),
    *("core.safecrlf=false", "gc.auto=0", "maintenance.auto=false", "submodule.recurse=false"),
    # A commit-graph file states what the commits contain, and anybody can write one.
    *("core.commitGraph=false", "core.fsync=all", "core.fsyncMethod=batch"),
    *("color.ui=false", "i18n.commitEncoding=utf-8", "advice.graftFileDeprecated=false", "core.quotePath=true"),
)
_FLAGS = tuple(word for setting in _SETTINGS for word in ("-c", setting))
_PASSED = ("PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "USER", "LOGNAME", "SSH_AUTH_SOCK")
_SYSTEM = ("GIT_CONFIG_NOSYSTEM",)
"""Passed on where the user's own settings are read: it decides whether those of the machine count."""
_USERS = ("GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM")
"""Say where the user's own settings are."""
_NAME, _EMAIL = "Handrail", "handrail@localhost"
_MAX_SECONDS = 1800.0
_LACKING = ("invalid object ", "unable to read sha1 file", "missing blob", "unable to read ", "could not fetch ")
"""How git reports a missing object."""


@frozen
class GitResult:
    """The result of a git command."""

    code: int
    out: bytes
    err: str


@frozen
class Identity:
    """The author and committer of a commit."""

    name: str = _NAME
    email: str = _EMAIL


@frozen
class GitFolders:
    """The folders that git is given instead of searching for them."""

    folder: Path
    """Replaces the git folder that all worktrees share, with our settings."""
    own: Path
    """The real git folder of the worktree, with HEAD and index."""
    common: Path
    """The real git folder that all worktrees share, with objects and refs."""

    def is_enabled(self, switch: str) -> bool:
        """Whether a switch is on in our settings."""
        try:
            return f'{switch} = "true"' in (self.folder / "config").read_text("utf-8", "surrogateescape")
        except OSError:
            return False


class GitTooSlow(WorkspaceFault):
    """A git command did not finish in time."""


class _Prompt(subprocess.Popen[bytes]):
    """Notices the end at once: Python's own wait sleeps between polls, for as long as a small git command takes."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end, at most `timeout` seconds."""
        if timeout is not None and self.returncode is None and LINUX:
            with suppress(OSError):
                _await_end(self.pid, timeout)
        return super().wait(timeout)


@frozen
class GitProcess:
    """A command that was started."""

    process: _Prompt
    where: Path
    words: tuple[str, ...]
    stdin: bytes

    def wait(self, ok: tuple[int, ...] = (0,), seconds: float = _MAX_SECONDS) -> GitResult:
        """Wait for its end; an unexpected exit code, or taking too long, is a fault."""
        try:
            out, err = self.process.communicate(self.stdin or None, seconds)
        except subprocess.TimeoutExpired as error:
            message = f"`git {self.words[0]}` in {self.where} did not finish within {seconds / 60:.0f} minutes"
            raise GitTooSlow(message, next_step="check whether a filter of the repository hangs") from error
        ran = GitResult(self.process.returncode, out, err.decode(errors="backslashreplace"))
        if ran.code not in ok:
            raise _command_error(self.where, self.words, ran)
        return ran


@frozen
class Git:
    """Git in one folder, which must be a repository or worktree itself: its parents are never searched."""

    where: Path
    view: GitFolders | None = None
    """Without a view git reads the settings of the repository: only `git config` and `git init` may run like that."""
    own: Path | None = None
    """The git folder, where there is no view."""
    index: Path | None = None
    """A different index file than the folder's own."""
    held: tuple[int, ...] = ()
    """Locks that a command inherits, so that they are held while it runs even if we are killed."""
    identity: Identity = field(default_factory=Identity)
    settings: tuple[str, ...] = ()
    """Additional configuration in the form of `-c`."""
    network: Mapping[str, str] | None = None
    """Additional variables for a command that talks to a remote; it reads the user's own configuration too."""

    @property
    def active_view(self) -> GitFolders:
        """The view, where one is required."""
        if self.view is None:
            raise WorkspaceFault(f"there is no view of {self.where}", next_step="this is a bug: please report it")
        return self.view

    def run(self, *words: str, stdin: bytes = b"", ok: tuple[int, ...] = (0,)) -> GitResult:
        """Run a command; an unexpected exit code is a fault."""
        with self.start(*words, stdin=stdin) as under_way:
            return under_way.wait(ok)

    @contextmanager
    def start(self, *words: str, stdin: bytes = b"") -> Generator[GitProcess]:
        """Start a command, and kill it if it is still running when the context is left."""
        # The user's git, as found on their PATH.
        argv = ["git", *_FLAGS, *(word for one in self.settings for word in ("-c", one)), *words]
        pipe = subprocess.PIPE
        given = pipe if stdin else subprocess.DEVNULL
        try:
            git = _Prompt(
                argv, stdin=given, stdout=pipe, stderr=pipe, cwd=self.where, env=self._environment(), pass_fds=self.held
            )
        except FileNotFoundError as error:
            raise _start_error(self.where) from error
        except OSError as error:
            message = f"git cannot be started in {self.where}: {error.strerror}"
            raise WorkspaceFault(message, next_step="check the folder's permissions") from error
        with git:
            try:
                yield GitProcess(git, self.where, words, stdin)
            finally:
                if git.returncode is None:
                    git.kill()

    def out(self, *words: str, stdin: bytes = b"") -> bytes:
        """Run a command and return its output."""
        return self.run(*words, stdin=stdin).out

    def line(self, *words: str, stdin: bytes = b"") -> str:
        """Run a command and return its output as text, without the newline at the end."""
        return os.fsdecode(self.out(*words, stdin=stdin)).rstrip("\n")

    def query(self, *words: str) -> str | None:
        """Run a command that answers with text, or with exit code 1 for none."""
        ran = self.run(*words, ok=(0, 1))
        return None if ran.code else os.fsdecode(ran.out).rstrip("\n")

    def with_index(self, index: Path) -> "Git":
        """Return a copy with another index file; our index may be lost in a power failure, the objects may not."""
        return replace(self, index=index, settings=(*self.settings, "core.fsync=all,-index"))

    def without_index(self) -> "Git":
        """Return a copy for commands that concern objects only.

        With an index, git takes a file of the worktree for the object that the index says it is.
        """
        return replace(self, index=self.active_view.folder / "no-index")

    def with_locks(self, *locks: int) -> "Git":
        """Return a copy whose commands inherit some locks."""
        return replace(self, held=(*self.held, *locks))

    def with_user_identity(self) -> "Git":
        """Return a copy with the identity that the user configured, if there is one; reading it starts nothing."""
        plain = self if self.view is None else replace(self, view=None, own=self.view.own)
        found = plain.run("config", "-z", "--get-regexp", r"^user\.(name|email)$", ok=(0, 1)).out
        pairs = dict(entry.split("\n", 1) for entry in os.fsdecode(found).split("\0") if "\n" in entry)
        name, email = pairs.get("user.name"), pairs.get("user.email")
        return replace(self, identity=Identity(name, email)) if name and email else self

    def _environment(self) -> dict[str, str]:
        passed = {name: os.environ[name] for name in _PASSED if name in os.environ}
        own = {
            "LC_ALL": "C",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_CEILING_DIRECTORIES": str(self.where.parent),
            # A private index may be refreshed, the user's own is only read.
            "GIT_OPTIONAL_LOCKS": "0" if self.index is None else "1",
        }
        for who in ("AUTHOR", "COMMITTER"):
            own |= {f"GIT_{who}_NAME": self.identity.name, f"GIT_{who}_EMAIL": self.identity.email}
        if self.index is not None:
            own["GIT_INDEX_FILE"] = str(self.index)
        return passed | own | self._places()

    def _places(self) -> dict[str, str]:
        if self.view is None:
            system = {name: os.environ[name] for name in _SYSTEM if name in os.environ}
            return system if self.own is None else {**system, "GIT_DIR": str(self.own)}
        view = self.view
        places = {
            "GIT_DIR": str(view.own),
            "GIT_COMMON_DIR": str(view.folder),
            "GIT_WORK_TREE": str(self.where),
            "GIT_OBJECT_DIRECTORY": str(view.common / "objects"),
            # Missing objects are not fetched: that would start programs that a remote is configured with.
            "GIT_NO_LAZY_FETCH": "1",
        }
        if self.network is not None:
            # Credentials, proxies and rewritten addresses are in the user's own configuration.
            users = {name: os.environ[name] for name in _USERS if name in os.environ}
            return {**places, **users, **self.network}
        return {**places, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}


def _await_end(pid: int, seconds: float) -> None:
    descriptor = os.pidfd_open(pid)
    try:
        ends = select.poll()
        ends.register(descriptor, select.POLLIN)
        ends.poll(seconds * 1000)
    finally:
        os.close(descriptor)


def decode_path(path: bytes) -> str:
    """Convert a path of git to text that can be printed and stored."""
    return path.decode("utf-8", "backslashreplace")


def split(listing: bytes) -> list[bytes]:
    """Split the output of a command with `-z`."""
    return [entry for entry in listing.split(b"\0") if entry]


def _start_error(where: Path) -> WorkspaceFault:
    if not where.is_dir():
        return WorkspaceFault(f"the folder {where} does not exist", next_step="put it back, or discard the run")
    return WorkspaceFault("git is not installed, or not on PATH", next_step="install git 2.38 or newer")


def _command_error(where: Path, words: tuple[str, ...], ran: GitResult) -> WorkspaceFault:
    lines = [line.strip() for line in ran.err.splitlines() if line.strip()]
    telling = [line for line in lines if line.startswith(("fatal:", "error:"))] or lines[-1:]
    reason = telling[0].partition(": ")[2] or telling[0] if telling else _ending(ran.code)
    name = words[2] if words[0] == "-c" else words[0]
    return WorkspaceFault(f"`git {name}` failed in {where}: {reason}", next_step=_advice(f"{ran.err}\n{reason}"))


def _ending(code: int) -> str:
    """Describe how git ended, where it printed nothing; a signal has a negative code."""
    return signal.strsignal(-code) or f"signal {-code}" if code < 0 else f"exit code {code}"


def _advice(text: str) -> str:
    known = {
        "No space left": "free up disk space, then try again",
        "File size limit": "raise the limit on file size (`ulimit -f`), then try again",
        "dubious ownership": "the repository belongs to another user: see `git help config`, safe.directory",
        ".lock': File exists": "another git is running here, or one was killed: if none runs, remove the .lock file",
        "Permission denied": "check the permissions of the repository",
        **dict.fromkeys(_LACKING, "if this is a partial clone, have git fetch the file (git checkout), then try again"),
    }
    return next((step for sign, step in known.items() if sign in text), "repair the repository, then try again")
