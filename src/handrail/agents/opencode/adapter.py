"""opencode: `opencode run`, restricted to a step's access by the permissions of an agent created for the call."""

import json
import secrets
from typing import Any, cast

from handrail.agents import tracker_tools
from handrail.agents.opencode.lines import OpencodeLines, describe_line
from handrail.agents.opencode.profile import PROFILE, XDG_VARIABLES
from handrail.agents.programs import PROXY, find_program
from handrail.agents.tool_names import resolve_tool_names
from handrail.errors import UsageError
from handrail.model.workflow.settings import Access
from handrail.ports.agent_profiles import ProjectFiles
from handrail.ports.agents import Abilities, AgentCall, Launch

SERVER = "handrail"
"""Name of the server with Handrail's own tools."""
CONTENT = "OPENCODE_CONFIG_CONTENT"
"""The variable for settings that take precedence over those of a repository."""
COMMON: dict[str, tuple[str, ...]] = {
    "Bash": ("bash",),
    "Write": ("edit",),
    "Edit": ("edit",),
    "MultiEdit": ("edit",),
    "Read": ("read",),
    "Glob": ("glob",),
    "Grep": ("grep",),
    "LS": ("list",),
    "WebFetch": ("webfetch",),
    "WebSearch": ("websearch",),
    "TodoWrite": ("todowrite",),
    "Task": ("task",),
    "Skill": ("skill",),
    "LSP": ("lsp",),
}
"""Its permissions: one stands for all tools that change files."""
READING = ("read", "glob", "grep", "list", "webfetch", "websearch", "todowrite", "todoread", "lsp", "skill")


class OpencodeAgent:
    """The `Agent` for opencode on the command line, with the user's own settings and login."""

    def __init__(self, program: str = "") -> None:
        self.program = program

    @property
    def name(self) -> str:
        """Its name in workflows."""
        return PROFILE.name

    @property
    def can(self) -> Abilities:
        """Its abilities: permissions enforce access and tools; it has no single turn and no result schema."""
        return Abilities(tools=True, resume=True, cost=True, mcp=True)

    @property
    def variables(self) -> tuple[str, ...]:
        """Its own variables, and those of the vendors that it works with."""
        return (*PROFILE.variables, *PROXY)

    def project_files(self, access: Access) -> ProjectFiles:  # noqa: ARG002 - the same for all levels
        """Return the files of a repository that configure it."""
        return PROFILE.files

    def require_program(self) -> None:
        """Raise an error that says what to install where the program is missing."""
        find_program(PROFILE, self.program)

    def launch(self, call: AgentCall, folder: str) -> Launch:  # noqa: ARG002 - it needs no file
        """Build the command that starts it, with the prompt on its input."""
        options = (("--model", call.model), ("--session", call.session))
        asked = tuple(f"{name}={value}" for name, value in options if value)
        how, env = _restrict_access(call)
        home = call.options.get("home")
        private = tuple((name, f"{home}/{name.lower()}") for name in XDG_VARIABLES) if home else ()
        argv = (find_program(PROFILE, self.program, call.path), "run", "--format=json", *how, *asked)
        return Launch(
            argv, (("OPENCODE_DISABLE_AUTOUPDATE", "1"), *env, *private), call.prompt.encode(errors="replace")
        )

    def lines(self) -> OpencodeLines:
        """Return a reader for one call."""
        return OpencodeLines()

    def describe_line(self, line: bytes) -> str | None:
        """Describe what a line shows it doing: a tool with its argument, or its text."""
        return describe_line(line)


def _restrict_access(call: AgentCall) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Return the options and variables that enforce a call's access; without `--pure`, plugins could bypass them."""
    denied = resolve_tool_names(PROFILE.name, call.disallowed_tools, COMMON)
    denied += tracker_tools.denied_tools("{server}_{tool}") if call.no_comment else ()
    allowed = None if call.allowed_tools is None else resolve_tool_names(PROFILE.name, call.allowed_tools, COMMON)
    if call.access == "full" and allowed is None and not denied:
        return ("--auto",), ((CONTENT, json.dumps({**_user_settings(call), **_server(call)})),) if call.server else ()
    own = {} if call.server is None else {f"{SERVER}_{each}": "allow" for each in call.server.tools}
    permissions = {**_permissions(call, allowed, denied), **own}
    # The name cannot be predicted, so no file of a repository can grant this agent more.
    agent = f"handrail-{secrets.token_hex(4)}"
    given = _user_settings(call)
    settings = {**given, **_server(call), "agent": {**given.get("agent", {}), agent: _agent(permissions)}}
    env = ((CONTENT, json.dumps(settings)), ("OPENCODE_PERMISSION", json.dumps(permissions)))
    return ("--pure", f"--agent={agent}"), env


def _permissions(call: AgentCall, allowed: tuple[str, ...] | None, denied: tuple[str, ...]) -> dict[str, str]:
    """Build the permissions; the last matching rule counts, and a sub-agent would have rules of its own."""
    listed = allowed is not None or bool(denied)
    if call.access == "read":
        granted = tuple(each for each in allowed or READING if each in READING) if allowed != () else ()
        rules = {"*": "deny", **dict.fromkeys(granted, "allow")}
    elif allowed is not None:
        rules = {"*": "deny", **dict.fromkeys(allowed, "allow")}
    else:
        rules = {"*": "allow"}
    outside = {} if call.access == "full" else {"external_directory": "deny"}
    inner = {"task": "deny"} if listed or call.access == "read" else {}
    return {**rules, **outside, "question": "deny", **inner, **dict.fromkeys(denied, "deny")}


def _server(call: AgentCall) -> dict[str, Any]:
    """Describe Handrail's tools, besides the servers that the user configures in the same variable."""
    if call.server is None:
        return {}
    started = {"type": "local", "command": list(call.server.command), "environment": dict(call.server.env)}
    return {"mcp": {**_user_settings(call).get("mcp", {}), SERVER: {**started, "enabled": True}}}


def _agent(permissions: dict[str, str]) -> dict[str, Any]:
    return {"mode": "primary", "description": "one step of a workflow", "permission": permissions}


def _user_settings(call: AgentCall) -> dict[str, Any]:
    """Return the settings that the user passes in the same variable."""
    try:
        given = json.loads(call.environ.get(CONTENT) or "{}")
    except ValueError as error:
        message = f"opencode: the variable {CONTENT} is not JSON: {error}"
        raise UsageError(message, next_step="correct it, or unset it") from error
    return cast("dict[str, Any]", given) if isinstance(given, dict) else {}
