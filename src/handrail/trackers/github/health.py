"""Examines the account under which GitHub is called, for `handrail doctor`."""

import asyncio
from dataclasses import replace

import httpx2

from handrail.errors import HandrailError
from handrail.ports.trackers import AccountHealth
from handrail.trackers.github.api.client import scopes_of
from handrail.trackers.github.api.connection import GitHubConnection, ask_login
from handrail.trackers.github.api.token import Token

PATIENCE = 8.0
"""Seconds after which an examination gives up."""


async def examine_account(connection: GitHubConnection, token: Token) -> AccountHealth:
    """Ask GitHub whose token it is, what it may do, and how many calls are left; offline it says so."""
    connection.timeout = httpx2.Timeout(5.0, connect=3.0)
    known = AccountHealth(
        host=connection.endpoint.host,
        source=token.source,
        starts_no_checks=token.starts_no_checks(connection.environ),
    )
    try:
        async with asyncio.timeout(PATIENCE):
            return await _ask(connection, known)
    except TimeoutError:
        return replace(known, problem=f"{connection.endpoint.host} did not answer in time")
    except HandrailError as error:
        return replace(known, problem=error.message, next_step=error.next_step or "")


async def _ask(connection: GitHubConnection, known: AccountHealth) -> AccountHealth:
    async with connection.open() as client:
        login = await ask_login(client)
        headers = client.headers
        left, limit = headers.get("x-ratelimit-remaining", ""), headers.get("x-ratelimit-limit", "")
        return replace(
            known,
            login=login,
            scopes=scopes_of(headers),
            remaining=int(left) if left.isdecimal() else None,
            limit=int(limit) if limit.isdecimal() else 0,
        )
