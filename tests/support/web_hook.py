"""A web server on this machine that keeps what it is sent."""

import json
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any


@dataclass(slots=True)
class WebHook:
    """What came, and what is answered: the last status again and again."""

    statuses: Sequence[int] = (200,)
    address: str = ""
    came: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def status(self) -> int:
        """Give the status of the newest request."""
        return self.statuses[min(len(self.came), len(self.statuses)) - 1]


@contextmanager
def web_hook(*statuses: int) -> Generator[WebHook]:
    """Serve until the block is over."""
    hook = WebHook(statuses or (200,))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            hook.came.append({**json.loads(body), "path": self.path, "type": self.headers["Content-Type"]})
            self.send_response(hook.status())
            if hook.status() in range(300, 400):
                self.send_header("Location", f"{hook.address}/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (its name in the library)
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    hook.address = f"http://127.0.0.1:{server.server_port}/hook"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hook
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
