"""The next steps in answers over MCP, and those of runs that a connected agent holds, typed as printed."""

import json
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from support.first_use.shells import KEYS, Shells, open_shells
from support.next_steps.follow import follow, in_box
from support.security.black_box import BlackBox, make_black_box
from support.security.mcp_stdio import call_tools

pytestmark = pytest.mark.system  # takes long: many processes of its own

Json = dict[str, Any]
TIDY = """\
name: tidy
description: Tidy the page.
steps:
  - {name: page, prompt: Write page.md., done_when: [{exists: page.md}]}
  - {name: ok, type: approval, message: Is it tidy?}
  - {name: last, prompt: Say goodbye.}
"""
GATED = """\
name: gated
description: Work, then check.
steps:
  - {name: page, prompt: Write the page.}
  - {name: check, command: test -e good, on_fail: escalate}
  - {name: last, prompt: Say goodbye.}
"""
PLAIN = "name: plain\ndescription: Say one.\nsteps:\n  - {name: ok, type: approval, message: Go?}\n"
WORKS = "name: works\nsteps:\n  - {name: work, prompt: Do the work., agent: claude/sonnet}\n"


@pytest.fixture
def box(tmp_path: Path) -> BlackBox:
    return make_black_box(tmp_path)


@pytest.fixture
def shells(tmp_path: Path) -> Generator[Shells]:
    with open_shells(make_black_box(tmp_path), sys.executable) as opened:
        yield opened


def ask(box: BlackBox, tool: str, **arguments: Any) -> Json:
    (answer,) = call_tools(box, [(tool, arguments)]).answers
    data = dict[str, Any](answer["result"]["structuredContent"])
    if data.get("working"):
        return ask(box, "continue_workflow", continueToken=data["continueToken"], intent="rehydrate")
    return data


def advance(box: BlackBox, at: Json) -> Json:
    output = {"notesMarkdown": "Did it."}
    return ask(box, "continue_workflow", continueToken=at["continueToken"], intent="advance", output=output)


def words(answer: Json) -> str:
    return json.dumps(answer, ensure_ascii=False).replace('\\"', '"')


def start(box: BlackBox, name: str = "tidy", text: str = TIDY) -> Json:
    box.write_own(f"workflows/{name}/workflow.yaml", text)
    return ask(box, "start_workflow", workflowId=name, workspacePath=str(box.repository), goal="Tidy up.")


def test_a_red_check_is_looked_at_again_by_the_command_of_a_person(box: BlackBox) -> None:
    refused = advance(box, start(box, "gated", GATED))
    box.write("good", "")
    follow(
        in_box(box),
        words(refused),
        "{} (a person does the same with: handrail resume {})",
        shows="continues with connected",
    )
    call = {"continueToken": refused["continueToken"], "intent": "rehydrate"}
    assert ask(box, "continue_workflow", **call)["pending"]["address"] == "last"


def test_an_approval_is_asked_of_the_user_and_the_agent_looks_again(box: BlackBox) -> None:
    box.write("page.md", "tidy\n")
    asked = advance(box, start(box))
    follow(
        in_box(box),
        words(asked),
        "ask your user for: handrail approve {} (or revise, reject); then rehydrate",
        shows="approved by ann",
    )
    call = {"continueToken": asked["continueToken"], "intent": "rehydrate"}
    assert ask(box, "continue_workflow", **call)["pending"]["address"] == "last"


def test_the_call_that_finds_a_run_again_comes_back_to_its_step(box: BlackBox) -> None:
    first = start(box)
    found = ask(box, "resume_session", workspacePath=str(box.repository), runId=first["runId"])
    (call,) = [each["nextCall"] for each in found["candidates"]]
    assert ask(box, call["tool"], **call["params"])["pending"]["address"] == "page"


def test_a_run_that_was_taken_away_is_taken_again(box: BlackBox) -> None:
    first = start(box)
    assert box.call("take", first["runId"]).exit_code == 0
    refused = advance(box, first)
    follow(
        in_box(box),
        words(refused),
        "ask your user for: handrail take {}, which prints a token; or leave the run to {}",
        shows="continueToken",
    )


def test_a_workflow_that_is_not_trusted_is_trusted_by_the_user(box: BlackBox) -> None:
    box.write(".handrail/workflows/theirs/workflow.yaml", PLAIN.replace("plain", "theirs"))
    said = words(ask(box, "inspect_workflow", workflowId="theirs", workspacePath=str(box.repository)))
    follow(in_box(box), said, "ask your user to read it, then: handrail trust {}", code=3, shows="theirs/workflow.yaml")


def test_a_run_that_handrail_drives_is_taken(box: BlackBox) -> None:
    box.write_own("workflows/plain/workflow.yaml", PLAIN)
    assert box.call("run", "plain").exit_code == 3
    found = ask(box, "resume_session", workspacePath=str(box.repository), runId="plain-1")
    follow(in_box(box), words(found), "handrail take {}", shows="continueToken")


def test_a_held_run_is_released_as_the_command_says(shells: Shells) -> None:
    shells.box.write_own(
        "workflows/works/workflow.yaml", PLAIN.replace("plain", "works") + WORKS.partition("steps:\n")[2]
    )
    shells.call("ann", "run", "works")
    shells.call("ann", "take", "works-1")
    said = shells.call("ann", "approve", "works-1").text
    follow(in_box(shells.box, ANTHROPIC_API_KEY=KEYS["ann"]), said, "handrail release {}", shows="works-1 succeeded")


def test_what_agents_were_kept_from_is_told_by_why(shells: Shells) -> None:
    claude = shells.box.base / "bin" / "claude"
    denied = [{"tool_name": "Edit", "tool_input": {"file_path": "a.py"}}]
    claude.write_text(claude.read_text().replace('"permission_denials": []', f'"permission_denials": {denied}'))
    shells.add(
        "works", "".join(f"  - {{name: s{at}, prompt: Do the work., agent: claude/sonnet}}\n" for at in range(4))
    )
    said = shells.call("ann", "run", "works").text
    follow(in_box(shells.box), said, "and {} more, see handrail why {}", shows="s3")


def test_files_of_the_repository_that_were_left_out_are_explained(shells: Shells) -> None:
    shells.box.write(".mcp.json", '{"mcpServers": {"x": {"command": "true"}}}')
    shells.box.commit()
    shells.add("works", WORKS.partition("steps:\n")[2])
    said = shells.call("ann", "run", "works").text
    follow(in_box(shells.box), said, "you have not trusted them, see handrail trust --help", shows="Usage")


def test_a_run_without_a_login_goes_on_from_a_shell_that_has_one(shells: Shells) -> None:
    shells.box.write_own("workflows/works/workflow.yaml", WORKS)
    said = shells.call("nobody", "run", "works").text
    login = in_box(shells.box, ANTHROPIC_API_KEY=KEYS["ann"])
    follow(login, said, "{}, then from that shell: handrail resume {}", shows="works-1 succeeded")
