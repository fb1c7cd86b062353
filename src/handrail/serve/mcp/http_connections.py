"""Limits what a connection may cost: deadlines for a request's headers and body, a cap on connections, short logs.

1. A request must have its headers within one deadline and its body within another, however slowly they arrive.
2. When the cap is reached, the connection that has waited longest makes room: first one that never showed the token,
   then one between two requests. A request that is being answered is never ended for another one.
3. Few connections are accepted at once, so that the cap can act before the file descriptors run out.
4. What happens again and again is logged only from time to time, with how often it happened.
"""

import asyncio
import logging
import math
import os
import resource
import socket
import time
from collections.abc import Mapping
from typing import ClassVar, Literal, TypeAlias, cast

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from handrail.errors import UsageError
from handrail.frozen import frozen

Phase: TypeAlias = Literal["headers", "body", "answer", "idle"]
ACCEPTED_AT_ONCE = 32
MAX_CONNECTIONS = 512
HEADER_TIMEOUT = "HANDRAIL_MCP_HEADER_TIMEOUT"
BODY_TIMEOUT = "HANDRAIL_MCP_BODY_TIMEOUT"
CONNECTIONS = "HANDRAIL_MCP_CONNECTIONS"
SHOWN = "handrail.token_shown"
"""The key of a request's scope that says that its client has shown the token."""
_LOG = logging.getLogger("uvicorn.error")
_TOO_LATE = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


@frozen
class HttpLimits:
    """What a server allows its connections."""

    header_timeout: float = 10.0
    """Seconds from the beginning of a request, or of a connection, to the end of its headers."""
    body_timeout: float = 30.0
    """Seconds from there to the end of its body."""
    connections: int = 0
    """The maximum number of connections; 0 means half of the files that the process may open."""

    @property
    def most_connections(self) -> int:
        """The maximum number of connections."""
        if self.connections:
            return self.connections
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return MAX_CONNECTIONS if files == resource.RLIM_INFINITY else max(8, min(MAX_CONNECTIONS, files // 2))


def read_limits(environ: Mapping[str, str]) -> HttpLimits:
    """Read the limits from environment variables; those that are not set have their defaults."""
    usual = HttpLimits()
    return HttpLimits(
        _number(environ, HEADER_TIMEOUT, usual.header_timeout),
        _number(environ, BODY_TIMEOUT, usual.body_timeout),
        int(_number(environ, CONNECTIONS, usual.connections)),
    )


def _number(environ: Mapping[str, str], name: str, usual: float) -> float:
    text = environ.get(name, "")
    try:
        value = float(text) if text else usual
    except ValueError:
        value = -1.0
    if not 0 <= value < math.inf or (text and value == 0):
        raise UsageError(
            f"{name} is '{text}', which is not a number above 0",
            next_step=f"unset {name}, or set it to a number above 0",
        )
    return value


class LimitedServer(uvicorn.Server):
    """A server that enforces limits on its connections."""

    def __init__(self, config: uvicorn.Config, limits: HttpLimits) -> None:
        class Limited(LimitedProtocol):
            allowed = limits

        config.http = Limited
        config.backlog = ACCEPTED_AT_ONCE
        for name in ("uvicorn.error", "asyncio"):
            logging.getLogger(name).addFilter(RepeatFilter())
        super().__init__(config)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen; more clients may wait in the kernel than are accepted at once."""
        await super().startup(sockets)
        for each in sockets or ():
            each.listen(MAX_CONNECTIONS)


class LimitedProtocol(H11Protocol):
    """One connection."""

    allowed: ClassVar[HttpLimits] = HttpLimits()
    since = 0.0
    """When the connection began to wait for a request."""
    phase: Phase = "idle"
    _has_shown_token = False
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]  # as the base class has it
        """Begin to wait for headers, and make room for the connection."""
        super().connection_made(transport)
        self._enter("headers")
        if len(self.connections) > self.allowed.most_connections:
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._stop_timer()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Process what has arrived, and watch what is still missing."""
        super().handle_events()
        self._watch()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._has_shown_token = self.has_shown_token
        super().on_response_complete()
        self._watch()

    @property
    def has_shown_token(self) -> bool:
        """Whether one of its requests was authorized."""
        cycle = self._current_cycle()
        return self._has_shown_token or (cycle is not None and bool(cycle.scope.get(SHOWN)))

    def _current_cycle(self) -> RequestResponseCycle | None:
        return self.cycle

    def _watch(self) -> None:
        phase = self._current_phase()
        if phase != self.phase:
            self._enter(phase)

    def _current_phase(self) -> Phase:
        cycle = self._current_cycle()
        if self.conn.their_state is h11.SEND_BODY:
            return "body"
        if cycle is not None and not cycle.response_complete:
            return "answer"
        has_begun = bool(self.conn.trailing_data[0]) or cycle is None
        return "headers" if has_begun else "idle"

    def _enter(self, phase: Phase) -> None:
        self._stop_timer()
        self.phase, self.since = phase, time.monotonic()
        seconds = {"headers": self.allowed.header_timeout, "body": self.allowed.body_timeout}.get(phase)
        if seconds is not None:
            self._deadline = self.loop.call_later(seconds, self._end_late)

    def _stop_timer(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _end_late(self) -> None:
        _LOG.warning("closed a connection: its request was not complete in time")
        if self.phase == "headers":
            self.transport.write(_TOO_LATE)
        self.transport.close()

    def _make_room(self) -> None:
        others = cast("set[LimitedProtocol]", self.connections) - {self}
        waiting = [each for each in others if each.is_waiting]
        _LOG.warning("closed a connection that only waited: %d are open", len(self.connections))
        min(waiting, key=lambda each: (each.has_shown_token, each.since), default=self).transport.abort()

    @property
    def is_waiting(self) -> bool:
        """Whether none of its requests is being read or answered."""
        return self.phase in ("headers", "idle") and not self.transport.is_closing()


class RepeatFilter(logging.Filter):
    """Logs a repeated message only from time to time, with a count; of faults of the machine only one line."""

    def __init__(self, every: float = 5.0) -> None:
        super().__init__()
        self.every = every
        self.next_at: dict[str, float] = {}
        self._left_out: dict[str, int] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to log a message."""
        now, key = time.monotonic(), str(record.msg).partition("\n")[0]
        if now < self.next_at.get(key, 0.0):
            self._left_out[key] = self._left_out.get(key, 0) + 1
            return False
        self.next_at[key] = now + self.every
        more = self._left_out.pop(key, 0)
        if record.exc_info and isinstance(record.exc_info[1], OSError) and not os.environ.get("HANDRAIL_DEBUG"):
            record.msg, record.args, record.exc_info = f"{key}: {record.exc_info[1]}", (), None
        if more:
            record.msg = f"{record.msg} ({more} more like it)"
        return True
