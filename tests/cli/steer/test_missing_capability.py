"""A required capability that lacks: the two ways on that are printed work as they are typed."""

import json
import re
from typing import Any

from support.cli.team import Team
from support.pull.room import definition, step

FLOW = definition(step("one"), step("two"), name="feat", capabilities={"web_browsing": "required"})
COMMAND = re.compile(r"handrail (?:prefer|resume) feat-1(?: --risk aggressive)?")


def seen(status: str) -> dict[str, Any]:
    basis = {"kind": "wr.capability_observation", "version": 1, "capability": "web_browsing", "status": status}
    return {**basis, "method": "probe", "evidence": "tried it"}


def turn(notes: str, *artifacts: dict[str, Any]) -> dict[str, Any]:
    return {"output": {"notesMarkdown": notes, "artifacts": list(artifacts)}}


def launched(team: Team, *turns: dict[str, Any]) -> list[str]:
    """Run the workflow with an agent that finds the capability lacking; give the commands that are printed."""
    (team.root / ".handrail/workflows").mkdir(parents=True)
    team.write(".handrail/workflows/feat.json", json.dumps(FLOW))
    team.script("feat", {"one": list(turns), "two": turn("done")})
    team.text("trust", "feat", "--yes")
    said = team.run("feat", "Go.", code=3)
    return COMMAND.findall(next(line for line in said.splitlines() if "let the run continue without it" in line))


def test_a_launched_agent_goes_on_without_it_by_the_printed_commands(team: Team) -> None:
    first, prefer, resume = launched(team, turn("tried", seen("unavailable")), turn("did it without"))
    assert first == resume
    team.text(*prefer.split()[1:])
    assert "feat-1 succeeded" in team.text(*resume.split()[1:])
    assert team.json("show", "feat-1")["gaps"][0]["about"] == "web_browsing"


def test_a_launched_agent_that_has_it_now_goes_on_by_the_printed_command(team: Team) -> None:
    resume, *_ = launched(team, turn("tried", seen("unavailable")), turn("it is there", seen("available")))
    assert "feat-1 succeeded" in team.text(*resume.split()[1:])
    assert not team.json("show", "feat-1").get("gaps")
