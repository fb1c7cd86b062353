"""Runs use what `handrail init` wrote."""

import json

import pytest

from support.cli.fresh import GREEN, Fresh


def test_what_was_written_is_used_by_a_run(fresh: Fresh) -> None:
    fresh.commit(Makefile=GREEN)
    assert fresh.init().exit_code == 0
    fresh.shop.workflow("gate", "name: NAME\nsteps:\n  - {name: all, type: gate, checks: project}\n")
    assert fresh.shop.call("trust", "gate", "--yes").exit_code == 0
    result = fresh.shop.call("run", "gate", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["status"] == "succeeded"


SCRIPTED = '[agent]\ndefault = "scripted"\n'
ASKS = "name: NAME\nsteps:\n  - {name: work, prompt: 'Do the work now, please.'WHO}\n"


@pytest.mark.parametrize(
    ("who", "said"),
    [("", "the scripted agent plays a script"), (", agent: claude", "the agent 'claude' is not installed")],
)
def test_the_agent_of_the_configuration_is_that_of_steps_that_name_none(fresh: Fresh, who: str, said: str) -> None:
    fresh.commit(**{".handrail/config.toml": SCRIPTED})
    fresh.shop.workflow("ask", ASKS.replace("WHO", who))
    for what in (".handrail/config.toml", "ask"):
        assert fresh.shop.call("trust", what, "--yes").exit_code == 0
    result = fresh.shop.call("run", "ask")
    assert result.exit_code == 2, result.output
    assert said in result.output
