"""How an arbiter's answers are read."""

import pytest

from handrail.engine.review.answers import read_findings, read_judgement
from handrail.model.workflow.values import JsonValue

BOTH = A, B = read_findings(
    [
        {"file": "a.py", "rule": "ra", "line": 1, "message": "a is wrong", "id": "F1"},
        {"file": "b.py", "rule": "rb", "line": 2, "message": "b is wrong", "id": "F2"},
    ],
    "",
)


def test_decisions_are_matched_by_file_line_and_rule() -> None:
    output: JsonValue = {
        "decisions": [
            {"file": "b.py", "line": 2, "rule": "rb", "decision": "decline", "reason": "wrong: it is checked above"},
            {"file": "a.py", "line": 1, "rule": "ra", "decision": "accept", "reason": "true"},
        ],
        "actionable": True,
    }
    judgement = read_judgement(output, "", BOTH)
    assert judgement.actionable
    assert judgement.accepted == (A.id,)
    assert judgement.declined == ((B.id, "wrong: it is checked above"),)


@pytest.mark.parametrize(
    "output",
    [
        {"findings": [{"id": A.id, "actionable": True}, {"id": B.id, "actionable": False, "reason": "r"}]},
        {"findings": [{"id": "F2", "verdict": "out of scope", "reason": "r"}, {"id": "F1", "verdict": "accept"}]},
        {"decisions": [{"decision": "accept"}, {"decision": "decline", "reason": "r"}]},
        {"accepted": [A.id], "declined": [{"id": B.id, "reason": "r"}]},
        {"declined": {B.id: "r"}, "actionable": True},
        [{"id": B.id, "decision": "won't fix", "reason": "r"}],
    ],
)
def test_decisions_are_read_in_many_forms(output: JsonValue) -> None:
    judgement = read_judgement(output, "", BOTH)
    assert (judgement.actionable, judgement.accepted) == (True, (A.id,))
    assert judgement.declined == ((B.id, "r"),)


def test_not_actionable_declines_what_no_decision_names() -> None:
    judgement = read_judgement({"actionable": False, "reason": "all taste"}, "", BOTH)
    assert judgement.declined == tuple(sorted(((A.id, "all taste"), (B.id, "all taste"))))
    assert not judgement.actionable


def test_decisions_count_for_more_than_the_overall_word() -> None:
    every: list[JsonValue] = [{"id": each.id, "decision": "decline", "reason": "no"} for each in BOTH]
    assert not read_judgement({"actionable": True, "decisions": every}, "", BOTH).actionable
    one: JsonValue = [{"id": A.id, "decision": "accept", "reason": "yes"}]
    assert read_judgement({"actionable": False, "decisions": one}, "", BOTH).accepted == (A.id,)


@pytest.mark.parametrize(
    ("text", "actionable"),
    [
        ("YES", True),
        ("Yes: both are real.", True),
        ("NO, this is taste.", False),
        ("**No**", False),
        ("I read the code.\n\nactionable: false", False),
        ("Actionable: **yes**", True),
        ("Not actionable.", False),
        ("None of them is worth a change", False),
        ('```json\n{"needs_fixes": false}\n```', False),
        ("Decline all of them", False),
    ],
)
def test_an_arbiter_may_answer_in_words(text: str, actionable: bool) -> None:
    judgement = read_judgement(None, text, BOTH)
    assert (judgement.actionable, judgement.understood) == (actionable, True)
    assert len(judgement.accepted) == (2 if actionable else 0)


def test_lines_that_name_a_finding_are_decisions() -> None:
    judgement = read_judgement(None, f"- {A.id}: accepted\n- F2: declined, it cannot happen\n", BOTH)
    assert judgement.accepted == (A.id,)
    assert judgement.declined == ((B.id, "it cannot happen"),)


def test_a_garbled_judgement_declines_nothing_and_says_that_it_was_not_understood() -> None:
    mood: JsonValue = {"mood": 3}
    for output, text in ((None, "Wrong index, must be repaired"), (mood, ""), (None, "")):
        judgement = read_judgement(output, text, BOTH)
        assert not judgement.understood
        assert judgement.actionable
        assert len(judgement.accepted) == 2
