"""A required capability that lacks: the ways on that a connected agent's user is told work as they are typed."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner

from handrail.cli.main import cli
from support.pull.room import Pull, definition, step

FLOW = definition(step("one"), step("two"), name="feat", capabilities={"web_browsing": "required"})
COMMAND = re.compile(r"handrail (?:prefer|resume) feat-1(?: --risk aggressive)?")
Typed = Callable[[str], str]


def seen(status: str) -> dict[str, Any]:
    basis = {"kind": "wr.capability_observation", "version": 1, "capability": "web_browsing", "status": status}
    return {**basis, "method": "probe", "evidence": "tried it"}


@pytest.fixture
def typed(pull: Pull, monkeypatch: pytest.MonkeyPatch) -> Typed:
    for name, value in pull.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(pull.workspace)

    def type_(command: str) -> str:
        result = CliRunner().invoke(cli, command.split()[1:])
        assert result.exit_code == 0, result.output
        return result.output

    return type_


def test_a_connected_agent_goes_on_without_it_by_the_printed_commands(pull: Pull, typed: Typed) -> None:
    blocked = pull.advance(pull.start(FLOW), artifacts=[seen("unavailable")])
    prefer, resume = COMMAND.findall(blocked.data["blockers"][0]["suggestedFix"])
    typed(prefer)
    assert "feat-1 continues with connected agent" in typed(resume)
    pull.drive()
    assert pull.state(blocked.run).held_by, "it stays with its agent"
    at = pull.advance(blocked)
    assert at.address == "two"
    assert "web_browsing" in pull.advance(at).text, "the gap is told at the end"


def test_a_connected_agent_that_has_it_now_goes_on_by_the_call_that_is_printed(pull: Pull) -> None:
    blocked = pull.advance(pull.start(FLOW), artifacts=[seen("unavailable")])
    assert blocked.data["nextCall"]["tool"] == "continue_workflow"
    assert pull.advance(blocked, artifacts=[seen("available")]).address == "two"
