"""Agents of one's own, described in agents.toml and in the repository's configuration, perform the steps of a run."""

import sys

from support.cli.running import Runs

AGENT = "[agents.mine]\ncommand = ['{python}', '-c', 'import sys; print(sys.argv[1].upper())', '{{prompt}}']\n"
WORKFLOW = "name: NAME\nsteps:\n  - {name: work, prompt: 'do it', access: full, output: said, handoff: none}\n"


def agent() -> str:
    return AGENT.format(python=sys.executable)


def describe(runs: Runs) -> None:
    runs.shop.home.mkdir()
    (runs.shop.home / "agents.toml").write_text(agent())


def test_an_agent_of_the_user_performs_a_run(runs: Runs) -> None:
    describe(runs)
    runs.add("shout", WORKFLOW)
    shown = runs.json("run", "shout", "--agent", "mine")
    assert "DO IT" in str(runs.json("show", shown["run"])), shown


def test_what_it_cannot_be_held_to_is_refused_before_the_run(runs: Runs) -> None:
    describe(runs)
    runs.add("quiet", WORKFLOW.replace("access: full", "access: read"))
    said = runs.call("run", "quiet", "--agent", "mine")
    assert said.exit_code != 0
    assert "step 'work': mine: `access: read` cannot be enforced" in said.output


def test_an_agent_of_the_repository_needs_trust(runs: Runs) -> None:
    runs.add("shout", WORKFLOW)
    runs.shop.write(".handrail/config.toml", agent())
    said = runs.call("run", "shout", "--agent", "mine")
    assert said.exit_code != 0
    assert "needs your trust" in said.output
    assert runs.call("trust", ".handrail/config.toml", "--yes").exit_code == 0
    shown = runs.json("run", "shout", "--agent", "mine")
    assert "DO IT" in str(runs.json("show", shown["run"])), shown


def test_a_mistyped_name_is_answered_with_the_one_that_was_meant(runs: Runs) -> None:
    describe(runs)
    runs.add("shout", WORKFLOW)
    said = runs.call("run", "shout", "--agent", "mien")
    assert "the agent 'mien' is not known, did you mean 'mine'?" in said.output
