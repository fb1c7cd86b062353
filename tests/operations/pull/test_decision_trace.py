"""The decision trace: what was looked at, what follows and why; bounded, and the same for the same token."""

from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot

from handrail.model.history.events import Event, LoopEnded, PassedBy, StepBegan, StepChosen, Why
from handrail.operations.pull.decision_trace import MAX_BYTES, MAX_BYTES_EACH, MAX_ENTRIES, trace_of
from support.pull.room import CONTROL, Pull, Said, control, definition, loop, step


def trace(said: Said) -> list[str]:
    return [f"{each['kind']}: {each['summary']}" for each in said.data["decisionTrace"]]


def test_conditions_that_hold_and_that_do_not_are_told_with_their_values(pull: Pull) -> None:
    deep = step("deep", runCondition={"var": "mode", "equals": "deep"})
    quick = step("quick", runCondition={"var": "mode", "equals": "quick"})
    said = pull.start(definition(step("one"), deep, quick))
    assert trace(said) == ["selected_next_step: next is one"]
    assert trace(pull.advance(said, context={"mode": "quick"})) == snapshot(
        [
            "evaluated_condition: SKIP: mode=quick (mode equals 'deep')",
            "evaluated_condition: PASS: mode=quick (mode equals 'quick')",
            "selected_next_step: next is quick",
        ]
    )


def test_a_loop_is_entered_and_left_with_the_reason(pull: Pull) -> None:
    said = pull.start(definition(loop("lap", step("sum", **CONTROL), type="while"), step("end")))
    assert trace(said) == snapshot(
        [
            "entered_loop: entered lap",
            "evaluated_condition: PASS: lap 1 (no step of the body has stopped the loop)",
            "selected_next_step: next is lap@1/sum",
        ]
    )
    assert trace(pull.advance(said, artifacts=[control("stop")])) == snapshot(
        ["exited_loop: left lap: a step stopped it", "selected_next_step: next is end"]
    )


def test_a_condition_that_ends_a_loop_is_told(pull: Pull) -> None:
    while_open = {"kind": "context_variable", "condition": {"var": "open", "not_equals": False}}
    said = pull.start(definition(loop("lap", step("dig"), type="while", conditionSource=while_open), step("end")))
    assert trace(pull.advance(said, context={"open": False})) == snapshot(
        [
            "evaluated_condition: SKIP: open=false (open not_equals false)",
            "exited_loop: left lap: its condition no longer holds",
            "selected_next_step: next is end",
        ]
    )


def test_a_loop_that_goes_on_until_something_holds_ends_because_it_holds(pull: Pull) -> None:
    until_done = {"kind": "context_variable", "condition": {"var": "done", "equals": True}}
    said = pull.start(definition(loop("lap", step("dig"), type="until", conditionSource=until_done), step("end")))
    assert trace(pull.advance(said, context={"done": True})) == snapshot(
        [
            "evaluated_condition: SKIP: done=true (until done equals true)",
            "exited_loop: left lap: its end condition holds",
            "selected_next_step: next is end",
        ]
    )


def test_a_native_loop_that_goes_on_until_something_holds_ends_because_it_holds() -> None:
    ended = LoopEnded(address="lap", reason="condition", at=0.0, why=Why("tests == 0", {"tests": 0}, result=True))
    assert [each.summary for each in trace_of([ended])] == [
        "PASS: tests=0 (tests == 0)",
        "left lap: its end condition holds",
    ]


def test_the_same_token_gives_the_same_trace(pull: Pull) -> None:
    said = pull.start(definition(step("one"), step("two", runCondition={"var": "x"}), step("three")))
    assert pull.advance(said).data == pull.advance(said, notes="other", context={"x": 1}).unwarned


def test_a_call_away_from_the_newest_step_says_so_first(pull: Pull) -> None:
    said = pull.start(definition(step("one"), step("two")))
    pull.advance(said)
    looked = pull.rehydrate(said)
    assert [each["code"] for each in looked.data["warnings"]] == ["NON_TIP_POINT"]
    branch = pull.advance(looked)
    first = branch.data["decisionTrace"][0]
    assert first["kind"] == "detected_non_tip_advance"
    assert first["refs"] == [{"kind": "run_id", "id": branch.run}]
    assert pull.advance(looked).data == branch.data


def test_who_comes_back_sees_the_newest_decisions(pull: Pull) -> None:
    said = pull.start(definition(*(step(f"step-{number}") for number in range(1, 41))))
    for _ in range(39):
        said = pull.advance(said)
    told = trace(pull.rehydrate(said))
    assert len(told) == MAX_ENTRIES
    assert told[-1] == "selected_next_step: next is step-40"


def test_a_refused_call_decides_nothing(pull: Pull) -> None:
    said = pull.start(definition(step("one")))
    assert trace(pull.advance(said, notes=None)) == []


@settings(max_examples=80, deadline=None)
@given(st.lists(st.text(max_size=700), max_size=60))
def test_however_much_was_decided_the_trace_is_bounded_and_the_newest_stays(texts: list[str]) -> None:
    events: list[Event] = [
        StepChosen(address="x", place=0, passed_by=(PassedBy("y", Why(text or "c", {"v": text})),), at=0.0)
        for text in texts
    ]
    found = trace_of([*events, StepBegan(address="last", action="guided", attempt=1, spec={}, at=0.0)])
    sizes = [len(each.summary.encode()) for each in found]
    assert found[-1].summary == "next is last"
    assert len(found) <= MAX_ENTRIES
    assert sum(sizes) <= MAX_BYTES
    assert all(size <= MAX_BYTES_EACH for size in sizes)
