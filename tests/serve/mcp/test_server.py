"""The server over stdio: it greets a client before it loads what calls need, and outlives what goes wrong then."""

import asyncio
import subprocess
import sys

from handrail.store.sqlite.database import FILE
from support.pull.client import mcp_client
from support.pull.room import Pull, chain

LOADED = """
import sys
import handrail.cli.begin.mcp, handrail.serve.mcp.server
print(*(name for name in sys.modules if name.startswith("handrail.") and name.count(".") > 1))
"""


def test_a_client_is_greeted_before_anything_of_the_engine_is_loaded() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True, timeout=60)
    parts = {name.split(".")[1] for name in done.stdout.split()}
    assert parts <= {"cli", "serve", "model"}


def test_a_database_that_cannot_be_opened_is_an_answer_and_not_the_end_of_the_server(pull: Pull) -> None:
    name = pull.add(chain(1))
    kept = (pull.data / FILE).read_bytes()
    pull.close()

    async def walk() -> tuple[str, str]:
        async with mcp_client(pull) as client:
            for each in pull.data.glob(f"{FILE}*"):
                each.unlink()
            (pull.data / FILE).write_bytes(b"no database" * 1000)
            first = await client.start(name, pull.workspace)
            (pull.data / FILE).write_bytes(kept)
            return first.code, (await client.start(name, pull.workspace)).run

    assert asyncio.run(walk()) == ("STORAGE_DAMAGED", "sample-flow-1")
