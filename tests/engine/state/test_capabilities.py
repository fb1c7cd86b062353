"""What the agent can do, held against what a workflow requires and prefers."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot

from handrail.engine.contracts.schema import fits
from handrail.engine.decide.complete_guided import Submission
from handrail.engine.state.preferences import AUTONOMIES, RISKS
from handrail.model.history.events import RunReleased, RunResumed, RunTaken
from handrail.model.workflow.guidance import GuidedAction
from handrail.model.workflow.plan import Plan
from support.engine.guided_preferences import gaps_of, walk_with
from support.engine.guided_walking import GuidedWalk, guided_plan, step

NEVER = "full_auto_never_stop"
DONE = Submission(by="me", notes="done")
PROBE: dict[str, Any] = {"outputContract": {"contractRef": "wr.contracts.capability_observation"}}


def plan_with(level: str = "required", *names: str, **keys: Any) -> Plan:
    listed = dict.fromkeys(names or ("web_browsing",), level)
    return guided_plan(step("one"), step("two"), capabilities=listed, **keys)


def seen(status: str, name: str = "web_browsing", **keys: Any) -> Any:
    basis = {"kind": "wr.capability_observation", "version": 1, "capability": name, "status": status}
    return {**basis, "method": "probe", "evidence": "the page came back", **keys}


def done_with(*artifacts: Any) -> Submission:
    return Submission(by="me", notes="done", artifacts=artifacts)


def test_a_required_capability_that_nobody_looked_at_refuses_the_first_step_with_the_artifact_to_send() -> None:
    walk = walk_with(plan_with())
    (shortfall,) = walk.give(DONE).shortfalls
    assert shortfall.code == "capability_unknown"
    assert shortfall.message == snapshot(
        "the workflow requires web_browsing, and it is not known whether you can use it"
    )
    assert fits(shortfall.schema, shortfall.example)
    assert not walk.give(done_with(shortfall.example)).is_refused
    assert dict(walk.state.capabilities.items()) == {"web_browsing": "available"}
    assert not walk.settle().give(DONE).is_refused


def test_a_step_says_what_is_to_be_found_out_as_long_as_nobody_did() -> None:
    walk = walk_with(plan_with("preferred"))
    assert [(each["name"], each["level"]) for each in walk.spec["capabilities"]] == [("web_browsing", "preferred")]
    walk.give(done_with(seen("available")))
    assert "capabilities" not in walk.settle().spec


def test_what_was_observed_counts_although_the_step_is_refused() -> None:
    walk = walk_with(plan_with())
    assert [each.code for each in walk.give(Submission(by="me", artifacts=(seen("available"),))).shortfalls] == [
        "missing_notes"
    ]
    assert not walk.give(DONE).is_refused


def test_a_required_capability_that_lacks_blocks_the_run_and_says_what_to_do() -> None:
    walk = walk_with(plan_with())
    done = walk.give(done_with(seen("unavailable")))
    assert [event.kind for event in done.events] == ["capability_observed", "step_refused", "run_blocked"]
    assert (walk.state.status, walk.state.reason) == ("blocked", "capability")
    assert walk.state.message == snapshot("the workflow requires web_browsing, which the agent cannot use")
    assert walk.state.next_step == snapshot(
        "once the agent can use web_browsing, it must submit the step again with an artifact that says so; or let the"
        " run continue without it: handrail prefer r-1 --risk aggressive, then handrail resume r-1"
    )


def test_a_run_that_is_resumed_goes_on_once_the_capability_is_there() -> None:
    walk = walk_with(plan_with())
    walk.give(done_with(seen("unavailable")))
    pending = walk.state.pending
    walk.record(RunResumed(by="ann", at=1.0))
    assert walk.settle().state.pending == pending
    assert walk.give(DONE).is_refused
    assert walk.state.status == "blocked"
    walk.record(RunResumed(by="ann", at=1.0))
    assert not walk.settle().give(done_with(seen("available"))).is_refused
    assert walk.state.status == "running"


def test_who_takes_the_blocked_run_gets_its_step() -> None:
    walk = walk_with(plan_with())
    walk.give(done_with(seen("unavailable")))
    walk.record(RunReleased(by="me", at=1.0), RunTaken(by="you", at=1.0))
    assert walk.settle().state.status == "running"
    assert not walk.give(done_with(seen("available"))).is_refused


@pytest.mark.parametrize(
    ("autonomy", "risk", "status", "outcome"),
    [
        ("guided", "conservative", "unknown", "refused"),
        ("full_auto_stop_on_user_deps", "conservative", "unknown", "refused"),
        ("guided", "balanced", "unknown", "warning"),
        ("guided", "aggressive", "unknown", "warning"),
        (NEVER, "conservative", "unknown", "warning"),
        ("guided", "conservative", "unavailable", "refused"),
        ("guided", "balanced", "unavailable", "refused"),
        ("guided", "aggressive", "unavailable", "critical"),
        (NEVER, "conservative", "unavailable", "critical"),
    ],
)
def test_what_a_required_capability_that_lacks_leads_to(autonomy: str, risk: str, status: str, outcome: str) -> None:
    walk = walk_with(plan_with(), autonomy, risk)
    done = walk.give(done_with(seen(status)))
    if outcome == "refused":
        assert done.is_refused
        assert walk.state.gaps == ()
    else:
        assert not done.is_refused
        assert [(category, severity) for category, severity, _ in gaps_of(walk)] == [("capability_missing", outcome)]
        assert not walk.settle().give(DONE).is_refused
        assert len(walk.state.gaps) == 1


def test_a_preferred_capability_never_stands_in_the_way_and_is_told_once() -> None:
    walk = walk_with(plan_with("preferred", "web_browsing", "delegation"))
    assert not walk.give(done_with(seen("unavailable"))).is_refused
    walk.settle().give(DONE)
    assert gaps_of(walk) == snapshot(
        [
            (
                "capability_missing",
                "info",
                "it is not known whether the agent can use delegation, which the workflow prefers",
            ),
            ("capability_missing", "warning", "the agent cannot use web_browsing, which the workflow prefers"),
        ]
    )


def test_a_later_observation_settles_what_was_told() -> None:
    walk = walk_with(plan_with("preferred"))
    walk.give(DONE)
    assert [gap["resolved"] for gap in walk.state.gaps] == [False]
    walk.settle().give(done_with(seen("available")))
    assert [gap["resolved"] for gap in walk.state.gaps] == [True]


def test_an_unknown_one_that_turns_out_to_lack_is_told_anew() -> None:
    walk = walk_with(plan_with(), risk="balanced")
    walk.give(DONE)
    assert walk.settle().give(done_with(seen("unavailable"))).is_refused
    assert walk.state.reason == "capability"


def test_a_probe_is_not_held_to_what_the_next_one_finds_out() -> None:
    plan = guided_plan(
        step("first", **PROBE),
        step("second", **PROBE),
        step("work"),
        capabilities={"delegation": "required", "web_browsing": "required"},
    )
    walk = walk_with(plan)
    assert not walk.give(Submission(by="me", artifacts=(seen("available", "delegation"),))).is_refused
    assert not walk.settle().give(Submission(by="me", artifacts=(seen("available"),))).is_refused
    assert not walk.settle().give(DONE).is_refused


def test_the_newest_observation_of_a_call_counts() -> None:
    walk = walk_with(plan_with())
    assert not walk.give(done_with(seen("unavailable"), seen("available"))).is_refused
    assert len([event for event in walk.events if event.kind == "capability_observed"]) == 1


def test_the_example_fits_the_contract_of_the_library() -> None:
    action = guided_plan(step("probe", **PROBE)).steps[0].action
    assert isinstance(action, GuidedAction)
    assert action.contract is not None
    assert fits(action.contract.schema, walk_with(plan_with()).give(DONE).shortfalls[0].example)


observations = st.lists(
    st.builds(
        seen,
        st.sampled_from(["available", "unavailable", "unknown", "bad", None]),
        st.sampled_from(["web_browsing", "delegation", "", 3]),
    )
    | st.sampled_from([None, {"kind": "wr.capability_observation"}]),
    max_size=3,
)


@settings(deadline=None)
@given(
    st.sampled_from(AUTONOMIES),
    st.sampled_from(RISKS),
    st.sampled_from(["required", "preferred"]),
    st.lists(observations, min_size=1, max_size=4),
)
def test_after_a_step_every_declared_capability_is_there_or_told(
    autonomy: str, risk: str, level: str, calls: list[list[Any]]
) -> None:
    walk = walk_with(plan_with(level, "web_browsing", "delegation"), autonomy, risk)
    for sent in calls:
        if walk.state.status != "running" or walk.state.pending is None:
            break
        done = walk.give(done_with(*sent))
        if done.is_refused:
            assert level == "required"
            continue
        for name in ("web_browsing", "delegation"):
            told = [gap for gap in walk.state.gaps if gap["about"] == name and not gap["resolved"]]
            assert len(told) == (walk.state.capabilities.get(name) != "available")
        walk.settle()
    assert level == "required" or walk.state.status != "blocked"


def test_a_workflow_without_capabilities_takes_observations_as_what_they_are() -> None:
    walk = GuidedWalk(guided_plan(step("one"))).start().settle()
    assert not walk.give(done_with(seen("unavailable"))).is_refused
    assert walk.state.gaps == ()
