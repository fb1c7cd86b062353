"""How far a run goes on alone: what refuses a step, and what only leaves a gap."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot

from handrail.engine.decide.complete_guided import Submission
from handrail.engine.state.preferences import AUTONOMIES, RISKS, PreferenceChange, decide_preferences
from handrail.errors import UsageError
from handrail.model.history.events import GapRecorded, PreferencesSet
from handrail.model.history.run_state import RunState
from handrail.model.workflow.plan import Plan
from support.engine.guided_preferences import gaps_of, walk_with
from support.engine.guided_walking import BY_ARTIFACT, CONTROL, GuidedWalk, guided_plan, loop, step

NEVER = "full_auto_never_stop"
CONFIDENCE = {
    "id": "confidence",
    "purpose": "How sure.",
    "dimensions": [{"id": "scope", "purpose": "Is it whole?", "levels": ["low", "high"]}],
}
STRICT: dict[str, Any] = {
    "assessmentRefs": ["confidence"],
    "assessmentConsequences": [
        {"when": {"anyEqualsLevel": "low"}, "effect": {"kind": "require_followup", "guidance": "Look again."}}
    ],
    "validationCriteria": [{"type": "contains", "value": "DONE", "message": "say DONE"}],
}


def strict_plan(**keys: Any) -> Plan:
    return guided_plan(step("one", **STRICT), step("two"), assessments=[CONFIDENCE], **keys)


def judged(level: str) -> Any:
    return {"kind": "wr.assessment", "dimensions": {"scope": {"level": level, "rationale": "seen"}}}


def test_a_run_begins_guided_and_conservative() -> None:
    state = GuidedWalk(strict_plan()).start().state
    assert (state.autonomy, state.risk, state.gaps) == ("guided", "conservative", ())


@pytest.mark.parametrize("autonomy", AUTONOMIES[:2])
def test_what_falls_short_refuses_the_step_unless_the_run_never_stops(autonomy: str) -> None:
    walk = walk_with(strict_plan(), autonomy)
    done = walk.give(Submission(by="me"))
    assert {each.code for each in done.shortfalls} == {"missing_assessment", "validation_failed", "missing_notes"}
    assert walk.state.gaps == ()


def test_a_run_that_never_stops_records_a_critical_gap_for_each_shortfall_and_goes_on() -> None:
    walk = walk_with(strict_plan(), NEVER)
    done = walk.give(Submission(by="me"))
    assert not done.is_refused
    assert [event.kind for event in done.events] == ["gap_recorded", "gap_recorded", "gap_recorded", "step_ended"]
    assert gaps_of(walk) == snapshot(
        [
            ("contract_violation", "critical", "the assessment 'confidence' is missing"),
            ("contract_violation", "critical", "say DONE"),
            ("contract_violation", "critical", "the step needs notes"),
        ]
    )
    assert walk.settle().began().address == "two"


def test_a_follow_up_is_passed_over_by_a_run_that_never_stops() -> None:
    sent = Submission(by="me", notes="DONE", artifacts=(judged("low"),))
    assert walk_with(strict_plan()).give(sent).shortfalls[0].code == "follow_up"
    walk = walk_with(strict_plan(), NEVER)
    assert not walk.give(sent).is_refused
    assert gaps_of(walk) == [("contract_violation", "critical", "'scope' of 'confidence' is low: Look again.")]


def test_a_context_that_is_too_large_is_left_out_by_a_run_that_never_stops() -> None:
    walk = walk_with(guided_plan(step("one"), step("two")), NEVER)
    assert not walk.give(Submission(by="me", notes="done", context={"x": "y" * 300_000})).is_refused
    assert "x" not in walk.state.context
    assert [severity for _, severity, _ in gaps_of(walk)] == ["critical"]


def test_what_a_loop_cannot_be_decided_without_is_asked_for_even_by_a_run_that_never_stops() -> None:
    walk = walk_with(guided_plan(step("one"), loop("each", step("two"), type="forEach", items="rows")), NEVER)
    assert [each.code for each in walk.give(Submission(by="me", notes="done")).shortfalls] == ["missing_context"]
    assert not walk.give(Submission(by="me", notes="done", context={"rows": []})).is_refused


def test_a_loop_that_is_never_told_to_stop_ends_at_its_limit() -> None:
    body = loop("again", step("look", **CONTROL), type="while", maxIterations=3, conditionSource=BY_ARTIFACT)
    walk = GuidedWalk(guided_plan(body), work=lambda _, __: Submission(by="me")).start()
    walk.record(*decide_preferences(walk.plan, walk.state, PreferenceChange(by="ann", autonomy=NEVER), 0.0))
    assert walk.go().state.status == "succeeded"
    assert len(walk.state.gaps) == 3


def test_going_further_than_the_workflow_recommends_is_told_once() -> None:
    advice = {"recommendedAutonomy": "guided", "recommendedRiskPolicy": "balanced"}
    walk = walk_with(strict_plan(recommendedPreferences=advice), NEVER, "aggressive")
    assert gaps_of(walk) == snapshot(
        [
            ("unexpected", "warning", "autonomy is full_auto_never_stop, but the workflow recommends guided at most"),
            ("unexpected", "warning", "risk is aggressive, but the workflow recommends balanced at most"),
        ]
    )
    for autonomy in ("guided", NEVER):
        walk.record(*decide_preferences(walk.plan, walk.state, PreferenceChange(by="ann", autonomy=autonomy), 1.0))
    assert len(walk.state.gaps) == 2


def test_what_the_workflow_recommends_is_no_gap() -> None:
    advice = {"recommendedAutonomy": NEVER, "recommendedRiskPolicy": "aggressive"}
    assert walk_with(strict_plan(recommendedPreferences=advice), NEVER, "balanced").state.gaps == ()


def test_a_word_that_is_no_preference_is_refused_with_those_there_are() -> None:
    walk = GuidedWalk(strict_plan()).start()
    with pytest.raises(UsageError) as raised:
        decide_preferences(walk.plan, walk.state, PreferenceChange(by="ann", risk="bold"), 0.0)
    assert raised.value.next_step == "choose one of conservative, balanced, aggressive"


def test_a_preference_that_holds_already_is_no_event() -> None:
    walk = GuidedWalk(strict_plan()).start()
    assert decide_preferences(walk.plan, walk.state, PreferenceChange(by="ann", autonomy="guided"), 0.0) == ()


def test_what_a_person_prefers_stays_when_the_run_goes_back() -> None:
    walk = GuidedWalk(strict_plan()).start().settle()
    walk.record(*decide_preferences(walk.plan, walk.state, PreferenceChange(by="ann", risk="balanced"), 0.0))
    walk.rewind(3)
    assert walk.state.risk == "balanced"


words = st.sampled_from(["", "DONE", "half", "  "])
artifacts = st.lists(
    st.one_of(
        st.sampled_from([judged("low"), judged("high"), judged("Low "), judged("no"), {"kind": "wr.assessment"}]),
        st.none(),
        st.integers(),
        st.dictionaries(st.sampled_from(["kind", "dimensions"]), st.text(max_size=3), max_size=2),
    ),
    max_size=3,
)


@settings(deadline=None)
@given(words, artifacts)
def test_never_stop_completes_exactly_with_a_gap_for_what_would_refuse(notes: str, sent: list[Any]) -> None:
    output = Submission(by="me", notes=notes, artifacts=tuple(sent))
    refused = walk_with(strict_plan()).give(output)
    done = walk_with(strict_plan(), NEVER).give(output)
    told = [event.message for event in done.events if isinstance(event, GapRecorded)]
    assert done.events[-1].kind == "step_ended"
    # A follow-up is looked at only where nothing else stands in the way, so that a run that goes on may tell more.
    assert told[: len(refused.shortfalls)] == [each.message for each in refused.shortfalls]
    assert not told or refused.is_refused


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(("", *AUTONOMIES)), st.sampled_from(("", *RISKS))), max_size=6))
def test_the_newest_word_on_each_counts_and_each_advice_is_told_at_most_once(wishes: list[tuple[str, str]]) -> None:
    walk = GuidedWalk(strict_plan(recommendedPreferences={"recommendedAutonomy": "guided"})).start()
    expected = ["guided", "conservative"]
    for autonomy, risk in wishes:
        walk.record(
            *decide_preferences(walk.plan, walk.state, PreferenceChange(by="ann", autonomy=autonomy, risk=risk), 0.0)
        )
        expected = [autonomy or expected[0], risk or expected[1]]
    state: RunState = walk.state
    assert [state.autonomy, state.risk] == expected
    messages = [gap["message"] for gap in state.gaps]
    assert len(messages) == len(set(map(str, messages)))
    assert all(event.by == "ann" for event in walk.events if isinstance(event, PreferencesSet))
