"""The shape of a workflow's tests: scenarios, each with what happens to the run and what must result."""

from handrail.authoring.native.parts import COMMAND, DURATION
from handrail.authoring.scripts.schema import FILE, SCRIPT
from handrail.authoring.shapes.shapes import (
    Anything,
    Choice,
    Either,
    Flag,
    Key,
    ListOf,
    MapOf,
    Nothing,
    Number,
    Record,
    Shape,
    Text,
)

GAP = "..."
"""The entry of a path that stands for any number of steps."""
STATUSES = ("succeeded", "failed", "stopped", "needs you")
REASONS = ("approval", "question", "checks", "merge", "budget", "fault", "step", "capability")

_PART = Text("text", 1)
_PARTS = Either("one text or a list", {"text": _PART, "list": ListOf(_PART, least=1)})
_ADDRESS = Text("step address", 1)
_COUNT = Number(least=0, whole=True)

PARTS = Record(
    "parts of a text",
    {
        "contains": Key(_PARTS, "what it must contain"),
        "lacks": Key(_PARTS, "what it must not contain"),
    },
)

BOUNDS = Record(
    "bounds",
    {
        "least": Key(Number(least=0), "at least this much"),
        "most": Key(Number(least=0), "at most this much"),
    },
    hints={"min": "the key is 'least'", "max": "the key is 'most'"},
)

STEP = Record(
    "an expected step",
    {
        "status": Key(
            Choice(("succeeded", "failed", "skipped", "needs you", "approve", "revise", "reject")),
            "how it last ended; of an approval, the answer",
        ),
        "error": Key(_PARTS, "what its error must contain"),
        "output": Key(Anything(), "its output; of a map, the fields that matter"),
        "tries": Key(_COUNT, "how often it started"),
    },
)

REVISE = Record(
    "a revision", {"revise": Key(Text("comment", 1), "the comment that sends the work back", required=True)}
)

_ANSWER = Either("an answer", {"text": Text("answer", 1), "map": REVISE})

RESULT = Record(
    "the result of a command",
    {
        "exit": Key(Number(least=0, most=255, whole=True), "its exit code; default 0"),
        "stdout": Key(Text(), "what it prints"),
        "stderr": Key(Text(), "what it prints as an error"),
    },
    hints={"exit_code": "the key is 'exit'", "output": "the key is 'stdout'", "code": "the key is 'exit'"},
)

EXPECT = Record(
    "expect",
    {
        "status": Key(Choice(STATUSES), "the run's status at the end; default: succeeded"),
        "reason": Key(Choice(REASONS), "with `needs you`: what for"),
        "message": Key(_PARTS, "what the run's final message must contain"),
        "path": Key(ListOf(_ADDRESS, least=1), "the steps in the order in which they ran; `...` stands for any"),
        "not_run": Key(
            Either("one step or a list", {"text": _ADDRESS, "list": ListOf(_ADDRESS, least=1)}),
            "steps that must not have run",
        ),
        "tries": Key(MapOf(_COUNT, least=1, key_what="step address"), "how often steps started"),
        "prompts": Key(
            MapOf(Either("parts of a prompt", {"text": _PART, "list": ListOf(_PART, least=1), "map": PARTS}), least=1),
            "what the prompts of steps must contain, or must not",
        ),
        "steps": Key(MapOf(STEP, least=1, key_what="step address"), "how single steps ended"),
        "outputs": Key(MapOf(Anything(), least=1), "named outputs; of a map, the fields that matter"),
        "files": Key(
            MapOf(Either("a file", {"text": Text(), "nothing": Nothing(), "map": PARTS}), least=1, key_what="path"),
            "files of the worktree at the end: their text, parts of it, or null for one that must not exist",
        ),
        "cost": Key(Either("a cost", {"number": Number(least=0), "map": BOUNDS}), "US dollars of all agent calls"),
        "agent_calls": Key(Either("a number of calls", {"number": _COUNT, "map": BOUNDS}), "calls of agents"),
    },
    hints={
        "output": "the key is 'outputs'",
        "prompt": "the key is 'prompts', with step addresses in it",
        "error": "what the run says is 'message'; those of a step are `steps: {STEP: {error: ...}}`",
        "order": "the key is 'path'",
        "calls": "the key is 'agent_calls'",
        "usd": "the key is 'cost'",
    },
)

FILE_CHECK = Record(
    "a check of a file",
    {
        "command": Key(COMMAND, "the command; the file is $FILE in it, or follows", required=True),
        "failed": Key(ListOf(Number(least=1, most=255, whole=True), least=1), "exit codes that mean a failing test"),
        "failed_when": Key(Text("pattern", 1), "a pattern that a line of the output matches where a test failed"),
        "report": Key(Text("path", 1), "a JUnit report that the command writes"),
    },
)

PROJECT = Record(
    "the project",
    {
        "sources": Key(ListOf(Text("glob", 1), least=1), "globs of the product's own code"),
        "default_branch": Key(Text("branch", 1), "the branch that work is merged into"),
        "outdated": Key(COMMAND, "the command that lists outdated packages"),
        "update": Key(COMMAND, "the command that updates one package"),
    },
)

SCENARIO = Record(
    "a scenario",
    {
        "name": Key(Text("name", 1, 120), "what it shows, as a sentence", required=True),
        "task": Key(Text("task", 1), "the sentence after the workflow's name"),
        "input": Key(MapOf(Anything(), key_what="input name"), "the workflow's inputs"),
        "files": Key(
            MapOf(Either("a file", {"text": Text(), "map": FILE}), key_what="path"),
            "what the repository holds at the start, committed",
        ),
        "checks": Key(
            MapOf(Either("a check", {"text": COMMAND, "map": FILE_CHECK}), key_what="check name"),
            "the project's checks, as in .handrail/config.toml; a map is a check of single files",
        ),
        "project": Key(PROJECT, "what [project] of .handrail/config.toml says"),
        "tools": Key(
            MapOf(Text("shell script", 1), key_pattern=r"[A-Za-z0-9][A-Za-z0-9_.+-]*", key_what="program name"),
            "programs that stand in for real ones, as shell scripts",
        ),
        "turns": Key(SCRIPT, "what the agents do, step by step: the script of the scripted agent"),
        "answers": Key(
            MapOf(
                Either("an answer", {"text": Text("answer", 1), "map": REVISE, "list": ListOf(_ANSWER, least=1)}),
                key_what="step address",
            ),
            "what a person answers to approvals and questions; a list answers one after the other",
        ),
        "commands": Key(
            MapOf(
                Either("results of commands", {"map": RESULT, "list": ListOf(RESULT, least=1)}),
                key_what="step address",
            ),
            "results that stand in for the commands of steps, which then do not run",
        ),
        "timeout": Key(DURATION, "how long the whole scenario may take; default 60s"),
        "skip": Key(Either("skip", {"text": Text("reason", 1), "flag": Flag()}), "skip it, with the reason"),
        "expect": Key(EXPECT, "what must happen", required=True),
    },
    hints={
        "script": "the key is 'turns'",
        "inputs": "the key is 'input'",
        "answer": "the key is 'answers'",
        "turn": "the key is 'turns'",
        "status": "it belongs under 'expect'",
        "path": "it belongs under 'expect'",
        "agent": "tests are played by the scripted agent; write what it does under 'turns'",
        "description": "the key is 'name'",
    },
    slips={"text": "write `name: VALUE` and `expect: {status: succeeded}`"},
)

SCENARIOS: Shape = Either("scenarios", {"map": SCENARIO, "list": ListOf(SCENARIO, least=1)})
