"""Work that a step hands on: reported one by one, kept whatever happens, needed before the step is done."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot

from handrail.engine.contracts.schema import fits
from handrail.engine.decide.complete_guided import Submission
from handrail.model.history.events import DelegationReported, RunReleased, RunTaken, StepEnded, StepRefused
from handrail.model.workflow.plan import Plan
from support.engine.guided_preferences import gaps_of, walk_with
from support.engine.guided_walking import GuidedWalk, guided_plan, step, var

NEVER = "full_auto_never_stop"
NOTES = "all of it together"


def split_plan(*workflows: str, **keys: Any) -> Plan:
    listed = [{"workflowId": each} for each in workflows or ("audit-a", "audit-b", "audit-c")]
    return guided_plan(
        {"id": "split", "type": "parallel", "title": "Split", "parallelDelegations": listed, **keys}, step("then")
    )


def result(delegation: Any, status: Any = "done", summary: Any = "looked at it", **keys: Any) -> Any:
    return {"kind": "wr.delegation_result", "delegation": delegation, "status": status, "summary": summary, **keys}


def report(*artifacts: Any, notes: str = "") -> Submission:
    return Submission(by="me", notes=notes, artifacts=artifacts)


def open_ones(walk: GuidedWalk) -> list[str]:
    output: Any = walk.state.steps["split"].output
    return [str(at) for at in range(1, len(output["asked"]) + 1) if str(at) not in output["delegations"]]


def output_of(walk: GuidedWalk) -> Any:
    return walk.state.steps["split"].output


def test_results_come_in_one_by_one_and_the_step_stays_pending() -> None:
    walk = walk_with(split_plan())
    for number, left in ((2, ["1", "3"]), (1, ["3"])):
        done = walk.give(report(result(number)))
        assert [event.kind for event in done.events] == ["delegation_reported"]
        assert not done.is_refused
        assert open_ones(walk) == left
    assert walk.state.pending is not None
    assert walk.state.pending.attempt == 1


def test_the_last_result_with_the_synthesis_completes_the_step() -> None:
    walk = walk_with(split_plan())
    walk.give(report(result(1), result(2, result={"found": 3})))
    done = walk.give(report(result(3, "failed", "no such file\nat all"), notes=NOTES))
    assert isinstance(done.events[-1], StepEnded)
    assert output_of(walk)["delegations"] == snapshot(
        {
            "1": {"status": "done", "summary": "looked at it"},
            "2": {"status": "done", "summary": "looked at it", "result": {"found": 3}},
            "3": {"status": "failed", "summary": "no such file\nat all"},
        }
    )
    assert gaps_of(walk) == [("unexpected", "warning", "3 (audit-c) was failed: no such file")]
    assert walk.settle().began().address == "then"


def test_once_all_are_in_only_the_synthesis_is_asked_for() -> None:
    walk = walk_with(split_plan())
    assert not walk.give(report(result(1), result(2), result(3))).is_refused
    assert [each.code for each in walk.give(report()).shortfalls] == ["missing_notes"]
    assert not walk.give(report(notes=NOTES)).is_refused
    assert walk.settle().began().address == "then"


def test_a_step_without_a_synthesis_to_write_is_done_with_the_last_result() -> None:
    walk = walk_with(split_plan("audit-a", "audit-b", notesOptional=True))
    walk.give(report(result(1)))
    assert isinstance(walk.give(report(result("audit-b"))).events[-1], StepEnded)


def test_completing_without_all_results_is_refused_with_what_is_missing() -> None:
    walk = walk_with(split_plan())
    walk.give(report(result(2)))
    done = walk.give(report(notes=NOTES))
    assert [(each.code, each.message) for each in done.shortfalls] == snapshot(
        [
            ("missing_delegation", "nothing was reported on 1 (audit-a)"),
            ("missing_delegation", "nothing was reported on 3 (audit-c)"),
        ]
    )
    assert all(fits(each.schema, each.example) for each in done.shortfalls)
    again = (each.example for each in done.shortfalls)
    assert not walk.give(report(*again, notes=NOTES)).is_refused


def test_a_run_that_never_stops_goes_on_without_the_missing_results() -> None:
    walk = walk_with(split_plan(), NEVER)
    assert not walk.give(report(result(2))).is_refused
    assert isinstance(walk.give(report(notes=NOTES)).events[-1], StepEnded)
    assert [severity for _, severity, _ in gaps_of(walk)] == ["critical", "critical"]


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (result(4), "there is no work 4 to report on"),
        (result(0), "there is no work 0 to report on"),
        (result(1.5), "there is no work 1.5 to report on"),
        (result([]), "there is no work a list to report on"),
        (result(float("inf")), "there is no work inf to report on"),
        (result("audit-x"), "there is no work 'audit-x' to report on"),
        (result(1, "ok"), "the status of 1 must be one of done, failed, skipped, got 'ok'"),
        (result(1, "done", ""), "the result of 1 needs a summary: the outcome, or why there is none"),
        (result(1, files=[]), "unknown key 'files' in a result; put it under 'result'"),
        ({"kind": "wr.delegation_result"}, "a result must name its work in 'delegation'"),
    ],
)
def test_a_result_that_cannot_be_read_is_refused_with_the_repair(sent: Any, message: str) -> None:
    walk = walk_with(split_plan())
    done = walk.give(report(sent))
    assert [each.message for each in done.shortfalls if each.code == "invalid_delegation"] == [message]
    assert done.shortfalls[0].sent == sent
    assert fits(done.shortfalls[0].schema, done.shortfalls[0].example)


def test_a_workflow_that_is_asked_for_twice_is_named_by_number() -> None:
    walk = walk_with(split_plan("audit", "audit"))
    assert walk.give(report(result("audit"))).shortfalls[0].message == snapshot(
        "'audit' could mean any of 1, 2: use its number"
    )
    assert not walk.give(report(result("2"))).is_refused


def test_results_that_came_with_a_refused_call_are_kept() -> None:
    walk = walk_with(split_plan())
    assert walk.give(report(result(1), result(9))).is_refused
    assert open_ones(walk) == ["2", "3"]


def test_a_result_that_is_reported_again_replaces_the_earlier_one() -> None:
    walk = walk_with(split_plan("audit-a", "audit-b"))
    walk.give(report(result(1, "failed", "timed out")))
    walk.give(report(result(1), result(2)))
    walk.give(report(notes=NOTES))
    assert output_of(walk)["delegations"]["1"]["status"] == "done"
    assert walk.state.gaps == ()


def test_what_is_handed_on_is_fixed_as_the_step_begins() -> None:
    listed = [{"workflowId": "audit-a", "runCondition": var("deep", equals=True)}, {"workflowId": "audit-b"}]
    split = {"id": "split", "type": "parallel", "title": "Split", "parallelDelegations": listed}
    walk = walk_with(guided_plan(split, step("then")))
    assert [each["workflow"] for each in walk.spec["delegations"]] == ["audit-b"]
    walk.give(Submission(by="me", context={"deep": True}))
    assert not walk.give(report(result(1), notes=NOTES)).is_refused
    assert list(output_of(walk)["delegations"]) == ["1"]


def test_results_are_kept_when_the_run_changes_hands() -> None:
    walk = walk_with(split_plan())
    walk.give(report(result(1)))
    walk.record(RunReleased(by="me", at=1.0), RunTaken(by="you", at=1.0))
    walk.settle()
    assert open_ones(walk) == ["2", "3"]


def test_an_agent_of_the_engine_gives_everything_at_once() -> None:
    walk = GuidedWalk(split_plan()).start_alone().settle()
    done = walk.give(report(result(1), result(2)))
    assert [each.code for each in done.shortfalls] == ["missing_delegation", "missing_notes"]
    assert not walk.give(report(result(3), notes=NOTES)).is_refused


orders = st.permutations(["1", "2", "3"]).flatmap(
    lambda order: st.lists(st.integers(0, 3), min_size=0, max_size=3).map(lambda cuts: (order, sorted(cuts)))
)


@settings(max_examples=80, deadline=None)
@given(orders)
def test_in_whatever_portions_results_come_the_step_ends_with_the_same(orders: tuple[list[str], list[int]]) -> None:
    order, cuts = orders
    walk = walk_with(split_plan())
    bounds = [0, *cuts, 3]
    for first, last in pairwise(bounds):
        if first < last:
            assert not walk.give(report(*(result(int(number)) for number in order[first:last]))).is_refused
    assert open_ones(walk) == []
    assert not walk.give(report(notes=NOTES)).is_refused
    assert list(output_of(walk)["delegations"]) == ["1", "2", "3"]
    assert not any(isinstance(event, StepRefused) for event in walk.events)
    assert all(event.by == "me" for event in walk.events if isinstance(event, DelegationReported))
