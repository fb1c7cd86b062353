"""What a run takes from around it as it starts: environment variables, the issue that it is for, the usual budget."""

import json

from support.cli.running import Runs

READS = "name: NAME\nsteps:\n  - {name: say, command: 'echo \"${env.SHOP_REGION}\"', output: said}\n"
CALLS = "name: NAME\nsteps:\n  - {name: kid, type: workflow, workflow: reads, output: kid}\n"
ISSUE = "name: NAME\nsteps:\n  - {name: say, command: 'echo \"${issue.title} <${run.issue}>\"', output: said}\n"
ASKS_TWICE = """\
name: NAME
BUDGET
steps:
  - {name: one, prompt: Do it.}
  - {name: two, prompt: Do it again.}
"""


def configure(runs: Runs, text: str) -> None:
    runs.shop.write(".handrail/config.toml", text)
    assert runs.call("trust", ".handrail/config.toml", "--yes").exit_code == 0


def script(runs: Runs, *steps: str) -> tuple[str, ...]:
    path = runs.shop.write("script.yaml", json.dumps({step: {} for step in steps}))
    return "--agent", "scripted", "--script", str(path)


def test_a_workflow_reads_a_variable_that_the_configuration_passes_on_and_no_other(runs: Runs) -> None:
    runs.add("reads", READS)
    refused = runs.text("run", "reads", code=2, SHOP_REGION="north")
    assert refused == (
        "error: this workflow reads env.SHOP_REGION, but runs do not get that variable; nothing was started\n"
        'next: add it to .handrail/config.toml, and trust the file: [agent] pass_env = ["SHOP_REGION"]\n'
    )
    configure(runs, '[agent]\npass_env = ["SHOP_REGION", "SHOP_TOKEN"]\n')
    assert runs.call("run", "reads", SHOP_REGION="north").exit_code == 0
    assert runs.json("show", "reads-1")["outputs"]["said"] == "north"
    runs.add("calls", CALLS)
    assert runs.call("run", "calls", SHOP_REGION="north").exit_code == 0
    assert runs.json("show", "calls-1")["outputs"]["kid"] == {"said": "north"}
    runs.add("keeps", READS.replace("SHOP_REGION", "SHOP_TOKEN"))
    assert "which is a secret" in runs.text("run", "keeps", code=2, SHOP_TOKEN="x9f8e7d6c5b4a3")


def test_a_variable_that_is_not_set_needs_you_unless_it_has_a_default(runs: Runs) -> None:
    runs.add("reads", READS)
    assert "field 'SHOP_REGION' does not exist" in runs.text("run", "reads", code=3)
    runs.add("else", READS.replace("env.SHOP_REGION", "env.SHOP_REGION | default(''none'')"))
    assert runs.call("run", "else").exit_code == 0
    assert runs.json("show", "else-1")["outputs"]["said"] == "none"


def test_the_task_is_the_issue_of_a_workflow_that_declares_none(runs: Runs) -> None:
    runs.add("issues", ISSUE)
    assert runs.text("run", "issues", code=2) == (
        "error: the workflow 'issues' reads its issue, but none was given; nothing was started\n"
        'next: describe the issue: handrail run issues "WHAT TO DO"\n'
    )
    assert runs.call("run", "issues", "Repair the totals.").exit_code == 0
    assert runs.json("show", "issues-1")["outputs"]["said"] == "Repair the totals. <>"


def test_the_budget_of_a_configuration_limits_every_run_and_the_lowest_limit_counts(runs: Runs) -> None:
    runs.add("asks", ASKS_TWICE.replace("BUDGET\n", ""))
    plays = script(runs, "one", "two")
    assert runs.call("run", "asks", *plays).exit_code == 0
    configure(runs, "[budget]\nagent_calls = 1\n")
    assert "the budget is used up: 1 agent calls of 1 agent calls" in runs.text("run", "asks", *plays, code=5)
    assert runs.call("resume", "asks-2").exit_code == 0
    runs.add("more", ASKS_TWICE.replace("BUDGET", "budget: {agent_calls: 5}"))
    assert runs.call("run", "more", *plays).exit_code == 5
    configure(runs, "[budget]\nagent_calls = 9\n")
    runs.shop.home.joinpath("config.toml").write_text('[budget]\nagent_calls = 1\nat_limit = "finish"\n')
    assert runs.call("run", "more", *plays).exit_code == 0
    assert [each["status"] for each in runs.json("show", "more-2")["steps"]] == ["succeeded", "skipped"]


def test_routing_in_a_configuration_is_refused_when_workflows_are_checked(runs: Runs) -> None:
    runs.add("asks", ASKS_TWICE.replace("BUDGET\n", ""))
    runs.shop.write(".handrail/config.toml", '[routing]\nbug = "asks"\n')
    assert "[routing] is not supported: Handrail does not choose workflows automatically" in runs.text(
        "validate", code=4
    )
