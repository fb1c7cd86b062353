"""Programs of this machine, and parts of Handrail itself as separate processes that nobody waits for."""

import os
import select
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import handrail
from handrail.errors import EnvironmentFault
from handrail.frozen import frozen
from handrail.late_import import late_import
from handrail.ports.processes import MARK
from handrail.processes.environment import PASS_ENV, filter_environment, marks_of

if TYPE_CHECKING:
    from handrail.ports.programs import DetachedProgram, InstalledProgram
    from handrail.processes import machine_tools
else:
    machine_tools = late_import("handrail.processes.machine_tools")

MAX_BYTES = 1 << 20
"""Size in bytes at which the output is rotated, and the one rotated before is dropped."""

MAX_WORDS = 2000
"""How much of its last output is worth showing, in characters."""

# Forks once, so that its starter has no child to reap. The pipe ends with the process.
_BOOT = """
import contextlib, os, sys
os.fork() and os._exit(0)
sys.path.append(sys.argv.pop(1))
line = int(sys.argv.pop(1))
os.set_inheritable(line, False)
from handrail.cli.main import main
try:
    main()
except SystemExit as over:
    with contextlib.suppress(OSError):
        over.code or os.write(line, str(os.getpid()).encode())
    raise
"""
_OUTPUT = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC


@frozen
class DetachedProcess:
    """A process that was started; its owner must close it."""

    line: int
    """A pipe: it ends with the process, and holds the process id if that ended successfully."""
    output: Path
    begins: int
    """Where in the output file its own output begins."""

    def has_ended(self, within: float) -> bool:
        """Wait a little, and return whether it is over."""
        return bool(select.select([self.line], [], [], within)[0])

    def poll_finished_pid(self) -> int | None:
        """Return its process id if it is over and ended successfully; can be asked only once."""
        return int(os.read(self.line, 32) or 0) or None

    def last_words(self) -> str:
        """Return its output, without the beginning where that is long."""
        with suppress(OSError), self.output.open("rb") as file:
            file.seek(self.begins)
            return file.read().decode("utf-8", "replace")[-MAX_WORDS:].strip()
        return ""

    def close(self) -> None:
        """Stop observing it."""
        os.close(self.line)


def start_detached(words: Sequence[str], environ: Mapping[str, str], output: Path) -> DetachedProcess:
    """Run a command line of Handrail in a session of its own; its output goes to a file that only we may read."""
    try:
        _put_aside(output)
        with ExitStack() as opened:
            file = os.open(output, _OUTPUT, 0o600)
            opened.callback(os.close, file)
            ours, theirs = os.pipe()
            opened.callback(os.close, theirs)
            started = DetachedProcess(ours, output, os.fstat(file).st_size)
            with ExitStack() as refused:
                refused.callback(started.close)
                _run(words, handrail_environment(environ), file, theirs)
                refused.pop_all()
    except (OSError, subprocess.CalledProcessError) as error:
        message = f"the background driver cannot be started: {error}"
        raise EnvironmentFault(message, next_step=f"see {output}, then try again") from error
    return started


def _run(words: Sequence[str], env: Mapping[str, str], output: int, line: int) -> None:
    root = str(Path(handrail.__file__).parents[1])
    subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-P", "-X", "utf8", "-c", _BOOT, root, str(line), *words],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        cwd="/",
        env=env,
        pass_fds=(line,),
        start_new_session=True,
        check=True,
    )


_PLACES = ("TMUX_TMPDIR",)
"""Where things are that a person's own commands look for too: the windows of the background driver."""


_RUNS_OWN = (PASS_ENV, MARK)
"""Settings of single runs, which are passed on with their environments."""


def handrail_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return what Handrail itself needs: what any command may see, and its own settings; nothing of a single run."""
    ours = {name: environ[name] for name in environ if name.startswith("HANDRAIL_") or name in _PLACES}
    kept = {name: value for name, value in ours.items() if name not in _RUNS_OWN}
    return {**filter_environment({**environ, PASS_ENV: ""}), **kept}


def _put_aside(output: Path) -> None:
    with suppress(FileNotFoundError):
        if output.stat().st_size > MAX_BYTES:
            output.replace(output.with_name(output.name + ".1"))


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
        return start_detached(words, environ, output)

    def environment_marks(self, environ: Mapping[str, str]) -> dict[str, str]:
        """Compute a hash for each variable that commands see."""
        return marks_of(environ)
