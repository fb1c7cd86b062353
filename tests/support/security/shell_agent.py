"""An agent that runs a shell script inside a step, and a run that waits for a person: what an agent may not decide."""

import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.security.black_box import PROGRAM, Answer, BlackBox

DEPLOY = "name: deploy\nsteps:\n  - {name: ok, type: approval, message: Ship it?}\n  - {name: ship, command: MARK}\n"
WORK = "name: work\nsteps:\n  - {name: a, agent: scripted, access: edit, prompt: Do the work now.MORE}\n"


@dataclass(frozen=True, slots=True)
class ShellAgent:
    """A person's box in which `deploy-1` waits, and an agent that does what a script says."""

    box: BlackBox

    @property
    def program(self) -> str:
        """How a shell calls the program with the person's own data folder, which agents are not told."""
        return f"env HANDRAIL_HOME={shlex.quote(str(self.box.home))} {shlex.quote(PROGRAM)}"

    @property
    def encode_message(self) -> Path:
        """A folder for what the commands of the script print."""
        return self.box.base / "said"

    def act(self, script: str, *, more: str = "", calls: list[dict[str, Any]] | None = None) -> Answer:
        """Let the agent of a new run `work-N` run a script; `more` are further keys of its step."""
        self.box.write_own("workflows/work/workflow.yaml", WORK.replace("MORE", f"{more and ', '}{more}"))
        turn: dict[str, Any] = {"run": script, "say": "done"}
        play = self.box.base / "play.json"
        play.write_text(json.dumps({"default": {**turn, **({"call_tool": calls} if calls else {}), "repeat": True}}))
        return self.box.call("run", "work", "--script", str(play))

    def calls(self, *words: str, before: str = "", after: str = "") -> str:
        """Give a line of a script that calls the program and keeps what it says and how it ends."""
        name = shlex.quote(str(self.encode_message / "-".join(words).replace("/", "_")))
        call = f"{before} {self.program} {shlex.join(words)} {after}".strip()
        return f"{call} > {name} 2>&1; echo $? > {name}.code\n"

    def code(self, *words: str) -> int:
        """Say how a call of the script ended; -1 where it never did."""
        path = self.encode_message / f"{'-'.join(words).replace('/', '_')}.code"
        return int(path.read_text()) if path.exists() else -1

    def told(self, *words: str) -> str:
        """Give what a call of the script printed."""
        return (self.encode_message / "-".join(words).replace("/", "_")).read_text()

    def still_waits(self) -> bool:
        """Whether `deploy-1` waits for the person, and nothing was shipped."""
        document = self.box.call("status", "deploy-1", "--json").document["runs"][0]
        return (document["status"], document["reason"], self.box.traces()) == ("waiting", "approval", [])


def make_shell_agent(box: BlackBox) -> ShellAgent:
    """Start the run that waits."""
    box.write_own("workflows/deploy/workflow.yaml", DEPLOY.replace("MARK", box.mark("shipped")))
    assert box.call("run", "deploy").exit_code == 3
    agent = ShellAgent(box)
    agent.encode_message.mkdir()
    return agent
