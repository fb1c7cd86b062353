"""Real agents for the black box: on the PATH of the person, with a home of their own and a scripted model to ask."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from handrail.model.workflow.values import JsonValue
from handrail.testing.models.scripts import Action, Call, Say, Shell
from handrail.testing.models.server import ModelServer
from support.agents.real_agents import CODEX, NOWHERE, PROGRAMS, program
from support.security.black_box import BlackBox

SCRIPT: list[Action] = [Shell("env > environment.txt"), Say("done")]
"""What the model wants: a command, so that hooks before and after a tool have something to do."""
DELEGATED: dict[str, JsonValue] = {"subagent_type": "planted", "description": "planted", "prompt": "Go. [[s:go]]"}
SKILLS: list[Action] = [
    Call("Skill", {"skill": "planted-skill"}),
    Call("Skill", {"skill": "planted"}),
    Call("Skill", {"skill": "hooked-skill"}),
    Shell("true"),
    # The tool by which Claude Code starts an agent definition has had both names.
    Call("Task", DELEGATED),
    Call("Agent", DELEGATED),
    Say("done"),
]

BELOW: list[Action] = [
    Shell("cd sub && cat app.txt && env > environment.txt"),
    Call("Read", {"file_path": "sub/app.txt"}),
    *SKILLS,
]
"""What leads an agent into the folder `sub`, by a command and by a tool of its own."""


@dataclass(frozen=True, slots=True)
class Person:
    """A black box with real agents."""

    box: BlackBox
    model: ModelServer
    other: ModelServer
    """Another service, to which nothing of the person's should go."""
    codex_home: Path

    def workflow(self, agent: str, access: str, more: str = "", script: str = "go") -> None:
        """Write the person's own workflow of one step."""
        step = f"{{name: one, agent: {agent}, access: {access}, prompt: 'Go. [[s:{script}]]'{more}}}"
        self.box.write_own("workflows/mine/workflow.yaml", f"name: mine\ndescription: mine\nsteps:\n  - {step}\n")

    def told(self) -> str:
        """Everything that the model was asked."""
        return str(self.model.requests)


@contextmanager
def with_agents(box: BlackBox) -> Generator[Person]:
    """Give the person of a black box the real Claude Code and Codex."""
    scripts = {"go": SCRIPT, "skills": SKILLS, "below": BELOW}
    with (
        # Codex refuses to work where its folder lies below the temporary one.
        TemporaryDirectory(prefix="handrail-agents-", dir="/var/tmp", ignore_cleanup_errors=True) as folder,
        ModelServer(scripts) as model,
        ModelServer(scripts) as other,
    ):
        root = Path(folder)
        for name in ("bin", "claude", "codex", "tmp"):
            (root / name).mkdir()
        for name in PROGRAMS:
            found = program(name)
            assert found is not None
            (root / "bin" / name).symlink_to(found)
        (root / "codex" / "config.toml").write_text(CODEX.format(url=model.url, retries=0))
        environ = {
            "PATH": f"{root / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "TMPDIR": str(root / "tmp"),
            "CLAUDE_CONFIG_DIR": str(root / "claude"),
            "CODEX_HOME": str(root / "codex"),
            "ANTHROPIC_BASE_URL": model.url,
            "ANTHROPIC_API_KEY": "no-key-at-all",
            "OPENAI_API_KEY": "no-key-at-all",
            "NO_PROXY": "127.0.0.1,localhost",
            "HTTP_PROXY": NOWHERE,
            "HTTPS_PROXY": NOWHERE,
        }
        yield Person(replace(box, environ={**box.environ, **environ}), model, other, root / "codex")
