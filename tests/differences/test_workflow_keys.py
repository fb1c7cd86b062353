"""The keys of a workflow itself, of its inputs, its defaults and its budget."""

import pytest

from handrail.errors import HandrailError
from support.differences.performers import Play
from support.differences.proofs import Benches, Json, flow, proves

AGENT: Json = {"name": "work", "prompt": "Do the work."}
SCRIPT: Json = {"name": "work", "command": "echo working"}
COSTLY = {"work": Play(cost=2.0, tokens=500), "more": Play(cost=2.0, tokens=500)}
TWO = (AGENT, {"name": "more", "prompt": "Do more."}, {"name": "last", "command": "echo last"})


@proves("workflow.name", "workflow.steps")
def test_the_name_names_the_run_and_the_steps_are_what_it_does(both: Benches) -> None:
    one, other = both(flow(SCRIPT)), both(flow(SCRIPT, {"name": "after", "command": "echo after"}))
    assert one.told.count("case-1 succeeded") == 1
    assert (one.commands, other.commands) == (["echo working"], ["echo working", "echo after"])


@proves("workflow.description")
def test_a_description_is_told_to_whoever_looks_for_a_workflow(both: Benches) -> None:
    def listed(**head: str) -> str:
        bench = both.bench()
        bench.run(flow(SCRIPT, **head))
        return bench.call("list_workflows", workspacePath=str(bench.work)).text

    assert "Paints the fence" not in listed()
    assert "Paints the fence" in listed(description="Paints the fence.")


@proves("workflow.input", "input.type", "input.default", "input.required")
def test_inputs_are_checked_filled_in_and_seen_by_steps(both: Benches) -> None:
    says = {"name": "work", "command": "echo ${width}"}
    assert both(flow(says, input={"width": "int = 3"})).environments[-1]["HR_1"] == "3"
    assert both(flow(says, input={"width": {"type": "int", "default": 4}})).environments[-1]["HR_1"] == "4"
    assert both(flow(SCRIPT, input={"width": {"type": "int", "required": False}})).status == "succeeded"


@proves("input.type", "input.required")
def test_an_input_that_is_missing_or_of_another_type_starts_nothing(run: Benches) -> None:
    with pytest.raises(HandrailError, match="width"):
        run(flow(SCRIPT, input={"width": {"type": "int"}}))
    with pytest.raises(HandrailError, match="width"):
        run(flow(SCRIPT, input={"width": {"type": "int"}}), "width=wide")
    assert run(flow(SCRIPT, input={"width": {"type": "string"}}), "width=wide").status == "succeeded"


@proves("input.name")
def test_an_input_of_the_list_form_is_known_by_its_name(both: Benches) -> None:
    says = {"name": "work", "command": "echo ${colour}"}
    found = both(flow(says, input=[{"name": "colour", "default": "blue"}]))
    assert found.environments[-1]["HR_1"] == "blue"


@proves("input.description")
def test_the_description_of_an_input_is_told_to_a_connected_agent(run: Benches) -> None:
    def offered(**more: str) -> str:
        bench = run.bench()
        bench.run(flow(SCRIPT, input={"width": {"type": "int", "default": 1, **more}}))
        return bench.call("inspect_workflow", workflowId="case", workspacePath=str(bench.work)).text

    assert "how many at once" not in offered()
    assert "how many at once" in offered(description="how many at once")


@proves("workflow.defaults", "defaults.timeout", "defaults.retry", "defaults.budget")
def test_defaults_hold_for_agent_steps_that_say_nothing_of_their_own(run: Benches) -> None:
    assert run(flow(AGENT, defaults={"access": "read"})).calls[0].access == "read"
    assert run(flow({**AGENT, "access": "full"}, defaults={"access": "read"})).calls[0].access == "full"
    fails = {"work": Play(status="api_error")}
    assert len(run(flow(AGENT), plays=fails).calls) == 1
    assert len(run(flow(AGENT, defaults={"retry": 2}), plays=fails).calls) == 3
    hangs = run(flow(AGENT, defaults={"timeout": "10ms"}), plays={"work": Play(hangs=True)})
    assert "took longer than" in hangs.told
    thrifty = run(flow({**AGENT, "retry": 3}, defaults={"budget": {"agent_calls": 2}}), plays=fails)
    assert len(thrifty.calls) == 2


@proves("workflow.budget", "budget.usd")
def test_a_run_stops_at_its_dollars(run: Benches) -> None:
    free, held = run(flow(*TWO), plays=COSTLY), run(flow(*TWO, budget={"usd": 1}), plays=COSTLY)
    assert (free.addresses, held.addresses) == (["work", "more"], ["work"])
    assert "$2.00" in held.told
    assert "budget" in held.told


@proves("budget.tokens")
def test_a_run_stops_at_its_tokens(run: Benches) -> None:
    assert run(flow(*TWO, budget={"tokens": 5000}), plays=COSTLY).addresses == ["work", "more"]
    assert run(flow(*TWO, budget={"tokens": 400}), plays=COSTLY).addresses == ["work"]


@proves("budget.agent_calls")
def test_a_run_stops_at_its_calls(run: Benches) -> None:
    assert run(flow(*TWO, budget={"agent_calls": 2})).addresses == ["work", "more"]
    assert run(flow(*TWO, budget={"agent_calls": 1})).addresses == ["work"]


@proves("budget.minutes")
def test_a_run_stops_at_its_minutes(run: Benches) -> None:
    slow = {"work": Play(seconds=120)}
    assert run(flow(*TWO, budget={"minutes": 10}), plays=slow).addresses == ["work", "more"]
    assert run(flow(*TWO, budget={"minutes": 1}), plays=slow).addresses == ["work"]


@proves("budget.at_limit")
def test_at_its_limit_a_run_stops_or_finishes_without_agents(run: Benches) -> None:
    stop = run(flow(*TWO, budget={"usd": 1, "at_limit": "stop"}), plays=COSTLY)
    finish = run(flow(*TWO, budget={"usd": 1, "at_limit": "finish"}), plays=COSTLY)
    ask = run(flow(*TWO, budget={"usd": 1, "at_limit": "ask"}), plays=COSTLY)
    assert (stop.commands, finish.commands, ask.commands) == ([], ["echo last"], [])
    assert (stop.status, finish.status) == ("blocked", "succeeded")
    assert "[g]o on" not in stop.told
    assert "[g]o on" in ask.told


@proves("budget.unknown_price")
def test_an_unknown_price_is_passed_over_or_blocks(run: Benches) -> None:
    unpriced = {"work": Play(cost=None, tokens=500)}
    budget = {"usd": 5}
    lenient = run(flow(*TWO, budget={**budget, "unknown_price": "estimate"}), plays=unpriced, agent="codex/unheard-of")
    strict = run(flow(*TWO, budget={**budget, "unknown_price": "block"}), plays=unpriced, agent="codex/unheard-of")
    assert lenient.addresses == ["work", "more"]
    assert strict.addresses == ["work"]
    assert "price" in strict.told
