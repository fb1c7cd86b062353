"""An agent that is connected over MCP hands in too early, repairs that, and goes on; so does a person's command.

The program under test is a variable, see `support.security.black_box`.
"""

import re
from collections.abc import Callable
from typing import Any

import pytest

from support.security.black_box import BlackBox
from support.security.mcp_stdio import call_tools

pytestmark = pytest.mark.system  # takes long: many processes of its own

TIDY = """\
name: tidy
description: Tidy the page.
steps:
  - {name: page, prompt: Write page.md., done_when: [{exists: page.md}]}
  - {name: last, prompt: Say goodbye.}
"""
Json = dict[str, Any]
Again = Callable[[BlackBox, Json, Json], Json]


def ask(box: BlackBox, tool: str, **arguments: Any) -> Json:
    """Call a tool in a client session of its own; give the answer as data."""
    (answer,) = call_tools(box, [(tool, arguments)]).answers
    data = dict[str, Any](answer["result"]["structuredContent"])
    if data.get("working"):
        return ask(box, "continue_workflow", continueToken=data["continueToken"], intent="rehydrate")
    return data


def advance(box: BlackBox, at: Json) -> Json:
    output = {"notesMarkdown": "Wrote the page."}
    return ask(box, "continue_workflow", continueToken=at["continueToken"], intent="advance", output=output)


def refused_at_once(box: BlackBox) -> tuple[Json, Json]:
    """Start `tidy`, and hand in its first step without the file that proves it."""
    box.write_own("workflows/tidy/workflow.yaml", TIDY)
    first = ask(box, "start_workflow", workflowId="tidy", workspacePath=str(box.repository), goal="Tidy up.")
    assert first["pending"]["address"] == "page", first
    refused = advance(box, first)
    assert refused["kind"] == "blocked"
    assert "page.md" in refused["blockers"][0]["message"]
    return first, refused


def with_the_same_token(box: BlackBox, first: Json, refused: Json) -> Json:
    del refused
    return advance(box, first)


def with_the_newest_token(box: BlackBox, first: Json, refused: Json) -> Json:
    del first
    return advance(box, refused)


def after_resume_session(box: BlackBox, first: Json, refused: Json) -> Json:
    del refused
    found = ask(box, "resume_session", workspacePath=str(box.repository), runId=first["runId"])
    return advance(box, ask(box, "continue_workflow", **found["candidates"][0]["nextCall"]["params"]))


def after_the_command_that_status_names(box: BlackBox, first: Json, refused: Json) -> Json:
    (words,) = re.findall(r"handrail (resume \S+)", box.call("status", first["runId"]).out)
    done = box.call(*words.split())
    assert "error" not in done.err, done.text
    return advance(box, refused)


@pytest.mark.parametrize(
    "again",
    [
        with_the_same_token,
        with_the_newest_token,
        after_resume_session,
        after_the_command_that_status_names,
    ],
)
def test_what_was_handed_in_too_early_is_handed_in_again_once_it_is_there(box: BlackBox, again: Again) -> None:
    first, refused = refused_at_once(box)
    box.write("page.md", "tidy\n")
    said = again(box, first, refused)
    assert said["kind"] == "ok", said["blockers"]
    assert said["pending"]["address"] == "last"
    assert advance(box, said)["isComplete"]


def test_a_person_takes_over_what_a_connected_agent_holds(box: BlackBox) -> None:
    first, _ = refused_at_once(box)
    box.write("page.md", "tidy\n")
    taken = box.call("take", first["runId"], "--json")
    assert taken.exit_code == 0, taken.text
    looked = ask(box, "continue_workflow", continueToken=taken.document["continue_token"], intent="rehydrate")
    assert advance(box, looked)["pending"]["address"] == "last"
