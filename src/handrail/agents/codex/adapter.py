"""Codex: `codex exec`, restricted to a step's access by its own sandbox."""

import json
import os
from pathlib import Path

from handrail.agents.codex.lines import CodexLines, describe_line
from handrail.agents.codex.profile import PROFILE
from handrail.agents.codex.schema import make_strict
from handrail.agents.instructions import read_instructions
from handrail.agents.programs import PROXY, find_program
from handrail.model.workflow.settings import Access
from handrail.ports.agent_profiles import ProjectFiles
from handrail.ports.agents import Abilities, AgentCall, Launch, TranscriptReader

_SANDBOX: dict[Access, str] = {"read": "read-only", "edit": "workspace-write", "full": "danger-full-access"}
_TRIED = """codex=$1 mode=$2 trust=$3; shift 3
(sleep 0.15; nice "$codex" sandbox -c "$mode" -c "$trust" -- /bin/true </dev/null >/dev/null || {
  code=$?; [ "$code" = 2 ] || printf '{"type":"handrail.sandbox","exit_code":%d}\\n' "$code"; }) &
exec "$codex" "$@"
"""
"""Where the sandbox cannot work every command fails, yet the events show none of it and the call succeeds all the same:
so the sandbox is tried beside the call, which does not wait for that. Code 2 is a Codex without such a command.
"""

_INSTRUCTIONS = (("AGENTS.override.md",), ("AGENTS.md",))
"""What Codex reads in each folder of a trusted project, the first that exists."""
_APART = 0.3
"""Seconds between two starts. Each start makes a folder with links to itself, and another that cleans up old folders
at that moment removes it: its commands fail from then on. The trial comes in the middle between two starts.
"""


class CodexAgent:
    """The `Agent` for OpenAI's Codex on the command line."""

    def __init__(self, program: str = "") -> None:
        self.program = program

    @property
    def name(self) -> str:
        """Its name in workflows."""
        return PROFILE.name

    @property
    def can(self) -> Abilities:
        """Its abilities: its sandbox enforces the access; it has no tool lists, no single turn, and reports no cost."""
        return Abilities(resume=True, mcp=True, without_project_files=True)

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of its vendor, and those of a proxy."""
        return (*PROFILE.variables, *PROXY)

    def project_files(self, access: Access) -> ProjectFiles:  # noqa: ARG002 - the same for all levels
        """Return the files of a repository that configure it."""
        return PROFILE.files

    def require_program(self) -> None:
        """Raise an error that says what to install where the program is missing."""
        find_program(PROFILE, self.program)

    def launch(self, call: AgentCall, folder: str) -> Launch:
        """Build the command that starts it, with the prompt on its input; a result's schema is written to `folder`."""
        # Inside Handrail's sandbox, which enforces the same, its own one seldom works.
        within = call.access == "full" or call.options.get("sandbox") == "bwrap"
        codex = find_program(PROFILE, self.program, call.path)
        mode = f'sandbox_mode="{_SANDBOX["full" if within else call.access]}"'
        trust = _trust(call)
        words = ("exec", "--json", "--skip-git-repo-check", "-c", mode, "-c", 'approval_policy="never"', "-c", trust)
        going_on = ("resume", call.session) if call.session else ()
        given = (*words, *_server(call), *_model(call), *_schema(call, Path(folder)), *going_on, "-")
        tried = () if within else ("/bin/sh", "-c", _TRIED, "sh", codex, mode, trust)
        home = call.options.get("home")
        env = (("CODEX_HOME", home),) if home else ()
        return Launch((*(tried or (codex,)), *given), env, _prompt(call).encode(errors="replace"), apart=_APART)

    def lines(self) -> CodexLines:
        """Return a reader for one call."""
        return CodexLines()

    def transcript(self) -> TranscriptReader:
        """Give a reader of the kinds of its lines."""
        from handrail.agents.codex.transcript import CodexTranscript  # noqa: PLC0415 - most calls are never transcribed

        return CodexTranscript()

    def describe_line(self, line: bytes) -> str | None:
        """Describe what a line shows it doing: a command, an edit, or its text."""
        return describe_line(line)


def _trust(call: AgentCall) -> str:
    """Build the option that tells Codex whether the project is trusted, for this call alone.

    Without it Codex adds the repository to the user's own configuration as a trusted one. It looks up the folder,
    each folder above it and the main checkout, with links resolved; and it accepts this only as one table.
    """
    trusted = call.project.files != "untrusted"
    folders = call.project.folders or (os.path.realpath(call.workspace),)
    above = () if trusted else tuple(map(str, Path(folders[-1]).parents))
    places = dict.fromkeys(filter(None, (*folders, *above, call.project.checkout)))
    level = _toml("trusted" if trusted else "untrusted")
    return f"projects={{{','.join(f'{_toml(each)}={{trust_level={level}}}' for each in places)}}}"


def _prompt(call: AgentCall) -> str:
    """Return the prompt, after the repository's instructions to every agent where Codex must not read them itself."""
    left_out = call.project.files == "untrusted" and not call.session
    told = read_instructions(call, _INSTRUCTIONS) if left_out else ""
    return f"{told}\n\n{call.prompt}" if told else call.prompt


def _model(call: AgentCall) -> tuple[str, ...]:
    return ("-m", call.model) if call.model else ()


def _server(call: AgentCall) -> tuple[str, ...]:
    """Build the options for Handrail's tools; secrets go through the environment, since everybody can see arguments."""
    server = call.server
    if server is None:
        return ()
    settings = {
        "command": server.command[0],
        "args": list(server.command[1:]),
        "env_vars": [name for name, _ in server.env],
        # Without it the model is called before the tools are available.
        "required": True,
        "startup_timeout_sec": 60,
        "tool_timeout_sec": 90,
        "default_tools_approval_mode": "approve",
    }
    return tuple(word for name in settings for word in ("-c", f"mcp_servers.handrail.{name}={_toml(settings[name])}"))


def _toml(value: object) -> str:
    """Format a text, number or list as TOML, which is the same as JSON for these."""
    return json.dumps(value)


def _schema(call: AgentCall, folder: Path) -> tuple[str, ...]:
    """Write the schema of the result, where OpenAI accepts it; any other is only in the prompt, and checked by us."""
    schema = make_strict(call.schema)
    if schema is None:
        return ()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "schema.json"
    path.write_text(json.dumps(schema), encoding="utf-8")
    return ("--output-schema", str(path))
