"""Starts a command as the keeper's child: in a session of its own, inheriting nothing but three streams.

The keeper uses this module, so it needs only the standard library. The command is spawned and not forked: a fork of
Python takes many times as long until another program runs in it.
"""

import errno
import os
import signal
from collections.abc import Iterator, Mapping, Sequence

TYPE_CHECKING = False  # instead of importing `typing`, which takes as long as all else here
if TYPE_CHECKING:
    from handrail.processes.launch import CommandRequest

_SIGNALS = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}
"""All that a process can ignore; listing them takes longer than anything else here but the start itself."""


class SpawnError(Exception):
    """A command could not be started; with its exit code and the reason, as a shell would report them."""

    def __init__(self, code: int, reason: str) -> None:
        self.code = code
        self.reason = reason


def spawn(told: "CommandRequest", streams: Sequence[int]) -> int:
    """Start a command and return its process id."""
    trouble = f"the working folder {told['cwd']} cannot be entered"
    try:
        os.chdir(told["cwd"])
        trouble = f"cannot run {told['argv'][0]}"
        return _spawn(told["argv"], told["env"], streams)
    except (OSError, ValueError) as error:
        words = error.strerror if isinstance(error, OSError) else str(error)
        raise SpawnError(127 if isinstance(error, FileNotFoundError) else 126, f"{trouble}: {words}") from None
    finally:
        os.chdir("/")


def _spawn(argv: list[str], env: Mapping[str, str], streams: Sequence[int]) -> int:
    failed: OSError = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    for path in _places(argv[0], env):
        try:
            return os.posix_spawn(
                path,
                argv,
                env,
                file_actions=[(os.POSIX_SPAWN_DUP2, descriptor, number) for number, descriptor in enumerate(streams)],
                setsid=True,
                setsigmask=(),
                setsigdef=_SIGNALS,
            )
        except (FileNotFoundError, NotADirectoryError):
            continue
        except PermissionError as error:
            failed = error
    raise failed


def _places(name: str, env: Mapping[str, str]) -> Iterator[str]:
    """Yield where a program may be, in the order in which `execvp` looks for it."""
    if "/" in name:
        yield name
        return
    for folder in env.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(folder, name)  # noqa: PTH118 - faster than a Path for each
        # Trying to start it takes a hundred times as long as checking that it exists.
        if os.path.lexists(path):
            yield path
