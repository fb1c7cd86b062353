"""The shape of a script for the scripted agent: step addresses, each with the turns for its calls."""

from typing import get_args

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
from handrail.model.history.spending import CallStatus

DEFAULT = "default"
"""The key for every step without its own."""
MORE = "..."
"""The item that repeats the turn before it."""

FAILURES = tuple(status for status in get_args(CallStatus) if status != "ok")

_COMMAND = Text("command", 1)
_COMMANDS = Either("one command or a list", {"text": _COMMAND, "list": ListOf(_COMMAND)})
_TEXTS = Either("one text or a list", {"text": Text("text", 1), "list": ListOf(Text("text", 1))})
_STATUS = Choice(FAILURES)

FAILURE = Record(
    "fail",
    {
        "status": Key(_STATUS, "how the call ends", required=True),
        "message": Key(Text(), "a description of what went wrong"),
        "retry_after": Key(Number(least=0), "seconds until another try makes sense"),
    },
)

FILE = Record(
    "a file",
    {
        "text": Key(Text(), "its content"),
        "base64": Key(Text("base64"), "its bytes, in base64"),
        "link": Key(Text("target", 1), "the target, if it is a symbolic link"),
        "executable": Key(Flag(), "whether it is executable; default: as before, otherwise no"),
    },
    one_of=(("text", "base64", "link"),),
    at_most_one=(("link", "executable"),),
)

USAGE = Record(
    "usage",
    {
        "input_tokens": Key(Number(least=0, whole=True), "input tokens"),
        "output_tokens": Key(Number(least=0, whole=True), "output tokens"),
        "cached_tokens": Key(Number(least=0, whole=True), "tokens read from the cache"),
        "cost": Key(Number(least=0), "cost in US dollars; if left out, the agent does not report it"),
    },
    hints={"usd": "the key is 'cost'", "tokens": "the keys are 'input_tokens' and 'output_tokens'"},
)

TOOL = Record(
    "call_tool",
    {
        "name": Key(Text("tool name", 1), "the tool", required=True),
        "input": Key(Anything(), "its arguments"),
        "expect": Key(
            _TEXTS, "parts that the answer of a Handrail tool must contain; the call fails if one is missing"
        ),
        "save": Key(Text("name", 1), "a name for its answer: `{NAME.run}` in a later input of the turn stands for it"),
    },
)

TURN = Record(
    "a turn",
    {
        "expect_prompt": Key(
            _TEXTS, "parts that the prompt must contain; the call fails and names those that are missing"
        ),
        "delay": Key(Number(least=0, most=1_000_000), "seconds to wait first"),
        "call_tool": Key(
            Either("one tool or a list", {"map": TOOL, "list": ListOf(TOOL)}),
            "tools that it uses, Handrail's for real; one that the step may not use ends the call as `denied`",
        ),
        "files": Key(
            MapOf(Either("a file", {"text": Text(), "nothing": Nothing(), "map": FILE}), key_what="path"),
            "paths in the workspace, each with its text, a longer form, or null to delete it",
        ),
        "run": Key(_COMMANDS, "shell commands in the workspace; a failing one is shown and the turn continues"),
        "background": Key(_COMMANDS, "shell commands that keep running after the agent has ended"),
        "say": Key(Text(), "the agent's final message"),
        "output": Key(Anything(), "the structured result"),
        "usage": Key(USAGE, "the usage of the call"),
        "ask": Key(Text("question", 1), "a question to a person; the call ends with it"),
        "fail": Key(Either("fail", {"text": _STATUS, "map": FAILURE}), "how the call ends, after everything else"),
        "repeat": Key(Flag(), "true on the last turn: it is repeated for all further calls"),
    },
    at_most_one=(("ask", "fail"),),
    hints={
        "text": "the key is 'say'",
        "message": "the key is 'say'; the message of a failure is `fail: {status: ..., message: ...}`",
        "tool": "the key is 'call_tool'",
        "command": "the key is 'run'",
        "sleep": "the key is 'delay'",
        "retry_after": "it belongs to the failure: `fail: {status: rate_limited, retry_after: 5}`",
        "cost": "it belongs to usage: `usage: {cost: 0.01}`",
        "returns": "the key is 'output'",
    },
    slips={"text": "write `say: VALUE`"},
)

_MORE = Text("turn", 1, None, r"\.\.\.", "`- say: done`, or `- ...` at the end")
_ITEM = Either("a turn", {"map": TURN, "text": _MORE})
TURNS: Shape = Either("the turns of a step", {"list": ListOf(_ITEM, least=1), "map": TURN})
SCRIPT = MapOf(TURNS, least=1)
