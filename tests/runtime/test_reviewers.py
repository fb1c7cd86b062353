"""Reviewers of every temper: each review loop ends in the expected round with the expected reason."""

from typing import Any

import pytest

from handrail.model.history.run_state import RunState
from support.runtime.steps_room import StepsRoom

ARBITER = "    arbiter: Is it worth it?\n"


def loop(extra: str = "", most: int = 6, kind: str = "agent-loop") -> str:
    """A workflow of one review loop."""
    return (
        "name: case\ndescription: a case\nsteps:\n"
        f"  - name: review\n    type: {kind}\n    output: review\n    max_iterations: {most}\n"
        "    reviewer: Review the change.\n    fixer: Repair it.\n" + extra
    )


def finding(name: str, severity: str = "high") -> dict[str, Any]:
    return {
        "file": f"src/{name}.py",
        "line": 3,
        "rule": f"rule-{name}",
        "severity": severity,
        "message": MESSAGES[name],
    }


MESSAGES = {
    "a": "the total is not rounded before it is printed",
    "b": "the connection stays open when a query fails",
    "c": "an empty basket raises an error",
    "d": "the password is written to the log",
    "e": "this loop never ends for negative numbers",
    "f": "the date is read in the wrong time zone",
}


def reports(*rounds: str) -> list[dict[str, Any]]:
    """A turn of the reviewer per round: the letters of what it finds."""
    return [{"output": {"findings": [finding(each) for each in letters]}} for letters in rounds]


def script(*rounds: str, arbiter: Any = None) -> dict[str, Any]:
    said: dict[str, Any] = {
        "review/reviewer": reports(*rounds),
        "review/fixer": {"say": "Repaired.", "run": "echo fixed >> fixes.txt", "repeat": True},
    }
    if arbiter is not None:
        said["review/arbiter"] = arbiter
    return said


def result(state: RunState) -> Any:
    assert state.status == "succeeded", (state.reason, state.message)
    return state.steps["review"].output


TEMPERS = [
    pytest.param(("a", "a"), "repeated", 2, id="stubborn"),
    pytest.param(("a", "b", "c"), "plateau", 3, id="drifting"),
    pytest.param(("ab", "b", "ac"), "reseeded", 3, id="reseeding"),
    pytest.param(("a", "b", "a"), "oscillation", 3, id="oscillating"),
    pytest.param(("abc", "ab", ""), "clean", 3, id="honest"),
    pytest.param(("",), "clean", 1, id="content"),
]


@pytest.mark.parametrize(("rounds", "reason", "last"), TEMPERS)
@pytest.mark.parametrize("arbiter", [False, True], ids=["alone", "with an arbiter"])
def test_a_review_loop_ends_with_its_reason(
    shop: StepsRoom, rounds: tuple[str, ...], reason: str, last: int, arbiter: bool
) -> None:
    judge = {"output": {"actionable": True}, "repeat": True} if arbiter else None
    state = shop.run(loop(ARBITER if arbiter else ""), script(*rounds, arbiter=judge))
    found = result(state)
    assert (found["stopped"], found["rounds"]) == (reason, last)
    assert shop.path(state.run).count(f"review@{last}/reviewer") == 1
    assert f"review@{last}/fixer" not in shop.path(state.run)
    left = {each["file"][4] for each in found["open_findings"]}
    assert left == set(rounds[-1])


def test_a_finding_that_the_arbiter_declines_is_not_repaired_and_does_not_come_back(shop: StepsRoom) -> None:
    told: list[dict[str, Any]] = [
        {
            "output": {
                "actionable": True,
                "findings": [{**finding("b"), "verdict": "decline", "reason": "as asked for"}],
            }
        },
        {"output": {"actionable": True}},
    ]
    words = script("ab", "bc", "b", arbiter=told)
    words["review/fixer"] = [{"expect_prompt": MESSAGES["a"]}, {"expect_prompt": MESSAGES["c"]}]
    state = shop.run(loop(ARBITER), words)
    found = result(state)
    assert (found["stopped"], found["rounds"]) == ("clean", 3)
    assert [(each["rule"], each["reason"]) for each in found["declined"]] == [("rule-b", "as asked for")]
    assert sorted(each["rule"] for each in found["fixed"]) == ["rule-a", "rule-c"]
    assert all(MESSAGES["b"] not in text for text in shop.prompts(state.run, "review@2/fixer"))


def test_an_arbiter_that_declines_everything_ends_the_loop(shop: StepsRoom) -> None:
    no = {"output": {"actionable": False, "reason": "a matter of taste"}}
    state = shop.run(loop(ARBITER), script("ab", arbiter=no))
    found = result(state)
    assert (found["stopped"], found["rounds"], found["actionable"]) == ("declined", 1, False)
    assert {each["reason"] for each in found["declined"]} == {"a matter of taste"}
    assert shop.path(state.run) == ["review@1/reviewer", "review@1/arbiter"]


def test_the_arbiter_judges_in_a_conversation_of_its_own_without_the_handoff(shop: StepsRoom) -> None:
    state = shop.run(loop(ARBITER), script("a", "", arbiter={"output": {"actionable": True}}))
    sessions = [state.steps[f"review@1/{role}"].session for role in ("reviewer", "arbiter", "fixer")]
    assert len(set(sessions)) == 3
    assert "# The run so far" not in shop.prompts(state.run, "review@1/arbiter")[0]
    assert "# The run so far" in shop.prompts(state.run, "review@1/fixer")[0]


def test_without_a_fixer_the_reviewer_repairs(shop: StepsRoom) -> None:
    text = loop().replace("    fixer: Repair it.\n", "")
    state = shop.run(text, script("a", ""))
    assert (result(state)["stopped"], result(state)["rounds"]) == ("clean", 2)
    assert (shop.tree(state.run) / "fixes.txt").read_text() == "fixed\n"


@pytest.mark.parametrize(
    ("on_max", "status", "reason"),
    [("continue", "succeeded", None), ("block", "blocked", "checks"), ("fail", "failed", None)],
)
def test_after_its_last_round_a_loop_does_what_it_says(
    shop: StepsRoom, on_max: str, status: str, reason: str | None
) -> None:
    state = shop.run(loop(f"    on_max: {on_max}\n", most=2), script("ab", "c"))
    assert (state.status, state.reason) == (status, reason)
    assert "review@2/fixer" not in shop.path(state.run)
    if on_max == "continue":
        assert (result(state)["stopped"], result(state)["rounds"]) == ("max", 2)
    else:
        assert "still has open findings after its last round (2)" in state.message


def test_a_loop_ends_when_the_workflow_says_so(shop: StepsRoom) -> None:
    text = loop("    exit_when: open.critical + open.high == 0 and round >= 2\n")
    words = script("ab")
    words["review/reviewer"] += [{"output": {"findings": [finding("c", "low"), finding("d", "medium")]}}]
    found = result(shop.run(text, words))
    assert (found["stopped"], found["rounds"]) == ("met", 2)
    assert [each["rule"] for each in found["open_findings"]] == ["rule-d", "rule-c"]


def test_findings_below_the_severity_keep_no_loop_going(shop: StepsRoom) -> None:
    words = script("a")
    words["review/reviewer"] += [{"output": {"findings": [finding("c", "low")]}}]
    found = result(shop.run(loop("    converge: {severity: medium}\n"), words))
    assert (found["stopped"], found["rounds"], len(found["open_findings"])) == ("clean", 2, 1)


def test_without_convergence_a_stubborn_reviewer_is_stopped_by_the_rounds_alone(shop: StepsRoom) -> None:
    found = result(shop.run(loop("    converge: off\n", most=4), script("a", "a", "a", "a")))
    assert (found["stopped"], found["rounds"]) == ("max", 4)


CHECKED = "    checks: {green: test -e green}\n"


def test_checks_that_a_fix_leaves_red_go_back_to_the_fixer_before_the_next_review(shop: StepsRoom) -> None:
    words = script("a", "")
    words["review/fixer"] = [{"say": "Done."}, {"expect_prompt": ["Try 2 of 3"], "files": {"green": ""}}]
    state = shop.run(loop(CHECKED), words)
    assert (result(state)["stopped"], result(state)["rounds"]) == ("clean", 2)
    checks = ["review@1/fixer", "review@1/checks"]
    assert shop.path(state.run) == ["review@1/reviewer", *checks, *checks, "review@2/reviewer"]


def test_checks_that_stay_red_block_the_run(shop: StepsRoom) -> None:
    state = shop.run(loop(CHECKED), script("a", ""))
    assert (state.status, state.reason) == ("blocked", "checks")
    assert "the checks still fail after 3 fixes: green: exit 1" in state.message
    assert shop.path(state.run).count("review@1/fixer") == 3


UNSHAPED = [
    pytest.param({"say": "ok"}, id="ok"),
    pytest.param({"say": "Looks good to me"}, id="approval in words"),
    pytest.param({"say": "Keine Einwände, alles in Ordnung."}, id="another language"),
    pytest.param({"say": "問題ありません"}, id="another script"),
    pytest.param({"say": "- src/a.py:3 [high] the total is not rounded"}, id="a finding in words"),
    pytest.param({"say": "I could not open the repository, sorry."}, id="excuse"),
    pytest.param({"say": "It calls `run([])`, and that is fine."}, id="a list within words"),
    pytest.param({"say": ""}, id="nothing"),
    pytest.param({"say": '```json\n{"findings": [{"file": "a.py", "mess'}, id="cut off"),
    pytest.param({"output": {"findings": "many"}}, id="wrong type"),
    pytest.param({"output": {"findings": ["ok"]}}, id="items in words"),
    pytest.param({"output": {"findings": [{"severity": "high"}]}}, id="items without a message"),
    pytest.param({"output": {"answer": 42}}, id="another shape"),
    pytest.param({"output": {"message": "ok", "severity": "medium"}}, id="one finding alone"),
    pytest.param({"output": {"approved": True}}, id="approval as data"),
    pytest.param({"output": []}, id="an empty list"),
    pytest.param({"output": ["ok"]}, id="a list of words"),
    pytest.param({"output": [{"file": "a.py", "message": "wrong", "severity": "high"}]}, id="a list of findings"),
]


@pytest.mark.parametrize("turn", UNSHAPED)
def test_a_review_in_another_form_is_asked_for_once_more_and_then_is_no_answer(
    shop: StepsRoom, turn: dict[str, Any]
) -> None:
    state = shop.run(loop(), {"review/reviewer": [turn, turn]})
    found = result(state)
    assert (found["stopped"], found["open_findings"], found["rounds"]) == ("no_answer", [], 0)
    assert shop.path(state.run) == ["review@1/reviewer", "review@1/reviewer"]


def test_a_reviewer_is_told_in_its_conversation_what_was_wrong_with_its_answer(shop: StepsRoom) -> None:
    state = shop.run(loop(), {"review/reviewer": [{"say": "Looks good to me"}, *reports("")]})
    assert (result(state)["stopped"], result(state)["rounds"]) == ("clean", 1)
    again = shop.prompts(state.run, "review@1/reviewer")[1]
    assert "does not have the required form: it must be a JSON object with a list `findings`" in again
    assert "Review the change." not in again


def test_an_answer_in_the_asked_form_at_the_second_asking_counts_in_every_round(shop: StepsRoom) -> None:
    (first,), (second,) = reports("a"), reports("")
    words = script()
    words["review/reviewer"] = [{"say": "ok"}, first, {"say": "ok"}, second]
    found = result(shop.run(loop(), words))
    assert (found["stopped"], found["rounds"], len(found["fixed"])) == ("clean", 2, 1)


@pytest.mark.parametrize(
    "turn",
    [
        {"say": "ok"},
        {"say": ""},
        {"say": "No, nothing of it matters."},
        {"output": []},
        {"output": {"verdict": "fine"}},
        {"output": [{"decision": "accept", "reason": "it is right"}]},
    ],
    ids=["ok", "nothing", "words", "empty list", "another shape", "list"],
)
def test_a_judgement_in_another_form_is_asked_for_once_more_and_then_is_no_answer(
    shop: StepsRoom, turn: dict[str, Any]
) -> None:
    state = shop.run(loop(ARBITER), script("a", arbiter=[turn, turn]))
    found = result(state)
    assert (found["stopped"], found["declined"], len(found["open_findings"])) == ("no_answer", [], 1)
    assert shop.path(state.run) == ["review@1/reviewer", "review@1/arbiter", "review@1/arbiter"]


@pytest.mark.parametrize(("on_max", "status"), [("continue", "succeeded"), ("block", "blocked"), ("fail", "failed")])
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (script("a", "a"), "stopped as 'repeated' in round 2 with 1 finding open"),
        (script("a", "b", "a"), "stopped as 'oscillation' in round 3 with 1 finding open"),
        (script("ab", "b", "ac"), "stopped as 'reseeded' in round 3 with 2 findings open"),
        (script("a", "b", "c"), "stopped as 'plateau' in round 3 with 1 finding open"),
        ({"review/reviewer": {"say": "ok", "repeat": True}}, "review loop 'review' gave no valid answer"),
    ],
    ids=["repeated", "oscillation", "reseeded", "plateau", "no answer"],
)
def test_a_loop_that_ends_with_findings_open_or_unanswered_does_what_on_max_says(
    shop: StepsRoom, words: dict[str, Any], message: str, on_max: str, status: str
) -> None:
    state = shop.run(loop(f"    on_max: {on_max}\n"), words)
    assert state.status == status
    assert status == "succeeded" or message in state.message


@pytest.mark.parametrize("rounds", [("",), ("a", "")], ids=["at once", "after a fix"])
def test_a_clean_review_goes_on_whatever_on_max_says(shop: StepsRoom, rounds: tuple[str, ...]) -> None:
    assert result(shop.run(loop("    on_max: block\n"), script(*rounds)))["stopped"] == "clean"


def test_a_reviewer_that_fails_ends_no_loop_as_clean(shop: StepsRoom) -> None:
    state = shop.run(loop(), {"review/reviewer": {"fail": "api_error"}})
    assert (state.status, state.reason) == ("blocked", "checks")
    assert "the reviewer failed: the agent reported an error" in state.message


REVIEW = "name: case\ndescription: a case\nsteps:\n  - {name: review, type: review, output: review, max_cycles: 2}\n"


@pytest.mark.parametrize(
    ("rounds", "decision", "score"), [(("a", ""), "approve", 100), (("ab", "a"), "reject", 80), (("",), "approve", 100)]
)
def test_a_review_step_decides(shop: StepsRoom, rounds: tuple[str, ...], decision: str, score: int) -> None:
    judge = {"output": {"actionable": True}, "repeat": True}
    found = result(shop.run(REVIEW, script(*rounds, arbiter=judge)))
    assert (found["decision"], found["score"]) == (decision, score)


def test_a_review_that_nobody_could_make_needs_clarification(shop: StepsRoom) -> None:
    words = {"review/reviewer": {"say": "I could not look.", "repeat": True}, "default": {"repeat": True}}
    found = result(shop.run(REVIEW, words))
    assert (found["stopped"], found["decision"]) == ("no_answer", "needs_clarification")


def test_the_reviewer_is_told_what_changed_and_the_fixer_what_was_found(shop: StepsRoom) -> None:
    text = (
        loop()
        .replace("Review the change.", "Review {{ changes }}.")
        .replace("Repair it.", "Repair {{ findings | length }} in round {{ round }} - {{ findings[0].message }}")
    )
    state = shop.run(text, script("a", ""))
    commit = shop.state(state.run).tree
    assert commit is not None
    assert f"git diff {commit.commit[:12]}" in shop.prompts(state.run, "review@1/reviewer")[0]
    assert f"Repair 1 in round 1 - `{MESSAGES['a']}`" in shop.prompts(state.run, "review@1/fixer")[0]
