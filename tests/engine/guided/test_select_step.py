"""Which guided step is next: the list is scanned from its top after every step."""

from handrail.engine.decide.complete_guided import Submission
from handrail.engine.guided.agent_call import SCHEMA
from handrail.model.history.events import RunReleased, RunTaken, StepBegan, StepChosen, StepSkipped
from handrail.model.workflow.plan import Plan
from support.engine.guided_walking import GuidedWalk, guided_plan, loop, step, var, walked
from support.engine.walking import replay


def test_steps_without_conditions_run_in_their_order_and_the_run_succeeds() -> None:
    walk = walked(guided_plan(step("one"), step("two"), step("three")))
    assert walk.performed == ["one", "two", "three"]
    assert walk.state.status == "succeeded"
    assert not any(isinstance(event, StepChosen) for event in walk.events)


def test_a_step_whose_condition_comes_true_late_runs_then_and_out_of_order() -> None:
    plan = guided_plan(
        step("one"),
        step("two", runCondition=var("x", equals="go")),
        step("three"),
        step("four"),
    )
    walk = walked(plan, {"three": {"context": {"x": "GO"}}})
    assert walk.performed == ["one", "three", "two", "four"]


def test_a_choice_records_what_was_passed_by_and_why() -> None:
    plan = guided_plan(step("one"), step("two", runCondition=var("x", equals="go")), step("three"))
    chosen = next(event for event in walked(plan).events if isinstance(event, StepChosen))
    assert (chosen.address, chosen.place) == ("three", 2)
    assert [(each.address, each.why.condition, each.why.values) for each in chosen.passed_by] == [
        ("two", "x equals 'go'", {"x": None})
    ]


def test_a_workflow_whose_steps_are_all_skipped_succeeds_at_once_and_says_why() -> None:
    never = var("x", equals="go")
    walk = walked(guided_plan(step("one", runCondition=never), step("two", runCondition=never)))
    assert walk.performed == []
    assert walk.state.status == "succeeded"
    assert [event.address for event in walk.events if isinstance(event, StepSkipped)] == ["one", "two"]
    assert {walk.state.steps[name].status for name in ("one", "two")} == {"skipped"}


def test_a_step_that_ran_late_is_not_recorded_as_skipped() -> None:
    plan = guided_plan(step("one", runCondition=var("x")), step("two"), step("never", runCondition=var("y")))
    walk = walked(plan, {"two": {"context": {"x": 1}}})
    assert walk.performed == ["two", "one"]
    assert [event.address for event in walk.events if isinstance(event, StepSkipped)] == ["never"]


def test_a_step_that_is_done_stays_done_although_its_condition_turns_false() -> None:
    plan = guided_plan(step("one", runCondition=var("x", not_equals="off")), step("two"))
    assert walked(plan, {"one": {"context": {"x": "off"}}}).performed == ["one", "two"]


def test_a_loop_is_chosen_like_a_step_and_runs_once() -> None:
    plan = guided_plan(
        loop("again", step("inner"), type="for", count=2, when=var("x")),
        step("two"),
        step("three"),
    )
    walk = walked(plan, {"two": {"context": {"x": True}}})
    assert walk.performed == ["two", "again@1/inner", "again@2/inner", "three"]


def test_a_context_begins_with_the_goal_and_the_inputs() -> None:
    walk = GuidedWalk(guided_plan(step("one", prompt="For {{goal}}: {{mode}}")), inputs={"mode": "quick"})
    walk.start().settle()
    assert dict(walk.states[0].context.items()) == {"goal": "the goal", "mode": "quick"}
    assert walk.spec["prompt"] == "For `the goal`: `quick`"


def test_a_context_is_merged_name_by_name_and_null_removes_a_name() -> None:
    walk = walked(
        guided_plan(step("one"), step("two"), step("three")),
        {
            "one": {"context": {"a": 1, "deep": {"x": 1}, "b": [1]}},
            "two": {"context": {"a": None, "deep": {"y": 2}, "gone": None}},
        },
    )
    assert dict(walk.state.context.items()) == {"goal": "the goal", "deep": {"y": 2}, "b": [1]}


def test_a_copy_of_a_run_has_a_context_of_its_own() -> None:
    walk = walked(guided_plan(step("one"), step("two"), step("three")), {"two": {"context": {"x": "here"}}})
    seq = next(at for at, event in enumerate(walk.events, 1) if getattr(event, "address", "") == "two")
    copy = walk.fork(seq)
    copy.record(RunTaken(by="me", at=walk.now))
    copy.go()
    assert "x" in walk.state.context
    assert "x" not in copy.state.context


def test_where_nobody_holds_the_run_an_agent_of_the_engine_is_called_for_a_guided_step() -> None:
    walk = GuidedWalk(guided_plan(step("one"), step("two"))).start_alone().settle()
    began = walk.events[-1]
    assert isinstance(began, StepBegan)
    assert (began.action, began.address) == ("guided", "one")
    call = began.spec["call"]
    assert isinstance(call, dict)
    assert "\n\nDo it.\n\n" in str(call["prompt"])
    assert call["schema"] == SCHEMA


def test_a_run_that_is_let_go_of_in_the_middle_of_a_step_begins_it_anew_for_an_agent_of_the_engine() -> None:
    walk = begun(guided_plan(step("one"), step("two")))
    before = walk.events[-1]
    walk.record(RunReleased(by="me", at=walk.now))
    walk.settle()
    again = walk.events[-1]
    assert isinstance(before, StepBegan)
    assert isinstance(again, StepBegan)
    assert (again.address, again.attempt) == ("one", 1)
    assert "call" in again.spec
    assert "call" not in before.spec


def begun(plan: Plan) -> GuidedWalk:
    """A held run with its first step pending."""
    return GuidedWalk(plan).start().settle()


def test_replaying_a_guided_run_gives_its_state() -> None:
    plan = guided_plan(step("one"), loop("again", step("inner"), type="for", count=3), step("two"))
    walk = walked(plan, {"one": {"context": {"a": [1]}}})
    assert replay(walk.events, walk.blobs) == walk.state


def test_steps_can_be_read_by_their_notes() -> None:
    walk = begun(guided_plan(step("one")))
    walk.give(Submission(by="me", notes="Found it."))
    assert walk.state.steps["one"].output == {"notes": "Found it.", "artifacts": []}
    assert walk.state.steps["one"].stdout == "Found it."
