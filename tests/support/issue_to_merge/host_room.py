"""A person with the installed program and a clone of a repository on the double of GitHub."""

import os
import signal
import subprocess
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.cli.running import until
from support.first_use.shells import Shells
from support.github.double import GitHubDouble
from support.github.faults import Fault
from support.github.json_values import Json
from support.security.black_box import PROGRAM, Answer, BlackBox, make_black_box

PATIENCE = 120.0
NAMES = ("GITHUB_API_URL", "GH_TOKEN")
"""What a person sets; git gets its credentials from Handrail."""


@dataclass(slots=True)
class HostRoom:
    """A checkout whose remote is a repository on the double."""

    box: BlackBox
    github: GitHubDouble
    started: "list[subprocess.Popen[bytes]]" = field(default_factory=list["subprocess.Popen[bytes]"])

    def add(self, name: str, text: str) -> None:
        """Write a workflow of the person's own, `NAME` in it standing for its name."""
        self.box.write_own(f"workflows/{name}/workflow.yaml", text.replace("NAME", name))

    def publish(self) -> None:
        """Commit everything in the checkout, and let the main branch of the double be that."""
        self.box.commit()
        self.box.git("push", "-q", "-f", str(self.github.repository.git.path), "HEAD:main")

    def call(self, *words: str, code: int | None = 0) -> Answer:
        """Call Handrail to its end; it has to end with a code, unless any will do."""
        answer = self.box.call(*words)
        assert "Traceback" not in answer.text, answer.text
        assert code is None or answer.exit_code == code, answer.text
        return answer

    def json(self, *words: str, code: int = 0) -> Any:
        """Call Handrail with --json and read its one document."""
        return self.call(*words, "--json", code=code).document

    def start(self, *words: str) -> "subprocess.Popen[bytes]":
        """Start Handrail, and do not wait for its end."""
        started = subprocess.Popen(
            [PROGRAM, *words],
            cwd=self.box.repository,
            env=self.box.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.started.append(started)
        return started

    def shell(self, line: str) -> "subprocess.CompletedProcess[bytes]":
        """Type a line that Handrail has printed and that is not one of its own commands."""
        return subprocess.run(["sh", "-c", line], env=self.box.env, capture_output=True, check=False)

    def kill_at(self, fault: Fault, *words: str) -> None:
        """Kill the process of a command, without any warning, while a call that a fault lets hang is under way."""
        process = self.start(*words)
        until(lambda: fault.done.is_set() or process.poll() is not None, PATIENCE)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()

    def status(self, run: str) -> str:
        """Return the status of a run."""
        return self.json("status", run)["runs"][0]["status"]

    def reach(self, run: str, *statuses: str) -> None:
        """Wait until a run has one of these statuses."""
        Shells(self.box).reaches(run, *statuses)

    def refresh_until(self, holds: Callable[[], bool]) -> None:
        """Look at the host, as a person who calls `status --refresh` until something is there."""

        def look() -> bool:
            self.call("status", "--refresh")
            return holds()

        try:
            until(look, PATIENCE)
        except AssertionError as late:
            runs = [each["run"] for each in self.json("status", "--all")["runs"]]
            raise AssertionError("\n".join(self.call("show", run).text for run in runs)) from late

    def progress(self, number: int) -> list[Json]:
        """Return the progress comments of an issue."""
        return [each for each in self.github.comments(number) if "<!-- handrail:progress" in each["body"]]

    def moved_heads(self) -> list[tuple[str, str]]:
        """Return what every push that had an effect moved: each ref with its new commit."""
        entries = self.github.journal.calls("GIT push *")
        done = [each for each in entries if "before" not in each.fault and "limit" not in each.fault]
        return [(each["ref"], each["new"]) for entry in done for each in entry.body or ()]

    def end(self) -> None:
        """End what was started."""
        for each in self.started:
            each.kill()
            each.communicate()
        Shells(self.box).kill_driver()


@contextmanager
def open_room(folder: Path, github: GitHubDouble, environ: Mapping[str, str] | None = None) -> Generator[HostRoom]:
    """Open a room; processes that the test leaves are ended."""
    made = make_black_box(folder)
    known = github.environment()
    names = {name: known[name] for name in NAMES}
    box = BlackBox(made.base, {**names, "HANDRAIL_DRIVER_IDLE": "600", **(environ or {})})
    room = HostRoom(box, github)
    # A push that is not answered is given up soon, as the person's own configuration of git says.
    box.git("config", "--global", "http.lowSpeedTime", "2")
    box.git("remote", "add", "origin", github.clone_url())
    room.publish()
    try:
        yield room
    finally:
        room.end()
