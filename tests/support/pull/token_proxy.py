"""A proxy on loopback that adds the token to each request, for clients that cannot send one."""

import http.client
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import cast
from urllib.parse import SplitResult, urlsplit

_OF_A_CONNECTION = ("connection", "content-length", "transfer-encoding", "keep-alive")


class _Proxy(ThreadingHTTPServer):
    """The listening part, which knows where requests go."""

    def __init__(self, target: SplitResult, token: str) -> None:
        self.target, self.token = target, token
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def pass_on(self) -> None:
        proxy = cast("_Proxy", self.server)
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        there = http.client.HTTPConnection(str(proxy.target.hostname), proxy.target.port, timeout=60)
        # The suite tries other names of the host: they reach the server as they were sent.
        there.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            if name.lower() not in _OF_A_CONNECTION:
                there.putheader(name, value)
        there.putheader("Content-Length", str(len(body)))
        there.putheader("Authorization", f"Bearer {proxy.token}")
        there.endheaders(body)
        self._answer(there.getresponse())
        there.close()

    def _answer(self, said: http.client.HTTPResponse) -> None:
        """Pass an answer on as it comes: a stream of events may never end."""
        self.close_connection = True
        self.send_response(said.status)
        for name, value in said.getheaders():
            if name.lower() not in _OF_A_CONNECTION:
                self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        with suppress(OSError, http.client.HTTPException):
            while part := said.read1(65_536):
                self.wfile.write(part)
                self.wfile.flush()

    do_GET = do_POST = do_DELETE = pass_on  # noqa: N815 - the base class calls them so

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class calls it so
        """Say nothing."""


@contextmanager
def token_added(url: str, token: str) -> Generator[str]:
    """Give an address that leads to another one, with a token."""
    target = urlsplit(url)
    with _Proxy(target, token) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}{target.path}"
        finally:
            server.shutdown()
            thread.join()
