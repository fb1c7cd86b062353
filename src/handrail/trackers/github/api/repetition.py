"""Makes writes that may be repeated: what was meant is looked up before anything is made again."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from handrail.trackers.github.api.client import TRIES, GitHubClient, Json
from handrail.trackers.github.api.refusals import Refused, Unanswered

T = TypeVar("T")


async def make_once(
    client: GitHubClient, make: Callable[[], Awaitable[T]], find: Callable[[], Awaitable[T | None]]
) -> T:
    """Make something that must exist once; after a call without an answer it is looked up before the next try."""
    for attempt in range(TRIES):
        try:
            return await make()
        except Unanswered:
            # A write that was cut off may still be at work.
            await client.sleep(client.gate.pacing.apart)
            found = await find()
            if found is not None:
                return found
            if attempt == TRIES - 1:
                raise
    raise AssertionError  # the loop returns or raises


async def write_again(client: GitHubClient, method: str, path: str, data: Json | None = None) -> object:
    """Make a write that has the same effect however often it is made."""
    for attempt in range(TRIES):
        try:
            return await client.write(method, path, data)
        except Unanswered:
            if attempt == TRIES - 1:
                raise
            await client.sleep(client.gate.pacing.apart)
        except Refused as error:
            if method == "DELETE" and error.is_missing:
                return None
            raise
    return None
