from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.compiler.bounds import Bound, count_agent_calls
from handrail.model.workflow.actions import (
    AgentAction,
    ApprovalAction,
    Checks,
    Each,
    GateAction,
    LoopAction,
    ParallelAction,
    ScriptAction,
    Times,
    Until,
    While,
)
from handrail.model.workflow.plan import Plan, Step
from handrail.model.workflow.settings import AgentTask, Budget, Retry
from handrail.model.workflow.values import Command, Constant, Expression, Prompt, Value
from support.compiler.native_case import compile_library, compile_text, guided, workflow

AGENT = "{name: ask, prompt: Do the work.}"


def bound(steps: str, head: str = "", workflows: dict[str, str] | None = None) -> tuple[int, int | None]:
    compiled, _, catalog = compile_text(workflow(steps, head), workflows=workflows)
    assert compiled.plan is not None, compiled.diagnostics
    found = count_agent_calls(compiled.plan, catalog)
    return found.least, found.most


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("fix-bug", Bound(2, 19)),
        ("review-loop", Bound(1, 132)),
        ("deps-nightly", Bound(0, 40)),
        ("implement-spec", Bound(3, 60)),
        ("workflow-for-workflows", Bound(2, 24)),
    ],
)
def test_the_library_says_how_many_calls_it_makes(name: str, expected: Bound) -> None:
    compiled, _, catalog = compile_library(name)
    assert compiled.plan is not None
    assert count_agent_calls(compiled.plan, catalog) == expected


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ("- {name: a, prompt: Do it.}", (1, 1)),
        ("- {name: a, prompt: Do it., retry: 2}", (1, 3)),
        ("- {name: a, prompt: Do it., requires_approval: true}", (1, 4)),
        ("- {name: a, prompt: Do it., requires_approval: true, retry: 1}", (1, 8)),
        ("- {name: a, prompt: Do it., retry: 5, budget: {agent_calls: 2}}", (1, 2)),
        ("- {name: a, type: script, command: make}", (0, 0)),
        ("- {name: a, type: gate, command: make}", (0, 0)),
        ("- {name: a, type: gate, command: make, fix: Repair it.}", (0, 3)),
        ("- {name: a, type: gate, command: make, fix: {prompt: Repair it., max: 5}}", (0, 5)),
        ("- {name: a, type: agent-loop, prompt: Review it., max_iterations: 4}", (1, 11)),
        ("- {name: a, type: agent-loop, prompt: Look at it., arbiter_prompt: Judge it., max_iterations: 4}", (1, 19)),
        ("- {name: a, type: agent-loop, prompt: Review it., max_iterations: 2, retry: 1}", (1, 10)),
        ("- {name: a, type: pull-request, title: All}", (0, 0)),
        ("- {name: a, type: pull-request, title: All, body: {prompt: Sum it up.}}", (1, 1)),
        ("- {name: a, type: pull-request, title: All, follow: {on: [checks], fix: Repair it., max: 4}}", (0, 4)),
        ("- {name: a, type: merge, from: work/one, on_conflict: {prompt: Join them., max: 2}}", (0, 2)),
        ("- {name: a, type: merge, from: [one, two, three], on_conflict: {prompt: Join them., max: 2}}", (0, 6)),
        ("- {name: a, type: merge, from: '${branches}', on_conflict: {prompt: Join them., max: 2}}", (0, None)),
        ("- {name: a, type: merge, from: '${branches}'}", (0, 0)),
    ],
)
def test_each_kind_of_step_has_its_bound(steps: str, expected: tuple[int, int | None]) -> None:
    assert bound(steps, "input: {branches: list}") == expected


@pytest.mark.parametrize(
    ("rounds", "expected"),
    [
        ("while: go", (0, 5)),
        ("while: false", (0, 0)),
        ("while: true", (1, 5)),
        ("until: go", (1, 5)),
        ("until: true", (1, 1)),
        ("for: 3", (3, 3)),
        ("for: 9", (5, 5)),
        ("for: 0", (0, 0)),
        ("for: count", (0, 5)),
        ("for: 1 + 1", (2, 2)),
        ("for_each: [a, b]", (2, 2)),
        ("for_each: '${items}'", (0, 5)),
    ],
)
def test_a_loop_makes_its_bodys_calls_in_each_round(rounds: str, expected: tuple[int, int | None]) -> None:
    steps = f"- {{name: a, type: loop, {rounds}, max_iterations: 5, steps: [{AGENT}]}}"
    assert bound(steps, "input: {go: bool, count: int, items: list}") == expected


def test_a_script_that_can_leave_the_loop_leaves_one_round_certain() -> None:
    leave = "{name: leave, type: script, command: make, on_success: exit_loop}"
    assert bound(f"- {{name: a, type: loop, for: 4, max_iterations: 5, steps: [{AGENT}, {leave}]}}") == (1, 4)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (f"- {{name: a, type: parallel-agents, for_each: [1, 2, 3], steps: [{AGENT}]}}", (3, 3)),
        (f"- {{name: a, type: parallel-agents, for_each: '${{items}}', steps: [{AGENT}]}}", (0, None)),
        (
            "- {name: a, type: parallel-agents, for_each: '${items}', steps: [{name: b, type: script, command: make}]}",
            (0, 0),
        ),
    ],
)
def test_a_fan_out_makes_its_bodys_calls_for_each_item(steps: str, expected: tuple[int, int | None]) -> None:
    assert bound(steps, "input: {items: list}") == expected


def test_a_revision_repeats_everything_from_its_target() -> None:
    steps = """
        - {name: before, prompt: Do it.}
        - {name: target, prompt: Do it., retry: 1}
        - {name: between, type: gate, command: make, fix: Repair it.}
        - {name: agree, type: approval, revise: target, max: 2}
    """
    assert bound(steps) == (2, 6 + 2 * 5)


def test_an_approval_that_cannot_send_back_costs_nothing() -> None:
    assert bound(f"- {AGENT}\n- {{name: agree, type: approval, on_reject: stop}}") == (1, 1)
    assert bound(f"- {AGENT}\n- {{name: agree, type: approval, when: false}}") == (1, 1)


def test_a_condition_makes_a_step_optional_unless_it_is_always_true() -> None:
    head = "input: {deep: bool}"
    assert bound("- {name: a, prompt: Do it., when: deep}", head) == (0, 1)
    assert bound("- {name: a, prompt: Do it., when: 1 < 2}", head) == (1, 1)
    assert bound("- {name: a, prompt: Do it., when: 1 > 2}", head) == (0, 0)


def test_nothing_counts_after_an_end_and_nothing_is_certain_after_a_conditional_one() -> None:
    head = "input: {stop: bool}"
    assert bound(f"- {AGENT}\n- {{name: e, type: end}}\n- {{name: b, prompt: Do it.}}", head) == (1, 1)
    assert bound(f"- {AGENT}\n- {{name: e, type: end, when: stop}}\n- {{name: b, prompt: Do it.}}", head) == (1, 2)
    assert bound(f"- {AGENT}\n- {{name: e, type: end, when: false}}\n- {{name: b, prompt: Do it.}}", head) == (2, 2)


def test_an_end_inside_a_loop_makes_what_follows_the_loop_uncertain() -> None:
    body = "steps: [{name: e, type: end, when: stop}]"
    steps = f"- {{name: l, type: loop, for: 2, max_iterations: 2, {body}}}\n- {AGENT}"
    assert bound(steps, "input: {stop: bool}") == (0, 1)


def test_a_called_workflow_counts_with_its_own_budget() -> None:
    callee = workflow("- {name: a, prompt: Do it., retry: 9}\n- {name: b, prompt: Do it.}", "budget: {agent_calls: 4}")
    call = "- {name: call, type: workflow, workflow: other}"
    assert bound(call, workflows={"other": callee}) == (2, 4)


def test_a_used_routine_counts_as_if_it_stood_there() -> None:
    routine = workflow("- {name: a, prompt: Do it., retry: 1}\n- {name: b, prompt: Do it.}")
    assert bound("- {name: in-place, use: other}", workflows={"other": routine}) == (2, 3)


def test_a_workflow_that_calls_itself_has_no_bound() -> None:
    again = workflow(f"- {AGENT}\n- {{name: call, type: workflow, workflow: other}}")
    assert bound("- {name: call, type: workflow, workflow: other}", workflows={"other": again}) == (1, None)


def test_without_a_catalog_a_call_has_no_bound() -> None:
    compiled, _, _ = compile_text(workflow("- {name: call, type: workflow, workflow: review-loop}"))
    assert compiled.plan is not None
    assert count_agent_calls(compiled.plan) == Bound(0, None)


def test_the_budget_caps_the_most() -> None:
    assert bound(f"- {AGENT}\n- {{name: b, prompt: Do it., retry: 9}}", "budget: {agent_calls: 5}") == (2, 5)
    assert bound(f"- {AGENT}\n- {{name: b, prompt: Do it.}}", "budget: {agent_calls: 1}") == (1, 1)
    assert bound(f"- {AGENT}", "budget: {usd: 3}") == (1, 1)


def test_guided_steps_count_one_each_and_loops_at_most_their_rounds() -> None:
    loop = {"type": "while", "condition": {"var": "go", "equals": True}, "maxIterations": 4}
    body = [{"id": "one-x", "title": "X", "prompt": "Do it."}, {"id": "one-y", "title": "Y", "prompt": "Do it."}]
    steps = [{}, {"runCondition": {"var": "deep", "equals": True}}, {"type": "loop", "loop": loop, "body": body}]
    compiled, _, _ = compile_text(guided(steps), main="workflow.json")
    assert compiled.plan is not None
    assert count_agent_calls(compiled.plan) == Bound(1, 2 + 8)


def test_delegations_have_no_bound() -> None:
    step = {"type": "parallel", "parallelDelegations": [{"workflowId": "routine-ideation"}]}
    compiled, _, _ = compile_text(guided([{**step, "synthesis": {"prompt": "Join them."}}]), main="workflow.json")
    assert compiled.plan is not None
    assert count_agent_calls(compiled.plan) == Bound(0, None)


TASK = AgentTask(prompt=Prompt("Do it."), max=3)
WHENS = st.sampled_from([None, Expression("x"), Expression("true"), Expression("false")])
ROUNDS = st.sampled_from(
    [While(Expression("x")), Until(Expression("x")), Times(Constant(2)), Times(Expression("n")), Each(Constant([1, 2]))]
)
ITEMS: st.SearchStrategy[Value] = st.sampled_from([Constant([1, 2, 3]), Expression("items")])
LEAVES = st.sampled_from(
    [
        AgentAction(TASK),
        AgentAction(TASK, requires_approval=True),
        ScriptAction(Command("make")),
        GateAction(checks=Checks(project=True), fix=TASK),
        ApprovalAction(revise="first"),
    ]
)
RETRIES = st.builds(Retry, st.integers(0, 3))
NAME = st.just("s")
LEAF = st.builds(Step, name=NAME, action=LEAVES, when=WHENS, retry=RETRIES)


def nested(inner: st.SearchStrategy[Step]) -> st.SearchStrategy[Step]:
    bodies = st.lists(inner, min_size=1, max_size=3).map(tuple)
    loops = st.builds(LoopAction, over=ROUNDS, max_iterations=st.just(4), steps=bodies)
    fans = st.builds(ParallelAction, over=st.builds(Each, ITEMS), steps=bodies)
    return st.builds(Step, name=NAME, action=loops | fans, when=WHENS)


STEPS = st.recursive(LEAF, nested, max_leaves=6)


@given(st.lists(STEPS, max_size=6), STEPS, st.data())
def test_one_more_step_never_lowers_the_bound(steps: list[Step], more: Step, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(steps)))
    first = Step(name="first", action=AgentAction(TASK))
    before = count_agent_calls(Plan(name="p", steps=(first, *steps)))
    after = count_agent_calls(Plan(name="p", steps=(first, *steps[:at], replace(more, name="more"), *steps[at:])))
    assert after.least >= before.least
    assert after.most is None or (before.most is not None and after.most >= before.most)


@given(st.lists(STEPS, max_size=6), st.integers(0, 20))
def test_the_least_is_never_above_the_most_and_the_most_never_above_the_budget(steps: list[Step], cap: int) -> None:
    found = count_agent_calls(Plan(name="p", steps=tuple(steps), budget=Budget(agent_calls=cap)))
    assert found.most is not None
    assert found.least <= found.most <= cap
