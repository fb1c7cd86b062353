"""The HTTP side of the double: a server in a thread of the test process, which can cut its connections."""

import base64
import socket
import threading
import traceback
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from support.github.exchange import Exchange, Raw, Service, answer_fault, shuffle
from support.github.faults import Fault
from support.github.journal import Entry
from support.github.state import Token

_MAX_BODY = 64 << 20


class Handler(BaseHTTPRequestHandler):
    """Reads one request after the other from a connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    service: Service
    connections: set[socket.socket]

    def setup(self) -> None:
        super().setup()
        self.connections.add(self.connection)

    def finish(self) -> None:
        self.connections.discard(self.connection)
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
        exchange = Exchange(
            self.service,
            self.command,
            {name.lower(): value for name, value in self.headers.items()},
            address.path,
            address.query,
            body,
            token,
            is_known,
        )
        entry = exchange.describe()
        with self.service.lock:
            self.service.journal.entries.append(entry)
            fault = self.service.faults.strike(entry.label)
        if fault is not None:
            entry.fault = fault.how
            self._fail(exchange, entry, fault)
        else:
            self._send(exchange.answer(), entry)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815 (their names in the library)

    def _fail(self, exchange: Exchange, entry: Entry, fault: Fault) -> None:
        kind, _, when = fault.how.partition(" ")
        if "after" in when or fault.how in ("timeout", "duplicated", "reordered"):
            answer = exchange.answer()
            fault.done.set()
            if kind in ("duplicated", "reordered"):
                self._send(shuffle(answer, kind), entry)
                return
        fault.done.set()
        if kind == "cut":
            if entry.method == "GIT":
                # git sends a request again if a connection ends without any answer.
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-")
                self.wfile.flush()
            self.cut()
        elif kind == "timeout":
            # Reads until the caller gives up, or the double ends the connection.
            self.connection.recv(1)
            self.cut()
        else:
            self._send(answer_fault(self.service.world, fault), entry)

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


class Server(ThreadingHTTPServer):
    """Serves until it is closed, and then ends every connection."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, service: Service) -> None:
        self.connections: set[socket.socket] = set()
        handler = type("BoundHandler", (Handler,), {"service": service, "connections": self.connections})
        super().__init__(("127.0.0.1", 0), handler)
        service.world.base = f"http://127.0.0.1:{self.server_port}"
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
        self._thread.start()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002 (as the library calls it)
        """Let what goes wrong in a thread be seen as a problem of the test."""
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
