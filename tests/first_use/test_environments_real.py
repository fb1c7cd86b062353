"""Many runs at once with the real Claude Code, half of them in the background, with two logins by variable alone."""

import os
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast
from urllib.request import Request, urlopen

import pytest

from handrail.testing.models.scripts import Say
from handrail.testing.models.server import ModelServer
from support.agents.real_agents import program
from support.first_use.shells import KEYS, Shells
from support.security.black_box import PROGRAM, BlackBox, make_black_box

pytestmark = [pytest.mark.system("claude"), pytest.mark.timeout(1500)]
EACH = int(os.environ.get("HANDRAIL_EACH") or 20)
"""Runs in the background, and as many in terminals."""
WHO = "  - {name: a, agent: claude/sonnet, access: read, prompt: '[[s:NAME]] Say it.', output: said}\n"


class KeyedModel:
    """Stands before the scripted model and remembers which key asked for which run."""

    def __init__(self, model: ModelServer) -> None:
        self.seen: set[tuple[str, str]] = set()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.0"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                key = self.headers.get("x-api-key") or str(self.headers.get("Authorization") or "")[7:]
                for name in ("ann", "ben"):
                    if f"[[s:{name}]]".encode() in body:
                        outer.seen.add((name, key))
                sent = Request(f"{model.url}{self.path}", body, {"Content-Type": "application/json"})
                with urlopen(sent, timeout=60) as answer:
                    self.send_response(answer.status)
                    self.send_header("Content-Type", answer.headers["Content-Type"])
                    self.end_headers()
                    self.wfile.write(answer.read())

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
                """Say nothing."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


@pytest.fixture
def keyed(tmp_path: Path) -> Iterator[tuple[Shells, KeyedModel]]:
    with (
        TemporaryDirectory(prefix="handrail-agents-", dir="/var/tmp", ignore_cleanup_errors=True) as folder,
        ModelServer({"ann": [Say("ann")] * 500, "ben": [Say("ben")] * 500}) as model,
    ):
        (Path(folder) / "bin").mkdir()
        (Path(folder) / "bin" / "claude").symlink_to(cast("Path", program("claude")))
        proxy = KeyedModel(model)
        environ = {
            "PATH": f"{folder}/bin{os.pathsep}{os.environ['PATH']}",
            "ANTHROPIC_BASE_URL": proxy.url,
            "NO_PROXY": "127.0.0.1,localhost",
            "HANDRAIL_DRIVER_IDLE": "600",
        }
        box = make_black_box(tmp_path)
        shells = Shells(BlackBox(box.base, environ))
        try:
            yield shells, proxy
        finally:
            shells.kill_driver()
            proxy.close()


def test_runs_in_terminals_and_in_the_background_all_have_their_own_login(keyed: tuple[Shells, KeyedModel]) -> None:
    shells, model = keyed
    for name in KEYS:
        shells.add(name, WHO.replace("NAME", name))
    orders = [
        (shell, detach)
        for number in range(EACH)
        for shell in [("ann", "ben")[number % 2]]
        for detach in ("", "--detach")
    ]

    def begin(order: tuple[str, str]) -> int:
        shell, detach = order
        environ = {**shells.box.env, "ANTHROPIC_API_KEY": KEYS[shell]}
        words = [PROGRAM, "run", shell, *filter(None, [detach])]
        return subprocess.run(
            words, cwd=shells.box.repository, env=environ, capture_output=True, timeout=1200, check=False
        ).returncode

    with ThreadPoolExecutor(4) as pool:
        codes = list(pool.map(begin, orders))
    assert set(codes) == {0}
    ends: dict[str, str] = {}
    for name in KEYS:
        for number in range(1, EACH + 1):
            ends[f"{name}-{number}"] = shells.reaches(f"{name}-{number}", "succeeded", "failed", "blocked")["status"]
    assert len(ends) == 2 * EACH
    assert set(ends.values()) == {"succeeded"}, ends
    assert model.seen == set(KEYS.items())
    for key in KEYS.values():
        assert shells.leaks(key) == []
