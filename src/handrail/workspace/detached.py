"""Starts a part of Handrail itself as a process of its own that nobody waits for."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import handrail
from handrail.errors import EnvironmentFault
from handrail.workspace.environment import allowed_environment

MOST_BYTES = 1 << 20
"""Size at which what was said so far is put aside, and what was put aside before is dropped."""

# Forks once, so that whoever starts it has no child to wait for when it ends.
_BOOT = """
import os, sys
os.fork() and os._exit(0)
sys.path.append(sys.argv.pop(1))
from handrail.cli.main import main
main()
"""
_OUTPUT = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC


def start_detached(words: Sequence[str], environ: Mapping[str, str], output: Path) -> None:
    """Run a command line of Handrail in a session of its own; what it says goes to a file that only we may read."""
    root = str(Path(handrail.__file__).parents[1])
    try:
        _put_aside(output)
        file = os.open(output, _OUTPUT, 0o600)
        try:
            subprocess.run(  # noqa: S603 - our own program
                [sys.executable, "-P", "-X", "utf8", "-c", _BOOT, root, *words],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                cwd="/",
                env=own_environment(environ),
                start_new_session=True,
                check=True,
            )
        finally:
            os.close(file)
    except (OSError, subprocess.CalledProcessError) as error:
        message = f"cannot start the background driver: {error}"
        raise EnvironmentFault(message, next_step=f"see {output}, then try again") from error


def own_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Give what Handrail itself needs: what commands may see, and its own settings."""
    return {**allowed_environment(environ), **{name: environ[name] for name in environ if name.startswith("HANDRAIL_")}}


def _put_aside(output: Path) -> None:
    with suppress(FileNotFoundError):
        if output.stat().st_size > MOST_BYTES:
            output.replace(output.with_name(output.name + ".1"))
