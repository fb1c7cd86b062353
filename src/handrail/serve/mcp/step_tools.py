"""The tools that an agent of the engine may be offered, as data: name, purpose, and arguments."""

from handrail.serve.mcp.tools import Tool, text_schema

MAX_LENGTH = 20_000
"""The maximum number of characters of a message to a run."""

_RUN = text_schema("The id of a run that you started, as create_child_run gave it.", 256)

AGENT_TOOLS: tuple[Tool, ...] = (
    Tool(
        "report_progress",
        "Report progress",
        "Report your progress to the people who are watching. Call it at milestones, with one sentence.",
        {
            "message": text_schema("What you have reached, in one sentence.", 500),
            "percent": {"type": "number", "minimum": 0, "maximum": 100, "description": "How much of the step is done."},
        },
        ("message",),
    ),
    Tool(
        "ask_person",
        "Ask a person",
        "Ask a person something that you cannot find out yourself and cannot decide. The answer does not come at once:"
        " end your turn after the call; you are called again, with the answer, in the same conversation.",
        {"question": text_schema("The question, with what the person has to know to answer it.", 4000)},
        ("question",),
    ),
    Tool(
        "create_child_run",
        "Start another workflow",
        "Start a workflow as a separate run, in its own worktree, beside your step. It starts from the work as it was"
        " before your step, and its result is not part of yours: check on it with list_runs.",
        {
            "workflow": text_schema("The name of a workflow that is available here.", 256),
            "goal": text_schema("What it should achieve.", MAX_LENGTH),
            "inputs": {"type": "object", "description": "Values for its inputs, by their names."},
            "wait": {"type": "boolean", "description": "Wait until it ends, but less than a minute; default false."},
        },
        ("workflow", "goal"),
    ),
    Tool(
        "give_feedback",
        "Give feedback",
        "Send a message to the agents of a run that you started: the next agent that is called receives it.",
        {"run": _RUN, "message": text_schema("What you want to say.", MAX_LENGTH)},
        ("run", "message"),
    ),
    Tool(
        "list_runs",
        "List runs",
        "Show the runs that were started from your run: status, current step, result.",
        {},
        reads_only=True,
    ),
)
"""Only tools that exist have a row."""


def select_tools(names: str) -> tuple[Tool, ...]:
    """Return the tools that a step offers, from their comma-separated names."""
    wanted = names.split(",")
    return tuple(tool for tool in AGENT_TOOLS if tool.name in wanted)
