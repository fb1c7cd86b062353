"""What follows what: steps, conditions, tries, loops, approvals, routines, children, ends."""

from collections.abc import Sequence
from typing import Any

from handrail.engine.decide.from_outside import Answer
from handrail.model.history.events import RunResumed, StepBegan, StepSkipped, TimerFired
from handrail.model.workflow.values import JsonValue
from support.engine.walking import Performer, Walk, plan_of, succeed, values_of


def flow(steps: str, top: str = "") -> str:
    return f"name: a\n{top}steps:\n{steps}"


def walk(
    steps: str,
    top: str = "",
    *,
    perform: Performer = succeed,
    answers: Sequence[Answer] = (),
    inputs: dict[str, JsonValue] | None = None,
) -> Walk:
    return Walk(plan_of(flow(steps, top)), perform, list(answers), inputs or {}).start().go()


def output_of(walked: Walk, address: str) -> Any:
    return walked.state.steps[address].output


def addresses(walked: Walk) -> list[str]:
    return [event.address for event in walked.events if isinstance(event, StepBegan)]


def failing(*names: str, until: int = 99) -> Performer:
    def perform(began: StepBegan) -> tuple[bool, JsonValue]:
        bad = any(began.address.endswith(name) for name in names) and began.attempt < until
        return not bad, None if bad else "ok"

    return perform


def test_steps_run_in_order_and_the_run_succeeds() -> None:
    walked = walk("  - {name: x, command: a}\n  - {name: y, command: b}\n")
    assert addresses(walked) == ["x", "y"]
    assert walked.state.status == "succeeded"


def test_a_condition_that_does_not_hold_skips_with_the_values_that_decided() -> None:
    walked = walk("  - {name: x, command: a, output: out}\n  - {name: y, command: b, when: out == 'no'}\n")
    skipped = walked.events[-2]
    assert isinstance(skipped, StepSkipped)
    assert skipped.why.values == {"out": "done"}
    assert walked.state.steps["y"].status == "skipped"


def test_values_reach_a_command_as_variables() -> None:
    walked = walk(
        "  - {name: x, command: 'echo \"${base}\" ${issue.title}'}\n",
        "input: {base: string}\n",
        inputs={"base": "it's $(x)", "issue": {"title": "t"}},
    )
    assert values_of(walked.events[1]) == {"HR_1": "it's $(x)", "HR_2": "t"}


def test_a_value_that_is_not_there_blocks_before_anything_is_begun() -> None:
    walked = walk("  - {name: x, command: 'echo ${issue.title}'}\n")
    assert walked.state.status == "blocked"
    assert walked.state.reason == "fault"
    assert addresses(walked) == []


def test_a_script_that_fails_ends_the_run_and_a_gate_blocks_it() -> None:
    script = walk("  - {name: x, command: a}\n", perform=failing("x"))
    assert (script.state.status, script.state.message) == ("failed", "step 'x' failed: exit 1")
    gate = walk("  - {name: g, type: gate, command: a}\n", perform=failing("g"))
    assert (gate.state.status, gate.state.reason) == ("blocked", "checks")


def test_a_step_has_as_many_more_tries_as_it_says() -> None:
    walked = walk("  - {name: x, command: a, retry: 2}\n", perform=failing("x", until=3))
    assert walked.state.status == "succeeded"
    assert walked.state.steps["x"].attempts == 3
    assert walk("  - {name: x, command: a, retry: 2}\n", perform=failing("x")).state.status == "failed"


def test_a_pause_before_a_try_is_a_wait_for_a_time() -> None:
    walked = walk("  - {name: x, command: a, retry: {max: 1, backoff: 10s}}\n", perform=failing("x", until=2))
    assert (walked.state.status, walked.state.reason) == ("waiting", "timer")
    walked.record(TimerFired(key="retry", at=walked.now + 10))
    assert walked.go().state.status == "succeeded"


def test_a_failed_step_may_be_passed_over() -> None:
    walked = walk("  - {name: x, command: a, on_fail: continue}\n  - {name: y, command: b}\n", perform=failing("x"))
    assert walked.state.status == "succeeded"
    assert walked.state.steps["x"].status == "failed"


def test_a_blocked_run_that_is_resumed_begins_its_step_anew_and_repeats_nothing() -> None:
    walked = walk("  - {name: x, command: a}\n  - {name: g, type: gate, command: b}\n", perform=failing("g"))
    walked.perform = lambda _: (True, "ok")
    walked.record(RunResumed(by="me", at=walked.now))
    assert walked.go().state.status == "succeeded"
    assert addresses(walked) == ["x", "g", "g"]


def test_a_while_loop_is_tested_before_and_an_until_loop_after_each_round() -> None:
    loop = "  - name: l\n    type: loop\n    {}\n    max_iterations: 5\n    steps: [{{name: t, command: a}}]\n"
    assert addresses(walk(loop.format("while: base == 'no'"), "input: {base: string}\n", inputs={"base": "x"})) == []
    once = walk(loop.format("until: steps.t.exit_code == 0"))
    assert addresses(once) == ["l@1/t"]
    assert once.state.steps["l"].output == {"rounds": 1, "done": [1], "undone": [], "failed": [], "left": []}


def test_a_loop_ends_at_its_limit_as_it_says() -> None:
    loop = (
        "  - name: l\n    type: loop\n    until: base == 'no'\n    max_iterations: 3\n    on_max: {}\n"
        "    steps: [{{name: t, command: a}}]\n  - {{name: z, command: z}}\n"
    )
    top = "input: {base: string}\n"
    go_on = walk(loop.format("continue"), top, inputs={"base": "x"})
    assert addresses(go_on) == ["l@1/t", "l@2/t", "l@3/t", "z"]
    assert walk(loop.format("block"), top, inputs={"base": "x"}).state.status == "blocked"
    assert walk(loop.format("fail"), top, inputs={"base": "x"}).state.status == "failed"


def test_loops_nest_and_walk_items_by_key() -> None:
    walked = walk(
        "  - name: each\n    type: loop\n    for_each: [{id: a}, {id: b}]\n    as: one\n"
        "    max_iterations: 9\n    steps:\n"
        "      - name: inner\n        type: loop\n        for: 2\n        max_iterations: 9\n"
        "        steps: [{name: t, command: 'echo ${one.id} ${round}'}]\n"
    )
    assert addresses(walked) == ["each[a]/inner@1/t", "each[a]/inner@2/t", "each[b]/inner@1/t", "each[b]/inner@2/t"]
    began = [event for event in walked.events if isinstance(event, StepBegan)]
    assert values_of(began[1]) == {"HR_1": "a", "HR_2": "2"}


def test_an_item_that_fails_does_not_lose_the_others() -> None:
    walked = walk(
        "  - name: each\n    type: loop\n    for_each: [{id: a}, {id: b}]\n    on_fail: continue\n"
        "    max_iterations: 9\n"
        "    steps: [{name: t, command: x}, {name: u, command: y}]\n",
        perform=failing("[a]/t"),
    )
    assert walked.state.status == "succeeded"
    assert addresses(walked) == ["each[a]/t", "each[b]/t", "each[b]/u"]
    assert output_of(walked, "each")["failed"] == [{"id": "a"}]


def test_when_and_output_hold_inside_loops() -> None:
    walked = walk(
        "  - name: l\n    type: loop\n    for: 2\n    max_iterations: 2\n    steps:\n"
        "      - {name: t, command: x, output: flag}\n      - {name: u, command: y, when: flag == 'never'}\n"
        "  - {name: z, command: 'echo ${flag}'}\n"
    )
    assert addresses(walked) == ["l@1/t", "l@2/t", "z"]


def test_a_script_can_leave_its_loop() -> None:
    walked = walk(
        "  - name: l\n    type: loop\n    for: 5\n    max_iterations: 5\n    steps:\n"
        "      - {name: t, command: x, on_success: exit_loop}\n      - {name: u, command: y}\n"
    )
    assert addresses(walked) == ["l@1/t"]
    assert walked.state.status == "succeeded"


def test_a_person_approves_revises_or_rejects() -> None:
    steps = (
        "  - {name: a, command: x}\n  - {name: ok, type: approval, revise: a, message: look}\n"
        "  - {name: z, command: z}\n"
    )
    asked = walk(steps)
    assert (asked.state.status, asked.state.reason, asked.state.message) == ("waiting", "approval", "look")
    approved = walk(steps, answers=[Answer("approve", "me")])
    assert addresses(approved) == ["a", "z"]
    revised = walk(steps, answers=[Answer("revise", "me", "again"), Answer("approve", "me")])
    assert addresses(revised) == ["a", "a", "z"]
    assert revised.state.steps["a"].feedback == "again"
    rejected = walk(steps, answers=[Answer("reject", "me", "no")])
    assert (rejected.state.status, rejected.state.message) == ("failed", "rejected at 'ok': no")


def test_an_early_end_ends_the_run_with_its_message() -> None:
    walked = walk("  - {name: e, type: end, message: all done}\n  - {name: z, command: z}\n")
    assert (walked.state.status, walked.state.message) == ("succeeded", "all done")
    assert addresses(walked) == []


def test_a_pull_request_is_begun_with_what_it_shall_say() -> None:
    walked = walk("  - {name: x, type: pull-request, title: do it, draft: true, labels: [a]}\n")
    assert addresses(walked) == ["x"]
    began = next(each for each in walked.events if isinstance(each, StepBegan))
    assert (began.spec["title"], began.spec["draft"], began.spec["labels"]) == ("do it", True, ["a"])
