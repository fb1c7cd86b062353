"""What agents took: `handrail cost`, and the costs that other commands show."""

from inline_snapshot import snapshot

from support.cli.team import Team, squeezed
from support.cli.team_workflows import BUILDS, FAN

PRICED = """\
name: NAME
budget: {usd: 2, agent_calls: 9}
steps:
  - {name: first, prompt: Write something now., retry: 1, done_when: [{exists: a.txt}]}
  - {name: plain, command: 'true'}
  - {name: kid, type: workflow, workflow: child}
"""
CHILD = "name: NAME\nsteps:\n  - {name: inner, prompt: Do the inner work now.}\n"
PLAYS = {
    "first": [
        {"say": "no", "usage": {"input_tokens": 10, "output_tokens": 5, "cost": 0.25}},
        {"files": {"a.txt": "a"}, "usage": {"input_tokens": 20, "output_tokens": 5, "cost": 0.5}},
    ],
    "inner": [{"say": "done", "usage": {"input_tokens": 1, "output_tokens": 1, "cost": 0.004}}],
}
UNPRICED = {
    "first": [{"files": {"a.txt": "a"}, "usage": {"input_tokens": 20, "output_tokens": 5}}],
    "inner": [{"say": "done"}],
}


def test_every_try_and_every_called_workflow_counts(team: Team) -> None:
    team.add("child", CHILD)
    team.add("priced", PRICED, **PLAYS)
    said = team.run("priced")
    assert "at most $2.00, 9 agent calls" in said.splitlines()[0]
    assert squeezed(team.text("cost", "priced-1")) == snapshot(
        [
            "cost tokens agent calls time",
            "first $0.75 40 2 0.0s",
            "plain – – – 0.0s",
            "kid/inner $0.0040 2 1 0.0s",
            "priced-1 $0.75 42 3 0.0s",
            "took 0.0s from start to end",
            "budget: $0.75 of $2.00 · 3 of 9 agent calls",
        ]
    )
    found = team.json("cost", "priced-1")
    assert (found["total"]["usd"], found["total"]["tokens"], found["total"]["agent_calls"]) == (0.754, 42, 3)
    assert found["runs"][0]["budget"]["usd"] == {"used": 0.754, "most": 2.0}
    assert [(each["address"], each["agent_calls"]) for each in found["runs"][0]["steps"]] == snapshot(
        [("first", 2), ("plain", 0), ("kid/inner", 1)]
    )


def test_the_cost_stands_in_every_view_of_the_run(team: Team) -> None:
    team.add("child", CHILD)
    team.add("priced", PRICED, **PLAYS)
    assert "priced-1 succeeded · 0.0s · $0.75" in team.run("priced")
    assert (team.json("show", "priced-1")["cost"], team.json("status")["runs"][0]["cost"]) == (0.754, 0.754)
    assert "$0.75" in team.text("status")
    assert "cost       $0.75" in team.text("show", "priced-1")
    assert "$0.75, 40 tokens, 2 agent calls" in team.text("show", "priced-1", "first")
    assert "$0.25, 15 tokens, 1 agent call\n" in team.text("show", "priced-1", "first@1")


def test_a_price_that_nobody_knows_is_never_a_zero(team: Team) -> None:
    team.add("child", CHILD)
    team.add("priced", PRICED.replace("budget: {usd: 2, agent_calls: 9}\n", ""), **UNPRICED)
    team.run("priced")
    total = team.json("cost", "priced-1")["total"]
    assert total["unpriced"] == 1
    shown = team.text("cost", "priced-1")
    assert "1 agent call did not report a price" in shown
    first = next(line for line in shown.splitlines() if line.startswith("first"))
    assert "unknown" in first or "~$" in first
    assert "$0.00" not in shown
    assert team.json("show", "priced-1")["unpriced"] == 1


def test_items_count_once_and_a_copy_does_not_count_what_its_source_spent(team: Team) -> None:
    usage = {"input_tokens": 1, "output_tokens": 1, "cost": 0.1}
    team.add("fan", FAN, **{at: [{**turns[0], "usage": usage}] for at, turns in BUILDS.items()})
    team.run("fan")
    assert team.json("cost", "fan-1")["total"]["usd"] == 0.2
    assert team.json("show", "fan-1")["cost"] == 0.2
    team.text("fork", "fan-1", "combine")
    team.text("resume", "fan-2")
    both = team.json("cost", "fan-1", "fan-2")
    assert [each["total"]["usd"] for each in both["runs"]] == [0.2, 0.2]
    assert both["total"]["usd"] == 0.2
    assert "(before the copy of fan-1)" in team.text("cost", "fan-2")


def test_cost_needs_a_run(team: Team) -> None:
    assert "missing argument 'RUN...'" in team.text("cost", code=2)
    assert "there are no runs yet" in team.text("cost", "nope", code=2)
