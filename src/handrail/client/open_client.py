"""Opens a client: `handrail.open()`."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from os import PathLike

from handrail.client.client import Client, find_place
from handrail.wiring.session import open_session


@asynccontextmanager
async def open_client(cwd: str | PathLike[str] | None = None) -> AsyncGenerator[Client]:
    """Open the user's runs for a program, as seen from a folder; by default from the current one.

    At the end of the block this process lets go of the runs that it drives. Nothing of them is lost, and any process
    may resume them; to wait for a run, await its result inside the block.
    """
    with open_session(None if cwd is None else find_place(cwd)) as session:
        client = Client(session)
        try:
            yield client
        finally:
            await client.close()
