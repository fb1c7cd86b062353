"""A home of Handrail to which the real agents are connected over MCP, against the scripted model."""

import json
import os
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handrail.runtime.history import events_of
from handrail.store.sqlite.log import SqliteLog, open_log
from handrail.testing.models.scripts import Mcp
from handrail.testing.models.server import ModelServer
from support.agents.real_agents import Home

HANDRAIL = str(Path(sys.executable).parent / "handrail")
LONG = 110
TOKEN = {"token": r"ct_[A-Za-z0-9_-]+"}
Json = dict[str, Any]


def step(name: str, **keys: Any) -> Json:
    return {"id": name, "title": name.title(), "prompt": f"Do {name}.", **keys}


CONTROL: Json = {"outputContract": {"contractRef": "wr.contracts.loop_control"}}
BY_ARTIFACT: Json = {"kind": "artifact_contract", "contractRef": "wr.contracts.loop_control", "loopId": "again"}
LOOP: Json = {
    "id": "again",
    "type": "loop",
    "title": "Again",
    "loop": {"type": "while", "maxIterations": 5, "conditionSource": BY_ARTIFACT},
    "body": [step("work"), step("decide", **CONTROL)],
}
FLOW: Json = {"id": "flow", "name": "Flow", "description": "A flow.", "version": "1.0.0"}


def control(decision: str) -> Json:
    return {"notesMarkdown": decision, "artifacts": [{"kind": "wr.loop_control", "decision": decision}]}


def go_on(output: Json | None = None, token: str = "{{token}}") -> Mcp:
    """Complete a step; without an output, look at it again."""
    intent: Json = {"intent": "rehydrate"} if output is None else {"intent": "advance", "output": output}
    return Mcp("handrail", "continue_workflow", {"continueToken": token, **intent}, TOKEN)


def notes(text: str) -> Mcp:
    return go_on({"notesMarkdown": text})


@dataclass(frozen=True, slots=True)
class Connected:
    """A home of Handrail, with agents that are connected to it."""

    root: Path
    agents: Home
    model: ModelServer

    @property
    def home(self) -> Path:
        return self.root / "handrail"

    @property
    def work(self) -> Path:
        return self.root / "work"

    @property
    def environ(self) -> dict[str, str]:
        more = {"IS_SANDBOX": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "CLAUDE_CODE_MAX_RETRIES": "0"}
        url = {"ANTHROPIC_BASE_URL": self.model.url}
        return {**os.environ, "HANDRAIL_HOME": str(self.home), "HANDRAIL_DRIVER_IDLE": "1", **more, **url}

    def add(self, *steps: Json) -> None:
        """Write the workflow `flow`."""
        (self.home / "workflows").mkdir(parents=True, exist_ok=True)
        (self.home / "workflows" / "flow.json").write_text(json.dumps({**FLOW, "steps": list(steps)}))

    def start(self) -> Mcp:
        given: Json = {"workflowId": "flow", "workspacePath": str(self.work), "goal": "Make it better."}
        return Mcp("handrail", "start_workflow", given)

    def claude(self, script: str, server: Json) -> list[Json]:
        """Let Claude Code play a script, connected to a server; give what it printed."""
        config = json.dumps({"mcpServers": {"handrail": server}})
        words = ["-p", f"Go. [[s:{script}]]", "--output-format", "stream-json", "--verbose", "--strict-mcp-config"]
        return self._said("claude", *words, "--mcp-config", config, "--permission-mode", "bypassPermissions")

    def codex(self, script: str) -> list[Json]:
        """Let Codex play a script, connected over stdio."""
        self.agents.point_codex(self.model.url)
        server = {
            "command": json.dumps(HANDRAIL),
            "args": '["mcp"]',
            "env": f'{{HANDRAIL_HOME="{self.home}"}}',
            "required": "true",
            "startup_timeout_sec": "60",
        }
        settings = [word for name, value in server.items() for word in ("-c", f"mcp_servers.handrail.{name}={value}")]
        words = ("exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox")
        return self._said("codex", *words, *settings, f"Go. [[s:{script}]]")

    def _said(self, *words: str) -> list[Json]:
        done = subprocess.run(
            words,
            cwd=self.work,
            env=self.environ,
            capture_output=True,
            text=True,
            timeout=LONG,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]

    def handrail(self, *words: str) -> str:
        """Call the command line."""
        done = subprocess.run(
            [HANDRAIL, *words],
            cwd=self.work,
            env=self.environ,
            capture_output=True,
            text=True,
            timeout=LONG,
            check=False,
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout

    def begin(self, *words: str) -> "subprocess.Popen[str]":
        """Begin a command of the command line."""
        return subprocess.Popen(
            [HANDRAIL, *words],
            cwd=self.work,
            env=self.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            text=True,
        )

    def log(self) -> "closing[SqliteLog]":
        return closing(open_log(self.home / "data"))

    def story(self, run: str) -> list[str]:
        """What happened in a run: each step as it ended or was refused, and each change of hands."""
        kinds = ("step_ended", "step_refused", "run_taken", "run_released", "run_ended")
        with self.log() as log:
            events = [event for _, event in events_of(log, run) if event.kind in kinds]
        return [" ".join(filter(None, (each.kind, str(getattr(each, "address", ""))))) for each in events]
