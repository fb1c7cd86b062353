"""Offers the tools over streamable HTTP to clients with the token; on this machine, unless a person says otherwise.

1. No call without the token; it is compared in constant time.
2. A page in a browser cannot call: its Host and Origin are checked (DNS rebinding).
3. Nothing is stored between requests: a restarted server still serves its clients.
4. A request is read before it is passed on: a client that disconnects in the middle of it is a line in the log.
"""

import ipaddress
import logging
import secrets
import signal
import socket
from collections import deque
from collections.abc import Callable
from types import FrameType

import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from handrail.errors import EnvironmentFault, UsageError
from handrail.frozen import frozen
from handrail.serve.mcp.http_connections import SHOWN, HttpLimits, LimitedServer

PATH = "/mcp"
LOOPBACK = "127.0.0.1"
_NAMES = (LOOPBACK, "localhost", "[::1]")
_GRACE = 3
"""Seconds that calls get to finish when the server shuts down."""


MAX_READ_AHEAD = 8_388_608
"""The number of bytes of a body that are read before the request is passed on; a longer one is refused there."""
_LOG = logging.getLogger("uvicorn.error")


@frozen
class Address:
    """Where a server should listen."""

    host: str = LOOPBACK
    port: int = 0


@frozen
class ServerAddress:
    """Where a server listens."""

    url: str
    open_to_others: bool


@frozen
class TokenGuard:
    """Lets only clients in that show the token."""

    app: ASGIApp
    token: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Reject a request without the token, and pass on any other."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if self._is_authorized(scope):
            scope[SHOWN] = True
            await self._pass_on(scope, receive, send)
            return
        said = {"error": "invalid_token", "error_description": "send the header Authorization: Bearer TOKEN"}
        # Nothing more is read from such a client.
        headers = {"WWW-Authenticate": 'Bearer realm="handrail"', "Connection": "close"}
        answer = JSONResponse(said, status_code=401, headers=headers)
        await answer(scope, receive, send)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        read: deque[Message] = deque()
        size, is_whole = 0, False
        while not is_whole and size <= MAX_READ_AHEAD:
            message = await receive()
            if message["type"] == "http.disconnect":
                _LOG.warning("a client went away in the middle of a request")
                return
            read.append(message)
            size += len(message.get("body", b""))
            is_whole = not message.get("more_body", False)

        async def replay_messages() -> Message:
            return read.popleft() if read else await receive()

        await self.app(scope, replay_messages, send)

    def _is_authorized(self, scope: Scope) -> bool:
        given = [value for name, value in scope["headers"] if name.lower() == b"authorization"]
        kind, _, token = (given[0] if len(given) == 1 else b"").partition(b" ")
        return kind.lower() == b"bearer" and secrets.compare_digest(token.strip(), self.token.encode())


def app_of(server: "Server[dict[str, object]]", token: str, host: str = LOOPBACK) -> Starlette:
    """Build the application; a server that mounts it enters `app.router.lifespan_context(app)` in its own lifespan."""
    app = server.streamable_http_app(
        streamable_http_path=PATH, json_response=True, stateless_http=True, transport_security=_security(host)
    )
    app.user_middleware.insert(0, Middleware(TokenGuard, token=token))
    return app


def _security(host: str) -> TransportSecuritySettings:
    """Return the names by which the server may be addressed; one that listens everywhere has unknown names."""
    if _is_everywhere(host):
        return TransportSecuritySettings(enable_dns_rebinding_protection=False)
    names = (*_NAMES, _format_host(host))
    return TransportSecuritySettings(
        allowed_hosts=[each for name in names for each in (name, f"{name}:*")],
        allowed_origins=[each for name in names for each in (f"http://{name}", f"http://{name}:*")],
    )


def serve_http(
    offered: "Server[dict[str, object]]",
    token: str,
    address: Address,
    limits: HttpLimits,
    started: Callable[[ServerAddress], None],
) -> None:
    """Serve until SIGINT or SIGTERM; `started` is called with the address as soon as clients can connect."""
    logging.getLogger("mcp").setLevel(logging.ERROR)
    host = address.host
    with _bind_socket(host, address.port) as listening:
        app = app_of(offered, token, host)
        config = uvicorn.Config(app, log_level="warning", access_log=False, ws="none", timeout_graceful_shutdown=_GRACE)
        url = f"http://{_format_host(host)}:{listening.getsockname()[1]}{PATH}"
        server = LimitedServer(config, limits)

        def request_exit(_: int, __: FrameType | None) -> None:
            server.should_exit = True

        # The server shuts down cleanly and then passes the signal on to the previous handler; a signal that arrives
        # before it handles signals itself is remembered for it.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, request_exit)
        started(ServerAddress(url, open_to_others=not _is_loopback(host)))
        server.run(sockets=[listening])


def _bind_socket(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as error:
        message = f"'{host}' is not an address of this machine: {error}"
        raise UsageError(message, next_step=f"--host {LOOPBACK}") from error
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen()
    except OSError as error:
        listening.close()
        message = f"cannot listen on {host} port {port}: {error.strerror or error}"
        raise EnvironmentFault(message, next_step="choose another port, or 0 for any free one") from error
    return listening


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_everywhere(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return not host


def _format_host(host: str) -> str:
    return f"[{host}]" if ":" in host else host
