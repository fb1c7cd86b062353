"""Claude Code: how it is started, and restricted to what a step grants.

What a step may do is decided by our own hook, before each tool call: Claude Code runs in the mode in which nobody
is asked and nothing else is granted, so that a failing hook is a denial. Only `full` bypasses that.

A step that may only read leaves out the settings of the repository, and so does any step in a repository whose files
for Claude Code are not all trusted: hooks in them are commands, and an earlier step may have put them there. The
repository's instructions to every agent (CLAUDE.md), which are left out with them, go into the system prompt.
"""

import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from handrail.agents.claude import guard as claude_guard
from handrail.agents.claude.lines import ClaudeLines, describe_line
from handrail.agents.claude.profile import PROFILE
from handrail.agents.instructions import read_instructions
from handrail.agents.programs import find_program
from handrail.late_import import late_import
from handrail.model.workflow.settings import Access
from handrail.model.workflow.values import JsonValue
from handrail.ports.agent_profiles import ProjectFiles
from handrail.ports.agents import Abilities, AgentCall, Launch, TranscriptReader

if TYPE_CHECKING:
    from handrail.agents import tracker_tools
else:
    tracker_tools = late_import("handrail.agents.tracker_tools")

SERVER = "handrail"
"""Name of the server with Handrail's own tools."""
RETRIES = 2
"""How often Claude Code itself retries a request; after that, Handrail waits and retries."""
MEMORY = (("CLAUDE.md", ".claude/CLAUDE.md", ".claude/rules/**", "CLAUDE.local.md"), ("AGENTS.md",))
"""Where a repository has instructions for Claude Code; the second counts where there is nothing of the first."""
HOOK_TIMEOUT = 6 * claude_guard.DEADLINE
_PROXY = tuple(name for each in ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY") for name in (each, each.lower()))
_OURS = (
    ("CLAUDE_CODE_MAX_RETRIES", str(RETRIES)),
    ("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1"),
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
)
_BOOT = "import sys; sys.path.append(sys.argv.pop(1)); import guard; guard.main()"
"""Loads the module from its compiled cache, which a script run directly never uses."""
_NEVER = ("EnterWorktree", "ExitWorktree", "CronCreate", "CronDelete", "CronList", "ScheduleWakeup", "Monitor")
"""Tools that lead out of the worktree, or continue after the answer."""


_LISTENS = ("--input-format=stream-json", "--replay-user-messages")
"""Makes it read lines while it works, and report which of them it received."""
_DONE = '"type":"result"'
"""Found by chance in another line it only closes the input too early: what was not sent goes into the next call."""


class ClaudeAgent:
    """The `Agent` that calls `claude -p`, with the user's own configuration and login."""

    def __init__(self, clock: Callable[[], float] = time.time, program: str = "") -> None:
        self._clock = clock
        self.program = program

    @property
    def name(self) -> str:
        """Its name in workflows."""
        return PROFILE.name

    @property
    def can(self) -> Abilities:
        """Its abilities: all of them."""
        return Abilities(
            tools=True,
            single_turn=True,
            schema=True,
            resume=True,
            system_prompt=True,
            cost=True,
            follow_up=True,
            mcp=True,
            without_project_files=True,
        )

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of Anthropic, and those of a proxy."""
        return (*PROFILE.variables, *_PROXY)

    def variables_in(self, environ: Mapping[str, str]) -> tuple[str, ...]:
        """The same, and those of a cloud where Claude Code is configured to use it."""
        return (*PROFILE.variables_in(environ), *_PROXY)

    def project_files(self, access: Access) -> ProjectFiles:
        """Return the files of a repository that configure it; a step that may only read uses none of them."""
        return ProjectFiles() if access == "read" else PROFILE.files

    def require_program(self) -> None:
        """Raise an error that says what to install where the program is missing."""
        find_program(PROFILE, self.program)

    def launch(self, call: AgentCall, folder: str) -> Launch:
        """Build the command that starts it; the rules of the call are written to `folder` for its hook."""
        files = (*_settings(call, Path(folder)), *_system_prompt(call, Path(folder)), *_server(call, Path(folder)))
        program = find_program(PROFILE, self.program, call.path)
        argv = (program, "-p", "--output-format=stream-json", "--verbose", *files, *_words(call))
        # A prompt that begins with a slash would be a command to Claude Code itself, answered without the model.
        prompt = f"\n{call.prompt}" if call.prompt.startswith("/") else call.prompt
        env = (*_OURS, *_environment(call))
        if call.listens:
            return Launch((*argv, *_LISTENS), env, self.encode_message(prompt, ""), _DONE)
        return Launch(argv, env, prompt.encode(errors="replace"))

    def encode_message(self, text: str, mark: str) -> bytes:
        """Format a line of its input: it reads that after the running tool, or else when its answer is done."""
        message = {"role": "user", "content": text.encode(errors="replace").decode()}
        line = {"type": "user", "message": message, "parent_tool_use_id": None, **({"uuid": mark} if mark else {})}
        return f"{json.dumps(line)}\n".encode()

    def lines(self) -> ClaudeLines:
        """Return a reader for one call."""
        return ClaudeLines(self._clock)

    def transcript(self) -> TranscriptReader:
        """Give a reader of the kinds of its lines."""
        from handrail.agents.claude.transcript import ClaudeTranscript  # noqa: PLC0415 - most calls are never transcribed

        return ClaudeTranscript()

    def describe_line(self, line: bytes) -> str | None:
        """Describe what a line shows it doing: a tool with its argument, or its text."""
        return describe_line(line)


def _words(call: AgentCall) -> tuple[str, ...]:
    """Build the options of a call, each with its value in one word, so that no value can be taken for an option."""
    denied = (*_NEVER, *call.disallowed_tools, *_quiet(call))
    options: tuple[tuple[str, str | None], ...] = (
        ("--setting-sources", "user" if _is_bare(call) else None),
        ("--permission-mode", "bypassPermissions" if _bypasses(call) else "dontAsk"),
        ("--model", call.model),
        ("--resume", call.session),
        ("--max-turns", "1" if call.single_turn else None),
        ("--json-schema", json.dumps(call.schema) if _is_object(call.schema) else None),
        ("--disallowedTools", ",".join(denied)),
        ("--tools", None if call.allowed_tools is None else ",".join(_builtin_tools(call.allowed_tools))),
        ("--allowedTools", ",".join(_partly(call)) or None),
    )
    return tuple(f"{name}={value}" for name, value in options if value is not None)


def _system_prompt(call: AgentCall, folder: Path) -> tuple[str, ...]:
    """Write the system prompt to a file, since it may be longer than an argument, and return its option."""
    told = "\n\n".join(filter(None, [call.system_prompt, _memory(call)]))
    if not told:
        return ()
    path = folder / "system.md"
    path.write_text(told, encoding="utf-8", errors="replace")
    return (f"--append-system-prompt-file={path}",)


def _is_bare(call: AgentCall) -> bool:
    """Whether the settings of the repository are left out, with everything that comes with them."""
    return call.access == "read" or call.project.files == "untrusted"


def _memory(call: AgentCall) -> str:
    """Return the repository's instructions to every agent, where Claude Code must not read them itself."""
    return read_instructions(call, MEMORY) if _is_bare(call) else ""


def _environment(call: AgentCall) -> tuple[tuple[str, str], ...]:
    """Return the variables that convey a call's access and its private folder."""
    home = call.options.get("home")
    return (
        *((("CLAUDE_CONFIG_DIR", home),) if home else ()),
        *((("GIT_OPTIONAL_LOCKS", "0"),) if call.access == "read" else ()),
        # As root, Claude Code refuses to bypass its checks without this variable; only `full` needs it.
        *((("IS_SANDBOX", "1"),) if _bypasses(call) and os.geteuid() == 0 else ()),
    )


def _bypasses(call: AgentCall) -> bool:
    return call.access == "full" and call.allowed_tools is None


def _is_object(schema: JsonValue) -> bool:
    """Whether a result can be requested as the input of a tool, which is how Claude Code does it."""
    return isinstance(schema, dict) and schema.get("type") == "object"


def _quiet(call: AgentCall) -> tuple[str, ...]:
    """List what would write to a tracker, as far as the step denies that."""
    if not call.no_comment:
        return ()
    commands = (f"Bash({each}:*)" for each in tracker_tools.COMMANDS)
    return (*tracker_tools.denied_tools("mcp__{server}__{tool}"), *commands)


def _name(tool: str) -> str:
    return tool.partition("(")[0].strip()


def _builtin_tools(tools: tuple[str, ...]) -> list[str]:
    return sorted({_name(each) for each in tools if not each.startswith("mcp__")})


def _partly(call: AgentCall) -> list[str]:
    """Return the tools that are allowed only with certain inputs, such as `Bash(npm test:*)`."""
    return [each for each in call.allowed_tools or () if "(" in each]


def _settings(call: AgentCall, folder: Path) -> tuple[str, ...]:
    """Write the rules of a call and the settings that put the hook before every tool."""
    allowed = None if call.allowed_tools is None else [each for each in call.allowed_tools if "(" not in each]
    partly = sorted({_name(each) for each in _partly(call)} - set(allowed or ()))
    rules = {
        "access": call.access,
        "workspace": call.workspace,
        "allowed": allowed,
        "partly": partly,
        "disallowed": [*_NEVER, *(each for each in call.disallowed_tools if "(" not in each)],
    }
    if call.no_comment:
        # A server may have any name in the user's configuration, so its tools count by their own names.
        rules["quiet"] = sorted(tracker_tools.NAMES)
    if call.server is not None:
        rules["own"] = [f"mcp__{SERVER}__{each}" for each in call.server.tools]
    folder.mkdir(parents=True, exist_ok=True)
    asked = folder / "guard.json"
    _write(asked, rules)
    # Claude Code would allow the tool if the hook failed with any other code than 2.
    here = str(Path(claude_guard.__file__).parent)
    command = shlex.join([sys.executable, "-I", "-S", "-c", _BOOT, here, str(asked)]) + " || exit 2"
    hook = {"type": "command", "command": command, "timeout": HOOK_TIMEOUT}
    # Settings of the repository could disable all hooks; these take precedence.
    hooks = {"disableAllHooks": False, "hooks": {"PreToolUse": [{"matcher": "", "hooks": [hook]}]}}
    _write(folder / "settings.json", {**hooks, **_skill_settings(call)})
    return (f"--settings={folder / 'settings.json'}",)


def _skill_settings(call: AgentCall) -> dict[str, bool]:
    """Disable commands in skills: Claude Code also finds skills in folders below, whoever wrote them."""
    return {} if call.project.files == "trusted" else {"disableSkillShellExecution": True}


def _server(call: AgentCall, folder: Path) -> tuple[str, ...]:
    """Write where Handrail's tools are, for a call that may use them."""
    server = call.server
    if server is None:
        return ()
    command, *args = server.command
    started = {"type": "stdio", "command": command, "args": args, "env": dict(server.env)}
    _write(folder / "mcp.json", {"mcpServers": {SERVER: started}})
    return (f"--mcp-config={folder / 'mcp.json'}",)


def _write(path: Path, value: object) -> None:
    """Write a file atomically: a process of this call that survived a crash may be reading it."""
    draft = path.with_name(f"{path.name}.tmp")
    draft.write_text(json.dumps(value), encoding="utf-8")
    draft.replace(path)
