"""The seventeen defects observed on the system whose semantics are kept: each has a test that shows it gone."""

import json
import re
from typing import Any

import apsw
import pytest

from handrail.ports.log import StoredEvent
from handrail.store.sqlite.log import SqliteLog
from support.pull.lists import trust_file
from support.pull.room import BY_ARTIFACT, CONTROL, Json, Pull, Said, chain, control, definition, loop, step

MOST_NOTES = 4096
MOST_RECALLED = 24_576
VERDICT = {"outputContract": {"contractRef": "wr.contracts.review_verdict"}}
RISK: Json = {
    "id": "risk",
    "purpose": "How risky it is.",
    "dimensions": [{"id": "scope", "purpose": "How much it touches.", "levels": ["high", "low"]}],
}


def visited(pull: Pull, said: Said, *given: Any) -> list[str]:
    """Complete every step with the same artifacts; give the addresses."""
    found: list[str] = []
    while not said.complete:
        found.append(str(said.address))
        said = pull.advance(said, artifacts=given)
    return found


@pytest.mark.parametrize("lead", ["", "a", "ab"])
@pytest.mark.parametrize("letter", ["é", "€", "😀"])
def test_d1_notes_of_wide_characters_that_are_cut_leave_the_run_healthy(pull: Pull, lead: str, letter: str) -> None:
    said = pull.advance(pull.start(chain(2)), lead + letter * 4000)
    kept = pull.state(said.run).steps["step-1"].stdout.encode()
    assert MOST_NOTES - 20 < len(kept) <= MOST_NOTES
    assert letter in pull.rehydrate(said).text
    assert pull.advance(said).complete
    pull.assert_sound()


def test_d2_the_call_that_an_answer_asks_for_always_goes_on(pull: Pull) -> None:
    said = pull.start(definition(step("greet", notesOptional=True), step("work"), step("decide", **CONTROL)))
    for _ in range(3):
        written = json.loads(re.findall(r"```json\n(\{\s*\"continueToken.*?\n\})\n```", said.text, re.DOTALL)[-1])
        assert written == said.data["nextCall"]["params"]
        before, said = said.address, pull.call(said.data["nextCall"]["tool"], **written)
        assert said.complete or said.address != before
    assert said.complete


def test_d2_a_step_without_notes_is_completed_by_the_bare_intent(pull: Pull) -> None:
    said = pull.start(definition(step("greet", notesOptional=True), step("work")))
    assert pull.call("continue_workflow", continueToken=said.token, intent="advance").address == "work"


def test_d3_the_guidance_of_workflow_and_step_and_the_role_reach_the_agent(pull: Pull) -> None:
    told = step("two", guidance=["Look twice."], agentRole="You are a careful reader of old code.")
    said = pull.start(definition(step("one"), told, step("three"), metaGuidance=["Never guess a name."]))
    assert "Never guess a name." in said.text
    said = pull.advance(said)
    for words in ("Look twice.", "You are a careful reader of old code."):
        assert words in said.text
    again = pull.rehydrate(said).text
    for words in ("Never guess a name.", "Look twice.", "You are a careful reader of old code."):
        assert words in again


def test_d4_what_is_recalled_keeps_the_newest_notes(pull: Pull) -> None:
    said = pull.start(chain(11))
    for number in range(1, 11):
        said = pull.advance(said, f"NOTE{number:02} ".ljust(3900, "x"))
    recalled = pull.rehydrate(said).text
    found = sorted(set(re.findall(r"NOTE\d\d", recalled)))
    assert found[-1] == "NOTE10"
    assert found == [f"NOTE{number:02}" for number in range(11 - len(found), 11)]
    assert 5 <= len(found) < 10
    assert len(recalled.encode()) < MOST_RECALLED + 8_000


def test_d5_branches_do_not_see_each_others_context(pull: Pull) -> None:
    first = pull.start(definition(step("one"), step("tell", prompt="x is {{x}}.")))
    assert "x is [unset: x]." in pull.advance(first).text
    other = pull.advance(pull.rehydrate(first), context={"x": "mine"})
    assert "x is `mine`." in other.text
    third = pull.advance(pull.rehydrate(first))
    assert "x is [unset: x]." in third.text
    assert len({first.run, other.run, third.run}) == 3


def test_d6_the_context_of_a_blocked_call_is_kept(pull: Pull) -> None:
    said = pull.start(definition(step("one"), step("tell", prompt="x is {{x}}.")))
    blocked = pull.advance(said, notes=None, context={"x": "sent once"})
    assert blocked.codes == ["MISSING_REQUIRED_NOTES"]
    assert "x is `sent once`." in pull.advance(blocked).text


def test_d7_a_differentiation_handoff_is_taken(pull: Pull) -> None:
    contract = {"outputContract": {"contractRef": "wr.contracts.differentiation_handoff"}}
    blocked = pull.advance(pull.start(definition(step("hand-off", **contract))))
    assert blocked.codes == ["MISSING_REQUIRED_OUTPUT"]
    assert pull.advance(blocked, artifacts=[blocked.data["blockers"][0]["example"]]).complete


@pytest.mark.parametrize("sent", [[], [{"kind": "wr.review_verdict"}], [{"kind": "wr.review_verdict", "verdict": 1}]])
def test_d8_a_review_verdict_that_is_missing_or_wrong_is_a_block_that_repairs_itself(pull: Pull, sent: Any) -> None:
    blocked = pull.advance(pull.start(definition(step("judge", **VERDICT))), artifacts=sent)
    assert not blocked.is_error
    assert blocked.codes == ["INVALID_REQUIRED_OUTPUT" if sent else "MISSING_REQUIRED_OUTPUT"]
    assert blocked.data["retryable"]
    blocker = blocked.data["blockers"][0]
    assert blocker["schema"]["type"] == "object"
    assert pull.advance(blocked, artifacts=[blocker["example"]]).complete


def test_d9_missing_notes_on_a_step_of_a_template_are_a_block(pull: Pull) -> None:
    args = {"deliverableName": "design.md"}
    called = step("design", templateCall={"templateId": "wr.templates.routine.tension-driven-design", "args": args})
    said = pull.start(definition(called, step("last")))
    assert "." in str(said.address)
    blocked = pull.advance(said, notes=None)
    assert blocked.codes == ["MISSING_REQUIRED_NOTES"]
    assert visited(pull, blocked)[-1] == "last"


def test_d10_steps_with_synthesis_audit_and_verification_complete(pull: Pull) -> None:
    handed = {
        "id": "spread",
        "type": "parallel",
        "title": "Spread",
        "parallelDelegations": [{"workflowId": "wr.routine-ideation", "goal": "Think of some."}],
        "synthesis": {"prompt": "Bring it together."},
    }
    checked = step("checked", verification={"command": "test -d ."}, audit={"prompt": "Is it so?", "rubric": ["Yes."]})
    said = pull.start(definition(handed, checked, step("last")))
    assert "Bring it together." in said.text
    result = {"kind": "wr.delegation_result", "delegation": 1, "status": "done", "summary": "Two ideas."}
    said = pull.advance(said, artifacts=[result])
    assert said.address == "checked"
    assert all(words in said.text for words in ("test -d .", "Is it so?"))
    assert visited(pull, said) == ["checked", "last"]


def test_d11_a_stop_ends_one_of_two_loops_that_follow_each_other(pull: Pull) -> None:
    loops = [
        loop(
            f"loop-{name}",
            step(f"work-{name}"),
            step(f"end-{name}", **CONTROL),
            type="while",
            conditionSource=BY_ARTIFACT,
        )
        for name in ("one", "two")
    ]
    said = pull.start(definition(*loops))
    expected = ["loop-one@1/work-one", "loop-one@1/end-one", "loop-two@1/work-two", "loop-two@1/end-two"]
    addresses: list[str] = []
    while not said.complete:
        addresses.append(str(said.address))
        said = pull.advance(said, artifacts=[control("stop")] if "/end" in str(said.address) else ())
    assert addresses == expected


def test_d12_the_bindings_of_the_workspace_count_wherever_the_server_runs(pull: Pull) -> None:
    bound = definition(
        step("ask", prompt="Use {{wr.bindings.reviewer}}."),
        extensionPoints=[{"slotId": "reviewer", "purpose": "Who reviews.", "default": "wr.routine-plan-analysis"}],
    )
    (pull.workspace / ".workrail").mkdir()
    assert "wr.routine-plan-analysis" in pull.start(bound).text
    written = {"sample-flow": {"reviewer": "wr.routine-ideation"}}
    bindings = pull.workspace / ".workrail" / "bindings.json"
    bindings.write_text(json.dumps(written), "utf-8")
    assert pull.start("sample-flow").code == "UNTRUSTED"
    trust_file(pull, bindings)
    said = pull.start("sample-flow")
    assert "Use wr.routine-ideation." in said.text


def test_d13_the_listed_hash_sees_an_edit_of_a_later_step(pull: Pull) -> None:
    def hashes() -> set[str]:
        place = {"workspacePath": str(pull.workspace)}
        rows = pull.call("list_workflows", **place).data["workflows"]
        listed = next(each["workflowHash"] for each in rows if each["workflowId"] == "sample-flow")
        inspected = pull.call("inspect_workflow", workflowId="sample-flow", **place).data["workflowHash"]
        return {listed, inspected, pull.start("sample-flow").data["workflowHash"]}

    pull.add(chain(3))
    before = hashes()
    pull.add(definition(step("step-1"), step("step-2"), step("step-3", prompt="Do something else.")))
    after = hashes()
    assert len(before) == len(after) == 1
    assert before != after


def test_d14_a_reference_to_a_function_brings_its_definition(pull: Pull) -> None:
    defined = [{"name": "weigh", "definition": "Compare by cost, then by risk."}]
    said = pull.start(definition(step("one", functionReferences=["weigh()"]), functionDefinitions=defined))
    assert "Compare by cost, then by risk." in said.text


def test_d15_a_changed_record_is_noticed_and_a_token_is_known_to_a_second_server(pull: Pull) -> None:
    first = pull.start(chain(3))
    other = pull.again()
    second = other.advance(first)
    assert second.address == "step-2"
    assert pull.advance(second).address == "step-3"
    other.close()
    pull.close()
    connection = apsw.Connection(str(pull.data / "handrail.db"))
    change = "UPDATE events SET payload = CAST(replace(payload, 'step-1', 'step-9') AS BLOB) WHERE seq = 3"
    connection.cursor().execute(change)  # pyright: ignore[reportUnknownMemberType]  # apsw has no types for bindings
    assert connection.changes() == 1
    connection.close()
    pull.__post_init__()
    said = pull.rehydrate(second)
    assert said.code == "STORAGE_DAMAGED"
    assert "handrail doctor" in said.text


def test_d16_a_contract_does_not_hide_a_missing_assessment(pull: Pull) -> None:
    judged = step("judge", assessmentRefs=["risk"], **VERDICT)
    blocked = pull.advance(pull.start(definition(judged, assessments=[RISK])))
    assert blocked.codes == ["MISSING_REQUIRED_OUTPUT", "MISSING_REQUIRED_OUTPUT"]
    artifacts = [each["example"] for each in blocked.data["blockers"]]
    alone = pull.advance(blocked, artifacts=artifacts[:1])
    assert alone.codes == ["MISSING_REQUIRED_OUTPUT"]
    assert pull.advance(alone, artifacts=artifacts).complete


class CountedLog(SqliteLog):
    """A log that counts what is read from it."""

    calls = 0
    events = 0

    def read(self, stream: str, after: int = 0, limit: int | None = None) -> tuple[StoredEvent, ...]:
        found = super().read(stream, after, limit)
        CountedLog.calls += 1
        CountedLog.events += len(found)
        return found


def test_d17_a_step_reads_and_writes_no_more_late_than_early(pull: Pull) -> None:
    pull.log.__class__ = CountedLog
    said = pull.start(chain(150))
    costs: list[tuple[int, int, int]] = []
    while not said.complete:
        CountedLog.calls = CountedLog.events = 0
        written = pull.log.last(said.run).seq
        said = pull.advance(said)
        costs.append((CountedLog.calls, CountedLog.events, pull.log.last(said.run).seq - written))
    early, late = zip(*costs[5:15], strict=True), zip(*costs[100:148], strict=True)
    assert [max(each) for each in late] == [max(each) for each in early]
