"""What an agent is doing right now, read from the end of what it printed."""

import json
from pathlib import Path

import pytest

from handrail.agents.registry import KnownAgents
from handrail.processes.local import LocalProcesses
from handrail.runtime.call_activity import CallActivity
from handrail.runtime.handlers.agents.watch import TAIL


@pytest.fixture
def activity(tmp_path: Path) -> CallActivity:
    return CallActivity(LocalProcesses(), KnownAgents(), tmp_path)


def printed(root: Path, text: str, start: int = 0) -> None:
    """Add to what the call that event 7 of a run began has printed."""
    folder = root / "fix-1" / "7" / f"agent.{start}"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "stdout").open("a", encoding="utf-8") as file:
        file.write(text)


def tool(name: str, **given: str) -> str:
    """Give the line of a tool."""
    return json.dumps({"type": "tool", "name": name, "input": given}) + "\n"


def test_nothing_is_known_of_a_call_that_has_printed_nothing(activity: CallActivity) -> None:
    assert activity.describe_activity("fix-1", 7, "scripted") == ""


def test_the_newest_telling_line_counts(activity: CallActivity, tmp_path: Path) -> None:
    printed(tmp_path, tool("Read", file="a.py"))
    assert activity.describe_activity("fix-1", 7, "scripted") == "Read a.py"
    printed(tmp_path, tool("Bash", command="npm test") + "noise\n" + '{"type": "session"}\n')
    assert activity.describe_activity("fix-1", 7, "scripted") == "Bash npm test"


def test_a_line_counts_when_it_is_whole(activity: CallActivity, tmp_path: Path) -> None:
    line = tool("Read", file="a.py")
    printed(tmp_path, line[:10])
    assert activity.describe_activity("fix-1", 7, "scripted") == ""
    printed(tmp_path, line[10:])
    assert activity.describe_activity("fix-1", 7, "scripted") == "Read a.py"


def test_only_the_end_is_read_and_what_was_seen_stays_until_there_is_something_newer(
    activity: CallActivity, tmp_path: Path
) -> None:
    printed(tmp_path, tool("Read", file="a.py"))
    assert activity.describe_activity("fix-1", 7, "scripted") == "Read a.py"
    printed(tmp_path, json.dumps({"type": "result", "text": "x" * TAIL * 2}) + "\n")
    assert activity.describe_activity("fix-1", 7, "scripted") == "Read a.py"
    printed(tmp_path, tool("Edit", file="b.py"))
    assert activity.describe_activity("fix-1", 7, "scripted") == "Edit b.py"


def test_a_call_that_was_made_again_is_looked_at_in_its_newest_start(activity: CallActivity, tmp_path: Path) -> None:
    printed(tmp_path, tool("Read", file="a.py"))
    printed(tmp_path, tool("Write", path="b.py"), start=1)
    assert activity.describe_activity("fix-1", 7, "scripted") == "Write b.py"


def test_an_agent_that_is_not_known_gives_no_glimpse(activity: CallActivity, tmp_path: Path) -> None:
    printed(tmp_path, tool("Read", file="a.py"))
    assert activity.describe_activity("fix-1", 7, "nobody") == ""
