"""The HTTP side of the double: a server in a thread of the test process, which can cut its connections."""

import base64
import hashlib
import json
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from support.github.api import Request, RestApi
from support.github.calls import Answer
from support.github.faults import Fault, Faults
from support.github.git_http import PATH, GitRequest, serve_git
from support.github.graphql_api import GraphqlApi
from support.github.journal import Entry, Journal
from support.github.state import Token, World

_PREFIX = "/api/v3"
_VERSIONS = ("2022-11-28", "2026-03-10")
_MAX_BODY = 64 << 20


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


class Handler(BaseHTTPRequestHandler):
    """Reads one request after the other from a connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    service: Service
    server: "Server"

    def setup(self) -> None:
        super().setup()
        self.server.connections.add(self.connection)

    def finish(self) -> None:
        self.server.connections.discard(self.connection)
        with suppress(OSError):
            super().finish()

    def handle(self) -> None:
        with suppress(ConnectionError, TimeoutError):
            super().handle()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (its name in the library)
        """Say nothing."""

    def _serve(self) -> None:
        body = self._read_body()
        address = urlsplit(self.path)
        token, is_known = self._find_token()
        exchange = _Exchange(self, address.path, address.query, body, token, is_known)
        entry = exchange.describe()
        with self.service.lock:
            self.service.journal.entries.append(entry)
            fault = self.service.faults.strike(entry.label)
        if fault is not None:
            entry.fault = fault.how
            self._fail(exchange, entry, fault)
        else:
            self._send(exchange.answer(), entry)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve

    def _fail(self, exchange: "_Exchange", entry: Entry, fault: Fault) -> None:
        kind, _, when = fault.how.partition(" ")
        if "after" in when or fault.how in ("timeout", "duplicated", "reordered"):
            answer = exchange.answer()
            if kind in ("duplicated", "reordered"):
                self._send(_shuffle(answer, kind), entry)
                return
        if kind == "cut":
            self.cut()
        elif kind == "timeout":
            # Reads until the caller gives up, or the double ends the connection.
            self.connection.recv(1)
            self.cut()
        else:
            self._send(_failure(self.service.world, fault), entry)

    def cut(self) -> None:
        """End the connection without an answer."""
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def _send(self, answer: Raw, entry: Entry) -> None:
        # Written down first: whoever has the answer may look at the journal at once.
        entry.status, entry.answer = answer.status, answer.shown
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.status not in (204, 304):
            self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if answer.status not in (204, 304):
            self.wfile.write(answer.body)
        self.wfile.flush()

    def _read_body(self) -> bytes:
        if self.headers.get("Expect", "").lower() == "100-continue":
            self.wfile.flush()
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(min(int(self.headers.get("Content-Length", "0")), _MAX_BODY))
        parts: list[bytes] = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _find_token(self) -> tuple[Token | None, bool]:
        kind, _, value = self.headers.get("Authorization", "").partition(" ")
        if not kind:
            return None, True
        if kind.lower() == "basic":
            user, _, password = base64.b64decode(value).decode().partition(":")
            value = password if password and password != "x-oauth-basic" else user
        with self.service.world.lock:
            found = self.service.world.tokens.get(value.strip())
        return found, found is not None


@dataclass(slots=True)
class _Exchange:
    """One request and how it is answered."""

    handler: Handler
    path: str
    query: str
    body: bytes
    token: Token | None
    is_known: bool

    @property
    def service(self) -> Service:
        return self.handler.service

    @property
    def api_path(self) -> str:
        """The path below the prefix of the API."""
        return self.path.removeprefix(_PREFIX) or "/"

    @property
    def git(self) -> GitRequest | None:
        """What git asks for, if git asks."""
        found = PATH.fullmatch(self.path)
        return found and GitRequest(self.handler.command, found["rest"], self.query, self.handler.headers, self.body)

    def describe(self) -> Entry:
        """Describe the request for the journal."""
        method, git = self.handler.command, self.git
        payload: Any = git.commands if git else self._json()
        label = f"{method} {unquote(self.api_path)}"
        if git:
            method, label = "GIT", f"GIT {git.kind} {'/'.join(self.path.split('.git/')[0].split('/')[1:3])}"
        elif self._is_graphql():
            method, label = "GRAPHQL", f"GRAPHQL {self.service.graphql.name_of(payload)}"
        author = self.token.account.login if self.token else ""
        headers = dict(self.handler.headers.items())
        return Entry(label, method, self.path, dict(parse_qsl(self.query)), payload, author, headers)

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
        request = Request(self.handler.command, self.api_path, query, self._json(), self.token, api)
        raw = _json_answer(self._limit(self.service.rest.answer(request)))
        if self.handler.command == "GET" and raw.status == 200:
            tag = f'W/"{hashlib.sha256(raw.body).hexdigest()}"'
            raw.headers["ETag"] = tag
            if self.handler.headers.get("If-None-Match") == tag:
                return Raw(304, raw.headers, b"")
        return raw

    def _limit(self, answer: Answer) -> Answer:
        scopes = self.token.scopes if self.token else None
        answer.headers |= _limit_headers(self.service.world, 4998)
        if scopes is not None:
            answer.headers["X-OAuth-Scopes"] = ", ".join(scopes)
        return answer

    def _check_headers(self) -> Answer | None:
        headers = self.handler.headers
        if not headers.get("User-Agent"):
            return Answer({"message": "Request forbidden by administrative rules. Please make sure your request has a "
                           "User-Agent header"}, 403)  # fmt: skip
        version = headers.get("X-GitHub-Api-Version")
        if version is not None and version not in _VERSIONS:
            return Answer({"message": f"{version} is not a supported API version"}, 400)
        return None

    def _answer_git(self, git: GitRequest) -> Raw:
        found = PATH.fullmatch(self.path)
        repository = self.service.world.repository(found["owner"], found["name"]) if found else None
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


class Server(ThreadingHTTPServer):
    """Serves until it is closed, and then ends every connection."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, service: Service) -> None:
        self.connections: set[socket.socket] = set()
        handler = type("BoundHandler", (Handler,), {"service": service})
        super().__init__(("127.0.0.1", 0), handler)
        service.world.base = f"http://127.0.0.1:{self.server_port}"
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Let what goes wrong in a thread be seen as a problem of the test."""
        import traceback

        handler: Any = self.RequestHandlerClass
        handler.service.rest.problems.append(f"the double failed: {traceback.format_exc()}")

    def end_connections(self) -> None:
        """End all connections, also those that wait for an answer."""
        for connection in list(self.connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Stop serving."""
        self.shutdown()
        self.end_connections()
        self.server_close()
        self._thread.join()


def _json_answer(answer: Answer) -> Raw:
    headers = {"Content-Type": "application/json; charset=utf-8", **answer.headers}
    body = b"" if answer.body is None else json.dumps(answer.body).encode()
    return Raw(answer.status, headers, body, answer.body)


def _limit_headers(world: World, remaining: int, reset: float = 3600) -> dict[str, str]:
    return {"X-RateLimit-Limit": "5000", "X-RateLimit-Remaining": str(remaining), "X-RateLimit-Resource": "core",
            "X-RateLimit-Used": str(5000 - remaining), "X-RateLimit-Reset": str(int(world.now() + reset))}  # fmt: skip


def _failure(world: World, fault: Fault) -> Raw:
    if "limit" in fault.how:
        status = 429 if fault.how.endswith("429") else 403
        if fault.how.startswith("primary"):
            headers = _limit_headers(world, 0, fault.retry_after)
            return _json_answer(Answer({"message": "API rate limit exceeded for user ID 1.", "documentation_url": ""}, status, headers))  # fmt: skip
        text = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
        headers = {**_limit_headers(world, 4998), "Retry-After": str(fault.retry_after)}
        return _json_answer(Answer({"message": text, "documentation_url": ""}, status, headers))
    status = int(fault.how.split()[0])
    if status >= 500:
        return Raw(status, {"Content-Type": "text/html"}, b"<html><h1>Unicorn!</h1></html>")
    texts = {401: "Bad credentials", 403: "Resource not accessible by personal access token", 404: "Not Found"}
    return _json_answer(Answer({"message": texts[status], "documentation_url": "", "status": str(status)}, status))


def _shuffle(answer: Raw, how: str) -> Raw:
    shown: Any = answer.shown
    if isinstance(shown, list):
        items: list[Any] = shown
        shown = items + items if how == "duplicated" else items[::-1]
    return Raw(answer.status, answer.headers, json.dumps(shown).encode(), shown)
