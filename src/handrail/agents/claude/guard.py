"""The hook that Claude Code runs before each tool call: what the step does not grant is denied.

1. It is run by `python -I -S` for every tool call, and so imports nothing of ours and little else.
2. Only what it explicitly allows happens: Claude Code runs in a mode in which nobody is asked and nothing is granted.
3. It reads one document and not until the end of its input, it has a deadline, and any failure of it is a denial.
"""

import json
import os
import re
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, NoReturn

DEADLINE = 10
"""Seconds; Claude Code runs a tool whose hook does not answer in time, so this deadline is always shorter."""
MAX_INPUT_BYTES = 64 << 20
"""The largest question, in bytes."""
PATHS = ("file_path", "notebook_path", "path")
WRITING = frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit"})
READING = frozenset(
    {"Read", "Glob", "Grep", "LS", "NotebookRead", "WebFetch", "WebSearch", "ToolSearch", "TodoWrite", "LSP"}
    | {"Task", "Agent", "TaskOutput", "TaskStop", "BashOutput", "StructuredOutput", "ReportFindings", "ExitPlanMode"}
    | {"TaskCreate", "TaskGet", "TaskList", "TaskUpdate"}
)
"""Tools that change nothing but the conversation; tool calls of a sub-agent are checked too."""
SKILLS = frozenset({"Skill", "SlashCommand"})
"""Tools that load a skill or a command, and with it the hooks that its front matter declares."""
_NESTED = re.compile(r"/\.claude/(?:skills|commands)/")
FIND = ("-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls")
GIT = ("--output", "--ext-diff", "--textconv")
RG = ("--pre", "--pre-glob", "--search-zip", "--hostname-bin")
COMMANDS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("ls", "cat", "head", "tail", "wc", "grep", "pwd"), ()),
    "rg": RG,
    "find": FIND,
    **dict.fromkeys((f"git {each}" for each in ("diff", "log", "show", "status", "blame")), GIT),
}
"""Commands that only read, each with the options by which it would do more."""
_PLAIN = r"[A-Za-z0-9_./:=@%+,^-][A-Za-z0-9_./:=@%+,^~-]*"
_WORD = re.compile(rf"""(?:{_PLAIN}|'[^'\n\r\0]*'|"[^"$`\\!\n\r\0]*")+""")
_PIECE = re.compile(r"""'([^']*)'|"([^"]*)"|([^'"]+)""")
_IGNORED = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
"""Characters that some file systems ignore in names."""

HookInput = dict[str, "Any"]


def verdict(rules: HookInput, asked: HookInput) -> tuple[str, str]:
    """Decide `allow`, `deny` or `pass` (Claude Code's own rules decide) for one tool call, and why."""
    tool, given = str(asked["tool_name"]), asked["tool_input"]
    listed = _check_tool_lists(rules, tool)
    if listed:
        return "deny", listed
    if tool in SKILLS:
        nested = conflicting_skill(str(given.get("skill") or given.get("command") or ""), rules["workspace"])
        if nested:
            return "deny", f"{nested} is in a subfolder and has not been trusted"
    refusal = _refusal(rules, tool, given, str(asked.get("cwd") or rules["workspace"]))
    if refusal:
        return "deny", refusal
    return ("pass", "") if tool in rules["partly"] else ("allow", "")


def _check_tool_lists(rules: HookInput, tool: str) -> str:
    """Return why the step's lists of tools forbid a tool; empty where they allow it."""
    if tool in rules["disallowed"]:
        return f"this step does not allow the tool {tool}"
    if tool.startswith("mcp__") and tool.rpartition("__")[2] in rules.get("quiet", ()):
        return f"this step writes nothing to the tracker (`no_comment`), but {tool} does"
    if tool in rules.get("own", ()):
        return ""
    allowed = rules["allowed"]
    if allowed is None or tool in allowed or tool in rules["partly"] or tool == "StructuredOutput":
        return ""
    return f"this step allows only the tools {', '.join([*allowed, *rules['partly']]) or 'none'}"


def _refusal(rules: HookInput, tool: str, given: HookInput, cwd: str) -> str:
    """Return why a step's access forbids a tool call; empty where it allows it."""
    if rules["access"] == "full" or tool in rules.get("own", ()):
        return ""
    if given.get("isolation"):
        return "a sub-agent of this step works in the same worktree: omit `isolation`"
    if rules["access"] == "edit":
        return explain_outside(_target(given), cwd, rules["workspace"]) if _is_write(tool, given) else ""
    if tool == "Bash":
        return explain_not_read_only(str(given.get("command", "")))
    if tool in READING or (tool.startswith("mcp__") and tool in (rules["allowed"] or ())):
        return ""
    return f"this step may only read (`access: read`), but {tool} can do more than read"


def conflicting_skill(wanted: str, workspace: str) -> str:
    """Find a skill or command below the worktree's root that a name may refer to; Claude Code finds those itself.

    `.claude` at the root is part of the trusted files. Below that, a file counts as the wanted one when its path or its
    text contains the name, or when its front matter could spell the name in another way.
    """
    name = wanted.lstrip("/").split(None, 1)[0].rpartition(":")[2].casefold() if wanted.strip("/ ") else ""
    for path in _find_nested_files(workspace):
        real = os.path.join(workspace, path)  # noqa: PTH118 - pathlib takes twice as long to load
        if name in path.casefold() or _can_mention(real, name):
            return path
    return ""


def _find_nested_files(workspace: str) -> "Iterator[str]":
    """Yield the files of skills and commands below the root, as relative paths; a link is not followed but yielded."""
    own = os.path.join(workspace, ".claude")  # noqa: PTH118
    for folder, folders, files in os.walk(workspace):
        folders[:] = [each for each in folders if each != ".git" and os.path.join(folder, each) != own]  # noqa: PTH118
        inner = os.path.relpath(folder, workspace)
        links = [each for each in folders if os.path.islink(os.path.join(folder, each))]  # noqa: PTH114, PTH118
        if _NESTED.search(f"/{inner}/"):
            yield from (os.path.join(inner, each) for each in (*files, *links))  # noqa: PTH118
        elif inner.endswith("/.claude"):
            yield from (os.path.join(inner, each) for each in links)  # noqa: PTH118


def _can_mention(path: str, name: str) -> bool:
    """Whether a file contains a name, or cannot be read, or escapes characters in its front matter."""
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123 - pathlib takes twice as long to load
            text = file.read(MAX_INPUT_BYTES)
    except (OSError, ValueError):
        return True
    front = text.partition("---")[2].partition("\n---")[0]
    return name in text.casefold() or "\\" in front


def _is_write(tool: str, given: HookInput) -> bool:
    """Whether a tool writes a file; an unknown tool that names a file is assumed to."""
    return tool in WRITING or (tool not in READING and not tool.startswith("mcp__") and bool(_target(given)))


def _target(given: HookInput) -> str:
    return next((str(given[name]) for name in PATHS if given.get(name)), "")


def explain_outside(path: str, cwd: str, workspace: str) -> str:
    """Return why a file may not be written: it is outside the worktree, or belongs to git; empty where it may."""
    if not path or "\0" in path:
        return "no file path was given"
    named = os.path.join(cwd, os.path.expanduser(path))  # noqa: PTH111, PTH118 - pathlib takes twice as long to load
    real, root = os.path.realpath(named), os.path.realpath(workspace)
    inner = _parts(os.path.relpath(real, root))
    if inner == ["."] or inner[0] == "..":
        return f"{path} is outside the worktree {workspace}; this step may only write inside it"
    parts = {*inner, *_parts(os.path.relpath(named, workspace))}
    if any(_IGNORED.sub("", each).casefold().rstrip(". ") == ".git" for each in parts):
        return f"{path} belongs to git itself: use git commands"
    return ""


def _parts(path: str) -> list[str]:
    return re.split(r"/+", path)


def explain_not_read_only(command: str) -> str:
    """Return why a command is not known to only read; empty where it is."""
    hint = f"this step may only read (`access: read`): use one of {', '.join(COMMANDS)}"
    words = _words(command)
    if words is None:
        return f"{hint}, as one plain command without operators, redirections, substitutions or unquoted patterns"
    name = " ".join(words[:2]) if words[:1] == ["git"] else "".join(words[:1])
    if name not in COMMANDS:
        return hint
    taken = next((each for each in words[1:] if any(_is_option(each, bad) for bad in COMMANDS[name])), None)
    if name == "rg" and taken is None:
        taken = next((each for each in words[1:] if re.match(r"-[A-Za-z0-9]*z", each)), None)
    return "" if taken is None else f"{hint}; {name} with {taken} can do more than read"


def _words(command: str) -> list[str] | None:
    """Split a command that consists of plain words only; None where the shell would do more with it."""
    left, words = command.strip(" \t"), list[str]()
    while left:
        found = _WORD.match(left)
        if found is None:
            return None
        words.append("".join("".join(piece) for piece in _PIECE.findall(found.group())))
        rest = left[found.end() :]
        left = rest.lstrip(" \t")
        if left and left == rest:
            return None
    return words


def _is_option(word: str, option: str) -> bool:
    """Whether a word is an option, in full, with a value, or abbreviated as git and GNU programs allow."""
    name = word.partition("=")[0]
    return name.startswith(option) or (len(name) > 3 and option.startswith(name))


def read_one(source: int) -> HookInput:
    """Read one JSON document from a descriptor, whether or not that is ever closed."""
    data = b""
    while len(data) < MAX_INPUT_BYTES:
        piece = os.read(source, 1 << 20)
        data += piece
        if not piece or data.rstrip().endswith(b"}"):
            try:
                return json.loads(data)
            except ValueError:
                if not piece:
                    raise
    raise ValueError("the question is too long")


def main() -> "NoReturn":
    """Answer the question on standard input by the rules in the file that the first argument names."""
    signal.alarm(DEADLINE)
    try:
        with open(sys.argv[1], encoding="utf-8") as file:  # noqa: PTH123 - pathlib takes twice as long to load
            rules = json.load(file)
        decision, why = verdict(rules, read_one(0))
    except Exception as error:  # noqa: BLE001 - whatever it is, the tool must not be allowed
        decision, why = "deny", f"Handrail's check of this tool failed: {type(error).__name__}: {error}"
    if decision != "pass":
        said = {"hookEventName": "PreToolUse", "permissionDecision": decision, "permissionDecisionReason": why}
        print(json.dumps({"hookSpecificOutput": said}), flush=True)  # noqa: T201 - Claude Code reads it
    sys.exit(0)
