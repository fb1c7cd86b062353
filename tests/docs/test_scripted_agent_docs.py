"""The page scripted-agent.md names every key of a script, and its example is played."""

import subprocess
from pathlib import Path

import pytest

from handrail.agents.played.files import read_script
from handrail.agents.played.scripted import ScriptedAgent
from handrail.authoring.scripts.schema import SCRIPT
from handrail.ports.agents import AgentCall, AgentOutcome
from handrail.ports.processes import Ended
from support.docs.keys import keys_by_record, words
from support.docs.pages import CODE, blocks, prose, tables

PAGE = "docs/scripted-agent.md"
KEYS = keys_by_record(SCRIPT)
TABLES = {table.notes["keys"]: table for table in tables(PAGE) if "keys" in table.notes}


@pytest.fixture
def script(tmp_path: Path) -> Path:
    (example,) = [block for block in blocks(PAGE) if block.language == "yaml"]
    path = tmp_path / example.notes["file"]
    path.write_text(example.text, encoding="utf-8")
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "old.txt").touch()
    return path


def _play(script: Path, address: str, turn: int = 1) -> tuple[AgentOutcome, str]:
    agent, workspace = ScriptedAgent(), str(script.parent / "workspace")
    call = AgentCall(
        run="fix-bug-1",
        address=address,
        turn=turn,
        prompt="The total is wrong.",
        workspace=workspace,
        options={"script": str(script)},
    )
    launch = agent.launch(call, str(script.parent / f"call-{turn}"))
    done = subprocess.run(launch.argv, input=launch.stdin, cwd=workspace, capture_output=True, check=False)
    reader = agent.lines()
    for line in done.stdout.splitlines():
        reader.feed(line)
    return reader.outcome(Ended(done.returncode)), done.stdout.decode()


def test_every_record_of_a_script_has_a_table() -> None:
    assert set(TABLES) == set(KEYS)


@pytest.mark.parametrize("name", KEYS)
def test_every_table_has_every_key_in_the_order_of_the_format(name: str) -> None:
    assert [row[0].strip("`") for row in TABLES[name].rows] == list(KEYS[name])


def test_every_status_is_named() -> None:
    assert words(SCRIPT) <= set(CODE.findall(prose(PAGE)))


def test_the_example_is_a_script(script: Path) -> None:
    assert set(read_script(str(script)).steps) >= {"reproduce", "default"}


def test_the_example_prints_what_the_page_shows(script: Path) -> None:
    (shown,) = [block for block in blocks(PAGE) if "prints" in block.notes]
    outcome, printed = _play(script, shown.notes["prints"])
    assert printed == shown.text
    assert (outcome.status, outcome.text) == ("ok", "The test shows it.")
    assert not (script.parent / "workspace" / "old.txt").exists()


def test_the_calls_of_the_example_end_as_its_turns_say(script: Path) -> None:
    calls = [("fix", 1), ("fix", 2), ("fix", 3), ("review@2/reviewer", 2), ("review@9/reviewer", 9)]
    calls += [("build[auth]/implement", 4), ("other", 1)]
    found = [_play(script, *call)[0] for call in calls]
    assert [each.status for each in found] == ["rate_limited", "ok", "api_error", "ok", "ok", "ok", "ok"]
    assert "the script has 2 turns for 'fix', and this is call 3" in found[2].message
    assert [each.text for each in found[3:6]] == ["Nothing to add.", "Nothing to add.", "Built."]
    assert found[6].question == "What should I do here?"
