"""One key of each table through the command line, with real processes and the scripted agent, in one repository."""

import json

import pytest

from support.cli.fixtures import team
from support.cli.team import Team
from support.differences.proofs import Json, flow, guided, step

pytestmark = pytest.mark.system  # takes long

__all__ = ["team"]

LAST: Json = {"name": "last", "command": "echo last >> trace"}
SCRIPT: Json = {
    "look": {"output": {"notesMarkdown": "done"}, "repeat": True},
    "work": {"say": "Done.", "files": {"b.txt": "b"}, "repeat": True},
    "checks/fix": {"files": {"a.txt": "a"}, "repeat": True},
}
AGENT: Json = {"name": "work", "prompt": "Do the work."}
RED: Json = {"name": "work", "command": "exit 3"}
GATE: Json = {"name": "checks", "type": "gate", "checks": {"a": "test -e a.txt"}}
LOOP: Json = {"name": "again", "type": "loop", "max_iterations": 2, "steps": [LAST]}
TABLES: dict[str, tuple[Json, Json, str]] = {
    "every step": ({**RED, "on_fail": "block"}, {**RED, "on_fail": "continue"}, "needs you"),
    "agent settings": ({**AGENT, "disallowed_tools": ["Write"]}, AGENT, "denied"),
    "gate step": (GATE, {**GATE, "fix": "Make the file."}, "needs you"),
    "done_when": ({**AGENT, "done_when": [{"exists": "no.txt"}]}, AGENT, "needs you"),
    "approval step": ({"name": "ok", "type": "approval", "message": "Is it blue?"}, LAST, "Is it blue?"),
    "end step": ({"name": "end", "type": "end", "status": "failed", "message": "No."}, LAST, "failed"),
    "loop step": ({**LOOP, "until": "1 == 2", "on_max": "block"}, {**LOOP, "for": 1}, "needs you"),
    "retry": ({**RED, "retry": {"max": 1}}, RED, "command: exit 3\n✗ work"),
}
"""A step with a key and one without, and what is printed for the first alone."""


def printed(team: Team, text: str, suffix: str = "yaml") -> str:
    """Run a workflow with the command line; give all that it prints."""
    name = "guided-case" if suffix == "json" else "case"
    folder = team.root / ".handrail" / "workflows" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"workflow.{suffix}").write_text(text, "utf-8")
    script = team.root.parent / "script.json"
    script.write_text(json.dumps(SCRIPT), "utf-8")
    team.runs.call("trust", name, "--yes")
    return team.runs.call("run", name, "Make it better.", "--script", str(script), "--agent", "scripted").output


@pytest.mark.parametrize("table", TABLES)
def test_a_key_of_each_table_changes_what_a_person_reads(team: Team, table: str) -> None:
    one, other, said = TABLES[table]
    with_key, without = printed(team, flow(one, LAST)), printed(team, flow(other, LAST))
    assert said in with_key
    assert said not in without


def test_a_key_of_the_workflow_and_one_of_its_budget_stop_a_run(team: Team) -> None:
    two = ({**AGENT, "output": "said"}, {"name": "more", "prompt": "{{ said }} again"})
    assert "budget" in printed(team, flow(*two, budget={"agent_calls": 1}))
    assert "succeeded" in printed(team, flow(AGENT))


def test_a_key_of_json_changes_what_is_printed(team: Team) -> None:
    assert "succeeded" in printed(team, guided(step()), "json")
    assert "needs you" in printed(team, guided(step(requireConfirmation=True)), "json")


def test_a_table_of_the_configuration_changes_what_is_executed(team: Team) -> None:
    config = team.root / ".handrail" / "config.toml"
    config.parent.mkdir(exist_ok=True)
    gate = flow({"name": "checks", "type": "gate", "checks": "project"})
    for command, said in (("true", "succeeded"), ("exit 7", "needs you")):
        config.write_text(f'[checks]\ntest = "{command}"\n', "utf-8")
        team.runs.call("trust", ".handrail/config.toml", "--yes")
        assert said in printed(team, gate)
