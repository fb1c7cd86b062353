"""Gemini CLI: `gemini` without a terminal, restricted to a step's access by a policy that overrides all others."""

import json
from pathlib import Path

from handrail.agents import tracker_tools
from handrail.agents.gemini.lines import GeminiLines, describe_line
from handrail.agents.gemini.profile import PROFILE
from handrail.agents.programs import PROXY, find_program
from handrail.agents.tool_names import resolve_tool_names
from handrail.errors import UsageError
from handrail.model.workflow.settings import Access
from handrail.ports.agent_profiles import ProjectFiles
from handrail.ports.agents import Abilities, AgentCall, Launch

SYSTEM = Path("/etc/gemini-cli")
"""Where the owner of a machine stores policies and settings for everybody."""
TRIES = 3
"""How often it calls the service by default, unless the user's settings differ; after that, Handrail retries."""
COMMON: dict[str, tuple[str, ...]] = {
    "Bash": ("run_shell_command",),
    "Write": ("write_file",),
    "Edit": ("replace",),
    "MultiEdit": ("replace",),
    "Read": ("read_file", "read_many_files"),
    "Glob": ("glob",),
    "Grep": ("grep_search",),
    "LS": ("list_directory",),
    "WebFetch": ("web_fetch",),
    "WebSearch": ("google_web_search",),
    "TodoWrite": ("write_todos",),
    "Task": ("invoke_agent",),
    "Skill": ("activate_skill",),
    "Memory": ("save_memory",),
}
READING = (
    *("read_file", "read_many_files", "glob", "grep_search", "list_directory", "web_fetch", "google_web_search"),
    *("write_todos", "get_internal_docs"),
)
HARMLESS = ("update_topic", "complete_task")
"""Tools that only organize its own conversation."""


class GeminiAgent:
    """The `Agent` for Google's Gemini on the command line, with the user's own settings and login."""

    def __init__(self, program: str = "", system: Path = SYSTEM) -> None:
        self.program = program
        self._system = system

    @property
    def name(self) -> str:
        """Its name in workflows."""
        return PROFILE.name

    @property
    def can(self) -> Abilities:
        """Its abilities: policies enforce access and tools; it has no single turn or result schema and reports no cost.

        A server for one call could only be configured in a file that belongs to root, or in the user's own settings.
        """
        return Abilities(tools=True, resume=True)

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of its vendor and of its own settings, and those of a proxy."""
        return (*PROFILE.variables, *PROXY)

    def project_files(self, access: Access) -> ProjectFiles:  # noqa: ARG002 - the same for all levels
        """Return the files of a repository that configure it."""
        return PROFILE.files

    def require_program(self) -> None:
        """Raise an error that says what to install where the program is missing."""
        find_program(PROFILE, self.program)

    def launch(self, call: AgentCall, folder: str) -> Launch:
        """Build the command that starts it, with the prompt on its input; its policy is written to `folder`."""
        program, home = find_program(PROFILE, self.program, call.path), call.options.get("home")
        policy = self._policy(call, Path(folder))
        options = (("--model", call.model), ("--resume", call.session), ("--admin-policy", policy))
        asked = tuple(f"{name}={value}" for name, value in options if value)
        # Without `--skip-trust` it refuses to work in a folder that was never opened with it.
        argv = (program, "--output-format=stream-json", "--approval-mode=yolo", "--skip-trust", *asked)
        env = (
            ("GEMINI_CLI_NO_RELAUNCH", "true"),
            # It reads settings before its options: `--skip-trust` alone comes too late for those of the repository.
            *((("GEMINI_CLI_TRUST_WORKSPACE", "true"),) if call.project.files == "trusted" else ()),
            *self._defaults(Path(folder)),
            *((("GEMINI_CLI_HOME", home),) if home else ()),
        )
        return Launch(argv, env, call.prompt.encode(errors="replace"))

    def lines(self) -> GeminiLines:
        """Return a reader for one call."""
        return GeminiLines()

    def describe_line(self, line: bytes) -> str | None:
        """Describe what a line shows it doing: a tool with its argument, or its text."""
        return describe_line(line)

    def _policy(self, call: AgentCall, folder: Path) -> str | None:
        rules = _rules(call)
        if not rules:
            return None
        if any((self._system / "policies").glob("*.toml")):
            message = f"gemini: the policies in {self._system / 'policies'} override those of a single call"
            raise UsageError(message, next_step="give the step `access: edit` and no tool lists, or use another agent")
        return _write_file(folder / "policy.toml", "\n".join(rules))

    def _defaults(self, folder: Path) -> tuple[tuple[str, str], ...]:
        """Return settings with the lowest precedence; those of the machine, where there are any, stay in place."""
        if (self._system / "system-defaults.json").exists():
            return ()
        settings = json.dumps({"general": {"maxAttempts": TRIES, "enableAutoUpdate": False}})
        return (("GEMINI_CLI_SYSTEM_DEFAULTS_PATH", _write_file(folder / "defaults.json", settings)),)


def _rules(call: AgentCall) -> list[str]:
    """Build the rules for a call's access and tool lists, the strongest first; Gemini itself enforces `edit`."""
    denied = resolve_tool_names(PROFILE.name, call.disallowed_tools, COMMON)
    denied += tracker_tools.denied_tools("mcp_{server}_{tool}") if call.no_comment else ()
    allowed = None if call.allowed_tools is None else resolve_tool_names(PROFILE.name, call.allowed_tools, COMMON)
    if call.access == "read":
        granted = READING if allowed is None else allowed
        allowed = tuple(each for each in granted if each in READING or (each.startswith("mcp_") and granted is allowed))
    rules = [_rule(denied, "deny", 999)] if denied else []
    if allowed is not None:
        rules += [_rule((*allowed, *HARMLESS), "allow", 900), _rule(("*",), "deny", 800)]
    return rules


def _rule(tools: tuple[str, ...], decision: str, priority: int) -> str:
    return f'[[rule]]\ntoolName = {json.dumps(tools)}\ndecision = "{decision}"\npriority = {priority}\n'


def _write_file(path: Path, text: str) -> str:
    """Write a file atomically: a process of this call that survived a crash may be reading it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.tmp")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)
    return str(path)
