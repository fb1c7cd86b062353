"""The server of the scripted model: one port on loopback, one thread per request, every request recorded."""

import json
import threading
from collections.abc import Iterable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self, cast

from handrail.testing.models.anthropic import Anthropic
from handrail.testing.models.chat import Chat
from handrail.testing.models.gemini import Gemini
from handrail.testing.models.responses import Responses
from handrail.testing.models.scripts import Cut, Data, Dialect, Fail, Hang, Say, Scripts, due, filled

DIALECTS: tuple[tuple[str, Dialect], ...] = (
    ("/messages", Anthropic()),
    ("/responses", Responses()),
    ("/chat/completions", Chat()),
    (":streamGenerateContent", Gemini()),
)
"""Parts of request paths with the dialect spoken there."""


class _Http(ThreadingHTTPServer):
    """The HTTP server, with a reference to the model it serves."""

    daemon_threads = True

    def __init__(self, model: "ModelServer") -> None:
        self.model = model
        super().__init__(("127.0.0.1", 0), _Handler)


class ModelServer:
    """A scripted model, to be used as a context manager."""

    def __init__(self, scripts: Scripts) -> None:
        self.scripts = dict(scripts)
        self.requests: list[tuple[str, Data]] = []
        """The script that each request belonged to, and its body."""
        self.closing = threading.Event()
        self._http = _Http(self)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def url(self) -> str:
        """The address of the server."""
        return f"http://127.0.0.1:{self._http.server_port}"

    def asked(self, script: str) -> list[Data]:
        """Return the requests that belonged to a script."""
        return [body for name, body in self.requests if name == script]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def _model(self) -> ModelServer:
        return cast("_Http", self.server).model

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class calls it so
        """Log nothing."""

    def do_GET(self) -> None:
        """Refuse every GET request."""
        self._document(404, {"error": {"message": "not here"}}, ())

    def do_POST(self) -> None:
        """Answer as scripted."""
        request = cast("Data", json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}"))
        dialect = next((each for part, each in DIALECTS if part in self.path.partition("?")[0]), None)
        if dialect is None:
            self._document(404, {"error": {"message": f"no dialect for {self.path}"}}, ())
            return
        name, action = due(self._model.scripts, dialect.turns(request))
        self._model.requests.append((name, request))
        action = filled(action, dialect.results(request))
        with suppress(ConnectionError):
            match action:
                case Fail():
                    self._document(action.status, dialect.refusal(action), action.headers)
                case Hang():
                    self._model.closing.wait()
                case Cut(text):
                    events = list(dialect.events(request, Say(text)))
                    self._stream(events[: len(events) // 2])
                case _:
                    if isinstance(action, Say) and action.after:
                        self._model.closing.wait(action.after)
                    self._stream(dialect.events(request, action))

    def _document(self, status: int, body: Data, headers: Iterable[tuple[str, str]]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        for name, value in (("content-type", "application/json"), ("content-length", str(len(data))), *headers):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, events: Iterable[bytes]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for event in events:
            self.wfile.write(event)
            self.wfile.flush()
