"""Starts a part of Handrail itself as a process to talk to: lines of JSON on a socket, one answer to each."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import handrail
from handrail.errors import EnvironmentFault
from handrail.frozen import frozen

MAX_BYTES = 16 << 20
"""The longest line that is accepted."""
_BOOT = "import sys; sys.path.append(sys.argv[1]); from {module} import main; main()"
_ENDS_WITHIN = 1.0


@frozen
class JsonProcess:
    """A process in conversation with us; it ends with us, since its socket does."""

    process: "subprocess.Popen[bytes]"
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def ask(self, told: Mapping[str, object]) -> dict[str, Any] | None:
        """Send it a message and return its answer; None when it is gone."""
        try:
            self.writer.write(json.dumps(told).encode() + b"\n")
            await self.writer.drain()
            answer = await self.reader.readline()
        except OSError:
            return None
        return json.loads(answer) if answer.endswith(b"\n") else None

    async def describe_end(self) -> str:
        """Describe how a process that is gone has ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            await asyncio.to_thread(self.process.wait, _ENDS_WITHIN)
        code = self.process.poll()
        if code is None:
            return "it closed its connection"
        return f"signal {-code}" if code < 0 else f"exit code {code}"

    def end(self) -> None:
        """End it with everything that it started in its process group."""
        # Not reaped yet, so that its process id is still its own.
        if self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.writer.close()


async def start_partner(module: str, words: Sequence[str], env: Mapping[str, str]) -> JsonProcess:
    """Run `main` of a module of ours; the words are only shown in the list of processes."""
    root = str(Path(handrail.__file__).parents[1])
    argv = [sys.executable, "-P", "-X", "utf8", "-c", _BOOT.format(module=module), root, *words]
    ours, theirs = socket.socketpair()
    with theirs:
        reader, writer = await asyncio.open_unix_connection(sock=ours, limit=MAX_BYTES + 2)
        try:
            # Its output is for people: our standard error. A session of its own keeps the terminal's Ctrl-C for us.
            process = subprocess.Popen(  # noqa: S603 - our own program
                argv, stdin=theirs.fileno(), stdout=2, cwd="/", env=dict(env), start_new_session=True
            )
        except OSError as error:
            writer.close()
            message = f"Python cannot be started for a flow: {error}"
            raise EnvironmentFault(message, next_step="fix the cause, then resume the run") from error
    return JsonProcess(process, reader, writer)
