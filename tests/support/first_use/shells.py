"""Shells of one person, each with a login of its own, and a program in the place of `claude` that tells them apart."""

import json
import os
import signal
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

from support.security.black_box import Answer, BlackBox

PATIENCE = 300.0
KEYS = {"ann": "sk-ant-first-AAAAAAAAAAAAAAAAAAAAAAAA", "ben": "sk-ant-second-BBBBBBBBBBBBBBBBBBBBBBBB"}
"""The login of each shell; a third one, of nobody, has none."""
CLAUDE = """\
#!{python}
import json, os, sys, zlib
key = os.environ.get("ANTHROPIC_API_KEY", "")
if sys.argv[1:2] == ["auth"]:
    sys.exit(0 if key else 1)
sys.stdin.readline()
with open({calls!r}, "a") as calls:
    calls.write("called\\n")
said = "key %d" % zlib.crc32(key.encode()) if key else "Not logged in \\u00b7 Please run /login"
print("the key is", key, file=sys.stderr)
used = {{"input_tokens": 1, "output_tokens": 1}}
tell = lambda line: print(json.dumps(line, separators=(",", ":")), flush=True)
tell({{"type": "system", "subtype": "init", "session_id": "s", "tools": [], "model": "sonnet"}})
tell({{"type": "result", "subtype": "success", "is_error": not key, "result": said, "session_id": "s",
    "total_cost_usd": 0.0, "usage": used, "num_turns": 1, "permission_denials": [], "echo": key}})
sys.exit(0 if key else 1)
"""


@dataclass(frozen=True, slots=True)
class Shells:
    """A person's shells; the background driver stays until the test is over."""

    box: BlackBox

    @property
    def calls(self) -> int:
        """How often the agent was called."""
        path = self.box.base / "calls"
        return len(path.read_text().splitlines()) if path.exists() else 0

    def add(self, name: str, steps: str) -> None:
        """Write a workflow of the person's own."""
        text = f"name: {name}\ndescription: {name}\nsteps:\n{steps}"
        self.box.write_own(f"workflows/{name}/workflow.yaml", text)

    def call(self, shell: str, *words: str, **environ: str) -> Answer:
        """Call Handrail from a shell: `ann`, `ben`, or `nobody` with no login."""
        login = {"ANTHROPIC_API_KEY": KEYS[shell]} if shell in KEYS else {}
        return BlackBox(self.box.base, {**self.box.environ, **login, **environ}).call(*words)

    def run(self, name: str) -> dict[str, Any]:
        """Give the document of a run."""
        return self.box.call("show", name, "--json").document

    def reaches(self, run: str, *statuses: str) -> dict[str, Any]:
        """Wait until a run has one of these statuses."""
        until = time.monotonic() + PATIENCE
        while True:
            document = self.box.call("status", run, "--json").document["runs"][0]
            if document["status"] in statuses:
                return document
            assert time.monotonic() < until, document
            time.sleep(0.05)

    def shows(self, path: Path) -> None:
        """Wait until a file is there."""
        until = time.monotonic() + PATIENCE
        while not path.exists():
            assert time.monotonic() < until, f"{path} never came"
            time.sleep(0.01)

    def driver(self) -> int:
        """Give the process of the background driver; 0 where none was ever started."""
        lock = self.box.home / "data" / "driver.lock"
        return int(json.loads(lock.read_text() or "{}").get("pid", 0)) if lock.exists() else 0

    def kill_driver(self) -> None:
        """Kill the background driver, and wait until it is gone."""
        pid = self.driver()
        until = time.monotonic() + PATIENCE
        with suppress(ProcessLookupError, FileNotFoundError):
            # Zero would mean every process of the test's own group, and the number may be another's by now.
            if not pid or b"handrail" not in Path(f"/proc/{pid}/cmdline").read_bytes():
                return
            os.kill(pid, signal.SIGKILL)
            while Path(f"/proc/{pid}/stat").exists() and " Z " not in Path(f"/proc/{pid}/stat").read_text():
                assert time.monotonic() < until
                time.sleep(0.01)

    def leaks(self, key: str) -> list[str]:
        """Name the files below the data folder that hold a key."""
        found = (path for path in self.box.home.rglob("*") if path.is_file())
        return [str(path) for path in found if key.encode() in path.read_bytes()]


def print_of(shell: str) -> str:
    """Give what the agent says where it has the login of a shell."""
    return f"key {crc32(KEYS[shell].encode())}"


@contextmanager
def open_shells(box: BlackBox, python: str) -> Generator[Shells]:
    """Put the agent on the PATH; the background driver that a test leaves is ended."""
    shells = Shells(
        BlackBox(
            box.base, {"PATH": f"{box.base / 'bin'}{os.pathsep}{os.environ['PATH']}", "HANDRAIL_DRIVER_IDLE": "600"}
        )
    )
    claude = box.base / "bin" / "claude"
    claude.parent.mkdir()
    claude.write_text(CLAUDE.format(python=python, calls=str(box.base / "calls")))
    claude.chmod(0o755)
    try:
        yield shells
    finally:
        shells.kill_driver()
