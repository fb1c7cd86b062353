"""The shapes of steps in the native format, one record per type."""

from dataclasses import replace

from handrail.authoring.native.parts import (
    AGENT_SETTINGS,
    ANY_VALUE,
    ASSESS,
    BUDGET,
    CHECKS,
    CLOSED_NAME,
    COMMAND,
    DONE_WHEN,
    DURATION,
    ENV,
    EXPRESSION,
    FIX,
    FLAG_OR_EXPRESSION,
    PROMPT,
    REPEATED,
    RETRY,
    RETURNS,
    ROLE,
    STEP_NAME,
    TEXTS,
    WORDS_FOR_MAX,
    agent_record,
    agent_task,
)
from handrail.authoring.native.slips import (
    CHECKS_SLIPS,
    DONE_WHEN_SLIPS,
    HINTS,
    INPUT_SLIPS,
    STEP_SLIPS,
    STEPS_SLIPS,
    WORDS,
)
from handrail.authoring.shapes.shapes import (
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
    Tagged,
    Text,
)

ON_FAIL = ("block", "fail", "continue", "warn", "retry", "escalate", "undo")

COMMON: dict[str, Key] = {
    "name": Key(STEP_NAME, "the step's name, unique in its list", required=True),
    "type": Key(Text("type", 1), "what kind of step it is"),
    "description": Key(Text(), "what it is for, shown to people"),
    "when": Key(FLAG_OR_EXPRESSION, "the step runs only if this is true"),
    "input": Key(
        MapOf(ANY_VALUE, key_pattern=r"[A-Za-z_][A-Za-z0-9_-]*"),
        "values available only to this step",
        slips=INPUT_SLIPS,
    ),
    "output": Key(CLOSED_NAME, "the name under which later steps read its result"),
    "returns": Key(RETURNS, "the type its result must have"),
    "timeout": Key(DURATION, "how long it may take"),
    "retry": Key(RETRY, "number of additional tries"),
    "on_fail": Key(Choice(ON_FAIL), "what happens when all tries have failed"),
    "escalate_to": Key(Text("person or channel", 1), "who is notified, with `on_fail: escalate`"),
    "budget": Key(BUDGET, "its budget"),
    "message": Key(Text(), "a message shown to people"),
    "done_when": Key(DONE_WHEN, "checks that Handrail makes before it accepts the step", slips=DONE_WHEN_SLIPS),
    "assess": Key(ASSESS, "an assessment that the agent must give: fixed levels, with reasons"),
    **AGENT_SETTINGS,
}

WORDS_FOR_ROUNDS = ("max", "max_cycles")
STEP_LIST: Shape = ListOf(Ref("step", lambda: STEPS), least=1)
ON_MAX: dict[str, Key] = {
    "max_iterations": Key(Number(least=1, most=1000, whole=True), "maximum number of rounds", aliases=WORDS_FOR_ROUNDS),
    "on_max": Key(
        Choice(("continue", "block", "fail"), also=("exit", "escalate")), "what happens after the last round"
    ),
    "on_max_iterations": Key(Choice(("continue", "block", "exit")), "Coven's name for `on_max`; its `exit` means fail"),
}
EACH: dict[str, Key] = {
    "for_each": Key(
        Either("a list", {"text": EXPRESSION, "list": ListOf(ANY_VALUE, least=1)}), "the items, one round each"
    ),
    "as": Key(CLOSED_NAME, "the name of the item; default item"),
    "key": Key(EXPRESSION, "the key of an item; default item.id, otherwise its index"),
}
ROLES: dict[str, Key] = {
    "prompt": Key(PROMPT, "the reviewer's prompt, short for `reviewer`"),
    "arbiter_prompt": Key(PROMPT, "the arbiter's prompt, short for `arbiter`"),
    "reviewer": Key(ROLE, "the agent that reviews"),
    "arbiter": Key(ROLE, "the agent that decides what is worth fixing"),
    "fixer": Key(ROLE, "the agent that fixes; default the reviewer"),
    "checks": Key(CHECKS, "commands that must pass after each fix", slips=CHECKS_SLIPS),
    "exit_when": Key(FLAG_OR_EXPRESSION, "stop early when this is true"),
    "converge": Key(
        Either(
            "converge",
            {
                "text": Choice(("on", "off")),
                "flag": Flag(),
                "map": Record(
                    "converge",
                    {
                        "severity": Key(
                            Choice(("low", "medium", "high", "critical"), placeholder=True),
                            "findings below this severity do not keep the loop going; default low",
                        ),
                        "plateau": Key(Number(least=1, most=100, whole=True), "rounds without progress; default 2"),
                    },
                ),
            },
        ),
        "how the loop detects that it makes no progress; on by default",
    ),
    **ON_MAX,
}


def _step(what: str, own: dict[str, Key], **rules: tuple[tuple[str, ...], ...]) -> Record:
    article = "an" if what[0] in "aei" else "a"
    one_of, at_most_one = rules.get("one_of", ()), rules.get("at_most_one", ())
    return Record(f"{article} {what} step", {**COMMON, **own}, one_of, at_most_one, HINTS)


RECORDS: dict[str, Record] = {
    "agent": _step(
        "agent",
        {
            "prompt": Key(PROMPT, "the prompt of the agent: text, a file, or the name of a prompt", required=True),
            "requires_approval": Key(
                Flag(), "wait for a person's approval after it", aliases=("require_confirmation",)
            ),
        },
    ),
    "agent-loop": _step(
        "agent-loop",
        ROLES,
        one_of=(("prompt", "reviewer"),),
        at_most_one=(("arbiter_prompt", "arbiter"), ("on_max", "on_max_iterations")),
    ),
    "review": _step(
        "review",
        {**ROLES, "max_iterations": replace(ON_MAX["max_iterations"], doc="maximum number of rounds; default 3")},
        at_most_one=(
            ("prompt", "reviewer"),
            ("arbiter_prompt", "arbiter"),
            ("on_max", "on_max_iterations"),
        ),
    ),
    "loop": _step(
        "loop",
        {
            "while": Key(FLAG_OR_EXPRESSION, "repeat while this is true, tested before each round"),
            "until": Key(FLAG_OR_EXPRESSION, "stop when this is true, tested after each round"),
            "for": Key(
                Either("a count", {"number": Number(least=0, most=1000, whole=True), "text": EXPRESSION}),
                "this many rounds",
            ),
            **EACH,
            **ON_MAX,
            "max_iterations": replace(ON_MAX["max_iterations"], required=True),
            "steps": Key(STEP_LIST, "the steps of each round", required=True, slips=STEPS_SLIPS),
        },
        one_of=(("while", "until", "for", "for_each"),),
        at_most_one=(("on_max", "on_max_iterations"),),
    ),
    "parallel-agents": _step(
        "parallel-agents",
        {
            **EACH,
            "for_each": Key(EACH["for_each"].shape, EACH["for_each"].doc, required=True),
            "after": Key(EXPRESSION, "keys of the items that it depends on"),
            "max_concurrent": Key(
                Number(least=1, most=100, whole=True, placeholder=True), "how many items run at a time; default 3"
            ),
            "prompt": Key(PROMPT, "one prompt per item, short for a body of one step"),
            "steps": Key(STEP_LIST, "the steps for each item", slips=STEPS_SLIPS),
        },
        one_of=(("prompt", "steps"),),
    ),
    "script": _step(
        "script",
        {
            "command": Key(COMMAND, "a shell command", required=True),
            "env": Key(ENV, "environment variables for it"),
            "repeatable": Key(Flag(), "whether it may be run again after a crash; default true"),
            "on_success": Key(Choice(("exit_loop",)), "end the loop when it succeeds"),
        },
    ),
    "gate": _step(
        "gate",
        {
            "command": Key(COMMAND, "a shell command that must succeed"),
            "checks": Key(
                CHECKS, "commands that must all succeed, or `project` for the project's checks", slips=CHECKS_SLIPS
            ),
            "fix": Key(FIX, "an agent that fixes what failed, between tries"),
            "env": Key(ENV, "environment variables for the commands"),
            "warn_when": Key(EXPRESSION, "a failure is only a warning when this is true"),
        },
        one_of=(("command", "checks"),),
    ),
    "approval": _step(
        "approval",
        {
            "show": Key(TEXTS, "what is shown: diff, or any value"),
            "revise": Key(STEP_NAME, "the step to which a revision returns; default the nearest earlier agent step"),
            "max": Key(
                Number(least=0, most=20, whole=True), "maximum number of revisions; default 3", aliases=WORDS_FOR_MAX
            ),
            "on_reject": Key(Choice(("stop", "revise")), "an older name for `revise`"),
        },
    ),
    "workflow": _step(
        "workflow", {"workflow": Key(Text("workflow", 1, 128), "the workflow that is called", required=True)}
    ),
    "use": _step(
        "use", {"use": Key(Text("routine", 1, 128), "the workflow whose steps are inserted here", required=True)}
    ),
    "create-issues": _step(
        "create-issues",
        {
            "from": Key(TEXTS, "the list of issues", required=True),
            "labels": Key(ListOf(Text(least=1), unique=True), "labels to add"),
        },
    ),
    "commit": _step(
        "commit",
        {
            "message": Key(Text("commit message", 1), "the commit message", required=True),
            "paths": Key(TEXTS, "only these paths"),
        },
    ),
    "merge": _step(
        "merge",
        {
            "from": Key(TEXTS, "a branch, a list of branches, or a fan-out's result", required=True),
            "checks": Key(CHECKS, "commands that must pass after each merge", slips=CHECKS_SLIPS),
            "on_conflict": Key(agent_task("on_conflict", REPEATED), "an agent that resolves conflicts"),
        },
    ),
    "pull-request": _step(
        "pull-request",
        {
            "title": Key(Text("title", 1), "its title", required=True),
            "body": Key(
                Either("a body", {"text": Text(), "map": agent_record("a body")}),
                "its text, or the agent that writes it",
            ),
            "base": Key(Text("branch", 1), "the target branch"),
            "draft": Key(Flag(placeholder=True), "open it as a draft"),
            "labels": Key(TEXTS, "labels to add"),
            "reviewers": Key(TEXTS, "requested reviewers"),
            "key": Key(Text(least=1), "pull requests with the same key are the same; default the issue or the run"),
            "follow": Key(
                Record(
                    "follow",
                    {
                        "on": Key(
                            ListOf(
                                Choice(("checks", "changes_requested", "comments", "conflict")), least=1, unique=True
                            ),
                            "what it reacts to",
                            required=True,
                        ),
                        "fix": Key(ROLE, "the agent that reacts", required=True),
                        "max": Key(
                            Number(least=1, most=100, whole=True),
                            "maximum number of reactions; default 3",
                            aliases=WORDS_FOR_MAX,
                        ),
                    },
                ),
                "monitor the pull request and react to it",
            ),
        },
    ),
    "end": _step("end", {"status": Key(Choice(("succeeded", "failed")), "how the run ends; default succeeded")}),
}

IMPLIED = {
    "prompt": "agent",
    "command": "script",
    "checks": "gate",
    "use": "use",
    "workflow": "workflow",
}

STEPS = Tagged("a step", "type", RECORDS, IMPLIED, words=WORDS, slips=STEP_SLIPS)
