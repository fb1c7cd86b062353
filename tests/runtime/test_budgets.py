"""What a run may spend: limits of steps, runs and trees of runs, and what happens at them."""

from typing import Any

import pytest

from handrail.model.history.run_state import RunState
from handrail.operations.runs import lifecycle as runs
from handrail.operations.views.run_document import exit_code, run_document
from handrail.operations.views.run_tree import family, find_acting_run
from support.runtime.steps_room import Hand, StepsRoom

CALL = {"say": "Done.", "usage": {"input_tokens": 600, "output_tokens": 400, "cost": 0.5}, "repeat": True}


def case(budget: str, steps: str) -> str:
    return f"name: case\ndescription: a case\nbudget: {budget}\nsteps:\n{steps}"


THREE = """\
  - {name: one, prompt: Do the first thing.}
  - {name: two, prompt: Do the second thing.}
  - {name: three, prompt: Do the third thing.}
"""


def blocked(state: RunState) -> tuple[str, str]:
    assert (state.status, state.reason) == ("blocked", "budget"), (state.status, state.reason, state.message)
    return state.message, state.next_step


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        ("{usd: 1}", "the budget is used up: $1.00 of $1.00"),
        ("{tokens: 1500}", "the budget is used up: 2,000 tokens of 1,500 tokens"),
        ("{agent_calls: 2}", "the budget is used up: 2 agent calls of 2 agent calls"),
        ("{usd: 1, at_limit: ask}", "the budget is used up: $1.00 of $1.00"),
    ],
)
def test_a_run_at_its_limit_starts_no_further_agent_until_a_person_grants_the_same_once_more(
    shop: StepsRoom, budget: str, said: str
) -> None:
    state = shop.run(case(budget, THREE), {"default": CALL})
    assert blocked(state) == (said, "resume the run to grant the same amount again, or stop it")
    assert shop.path(state.run) == ["one", "two"]
    assert exit_code(run_document(shop.log, state.run)) == 5
    assert shop.resume(state.run).status == "succeeded"
    assert shop.path(state.run) == ["one", "two", "three"]


def test_minutes_are_those_in_which_steps_were_at_work(shop: StepsRoom) -> None:
    hand = Hand()
    shop.clock = hand
    text = case(
        "{minutes: 1}",
        "  - {name: build, command: 'touch built; while test -e built; do sleep 0.01; done'}\n"
        "  - {name: ok, type: approval, message: Go on?}\n"
        "  - {name: one, prompt: Do the first thing.}\n",
    )
    run = shop.start(text, {"default": CALL})

    def later() -> None:
        hand.now += 50
        (shop.tree(run) / "built").unlink()

    shop.during(later, lambda: shop.state(run).tree is not None and (shop.tree(run) / "built").exists())
    assert shop.state(run).spent.seconds == 50
    hand.now += 100_000
    assert shop.answer(run, "approve").status == "succeeded"
    assert shop.path(run) == ["build", "one"]


def test_a_script_that_took_the_minutes_leaves_none_for_an_agent(shop: StepsRoom) -> None:
    hand = Hand()
    shop.clock = hand
    text = case(
        "{minutes: 1}",
        "  - {name: build, command: 'touch built; while test -e built; do sleep 0.01; done'}\n"
        "  - {name: one, prompt: Do the first thing.}\n",
    )
    run = shop.start(text, {"default": CALL})

    def later() -> None:
        hand.now += 90
        (shop.tree(run) / "built").unlink()

    shop.during(later, lambda: shop.state(run).tree is not None and (shop.tree(run) / "built").exists())
    assert blocked(shop.state(run))[0] == "the budget is used up: 1.5 min of 1.0 min"


def test_finish_starts_no_further_agent_and_runs_the_remaining_scripts(shop: StepsRoom) -> None:
    steps = THREE + "  - {name: tidy, command: echo tidied, output: tidied}\n  - {name: four, prompt: One more.}\n"
    state = shop.run(case("{usd: 1, at_limit: finish}", steps), {"default": CALL})
    assert state.status == "succeeded"
    assert shop.path(state.run) == ["one", "two", "tidy"]
    assert [state.steps[name].status for name in ("three", "four")] == ["skipped", "skipped"]


def test_finish_leaves_a_review_out_and_goes_on(shop: StepsRoom) -> None:
    steps = "  - {name: one, prompt: Do it.}\n  - {name: look, type: review}\n  - {name: tidy, command: echo tidied}\n"
    state = shop.run(case("{agent_calls: 1, at_limit: finish}", steps), {"default": CALL})
    assert state.status == "succeeded"
    assert shop.path(state.run) == ["one", "tidy"]
    assert "budget is used up" in state.steps["look"].error


GATE = """\
  - {name: one, prompt: Do it.}
  - name: checks
    type: gate
    checks: {green: test -e green}
    fix: Make it green.
    retry: 2
"""


def test_finish_lets_no_red_gate_pass(shop: StepsRoom) -> None:
    state = shop.run(case("{agent_calls: 1, at_limit: finish}", GATE), {"default": CALL})
    assert "no further fix was tried: the budget is used up: 1 agent calls of 1" in blocked(state)[0]
    assert shop.path(state.run) == ["one", "checks"]


def test_a_gate_at_the_limit_goes_on_with_its_fix_when_more_is_granted(shop: StepsRoom) -> None:
    script = {"one": CALL, "checks/fix": {**CALL, "files": {"green": ""}}}
    state = shop.run(case("{agent_calls: 1}", GATE), script)
    blocked(state)
    assert shop.resume(state.run).status == "succeeded"
    assert shop.path(state.run) == ["one", "checks", "checks/fix", "checks"]


FIX = """\
  - name: checks
    type: gate
    checks: {green: test -e green}
    fix: {prompt: Make it green., max: 5, budget: {usd: 1}}
    on_fail: ON_FAIL
  - {name: last, prompt: Say good bye.}
"""


def test_a_fix_has_a_budget_of_its_own_after_which_the_gate_fails(shop: StepsRoom) -> None:
    state = shop.run(case("{usd: 9}", FIX.replace("ON_FAIL", "continue")), {"default": CALL})
    assert state.status == "succeeded"
    assert shop.path(state.run) == ["checks", "checks/fix", "checks", "checks/fix", "checks", "last"]
    assert "no further fix was tried: the budget is used up: $1.00 of $1.00" in state.steps["checks"].error
    assert state.steps["checks"].cost == 1.0


def test_the_budget_of_a_fix_is_granted_once_more_on_resume(shop: StepsRoom) -> None:
    script: dict[str, Any] = {"checks/fix": [{**CALL, "repeat": False}] * 3 + [{**CALL, "files": {"green": ""}}]}
    state = shop.run(case("{usd: 9}", FIX.replace("ON_FAIL", "block")), {**script, "last": CALL})
    blocked(state)
    assert shop.resume(state.run).status == "succeeded"
    assert shop.path(state.run).count("checks/fix") == 4


def test_the_budget_of_a_step_counts_all_its_tries(shop: StepsRoom) -> None:
    steps = (
        "  - {name: one, prompt: Do it., budget: {usd: 1}, retry: 5, done_when: [{exists: proof}]}\n"
        "  - {name: two, prompt: Go on.}\n"
    )
    state = shop.run(case("{usd: 9}", steps), {"default": CALL})
    assert blocked(state)[0] == "step 'one': the budget is used up: $1.00 of $1.00"
    assert shop.path(state.run) == ["one", "one"]
    assert state.steps["one"].cost == 1.0


def test_the_budget_of_a_loop_counts_what_its_rounds_took(shop: StepsRoom) -> None:
    steps = (
        "  - name: all\n    type: loop\n    for: 5\n    max_iterations: 5\n    budget: {agent_calls: 3}\n"
        "    steps: [{name: one, prompt: Do it.}]\n"
    )
    state = shop.run(case("{usd: 9}", steps), {"default": CALL})
    assert blocked(state)[0] == "step 'all': the budget is used up: 3 agent calls of 3 agent calls"
    assert state.steps["all"].cost == 1.5


INNER = "name: inner\ndescription: a part\nsteps:\n  - {name: a, prompt: Do a.}\n  - {name: b, prompt: Do b.}\n"


def test_a_called_workflow_spends_what_its_caller_has_left(shop: StepsRoom) -> None:
    shop.workflows = {"inner": INNER}
    steps = (
        "  - {name: one, prompt: Do it.}\n  - {name: part, type: workflow, workflow: inner}\n"
        "  - {name: last, prompt: Say good bye.}\n"
    )
    run = shop.start(case("{usd: 1}", steps), {"default": CALL})
    shop.drive()
    stands = find_acting_run(shop.log, run)
    assert stands.acting.run != run
    assert blocked(stands.acting)[0] == "the budget is used up: $0.50 of $0.50"
    assert exit_code(run_document(shop.log, run)) == 5
    assert shop.resume(stands.acting.run).status == "succeeded"
    state = shop.state(run)
    assert blocked(state)[0] == "the budget is used up: $1.50 of $1.00"
    assert (state.steps["part"].cost, state.steps["part"].calls) == (1.0, 2)


def test_a_called_workflow_that_has_nothing_left_gets_the_callers_amount_when_it_is_granted(shop: StepsRoom) -> None:
    shop.workflows = {"inner": INNER}
    steps = "  - {name: one, prompt: Do it.}\n  - {name: part, type: workflow, workflow: inner}\n"
    run = shop.start(case("{agent_calls: 1, at_limit: stop}", steps), {"default": CALL})
    shop.drive()
    child = find_acting_run(shop.log, run).acting
    assert blocked(child)[0] == "the budget is used up: 0 agent calls of 0 agent calls"
    child = shop.resume(child.run)
    assert blocked(child)[0] == "the budget is used up: 1 agent calls of 1 agent calls"
    assert shop.resume(child.run).status == "succeeded"
    assert shop.state(run).status == "succeeded"


def test_a_called_workflow_finishes_where_its_caller_says_so(shop: StepsRoom) -> None:
    shop.workflows = {"inner": INNER + "  - {name: c, command: echo c}\n"}
    steps = "  - {name: part, type: workflow, workflow: inner}\n"
    state = shop.run(case("{agent_calls: 1, at_limit: finish}", steps), {"default": CALL})
    assert state.status == "succeeded"
    child = family(shop.log, state.run)[1]
    assert shop.path(child) == ["a", "c"]


def test_items_at_the_same_time_overshoot_by_no_more_than_what_each_had_left(shop: StepsRoom) -> None:
    steps = (
        "  - name: build\n    type: parallel-agents\n    for_each: [a, b, c]\n    key: item\n    max_concurrent: 2\n"
        "    steps:\n      - {name: one, prompt: Do one.}\n      - {name: two, prompt: Do two.}\n"
    )
    run = shop.start(case("{agent_calls: 2}", steps), {"default": CALL})
    shop.drive()
    children = [each for each in family(shop.log, run) if each != run]
    ended = [shop.state(each) for each in children]
    assert [each.status for each in ended] == ["succeeded", "succeeded", "blocked"]
    assert blocked(ended[2])[0] == "the budget is used up: 0 agent calls of 0 agent calls"
    assert shop.state(run).spent.agent_calls == 4
    assert find_acting_run(shop.log, run).acting.run == children[2]
    assert shop.resume(children[2]).status == "succeeded"
    state = shop.state(run)
    assert (state.status, state.spent.agent_calls, state.steps["build"].calls) == ("succeeded", 6, 6)


PRICED = "  - {name: one, agent: codex, prompt: Do it.}\n  - {name: two, agent: claude/haiku, prompt: Do more.}\n"
UNPRICED = {"say": "Done.", "usage": {"input_tokens": 100_000, "output_tokens": 10_000}, "repeat": True}


MERGE = """\
  - name: build
    type: parallel-agents
    for_each: [a, b]
    key: item
    steps: [{name: one, prompt: Do one.}]
    output: built
  - name: combine
    type: merge
    from: ${built}
    on_conflict: Resolve it.
"""


def test_a_conflict_that_no_agent_may_resolve_any_more_is_taken_back_until_more_is_granted(shop: StepsRoom) -> None:
    script = {
        "build[a]/one": {"files": {"same.txt": "a\n"}},
        "build[b]/one": {"files": {"same.txt": "b\n"}},
        "combine/b/resolve": {"files": {"same.txt": "a\nb\n"}},
    }
    state = shop.run(case("{agent_calls: 2, at_limit: finish}", MERGE), script)
    assert "not merged: b: conflict in same.txt, and the budget is used up" in blocked(state)[0]
    assert (shop.tree(state.run) / "same.txt").read_text() == "a\n"
    assert shop.resume(state.run).status == "succeeded"
    assert (shop.tree(state.run) / "same.txt").read_text() == "a\nb\n"


def test_an_agent_that_tells_only_tokens_is_estimated_by_the_table_of_prices(shop: StepsRoom) -> None:
    state = shop.run(case("{usd: 9, unknown_price: estimate}", PRICED), {"default": UNPRICED})
    assert state.status == "succeeded"
    assert (state.steps["one"].cost, state.steps["two"].cost) == (0.8, 0.15)
    assert (state.spent.usd, state.spent.estimated, state.spent.unpriced) == (0.95, 0.95, 0)


def test_an_estimate_is_marked_where_it_reaches_a_limit(shop: StepsRoom) -> None:
    state = shop.run(case("{usd: 0.5}", PRICED), {"default": UNPRICED})
    assert blocked(state)[0] == "the budget is used up: ~$0.80 of $0.50"


def test_a_budget_may_refuse_prices_that_nobody_tells_until_a_person_accepts_them(shop: StepsRoom) -> None:
    state = shop.run(case("{usd: 9, unknown_price: block}", PRICED), {"default": UNPRICED})
    assert blocked(state)[0] == "an agent does not report its price, and the budget has `unknown_price: block`"
    assert shop.path(state.run) == ["one"]
    assert shop.resume(state.run).status == "succeeded"


def test_a_model_that_the_table_does_not_know_has_no_price(shop: StepsRoom) -> None:
    state = shop.run(case("{usd: 9}", "  - {name: one, agent: mine/own, prompt: Do it.}\n"), {"default": UNPRICED})
    assert (state.spent.usd, state.spent.unpriced) == (0.0, 1)


def test_what_was_spent_stays_spent_after_a_rewind(shop: StepsRoom) -> None:
    state = shop.run(case("{agent_calls: 3}", THREE), {"default": CALL})
    assert state.status == "succeeded"
    runs.rewind(shop.writer, state.run, "two", "ann")
    shop.drive()
    assert blocked(shop.state(state.run))[0] == "the budget is used up: 3 agent calls of 3 agent calls"
