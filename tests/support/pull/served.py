"""A real `handrail mcp --http`."""

import re
import subprocess
from collections.abc import Generator
from contextlib import contextmanager

from support.pull.room import HANDRAIL, Pull

LONG = 60


@contextmanager
def served(pull: Pull, *words: str) -> Generator[tuple[str, "subprocess.Popen[str]"]]:
    """Start `handrail mcp --http 0`, and give its address."""
    command = [HANDRAIL, "mcp", "--http", "0", *words]
    process = subprocess.Popen(command, env=pull.environ, cwd=pull.workspace, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found is not None
        yield found[0], process
    finally:
        process.terminate()
        process.wait(LONG)
        process.stdout.close()


def token_in(pull: Pull) -> str:
    """Give the token that a client of the server shows."""
    return (pull.data / "mcp-token").read_text().strip()
