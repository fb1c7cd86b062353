"""When review loops stop, and why."""

from collections.abc import Sequence

import pytest
from inline_snapshot import snapshot

from handrail.engine.review import convergence
from handrail.engine.review.answers import Finding, Judgement, read_judgement
from support.engine.reviewing import (
    LOW,
    MAX,
    START,
    A,
    Arbiter,
    B,
    C,
    D,
    Reviewer,
    accept_all,
    begun,
    decline,
    ending,
    found,
    loop,
    records,
    script,
)

SCRIPTED: dict[str, tuple[Reviewer, tuple[str, int]]] = {
    "stubborn": (script([A]), ("repeated", 2)),
    "stubborn in the end": (script([A, B, C], [A, B], [A], [A]), ("repeated", 4)),
    "drifting": (lambda number: [found(f"taste-{number}", "low")], ("plateau", 3)),
    "drifting beside a stubborn one": (lambda number: [A, found(f"taste-{number}", "low")], ("plateau", 3)),
    "reseeding": (script([A, B], [B], [A, C]), ("reseeded", 3)),
    "reseeding alone": (script([A, B], [B], [A]), ("reseeded", 3)),
    "oscillating": (script([A], [B], [A]), ("oscillation", 3)),
    "oscillating beside others": (script([A, C], [B, C], [A, C]), ("oscillation", 3)),
    "oscillating late": (script([A, B, C], [A, B], [D], [A, B]), ("oscillation", 4)),
    "honest": (script([A, B, C], [B], []), ("clean", 3)),
    "content": (script([]), ("clean", 1)),
}


@pytest.mark.parametrize("name", SCRIPTED)
@pytest.mark.parametrize("arbiter", [None, accept_all], ids=["alone", "with an arbiter who accepts all"])
def test_a_scripted_reviewer_ends_at_the_expected_round_with_the_expected_reason(
    name: str, arbiter: Arbiter | None
) -> None:
    reviewer, expected = SCRIPTED[name]
    assert ending(reviewer, arbiter) == expected


def test_a_stubborn_reviewer_that_finds_new_words_each_time_is_recognized() -> None:
    texts = (
        "The length that the header gives is used as an index into `blocks` and nobody checks it first",
        "The length that the header gives is used as the index into `blocks` and nobody checks it first, round 2",
    )
    assert ending(script(*([found("index", message=each)] for each in texts))) == ("repeated", 2)


def test_other_names_in_alike_texts_are_other_findings() -> None:
    texts = [
        f"the function `{name}` in the parser does not check the value that it returns" for name in ("load", "save")
    ]
    reviewer = script(*([found("unchecked", message=each)] for each in texts), [])
    assert ending(reviewer) == ("clean", 3)


def test_an_id_that_the_reviewer_gives_again_is_honoured() -> None:
    ours = script([A], [found("b", message="said quite differently", id=A.id)])
    assert ending(ours) == ("repeated", 2)
    named = script([found("a", id="login-check")], [found("a", message="said quite differently", id="login-check")])
    assert ending(named) == ("repeated", 2)


def test_numbers_that_start_anew_in_each_round_mean_nothing() -> None:
    first, second = found("", message="the cache never expires", id="F1"), found("", message="typo in usage", id="F1")
    assert ending(script([first], [second], [])) == ("clean", 3)


def test_a_finding_below_the_severity_does_not_keep_the_loop_going_but_stays_listed() -> None:
    stopped, ledger = loop(script([A, LOW], [LOW]), ledger=begun(severity="medium"))
    assert stopped == "clean"
    assert convergence.result(ledger, stopped, decides=False)["open_findings"] == [LOW.record()]


def test_what_was_less_severe_in_between_was_not_gone() -> None:
    milder = found("a", "low")
    assert ending(script([A, B], [milder, C], [A], []), ledger=begun(severity="medium", plateau=5)) == ("clean", 4)


def test_a_circle_needs_something_that_was_gone() -> None:
    assert ending(script([A], [A, B], [A])) == ("plateau", 3)


def test_plateau_counts_rounds_without_a_lighter_burden() -> None:
    drifting = SCRIPTED["drifting"][0]
    assert [ending(drifting, ledger=begun(plateau=rounds)) for rounds in (1, 2, 4)] == [
        ("plateau", n) for n in (2, 3, 5)
    ]


def test_one_grave_finding_less_is_progress_even_if_small_ones_come() -> None:
    small = [found(f"taste-{at}", "low") for at in range(10)]
    assert ending(script([found("hole", "critical")], small, small[:1], []), ledger=begun(plateau=1)) == ("clean", 4)


def test_without_convergence_only_nothing_to_do_ends_the_loop() -> None:
    for name in ("stubborn", "drifting", "reseeding", "oscillating"):
        assert ending(SCRIPTED[name][0], ledger=begun(enabled=False)) == ("max", MAX)
    assert ending(SCRIPTED["honest"][0], ledger=begun(enabled=False)) == ("clean", 3)
    assert ending(SCRIPTED["stubborn"][0], decline("a", "no"), begun(enabled=False)) == ("declined", 1)


def test_without_a_fix_in_between_the_same_findings_are_no_repetition() -> None:
    ledger = convergence.record_review(begun(plateau=3), [A])
    assert convergence.verdict(convergence.record_review(ledger, [A])) is None


def test_nothing_actionable_ends_the_loop_as_declined_with_the_reason() -> None:
    def taste(_: int, findings: Sequence[Finding]) -> Judgement:
        return read_judgement({"actionable": False, "reason": "all of it is taste"}, "", findings)

    stopped, ledger = loop(script([A, B]), taste)
    result = convergence.result(ledger, stopped, decides=False)
    assert result == {
        "stopped": "declined",
        "rounds": 1,
        "fixed": [],
        "declined": [{**each.record(), "reason": "all of it is taste"} for each in sorted((A, B), key=by_id)],
        "open_findings": [],
        "actionable": False,
    }


def test_a_bare_no_declines_everything_that_is_open() -> None:
    ledger = convergence.record_review(START, [A])
    ledger = convergence.record_judgement(ledger, Judgement(actionable=False))
    assert convergence.verdict(ledger) == "declined"
    assert convergence.open_findings(ledger) == ()


def test_a_declined_finding_never_comes_back_as_open() -> None:
    again = found("a", "critical", message="Still: A is WRONG (line 12)!")
    stopped, ledger = loop(script([A, B], [again]), decline("a", "cannot happen"))
    result = convergence.result(ledger, stopped, decides=False)
    assert (stopped, result["rounds"], result["open_findings"]) == ("clean", 2, [])
    assert result["declined"] == [{**again.record(), "id": A.id, "reason": "cannot happen"}]
    assert result["fixed"] == [B.record()]


def test_a_finding_that_is_merely_like_a_declined_one_is_judged_anew() -> None:
    first = found("a", message="one two three four five six seven eight nine ten")
    like = found("a", message="one two three four five six seven eight nine ten eleven")
    _, ledger = loop(script([first, B], [like]), decline("a", "no"))
    assert [
        each["id"] for each in records(convergence.result(ledger, "declined", decides=False)["declined"])
    ] == sorted([first.id, like.id])


def test_the_arbiter_may_decline_what_the_fix_did_not_change() -> None:
    def second_thoughts(number: int, findings: Sequence[Finding]) -> Judgement:
        return (accept_all if number == 1 else decline("a", "the fixer is right"))(number, findings)

    assert ending(script([A]), second_thoughts) == ("declined", 2)


def test_judgements_on_the_wording_of_a_round_reach_the_known_finding() -> None:
    ledger = convergence.record_fix(convergence.record_review(START, [A]))
    reworded = found("b", message="said quite differently", id=A.id)
    ledger = convergence.record_review(ledger, [reworded])
    ledger = convergence.record_judgement(ledger, Judgement(actionable=True, declined=((reworded.id, "no"),)))
    assert convergence.verdict(ledger) == "declined"


def test_the_names_of_exit_when_tell_of_this_round() -> None:
    ledger = convergence.record_review(START, [A, LOW, found("hole", "critical")])
    names = convergence.names(ledger)
    assert (names["round"], names["open"], names["actionable"]) == snapshot(
        (1, {"critical": 1, "high": 0, "medium": 1, "low": 1}, True)
    )
    assert [each["rule"] for each in records(names["findings"])] == ["hole", "a", "nit"]
    left = convergence.names(
        convergence.record_judgement(ledger, decline("hole", "no")(1, convergence.open_findings(ledger)))
    )
    assert [each["rule"] for each in records(left["findings"])] == ["a", "nit"]


def test_before_the_first_round_there_is_nothing_to_tell() -> None:
    ledger = begun(severity="unknown", plateau=0)
    assert convergence.verdict(ledger) is None
    assert convergence.names(ledger)["round"] == 0
    assert convergence.result(ledger, "max", decides=True)["decision"] == "approve"


def test_what_was_open_at_the_last_review_is_open_though_a_fix_followed() -> None:
    ledger = convergence.record_fix(convergence.record_review(START, [A]))
    result = convergence.result(ledger, "max", decides=False)
    assert (result["open_findings"], result["fixed"]) == ([A.record()], [])


@pytest.mark.parametrize(
    ("last", "stopped", "expected"),
    [
        ([], "clean", (100, 1.0, "approve")),
        ([A], "plateau", (95, 0.5, "needs_clarification")),
        ([A], "met", (95, 1.0, "approve")),
        ([LOW], "clean", (99, 1.0, "approve")),
        ([found("x", "high")], "met", (80, 1.0, "reject")),
        ([found("x", "critical"), A], "oscillation", (55, 0.25, "reject")),
        ([found(f"x{at}", "critical") for at in range(4)], "max", (0, 0.5, "reject")),
        ([found("not-reviewable", "high")], "repeated", (80, 0.75, "needs_clarification")),
    ],
)
def test_a_loop_that_decides_has_score_confidence_and_decision(
    last: Sequence[Finding], stopped: str, expected: tuple[int, float, str]
) -> None:
    ledger = convergence.record_review(begun(severity="medium"), last)
    result = convergence.result(ledger, stopped, decides=True)
    assert (result["score"], result["confidence"], result["decision"]) == expected


def by_id(one: Finding) -> str:
    return one.id
