"""Calls GitHub through gidgethub on httpx2.

gidgethub builds requests and reads answers. It does not know 429 and secondary limits, repeats nothing, and follows any
link with the token; so all of that is decided here, below it: each call passes the gate of its account, a read is
repeated after a fault of the network or of GitHub, a redirect is followed for reads only and never to another host, and
a write that was not answered raises `Unanswered`, so that its caller looks up what became of it.
"""

from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import urljoin

import gidgethub
import gidgethub.abc
import httpx2
from gidgethub import sansio

from handrail.errors import TrackerBusy, TrackerFault
from handrail.frozen import frozen
from handrail.trackers.github.api.endpoint import Endpoint
from handrail.trackers.github.api.gate import Gate, Limit, find_limit
from handrail.trackers.github.api.refusals import Refused, RefusedCall, Unanswered, describe_errors, explain_refusal
from handrail.trackers.github.api.token import Token

API_VERSION = "2022-11-28"
AGENT = "handrail"
TIMEOUT = httpx2.Timeout(30.0, connect=10.0)
TRIES = 3
MAX_PAGES = 50
"""The most pages of a list, of 100 entries each."""
_REDIRECTS = (301, 302, 307, 308)
_ACCEPT = "application/vnd.github+json"
_READ = b'{"query": "query '

Answer = tuple[int, Mapping[str, str], bytes]
Json = dict[str, Any]


@frozen
class Page:
    """One page of a list, as far as it changed."""

    entries: tuple[Json, ...]
    etag: str
    unchanged: bool = False


class GitHubClient(gidgethub.abc.GitHubAPI):
    """Calls one GitHub with one token."""

    def __init__(
        self, http: httpx2.AsyncClient, endpoint: Endpoint, token: Token, gate: Gate, cache: dict[str, Any]
    ) -> None:
        super().__init__(AGENT, oauth_token=token.value, cache=cache, base_url=endpoint.rest)
        self.http = http
        self.endpoint = endpoint
        self.token = token
        self.gate = gate
        self.headers: Mapping[str, str] = {}
        """The headers of the last answer."""

    async def get(self, path: str, accept: str = _ACCEPT) -> Any:
        """Read one thing; `Refused` if that is not possible."""
        return (await self._call("GET", path, b"", accept))[0]

    async def find(self, path: str) -> Any:
        """Read one thing; None if there is none, or if this GitHub does not know such things."""
        try:
            return await self.get(path)
        except Refused as error:
            if error.is_missing:
                return None
            raise

    async def list(self, path: str, key: str = "", pages: int = MAX_PAGES) -> list[Json]:
        """Read all pages of a list; `key` is where an answer that is an object has it."""
        found: dict[object, Json] = {}
        at: str | None = f"{path}{'&' if '?' in path else '?'}per_page=100"
        while at is not None and pages > 0:
            answer, at = await self._call("GET", at, b"")
            for each in cast("list[Json]", answer[key] if key else answer):
                # What moves from one page to the next while they are read is listed twice.
                found.setdefault(each.get("id", len(found)), each)
            pages -= 1
        return list(found.values())

    async def list_unless(self, path: str, etag: str) -> Page:
        """Read the first page of a list, unless it is still the one with an ETag."""
        # Not through the cache of this process, which would answer instead of saying that nothing changed.
        headers = sansio.create_headers(self.requester, accept=_ACCEPT, oauth_token=self.oauth_token)
        headers |= {"if-none-match": etag} if etag else {}
        answer = await self._request("GET", sansio.format_url(path, {}, base_url=self.base_url), headers)
        if answer[0] == 304:
            return Page((), etag, unchanged=True)
        try:
            entries, self.rate_limit, _ = sansio.decipher_response(*answer)
        except gidgethub.HTTPException as error:
            raise self._refuse(int(error.status_code), str(error), f"GET {_short(path)}") from error
        return Page(tuple(entries), answer[1].get("etag", ""))

    async def write(self, method: str, path: str, data: Json | None = None) -> Any:
        """Make one write; `Unanswered` if it is not known whether it took effect."""
        return (await self._call(method, path, b"" if data is None else data))[0]

    async def query(self, query: str, **variables: object) -> Json:
        """Ask GraphQL, or let it change something; `Refused` with what it says against it."""
        try:
            return cast("Json", await self.graphql(query, endpoint=self.endpoint.graphql, **variables))
        except gidgethub.QueryError as error:
            raise self._refuse(200, describe_errors(error.response, ""), "a query") from error
        except gidgethub.BadGraphQLRequest as error:
            raise self._refuse(int(error.status_code), str(error), "a query") from error
        except gidgethub.GraphQLException as error:
            raise Unanswered(f"{self.endpoint.host} answers a query with something else: {error}") from error

    async def sleep(self, seconds: float) -> None:
        """Sleep."""
        await self.gate.pacing.sleep(seconds)

    async def _call(
        self,
        method: str,
        path: str,
        data: object,
        accept: str = _ACCEPT,
    ) -> tuple[Any, str | None]:
        try:
            answer, more, _ = await self._make_request(method, path, {}, data, accept)
        except gidgethub.HTTPException as error:
            message = describe_errors({"message": str(error)}, str(error))
            raise self._refuse(int(error.status_code), message, f"{method} {_short(path)}") from error
        return answer, more

    def _refuse(self, status: int, message: str, call: str) -> Refused:
        return explain_refusal(status, message, self.headers, RefusedCall(call, self.endpoint.host, self.token.source))

    async def _request(self, method: str, url: str, headers: Mapping[str, str], body: bytes = b"") -> Answer:
        """Make one call: through the gate, repeated where that is safe."""
        if not self.endpoint.owns(url):
            raise TrackerFault(f"{self.endpoint.host} names an address that is not its own: {url}")
        headers = {**headers, "x-github-api-version": API_VERSION}
        writes = method != "GET" and not body.startswith(_READ)
        limit: Limit | None = None
        for _ in range(TRIES):
            async with self.gate.turn(writes=writes):
                answer = await (self._send(method, url, headers, body) if writes else self._read(url, headers, body))
                limit = find_limit(*answer, self.gate.pacing.clock())
                if limit is None:
                    self.headers = answer[1]
                    return answer
                self.gate.close(limit)
        raise TrackerBusy(
            limit.reason if limit else "GitHub is busy", until=limit.until if limit else self.gate.pacing.clock()
        )

    async def _read(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Make a read, again if it is not answered; its redirects stay on this host."""
        method, redirects, tries = "POST" if body else "GET", 5, TRIES
        while True:
            try:
                answer = await self._send(method, url, headers, body)
            except Unanswered:
                tries -= 1
                if not tries:
                    raise
                await self.gate.pacing.sleep(self.gate.pacing.apart / 2)
                continue
            target = urljoin(url, answer[1].get("location", "")) if answer[0] in _REDIRECTS else ""
            if not target or not redirects or method == "POST" or not self.endpoint.owns(target):
                return answer
            url, redirects = target, redirects - 1

    async def _send(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        try:
            answer = await self.http.request(method, url, headers=dict(headers), content=body)
        except httpx2.TimeoutException as error:
            raise Unanswered(f"{self.endpoint.host} did not answer in time") from error
        except httpx2.HTTPError as error:
            words = str(error) or type(error).__name__
            raise Unanswered(f"{self.endpoint.host} cannot be reached: {words}") from error
        if answer.status_code >= 500:
            raise Unanswered(f"{self.endpoint.host} answers with an error of its own ({answer.status_code})")
        return answer.status_code, answer.headers, answer.content


def scopes_of(headers: Mapping[str, str]) -> tuple[str, ...] | None:
    """Return the scopes of a token; None for one that has permissions instead."""
    told = headers.get("x-oauth-scopes")
    return None if told is None else tuple(word for word in (each.strip() for each in told.split(",")) if word)


def _short(path: str) -> str:
    return path.partition("?")[0]
