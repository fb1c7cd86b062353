"""WorkRail's loop kernel: decided anew before every step of the body."""

from typing import Any

import pytest

from handrail.engine.decide.complete_guided import Submission
from handrail.model.history.events import ContextMerged, LoopEnded, RunBlocked, RunResumed, StepBegan, StepSkipped
from handrail.model.workflow.values import JsonValue
from support.engine.guided_walking import (
    BY_ARTIFACT,
    CONTROL,
    GuidedWalk,
    Json,
    always,
    control,
    guided_plan,
    loop,
    step,
    var,
    walked,
)

UNTIL_DONE: Json = {"type": "until", "condition": var("done", equals=True)}
WHILE_OPEN: Json = {"type": "while", "condition": var("open", equals=True)}


def reasons(walk: GuidedWalk) -> list[str]:
    return [event.reason for event in walk.events if isinstance(event, LoopEnded)]


def test_a_while_loop_is_left_in_the_middle_of_its_body_once_its_condition_flips() -> None:
    plan = guided_plan(step("first"), loop("lap", step("dig"), step("sum"), **WHILE_OPEN), step("end"))
    walk = walked(plan, {"first": {"context": {"open": True}}, "lap@2/dig": {"context": {"open": False}}})
    assert walk.performed == ["first", "lap@1/dig", "lap@1/sum", "lap@2/dig", "end"]
    assert reasons(walk) == ["condition"]


def test_a_while_loop_whose_condition_never_held_is_passed() -> None:
    walk = walked(guided_plan(step("first"), loop("lap", step("dig"), **WHILE_OPEN), step("end")))
    assert walk.performed == ["first", "end"]
    ended = next(event for event in walk.events if isinstance(event, LoopEnded))
    assert ended.why is not None
    assert (ended.why.condition, ended.why.values) == ("open equals true", {"open": None})


def test_an_until_loop_is_tested_before_its_first_step_too() -> None:
    plan = guided_plan(step("first"), loop("lap", step("dig"), step("sum"), **UNTIL_DONE), step("end"))
    assert walked(plan, {"first": {"context": {"done": "yes"}}}).performed == ["first", "end"]
    assert walked(plan, {"lap@1/dig": {"context": {"done": True}}}).performed == ["first", "lap@1/dig", "end"]


def test_reaching_the_limit_is_an_ordinary_end() -> None:
    plan = guided_plan(loop("lap", step("dig"), maxIterations=3, **UNTIL_DONE), step("end"))
    walk = walked(plan)
    assert walk.performed == ["lap@1/dig", "lap@2/dig", "lap@3/dig", "end"]
    assert (reasons(walk), walk.state.status) == (["max"], "succeeded")


def test_a_round_in_which_every_step_is_skipped_counts() -> None:
    plan = guided_plan(loop("lap", step("dig", runCondition=var("never")), maxIterations=4, **UNTIL_DONE), step("end"))
    walk = walked(plan)
    assert walk.performed == ["end"]
    assert [event.address for event in walk.events if isinstance(event, StepSkipped)] == [
        f"lap@{n}/dig" for n in (1, 2, 3, 4)
    ]
    assert reasons(walk) == ["max"]


def test_a_condition_may_read_the_round_it_is_about() -> None:
    plan = guided_plan(loop("lap", step("dig"), type="while", condition=var("currentIteration", lte=2)), step("end"))
    assert walked(plan).performed == ["lap@1/dig", "lap@2/dig", "end"]


def test_a_loop_counts_to_a_number_or_to_a_variable() -> None:
    assert walked(guided_plan(loop("lap", step("dig"), type="for", count=2))).performed == ["lap@1/dig", "lap@2/dig"]
    by_name = guided_plan(step("first"), loop("lap", step("dig"), type="for", count="rounds"))
    assert walked(by_name, {"first": {"context": {"rounds": 2}}}).performed == ["first", "lap@1/dig", "lap@2/dig"]
    assert walked(by_name, {"first": {"context": {"rounds": 0}}}).performed == ["first"]


def test_a_loop_over_more_items_than_its_limit_ends_at_the_limit() -> None:
    plan = guided_plan(step("first"), loop("lap", step("dig"), type="forEach", items="list", maxIterations=2))
    walk = walked(plan, {"first": {"context": {"list": [1, 2, 3]}}})
    assert walk.performed == ["first", "lap@1/dig", "lap@2/dig"]
    assert reasons(walk) == ["max"]


def test_the_body_sees_its_round_its_item_and_its_index() -> None:
    inner = step("dig", prompt="{{currentIteration}} {{one.id}} {{at}}")
    plan = guided_plan(
        step("first"), loop("lap", inner, type="forEach", items="list", itemVar="one", indexVar="at"), step("end")
    )
    walk = walked(plan, {"first": {"context": {"list": [{"id": "x"}, {"id": "y"}]}}})
    prompts = [event.spec["prompt"] for event in walk.events if isinstance(event, StepBegan)]
    assert prompts[1:3] == ["1 `x` 0", "2 `y` 1"]


def test_an_empty_list_passes_the_loop() -> None:
    plan = guided_plan(step("first"), loop("lap", step("dig"), type="forEach", items="list"), step("end"))
    assert walked(plan, {"first": {"context": {"list": []}}}).performed == ["first", "end"]


def test_items_are_read_anew_in_every_round() -> None:
    plan = guided_plan(step("first"), loop("lap", step("dig"), type="forEach", items="list"), step("end"))
    walk = walked(plan, {"first": {"context": {"list": ["x"]}}, "lap@1/dig": {"context": {"list": ["x", "y"]}}})
    assert walk.performed == ["first", "lap@1/dig", "lap@2/dig", "end"]


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        ("forEach", None, "the context variable 'v' must be a list, but it is not set"),
        ("forEach", "abc", "the context variable 'v' must be a list, but it is a string"),
        ("forEach", {"a": 1}, "the context variable 'v' must be a list, but it is a map"),
        ("for", None, "the context variable 'v' must be a number of rounds, but it is not set"),
        ("for", "3", "the context variable 'v' must be a number of rounds, but it is a string"),
        ("for", True, "the context variable 'v' must be a number of rounds, but it is a boolean"),
        ("for", [3], "the context variable 'v' must be a number of rounds, but it is a list"),
    ],
)
def test_a_loop_that_lacks_its_variable_refuses_the_step_before_it_and_says_what_it_lacks(
    kind: str, value: JsonValue, message: str
) -> None:
    source: Json = {"items": "v"} if kind == "forEach" else {"count": "v"}
    walk = GuidedWalk(guided_plan(step("first"), loop("lap", step("dig"), type=kind, **source))).start()
    walk.work = always(Submission(by="me", notes="done", context={} if value is None else {"v": value}))
    walk.once()
    refused = walk.completions[0].shortfalls
    assert [each.code for each in refused] == ["missing_context"]
    assert (refused[0].message, refused[0].about) == (f"loop 'lap' cannot continue: {message}", "v")
    assert walk.state.pending is not None
    assert walk.state.pending.address == "first"


def test_items_must_be_maps_where_their_fields_are_read() -> None:
    plan = guided_plan(
        step("first"), loop("lap", step("dig", prompt="{{it.id}}"), type="forEach", items="v", itemVar="it")
    )
    walk = GuidedWalk(plan).start()
    walk.work = always(Submission(by="me", notes="done", context={"v": ["x"]}))
    walk.once()
    assert (
        "read fields of an item, {{it.…}}, but the first item of 'v' is a string"
        in walk.completions[0].shortfalls[0].message
    )


def test_a_run_that_begins_with_such_a_loop_is_blocked_until_the_value_is_there() -> None:
    walk = walked(guided_plan(loop("lap", step("dig"), type="forEach", items="v")))
    blocked = walk.events[-1]
    assert isinstance(blocked, RunBlocked)
    assert (blocked.reason, blocked.next_step) == ("fault", "set 'v' in the context, then resume the run")
    walk.record(ContextMerged(changes={"v": [1]}, at=walk.now), RunResumed(by="me", at=walk.now))
    walk.go()
    assert (walk.performed, walk.state.status) == (["lap@1/dig"], "succeeded")


def decided_by_artifact(name: str, *names: str, **keys: Any) -> Json:
    *first, last = names
    return loop(name, *(step(each) for each in first), step(last, **CONTROL), type="while", **keys)


def test_the_artifact_of_a_step_ends_its_loop() -> None:
    plan = guided_plan(decided_by_artifact("lap", "dig", "sum"), step("end"))
    walk = walked(plan, {"lap@2/sum": {"artifacts": [control("stop")]}})
    assert walk.performed == ["lap@1/dig", "lap@1/sum", "lap@2/dig", "lap@2/sum", "end"]
    assert reasons(walk) == ["exit"]


def test_the_newest_valid_artifact_of_the_call_wins() -> None:
    plan = guided_plan(decided_by_artifact("lap", "sum", maxIterations=2))
    both: list[JsonValue] = [control("stop"), control("continue")]
    assert walked(plan, {"lap@1/sum": {"artifacts": both}}).performed == ["lap@1/sum", "lap@2/sum"]
    turned: list[JsonValue] = [control("continue"), control("stop"), control("whatever"), control("continue", odd=1)]
    assert walked(plan, {"lap@1/sum": {"artifacts": turned}}).performed == ["lap@1/sum"]


def test_any_step_of_the_body_may_stop_its_loop_at_once() -> None:
    plan = guided_plan(decided_by_artifact("lap", "dig", "sum"), step("end"))
    walk = walked(plan, {"lap@1/dig": {"artifacts": [control("stop")]}})
    assert walk.performed == ["lap@1/dig", "end"]


def test_a_step_that_must_decide_the_loop_is_refused_without_its_artifact() -> None:
    plan = guided_plan(decided_by_artifact("lap", "sum"))
    walk = GuidedWalk(plan).start()
    walk.work = always(Submission(by="me", notes="done", artifacts=(control("perhaps"),)))
    walk.once()
    shortfall = walk.completions[0].shortfalls[0]
    assert (shortfall.code, shortfall.about) == ("invalid_output", "wr.contracts.loop_control")
    assert "decision must be one of 'continue', 'stop', got 'perhaps'" in shortfall.message
    assert shortfall.example == {"kind": "wr.loop_control", "decision": "continue"}


def test_a_loop_that_nobody_steers_runs_to_its_limit() -> None:
    plan = guided_plan(loop("lap", step("dig"), type="while", conditionSource=BY_ARTIFACT, maxIterations=2))
    assert walked(plan).performed == ["lap@1/dig", "lap@2/dig"]


def test_a_stop_ends_one_loop_and_not_the_next_one_beside_it() -> None:
    plan = guided_plan(decided_by_artifact("one", "dig"), decided_by_artifact("two", "sum", maxIterations=2))
    walk = walked(plan, {"one@1/dig": {"artifacts": [control("stop")]}})
    assert walk.performed == ["one@1/dig", "two@1/sum", "two@2/sum"]


def test_a_stop_of_a_step_before_a_loop_does_not_pass_the_loop() -> None:
    plan = guided_plan(step("first"), decided_by_artifact("lap", "dig", maxIterations=2))
    walk = walked(plan, {"first": {"artifacts": [control("stop")]}})
    assert walk.performed == ["first", "lap@1/dig", "lap@2/dig"]


def test_a_stop_does_not_end_a_loop_that_counts() -> None:
    plan = guided_plan(loop("lap", step("dig"), type="for", count=2))
    assert walked(plan, {"lap@1/dig": {"artifacts": [control("stop")]}}).performed == ["lap@1/dig", "lap@2/dig"]


def test_loops_nest_and_the_inner_one_may_walk_the_item_of_the_outer_one() -> None:
    inner = loop("low", step("dig", prompt="{{row.length}}{{cell}}"), type="forEach", items="row", itemVar="cell")
    plan = guided_plan(step("first"), loop("top", inner, step("sum"), type="forEach", items="rows", itemVar="row"))
    walk = walked(plan, {"first": {"context": {"rows": [["p", "q"], ["r"]]}}})
    assert walk.performed == [
        "first",
        "top@1/low@1/dig",
        "top@1/low@2/dig",
        "top@1/sum",
        "top@2/low@1/dig",
        "top@2/sum",
    ]
    prompts = [event.spec["prompt"] for event in walk.events if isinstance(event, StepBegan)]
    assert (prompts[1], prompts[4]) == ("2`p`", "1`r`")


def test_a_stop_inside_a_counting_loop_reaches_the_loop_around_it_once_that_is_done() -> None:
    counted = loop("low", step("dig"), type="for", count=2)
    plan = guided_plan(loop("top", counted, step("sum", **CONTROL), type="while"), step("end"))
    walk = walked(plan, {"top@1/low@1/dig": {"artifacts": [control("stop")]}})
    assert walk.performed == ["top@1/low@1/dig", "top@1/low@2/dig", "end"]


def test_the_inner_of_two_steered_loops_takes_the_stop() -> None:
    inner = decided_by_artifact("low", "dig")
    plan = guided_plan(loop("top", inner, step("sum", **CONTROL), type="while", maxIterations=2))
    stop = {"artifacts": [control("stop")]}
    walk = walked(plan, {"top@1/low@1/dig": stop, "top@2/low@1/dig": stop})
    assert walk.performed == ["top@1/low@1/dig", "top@1/sum", "top@2/low@1/dig", "top@2/sum"]
