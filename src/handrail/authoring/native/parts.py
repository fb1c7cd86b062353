"""Shapes that several parts of the native format share: names, durations, budgets, agent settings, prompts, checks."""

from typing import TYPE_CHECKING, get_args

from handrail.authoring.native.slips import CHECK_SLIPS
from handrail.authoring.shapes.shapes import (
    Anything,
    Choice,
    Either,
    Flag,
    Key,
    ListOf,
    MapOf,
    Number,
    Record,
    Ref,
    Shape,
    Text,
)
from handrail.late_import import late_import
from handrail.model.workflow.settings import Carry, HandrailTool

if TYPE_CHECKING:
    from handrail.authoring.native import guidance
else:
    guidance = late_import("handrail.authoring.native.guidance")

NAME_PATTERN = r"[a-z0-9][a-z0-9._-]*"
WORDS_FOR_MAX = ("max_iterations", "max_cycles")
"""Other words for how often something may happen; the most rounds of a step are its `max_iterations`."""
STEP_PATTERN = r"[A-Za-z][A-Za-z0-9_-]*"

CLOSED_NAME = Text("name", 1, 64, r"[A-Za-z_][A-Za-z0-9_-]*", "my_value")
STEP_NAME = Text("step name", 1, 64, STEP_PATTERN, "run-tests")
DURATION = Text("duration", 1, 32, r"(\d{1,6}(ms|s|m|h|d))+", "90s, 30m, 2h or 1h30m")
ANY_VALUE = Anything()
EXPRESSION = Text("expression", 1)
FLAG_OR_EXPRESSION = Either("a condition", {"text": EXPRESSION, "flag": Flag()})
TYPE_TEXT = Text("type", 1, 500)
COMMAND = Text("command", 1)
PROMPT = Text("prompt", 1)
AGENT = Text("agent", 1, 128, r"[A-Za-z0-9][A-Za-z0-9_.:-]*(/[A-Za-z0-9][A-Za-z0-9_.:/-]*)?", "claude/sonnet")
ACCESS = Choice(("read", "edit", "full"))
HANDOFF = Text("handoff", 1, 200, r"summary|full|none|\S+\.md", "summary, full, none or NAME.md")
TOOLS = ListOf(Text("tool name", 1), unique=True)
_OWN_TOOLS = Either("handrail_tools", {"list": ListOf(Choice(get_args(HandrailTool)), unique=True), "flag": Flag()})
OWN_TOOLS = Ref("handrail_tools", lambda: _OWN_TOOLS)
TEXTS = Either("one text or a list", {"text": Text(least=1), "list": ListOf(Text(least=1), least=1)})

BUDGET = Record(
    "a budget",
    {
        "usd": Key(Number(least=0), "maximum cost in US dollars"),
        "tokens": Key(Number(least=1, whole=True), "maximum number of tokens"),
        "minutes": Key(Number(least=0), "maximum time in minutes"),
        "agent_calls": Key(Number(least=0, whole=True), "maximum number of agent calls"),
        "at_limit": Key(
            Choice(("ask", "finish", "stop")),
            "at the limit: ask a person, finish without further agents, or stop; default ask on a terminal, else stop",
        ),
        "unknown_price": Key(
            Choice(("estimate", "block")), "if an agent does not report its price: estimate it (shown with ~) or block"
        ),
    },
    hints={"cost": "the key is 'usd'", "dollars": "the key is 'usd'", "max_usd": "the key is 'usd'"},
)

RETRY = Either(
    "retry",
    {
        "number": Number(least=0, most=100, whole=True),
        "map": Record(
            "retry",
            {
                "max": Key(
                    Number(least=0, most=100, whole=True),
                    "number of additional tries",
                    required=True,
                    aliases=WORDS_FOR_MAX,
                ),
                "backoff": Key(DURATION, "pause before the first of them, doubled after each"),
            },
        ),
    },
)

_SANDBOXES = Choice(("none", "bwrap"))
SANDBOX = Either(
    "sandbox",
    {
        "text": _SANDBOXES,
        "map": Record(
            "sandbox",
            {
                "kind": Key(_SANDBOXES, "none, or bwrap", required=True),
                "network": Key(Flag(), "whether the agent can access the network; default true"),
            },
        ),
    },
)

_SESSION = Text("session", 1, 64)
_SESSIONS = Either(
    "session",
    {
        "text": _SESSION,
        "map": Record(
            "session",
            {
                "from": Key(_SESSION, "the earlier step to continue from, or continue", required=True),
                "carry": Key(
                    Choice(get_args(Carry)),
                    "conversation, or summary for a new one that begins with a summary of that step",
                    required=True,
                ),
            },
        ),
    },
)

SESSION = Ref("session", lambda: _SESSIONS)

AGENT_SETTINGS: dict[str, Key] = {
    "agent": Key(AGENT, "the agent, and after a slash the model: claude/sonnet"),
    "model": Key(Text("model", 1, 128), "the model of the agent"),
    "access": Key(ACCESS, "what the agent may do: read, edit (default) or full"),
    "session": Key(SESSION, "fresh (default), the step whose conversation is continued, or continue for the nearest"),
    "handoff": Key(
        HANDOFF, "what it learns about the run so far: summary (default), full, none, or a template NAME.md"
    ),
    "role": Key(Text("role", 1, 1024), "the role the agent takes, stated before its task"),
    "system_prompt": Key(PROMPT, "a prompt that is added to the agent's system prompt"),
    "single_turn": Key(Flag(), "one answer, no further turns"),
    "suppress_thoughts": Key(
        Flag(), "do not post the agent's thoughts to the tracker", aliases=("suppress_thought_posting",)
    ),
    "no_comment": Key(Flag(), "deny the agent the tools that write to the tracker; Handrail still posts its result"),
    "allowed_tools": Key(TOOLS, "only these tools, by the agent's own names"),
    "disallowed_tools": Key(TOOLS, "none of these tools, by the agent's own names"),
    "handrail_tools": Key(OWN_TOOLS, "Handrail tools that it may call; default none"),
    "idle_timeout": Key(DURATION, "how long the agent may print nothing while no tool runs; default 10m"),
    "tmux": Key(Flag(), "run the agent in a tmux session that a person can attach to"),
    "sandbox": Key(
        SANDBOX, "sandbox the agent's process: none, or bwrap, which makes everything but the worktree read-only"
    ),
}

DEFAULTS = Record(
    "defaults",
    {
        **{name: key for name, key in AGENT_SETTINGS.items() if name != "session"},
        "timeout": Key(DURATION, "how long a step may take"),
        "retry": Key(RETRY, "number of additional tries of a step"),
        "budget": Key(BUDGET, "the budget of one step"),
    },
)


def agent_record(what: str, extra: dict[str, Key] | None = None) -> Record:
    """Build the long form of a prompt key: a map of the prompt and agent settings."""
    own = {"prompt": Key(PROMPT, "the prompt of the agent", required=True)}
    return Record(what, {**own, **AGENT_SETTINGS, **(extra or {})})


def agent_task(what: str, extra: dict[str, Key] | None = None) -> Shape:
    """Build the shape of a prompt key, which takes the short or the long form."""
    return Either(what, {"text": PROMPT, "map": agent_record(what, extra)})


REPEATED: dict[str, Key] = {
    "max": Key(Number(least=1, most=100, whole=True), "maximum number of calls; default 3", aliases=WORDS_FOR_MAX),
    "budget": Key(BUDGET, "the budget of all its calls in this step"),
}
ROLE = agent_task("a role", {"budget": REPEATED["budget"]})
FIX = agent_task("fix", REPEATED)

CHECKS = Either(
    "checks",
    {
        "text": Choice(("project",)),
        "map": MapOf(COMMAND, key_pattern=r"[A-Za-z0-9][A-Za-z0-9 _.-]*", least=1, key_what="check name"),
    },
)

ENV = MapOf(
    Either("a value", {"text": Text(), "number": Number(), "flag": Flag()}),
    key_pattern=r"[A-Za-z_][A-Za-z0-9_]*",
    key_what="variable name",
)

RETURNS = Ref("returns", lambda: _RETURNS)
_RETURNS = Either(
    "returns",
    {
        "text": TYPE_TEXT,
        "list": ListOf(RETURNS, least=1, most=1),
        "map": MapOf(RETURNS, key_pattern=r"[A-Za-z_][A-Za-z0-9_-]*\??", least=1, key_what="field name"),
    },
)

UNCHANGED = Either(
    "files that must not have changed",
    {
        "text": Text(least=1),
        "list": ListOf(Text(least=1), least=1),
        "map": Record(
            "unchanged",
            {
                "paths": Key(TEXTS, "files that must not have changed", required=True),
                "ignored": Key(Flag(), "whether files that git ignores count as well; default false"),
            },
        ),
    },
)

_FILE_CHECK = Record(
    "a check of a file",
    {
        "check": Key(
            Text("check", 1, 64, r"[A-Za-z0-9_][A-Za-z0-9_-]*", "test_one"),
            "its table in config.toml: [checks.NAME]",
            required=True,
        ),
        "file": Key(Text("path", 1), "the file that is checked", required=True),
    },
)
_PROVING = Either("a command, or a check of a file", {"text": COMMAND, "map": _FILE_CHECK})

DONE_WHEN = ListOf(
    Record(
        "a check of done_when",
        {
            "passes": Key(_PROVING, "a command that must succeed, or {check, file}"),
            "fails": Key(_PROVING, "a command that must fail; with {check, file}, a test in that file must fail"),
            "exit": Key(Number(least=1, most=255, whole=True), "the exit code required by `fails`"),
            "changed": Key(TEXTS, "files that must have changed"),
            "unchanged": Key(UNCHANGED, "files that must not have changed"),
            "exists": Key(Text("path", 1), "a path that must exist"),
            "expect": Key(EXPRESSION, "an expression that must be true"),
            "report": Key(
                Record(
                    "a report",
                    {
                        "junit": Key(Text("path", 1), "a JUnit XML file that the step writes", required=True),
                        "min_tests": Key(Number(least=0, whole=True), "minimum number of tests; default 1"),
                    },
                ),
                "a test report that must show no failure",
            ),
        },
        one_of=(("passes", "fails", "changed", "unchanged", "exists", "expect", "report"),),
        slips=CHECK_SLIPS,
    ),
    least=1,
)

ASSESS = Ref("assess", lambda: guidance.ASSESS)
