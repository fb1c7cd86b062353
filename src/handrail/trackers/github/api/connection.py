"""Opens clients of one GitHub for one environment: finds the token once, and who it belongs to."""

import asyncio
import json
import ssl
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx2

from handrail.model.secrets.redaction import Redactor
from handrail.processes.secret_forms import FORMS
from handrail.trackers.github.api.client import TIMEOUT, GitHubClient
from handrail.trackers.github.api.endpoint import Endpoint
from handrail.trackers.github.api.gate import APART, Gate, Pacing
from handrail.trackers.github.api.queries import VIEWER
from handrail.trackers.github.api.refusals import Refused
from handrail.trackers.github.api.token import Token, find_token, missing_token

MOST_CACHED = 500
REMEMBERED = 24 * 3600.0
"""Seconds for which the login of a token is not asked for again; an account can be renamed."""
FOLDER = "github"
"""Where gates and accounts are, relative to the data folder."""


class AnswerCache(dict[str, Any]):
    """Answers with their ETags, the newest only."""

    def __setitem__(self, key: str, value: Any) -> None:
        """Remember an answer, and forget the oldest."""
        self.pop(key, None)
        super().__setitem__(key, value)
        if len(self) > MOST_CACHED:
            del self[next(iter(self))]


class GitHubConnection:
    """One GitHub, as one environment reaches it."""

    def __init__(
        self,
        endpoint: Endpoint,
        environ: Mapping[str, str],
        data: Path,
        redactor: Redactor | None = None,
        find: Callable[[Endpoint, Mapping[str, str]], Token | None] = find_token,
    ) -> None:
        self.endpoint = endpoint
        self.environ = environ
        self._folder = data / FOLDER
        self._redactor = redactor or Redactor({}, FORMS)
        self._find = find
        self._token: Token | None = None
        self._login = ""
        self._cache = AnswerCache()
        self.timeout = TIMEOUT
        self.pacing = Pacing(apart=0.0 if endpoint.is_loopback else APART)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[GitHubClient]:
        """Open a client for the calls of one operation."""
        token = await self.token()
        async with self.open_http() as http:
            client = GitHubClient(http, self.endpoint, token, self._gate(token), self._cache)
            try:
                yield client
            except Refused as error:
                if error.status == 401:
                    # The token may have been replaced since it was found.
                    self._token, self._login = None, ""
                raise

    @asynccontextmanager
    async def open_http(self) -> AsyncGenerator[httpx2.AsyncClient]:
        """Open a client without a token, for what is stored elsewhere."""
        verify = _tls() if self.endpoint.rest.startswith("https:") else False
        async with httpx2.AsyncClient(
            timeout=self.timeout, verify=verify, trust_env=not self.endpoint.is_loopback
        ) as http:
            yield http

    def find_token(self) -> Token | None:
        """Find the token, once; None if there is none."""
        if self._token is None:
            self._token = self._find(self.endpoint, self.environ)
        return self._token

    async def token(self) -> Token:
        """Return the token; `TrackerFault` with the ways to get one if there is none."""
        found = self._token or await asyncio.to_thread(self.find_token)
        if found is None:
            raise missing_token(self.endpoint)
        return found

    async def me(self, client: GitHubClient) -> str:
        """Return the login of the token, which is asked for once."""
        if not self._login:
            self._login = self._read_login(client.token) or await ask_login(client)
            self._write_login(client.token)
        return self._login

    async def clean(self, text: str) -> str:
        """Remove secrets from a text that is about to be posted."""
        token = await self.token()
        return self._redactor.merge(Redactor({"GH_TOKEN": token.value}, FORMS)).text(text)

    def _gate(self, token: Token) -> Gate:
        login = self._login or self._read_login(token)
        named = f"{self.endpoint.host} {login or token.fingerprint}"
        return Gate(self._folder, sha256(named.encode()).hexdigest()[:16], self.pacing)

    def _account_file(self, token: Token) -> Path:
        named = sha256(f"{self.endpoint.rest} {token.fingerprint}".encode()).hexdigest()[:16]
        return self._folder / f"account-{named}.json"

    def _read_login(self, token: Token) -> str:
        path = self._account_file(token)
        try:
            is_old = path.stat().st_mtime < self.pacing.clock() - REMEMBERED
            return "" if is_old else str(json.loads(path.read_bytes())["login"])
        except (OSError, ValueError, TypeError, KeyError):
            return ""

    def _write_login(self, token: Token) -> None:
        path = self._account_file(token)
        if self._read_login(token) == self._login:
            return
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            draft = path.with_suffix(f".{id(self)}")
            draft.write_text(json.dumps({"host": self.endpoint.host, "login": self._login}), encoding="utf-8")
            draft.replace(path)
        except OSError:
            return


async def ask_login(client: GitHubClient) -> str:
    """Ask whose token it is; an app's token may ask only GraphQL."""
    try:
        return str((await client.get("/user"))["login"])
    except Refused as error:
        if error.status != 403:
            raise
    return str((await client.query(VIEWER))["viewer"]["login"])


@cache
def _tls() -> ssl.SSLContext:
    """Build the TLS settings once: reading the certificates takes longer than a call."""
    return httpx2.create_ssl_context()
