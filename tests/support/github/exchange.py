"""One request on the double, from what it asks for to what is answered."""

import hashlib
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote

from support.github.api import Request, RestApi
from support.github.calls import Answer
from support.github.faults import Fault, Faults
from support.github.git_http import PATH, GitRequest, serve_git
from support.github.graphql.api import GraphqlApi
from support.github.journal import Entry, Journal
from support.github.json_values import is_array
from support.github.state import Token, World

_PREFIX = "/api/v3"
_VERSIONS = ("2022-11-28", "2026-03-10")


@dataclass(slots=True)
class Raw:
    """An answer in bytes."""

    status: int
    headers: dict[str, str]
    body: bytes
    shown: Any = None


@dataclass(slots=True)
class Service:
    """Everything that a request can meet."""

    world: World
    rest: RestApi
    graphql: GraphqlApi
    faults: Faults = field(default_factory=Faults)
    journal: Journal = field(default_factory=Journal)
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Guards faults and journal."""


@dataclass(slots=True)
class Exchange:
    """One request and how it is answered."""

    service: Service
    method: str
    headers: Mapping[str, str]
    path: str
    query: str
    body: bytes
    token: Token | None
    is_known: bool

    @property
    def api_path(self) -> str:
        """The path below the prefix of the API."""
        return self.path.removeprefix(_PREFIX) or "/"

    @property
    def git(self) -> GitRequest | None:
        """What git asks for, if git asks."""
        found = PATH.fullmatch(self.path)
        return found and GitRequest(self.method, found["rest"], self.query, self.headers, self.body)

    def describe(self) -> Entry:
        """Describe the request for the journal."""
        method, git = self.method, self.git
        payload: Any = git.commands if git else self._json()
        label = f"{method} {unquote(self.api_path)}"
        if git:
            method, label = "GIT", f"GIT {git.kind} {'/'.join(self.path.split('.git/')[0].split('/')[1:3])}"
        elif self._is_graphql():
            method, label = "GRAPHQL", f"GRAPHQL {self.service.graphql.name_of(payload)}"
        author = self.token.account.login if self.token else ""
        return Entry(label, method, self.path, dict(parse_qsl(self.query)), payload, author, self.headers)

    def _is_graphql(self) -> bool:
        return self.path in ("/graphql", "/api/graphql")

    def _json(self) -> Any:
        if not self.body:
            return None
        try:
            return json.loads(self.body)
        except ValueError:
            return self.body.decode(errors="replace")

    def answer(self) -> Raw:
        """Do what the request asks for."""
        if not self.is_known:
            return _json_answer(Answer({"message": "Bad credentials", "documentation_url": "", "status": "401"}, 401))
        git = self.git
        if git:
            return self._answer_git(git)
        if self.path.startswith(("/user-attachments/", "/attachment-store/", "/job-logs/")):
            return self._answer_file()
        refusal = self._check_headers()
        if refusal is not None:
            return _json_answer(refusal)
        if self._is_graphql():
            return _json_answer(self._limit(self.service.graphql.answer(self._json(), self.token)))
        return self._answer_rest()

    def _answer_rest(self) -> Raw:
        world = self.service.world
        api = world.base + (_PREFIX if self.path.startswith(_PREFIX) else "")
        query = dict(parse_qsl(self.query, keep_blank_values=True))
        request = Request(self.method, self.api_path, query, self._json(), self.token, api)
        raw = _json_answer(self._limit(self.service.rest.answer(request)))
        if self.method == "GET" and raw.status == 200:
            tag = f'W/"{hashlib.sha256(raw.body).hexdigest()}"'
            raw.headers["ETag"] = tag
            if self.headers.get("if-none-match") == tag:
                return Raw(304, raw.headers, b"")
        return raw

    def _limit(self, answer: Answer) -> Answer:
        scopes = self.token.scopes if self.token else None
        answer.headers |= _limit_headers(self.service.world, 4998)
        if scopes is not None:
            answer.headers["X-OAuth-Scopes"] = ", ".join(scopes)
        return answer

    def _check_headers(self) -> Answer | None:
        headers = self.headers
        if not headers.get("user-agent"):
            return Answer({"message": "Request forbidden by administrative rules. Please make sure your request has a "
                           "User-Agent header"}, 403)  # fmt: skip
        version = headers.get("x-github-api-version")
        if version is not None and version not in _VERSIONS:
            return Answer({"message": f"{version} is not a supported API version"}, 400)
        return None

    def _answer_git(self, git: GitRequest) -> Raw:
        found = PATH.fullmatch(self.path)
        world = self.service.world
        place = f"{found['owner']}/{found['name']}".lower() if found else ""
        repository = world.repositories.get(place) or world.moved.get(place)
        answer = serve_git(self.service.world, repository, git, self.token)
        return Raw(answer.status, answer.headers, answer.body, answer.body.decode(errors="replace")[-2000:])

    def _answer_file(self) -> Raw:
        world = self.service.world
        path = unquote(self.path)
        if path.startswith("/job-logs/"):
            _, _, owner, name, number = path.split("/")
            repository = world.repository(owner, name)
            text = repository.logs.get(int(number)) if repository else None
            return Raw(404, {}, b"") if text is None else Raw(200, {"Content-Type": "text/plain"}, text.encode())
        if path.startswith("/user-attachments/") and path in world.attachments:
            return Raw(302, {"Location": f"{world.base}/attachment-store{path}"}, b"")
        found = world.attachments.get(path.removeprefix("/attachment-store"))
        return Raw(200, {"Content-Type": found[0]}, found[1]) if found else Raw(404, {}, b"Not Found")


def _json_answer(answer: Answer) -> Raw:
    headers = {"Content-Type": "application/json; charset=utf-8", **answer.headers}
    body = b"" if answer.body is None else json.dumps(answer.body).encode()
    return Raw(answer.status, headers, body, answer.body)


def _limit_headers(world: World, remaining: int, reset: float = 3600) -> dict[str, str]:
    return {"X-RateLimit-Limit": "5000", "X-RateLimit-Remaining": str(remaining), "X-RateLimit-Resource": "core",
            "X-RateLimit-Used": str(5000 - remaining), "X-RateLimit-Reset": str(int(world.now() + reset))}  # fmt: skip


def answer_fault(world: World, fault: Fault) -> Raw:
    if "limit" in fault.how:
        status = 429 if fault.how.endswith("429") else 403
        if fault.how.startswith("primary"):
            headers = _limit_headers(world, 0, fault.retry_after)
            text = "API rate limit exceeded for user ID 1."
            return _json_answer(Answer({"message": text, "documentation_url": ""}, status, headers))
        text = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
        headers = {**_limit_headers(world, 4998), "Retry-After": str(fault.retry_after)}
        return _json_answer(Answer({"message": text, "documentation_url": ""}, status, headers))
    status = int(fault.how.split()[0])
    if status >= 500:
        return Raw(status, {"Content-Type": "text/html"}, b"<html><h1>Unicorn!</h1></html>")
    texts = {401: "Bad credentials", 403: "Resource not accessible by personal access token", 404: "Not Found"}
    return _json_answer(Answer({"message": texts[status], "documentation_url": "", "status": str(status)}, status))


def shuffle(answer: Raw, how: str) -> Raw:
    shown: Any = answer.shown
    if is_array(shown):
        shown = shown + shown if how == "duplicated" else shown[::-1]
    return Raw(answer.status, answer.headers, json.dumps(shown).encode(), shown)
