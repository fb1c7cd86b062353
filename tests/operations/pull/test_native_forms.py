"""What guides a native workflow makes the same difference to an agent that is called and to one that is connected."""

import json
from typing import Any

import pytest

from handrail.engine.state.preferences import PreferenceChange
from handrail.model.history.events import CapabilityObserved, GapRecorded, RunBlocked, StepEnded
from handrail.operations.runs import lifecycle as runs
from handrail.operations.runs.prefer import prefer
from handrail.operations.views.history import prompt_of
from support.pull.lists import trust_file
from support.pull.room import Pull, advancing
from support.runtime.room import of_kind
from support.runtime.steps_room import StepsRoom

Json = dict[str, Any]
PLAIN = "name: NAME\nsteps:\n  - {name: look, prompt: 'Look at it.'}\n"


def with_keys(keys: str, step: str = "") -> str:
    return f"name: NAME\n{keys}steps:\n  - name: look\n    prompt: Look at it.\n{step}"


def called(shop: StepsRoom, text: str, turn: Json | None = None) -> str:
    """The text that an agent which is called reads for the step `look`."""
    state = shop.run(text.replace("NAME", "case"), {"look": turn or {"say": "Looked."}})
    return prompt_of(shop.log, state.run, "look")


def connected(pull: Pull, text: str) -> str:
    """Everything that a connected agent reads at the start, the step's own text included."""
    said = pull.start(pull.add(text, "case"))
    return said.text + str(said.pending["prompt"])


GUIDANCE = "guidance: [Prefer evidence over opinion.]\n"
REFERENCE = "references: [{id: api, title: The API, source: README.md, purpose: The contract.}]\n"
FEATURE = "features: [wr.features.durable_recap]\n"


@pytest.mark.parametrize(
    ("keys", "step", "words"),
    [
        (GUIDANCE, "", "Prefer evidence over opinion."),
        (REFERENCE, "", "The contract."),
        (FEATURE, "", "## Constraints"),
        ("", "    role: A sceptical reviewer\n", "# Your role\n\nA sceptical reviewer"),
        ("defaults: {role: A patient teacher}\n", "", "A patient teacher"),
        ("capabilities: {web_browsing: preferred}\n", "", "# What you can do"),
        ("", "    returns: wr.contracts.review_verdict\n", '"verdict"'),
        ("", "    assess: {dimensions: {evidence: Is it grounded?}}\n", "# Assessment `look`"),
        ("assessments: {ready: {dimensions: {depth: How deep?}}}\n", "    assess: ready\n", "# Assessment `ready`"),
    ],
)
def test_a_key_is_told_to_agents_of_both_drivers(shop: StepsRoom, pull: Pull, keys: str, step: str, words: str) -> None:
    assert words in called(shop, with_keys(keys, step))
    assert words in connected(pull, with_keys(keys, step))


def test_without_the_keys_nothing_of_it_is_told(shop: StepsRoom, pull: Pull) -> None:
    for told in (called(shop, PLAIN), connected(pull, PLAIN)):
        for words in ("Rules of this workflow", "# References", "# Your role", "## Constraints", "# Assessment"):
            assert words not in told


def test_lines_of_features_follow_the_prompt(shop: StepsRoom) -> None:
    told = called(shop, with_keys(FEATURE))
    assert told.index("Look at it.") < told.index("## Constraints") < told.index("# Rules")


def test_what_guides_comes_whole_in_a_new_conversation_and_short_in_one_that_goes_on(shop: StepsRoom) -> None:
    text = with_keys(GUIDANCE + REFERENCE).replace("NAME", "case")
    text += "  - {name: again, session: look, prompt: Go on with it.}\n  - {name: anew, prompt: Begin it anew.}\n"
    state = shop.run(text, {name: {"say": "Done."} for name in ("look", "again", "anew")})
    first, second, third = (prompt_of(shop.log, state.run, name) for name in ("look", "again", "anew"))
    for told in (first, third):
        assert "# Rules of this workflow\n\n- Prefer evidence over opinion." in told
        assert "- The API\n  Path: README.md\n  Purpose: The contract." in told
    assert "Prefer evidence" not in second
    assert "still apply" in second
    assert "- The API: README.md" in second


def test_a_slot_is_filled_with_what_it_is_bound_to(shop: StepsRoom, pull: Pull) -> None:
    keys = "extension_points: {audit: {default: routine-ideation, accepts: [routine]}}\n"
    text = with_keys(keys).replace("Look at it.", "Use {{ bindings.audit }} on it.")
    assert "Use routine-ideation on it." in called(shop, text)
    assert "Use routine-ideation on it." in connected(pull, text)


def test_the_project_binds_a_slot_of_a_native_workflow(pull: Pull) -> None:
    (pull.workspace / ".handrail").mkdir()
    bindings = {"case": {"audit": "routine-plan-analysis"}}
    path = pull.workspace / ".handrail" / "bindings.json"
    path.write_text(json.dumps(bindings))
    trust_file(pull, path)
    text = with_keys("extension_points: {audit: routine-ideation}\n")
    assert "Use routine-plan-analysis." in connected(pull, text.replace("Look at it.", "Use {{ bindings.audit }}."))


ASSESSED = """\
name: NAME
assessments:
  ready:
    purpose: Is it ready?
    dimensions: {evidence: {purpose: Grounded?, levels: [low, high]}, cover: {levels: [some, all], required: false}}
    follow_up_when: [low]
    guidance: Anchor each finding to a line.
steps:
  - {name: look, prompt: Look at it., output: seen, assess: ready, retry: 2}
  - {name: last, command: 'echo over'}
"""


def judged(level: str, rationale: str = "seen it") -> Json:
    dimensions = {"evidence": {"level": level, "rationale": rationale}}
    return {"kind": "wr.assessment", "assessmentId": "ready", "dimensions": dimensions}


def answer(*artifacts: Json, result: Any = "Looked.") -> Json:
    return {"output": {"result": result, "artifacts": list(artifacts)}}


def test_a_called_agent_must_judge_its_work_and_a_low_level_sends_it_back(shop: StepsRoom) -> None:
    turns = [
        {"say": "Looked."},
        {"expect_prompt": ["the assessment 'ready' is missing"], **answer(judged("low"))},
        {"expect_prompt": ["Anchor each finding to a line."], **answer(judged(" HIGH"))},
    ]
    state = shop.run(ASSESSED.replace("NAME", "case"), {"look": turns})
    assert (state.status, state.names["seen"], state.spent.agent_calls) == ("succeeded", "Looked.", 3)
    first, second, third = shop.endings(state.run, "look")
    assert [first.status, second.status, third.status] == ["failed", "failed", "succeeded"]
    levels = {"evidence": {"level": "high", "rationale": "seen it", "normalized": True, "written": " HIGH"}}
    assert third.details["assessments"] == {"ready": levels}


def test_a_judgment_without_its_reason_is_refused(shop: StepsRoom) -> None:
    state = shop.run(ASSESSED.replace("NAME", "case"), {"look": {**answer(judged("high", "")), "repeat": True}})
    assert state.status == "blocked"
    assert "needs a reason" in state.message


def test_a_level_that_follows_up_uses_the_tries_of_the_step(shop: StepsRoom) -> None:
    state = shop.run(ASSESSED.replace("NAME", "case"), {"look": {**answer(judged("low")), "repeat": True}})
    assert (state.status, state.spent.agent_calls) == ("blocked", 3)
    assert "'evidence' of 'ready' is low: Anchor each finding to a line." in state.message


def test_without_the_key_the_same_answer_is_taken_as_it_is(shop: StepsRoom) -> None:
    text = ASSESSED.replace("NAME", "case").replace(", assess: ready", "")
    state = shop.run(text, {"look": {"say": "Looked."}})
    assert (state.status, state.spent.agent_calls) == ("succeeded", 1)


def test_a_connected_agent_must_judge_its_work_and_a_low_level_sends_it_back(pull: Pull) -> None:
    first = pull.start(pull.add(ASSESSED, "case"))
    assert first.pending["prompt"].count("# Assessment `ready`") == 1
    missing = pull.advance(first)
    assert missing.codes == ["MISSING_REQUIRED_OUTPUT"]
    low = pull.advance(missing, artifacts=[judged("low")])
    assert (low.codes, low.address) == (["ASSESSMENT_FOLLOWUP_REQUIRED"], "look")
    assert "Anchor each finding to a line." in low.text
    done = pull.advance(low, artifacts=[judged("high")])
    assert done.complete
    assert pull.state(first.run).steps["look"].attempts == 3
    pull.assert_sound()


def test_a_connected_agent_that_is_out_of_tries_may_still_repair_its_judgment(pull: Pull) -> None:
    first = pull.start(pull.add(ASSESSED.replace(", retry: 2", ""), "case"))
    low = pull.advance(first, artifacts=[judged("low")])
    assert pull.state(first.run).status == "blocked"
    assert low.codes == ["ASSESSMENT_FOLLOWUP_REQUIRED"]
    again = pull.advance(low, artifacts=[judged("high")])
    done = again if again.complete else pull.advance(again, artifacts=[judged("high")])
    assert done.complete


def test_several_assessments_are_told_apart_by_their_names(shop: StepsRoom) -> None:
    text = (
        "name: case\nassessments:\n  a: {dimensions: {x: One?}, follow_up_when: low}\n  b: {dimensions: {y: Two?}}\n"
        "steps:\n  - {name: look, prompt: Look at it., assess: [a, b], retry: 1}\n"
    )

    def one(name: str, dimension: str, level: str) -> Json:
        return {
            "kind": "wr.assessment",
            "assessmentId": name,
            "dimensions": {dimension: {"level": level, "rationale": "so"}},
        }

    turns = [answer(one("a", "x", "high")), answer(one("a", "x", "high"), one("b", "y", "low"))]
    state = shop.run(text, {"look": turns})
    assert state.status == "succeeded"
    assert [each.status for each in shop.endings(state.run, "look")] == ["failed", "succeeded"]


VERDICT: Json = {
    "kind": "wr.review_verdict",
    "verdict": "clean",
    "confidence": "high",
    "findings": [],
    "summary": "Nothing found.",
}
PACK = (
    "name: NAME\nsteps:\n  - {name: look, prompt: Look at it., returns: wr.contracts.review_verdict, output: verdict}\n"
)


def test_a_contract_pack_holds_the_result_of_a_called_agent(shop: StepsRoom) -> None:
    text = PACK.replace("NAME", "case") + "  - {name: tell, command: 'echo \"${verdict.verdict}\"', output: said}\n"
    state = shop.run(text, {"look": {"output": VERDICT}})
    assert (state.status, state.names["said"]) == ("succeeded", "clean")
    wrong = shop.run(text, {"look": {"output": {**VERDICT, "verdict": "perhaps"}}})
    assert wrong.status == "blocked"


def test_a_connected_agent_gives_a_contract_pack_as_its_result_or_as_an_artifact(pull: Pull) -> None:
    name = pull.add(PACK, "case")
    as_artifact = pull.advance(pull.start(name), artifacts=[VERDICT])
    assert as_artifact.complete
    first = pull.start(name)
    call = advancing(first.token)
    call["output"]["result"] = VERDICT
    assert pull.call("continue_workflow", **call).complete
    assert pull.advance(pull.start(name)).codes == ["NOT_PROVEN"]


WEB = "capabilities: {web_browsing: required, delegation: preferred}\n"


def observed(name: str, status: str) -> Json:
    return {
        "kind": "wr.capability_observation",
        "version": 1,
        "capability": name,
        "status": status,
        "method": "probe",
        "evidence": "tried it",
    }


def test_a_required_capability_that_the_table_denies_blocks_before_any_call(shop: StepsRoom) -> None:
    shop.agent = ""
    text = with_keys(WEB + "defaults: {agent: claude, disallowed_tools: [WebFetch, WebSearch]}\n")
    state = shop.run(text.replace("NAME", "case"), {})
    assert (state.status, state.reason, state.spent.agent_calls) == ("blocked", "capability", 0)
    assert state.message == "the workflow requires web_browsing, but claude cannot use web_browsing here"
    assert f"handrail prefer {state.run} --risk aggressive" in state.next_step


def test_a_preferred_capability_that_the_table_denies_is_a_gap(shop: StepsRoom) -> None:
    shop.agent = "opencode"
    text = with_keys("capabilities: {delegation: preferred}\ndefaults: {access: read}\n")
    run = shop.start(text.replace("NAME", "case"), {})
    shop.drive()
    gaps = of_kind(shop.log, run, GapRecorded)
    assert [each.message for each in gaps] == ["opencode cannot use delegation here, which the workflow prefers"]


def test_an_agent_without_a_table_is_asked_what_it_can_do(shop: StepsRoom) -> None:
    turn = answer(observed("web_browsing", "available"), observed("delegation", "unavailable"))
    state = shop.run(with_keys(WEB).replace("NAME", "case"), {"look": turn})
    assert (state.status, state.capabilities["web_browsing"]) == ("succeeded", "available")
    assert [gap["message"] for gap in state.open_gaps] == [
        "the agent cannot use delegation, which the workflow prefers"
    ]


def test_an_agent_without_a_table_is_told_to_try_before_its_task_and_to_leave_it_without_what_is_required(
    shop: StepsRoom,
) -> None:
    told = called(shop, with_keys(WEB), answer(observed("web_browsing", "available")))
    assert "Before anything else, find out what works by trying each once" in told
    assert "do not start your task: report that, change nothing, and stop" in told
    liked = called(shop, with_keys("capabilities: {delegation: preferred}\n"), answer())
    assert "Before anything else, find out what works by trying each once" in liked
    assert "do not start your task" not in liked


def test_a_required_capability_that_the_agent_finds_missing_blocks_until_a_person_decides(shop: StepsRoom) -> None:
    turns = [answer(observed("web_browsing", "unavailable")), {"say": "Looked without."}]
    state = shop.run(with_keys(WEB, "    retry: 3\n").replace("NAME", "case"), {"look": turns})
    assert (state.status, state.reason, state.spent.agent_calls) == ("blocked", "capability", 1)
    prefer(shop.writer, state.run, PreferenceChange(by="ann", risk="aggressive"))
    runs.resume(shop.writer, state.run, "ann")
    shop.drive()
    after = shop.state(state.run)
    assert after.status == "succeeded"
    assert sorted(str(gap["about"]) for gap in after.open_gaps) == ["delegation", "web_browsing"]


def test_a_connected_agent_reports_what_it_can_do_as_an_artifact(pull: Pull) -> None:
    name = pull.add(with_keys(WEB), "case")
    unknown = pull.advance(pull.start(name))
    assert unknown.codes == ["REQUIRED_CAPABILITY_UNKNOWN"]
    able = observed("web_browsing", "available")
    assert pull.advance(pull.start(name), artifacts=[able]).complete
    lacks = pull.advance(pull.start(name), artifacts=[observed("web_browsing", "unavailable")])
    assert lacks.codes == ["REQUIRED_CAPABILITY_UNAVAILABLE"]
    assert pull.state(lacks.run).reason == "capability"
    assert isinstance(of_kind(pull.log, lacks.run, RunBlocked)[-1], RunBlocked)
    assert [each.status for each in of_kind(pull.log, lacks.run, CapabilityObserved)] == ["unavailable"]


def test_a_reference_that_is_not_there_is_marked_for_both(shop: StepsRoom, pull: Pull) -> None:
    keys = REFERENCE.replace("README.md", "nowhere.md")
    said = pull.start(pull.add(with_keys(keys), "case"))
    assert "REFERENCE_UNRESOLVED" in said.warnings
    assert "[unresolved]" in said.text
    assert "nowhere.md" in called(shop, with_keys(keys))


ALL = """\
name: NAME
budget: {agent_calls: 5}
guidance: [Prefer evidence over opinion.]
references: [{id: api, title: The API, source: README.md, purpose: The contract., authoritative: true}]
capabilities: {web_browsing: required}
assessments: {ready: {dimensions: {evidence: {levels: [low, high]}}, follow_up_when: [low]}}
steps:
  - name: look
    prompt: Audit it, and write audit.md.
    assess: ready
    retry: 1
    done_when: [{exists: audit.md}]
"""


def test_one_workflow_has_proof_budget_references_a_capability_and_an_assessment(shop: StepsRoom, pull: Pull) -> None:
    able = observed("web_browsing", "available")
    turns = [
        answer(judged("low"), able),
        {**answer(judged("high")), "files": {"audit.md": "fine\n"}, "expect_prompt": ["'evidence' of 'ready' is low"]},
    ]
    state = shop.run(ALL.replace("NAME", "case"), {"look": turns})
    assert (state.status, state.spent.agent_calls) == ("succeeded", 2)
    proofs = of_kind(shop.log, state.run, StepEnded)[-1].details["proofs"]
    assert isinstance(proofs, list)
    assert len(proofs) == 1
    first = pull.start(pull.add(ALL, "case"))
    assert "The API (authoritative)" in first.text
    unproven = pull.advance(first, artifacts=[judged("high"), able])
    assert unproven.codes == ["NOT_PROVEN"]
    (pull.workspace / "audit.md").write_text("fine\n")
    assert pull.advance(unproven, artifacts=[judged("high")]).complete
    pull.assert_sound()
