"""Tokens: the same one always gives the same answer, a changed one gives none, and each stands for one holder."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.operations.pull.call_context import holder_name, new_name
from handrail.operations.runs import lifecycle as runs
from handrail.store.signing_keys import rotate
from support.pull.room import Json, Pull, Said, chain, control, definition, step

CONTRACT = {"outputContract": {"contractRef": "wr.contracts.loop_control"}}
RISK: Json = {
    "id": "risk",
    "purpose": "How risky it is.",
    "dimensions": [{"id": "scope", "purpose": "How much it touches.", "levels": ["high", "low"]}],
}
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def same(one: Said, other: Said) -> bool:
    return (one.texts, one.data, one.is_error) == (other.texts, other.data, other.is_error)


def repeats(said: Said, answer: Said) -> bool:
    """Whether what was sent was not taken, and the answer is the one from before, with a warning that says so."""
    return said.unwarned == answer.unwarned and said.warnings == ["TOKEN_ALREADY_USED"]


def test_every_token_of_a_walk_gives_the_answer_it_gave_and_warns_where_something_else_is_sent(pull: Pull) -> None:
    flow = definition(step("first"), step("decide", **CONTRACT), step("last"))
    said = pull.start(flow)
    calls: list[tuple[str, tuple[list[Json], Json], Said]] = []
    sends: list[tuple[list[Json], Json]] = [([], {"x": 1}), ([], {"x": 3}), ([control("stop")], {"y": [1]}), ([], {})]
    for sent in sends:
        before, said = said, pull.advance(said, artifacts=sent[0], context=sent[1])
        calls.append((before.token, sent, said))
    assert [each.data["kind"] for _, _, each in calls] == ["ok", "blocked", "ok", "ok"]
    assert said.complete
    size = pull.size()
    for token, (artifacts, context), answer in calls:
        assert same(pull.advance(token, artifacts=artifacts, context=context), answer)
        later = calls[2][2] if answer.data["kind"] == "blocked" else answer
        assert repeats(pull.advance(token, "something else", context={"x": 2, "z": None}), later)
        assert repeats(pull.advance(token, notes=None), later)
    assert pull.size() == size


def test_a_warning_that_a_token_was_used_names_the_newest_one(pull: Pull) -> None:
    first = pull.start(chain(3))
    third = pull.advance(pull.advance(first))
    said = pull.advance(first, "Other words.")
    assert (said.address, said.warnings) == ("step-2", ["TOKEN_ALREADY_USED"])
    assert said.data["warnings"][0]["newestToken"] == third.token
    assert third.token in said.text
    assert pull.advance(third).complete
    over = pull.advance(first, "Other words.")
    assert "newestToken" not in over.data["warnings"][0]
    assert "the run has ended" in over.text


@pytest.mark.parametrize("context", [{}, {"x": 1}, {"big": "x" * 300_000}])
def test_after_a_refusal_the_same_token_with_a_corrected_output_is_the_next_try(pull: Pull, context: Json) -> None:
    first = pull.start(definition(step("decide", **CONTRACT), step("last")))
    refused = pull.advance(first, context=context)
    assert (refused.data["kind"], refused.data["retryable"]) == ("blocked", True)
    size = pull.size()
    assert same(pull.advance(first, context=context), refused)
    assert pull.size() == size
    last = pull.advance(first, artifacts=[control("stop")])
    assert (last.address, last.warnings) == ("last", [])
    assert same(pull.advance(first, artifacts=[control("stop")]), last)
    assert same(pull.advance(refused, artifacts=[control("stop")]), last)
    assert same(pull.advance(first, context=context), refused)
    pull.assert_sound()


SPREAD = {
    "id": "spread",
    "type": "parallel",
    "title": "Spread",
    "parallelDelegations": [{"workflowId": "wr.routine-ideation", "goal": f"Look at {what}."} for what in "ab"],
    "synthesis": {"prompt": "Bring it together."},
}


@pytest.mark.parametrize("autonomy", ["guided", "full_auto_never_stop"])
def test_tokens_repeat_the_answers_to_reports_judgments_observations_and_gaps_too(pull: Pull, autonomy: str) -> None:
    (pull.home / "config.toml").write_text(f'[pull]\nautonomy = "{autonomy}"\n', "utf-8")
    seen = {"kind": "wr.capability_observation", "version": 1, "capability": "web_browsing", "status": "unavailable"}
    observed = {**seen, "method": "probe", "evidence": "tried it"}
    high, low = ({"kind": "wr.assessment", "dimensions": {"scope": levelled(each)}} for each in ("high", "low"))
    follow = [{"when": {"anyEqualsLevel": "high"}, "effect": {"kind": "require_followup", "guidance": "Look again."}}]
    judge = step("judge", assessmentRefs=["risk"], assessmentConsequences=follow)
    flow = definition(SPREAD, judge, step("end", **CONTRACT), assessments=[RISK])
    said = pull.start(flow)
    calls: list[tuple[str, list[Json], Json, Said]] = []
    for sent in ([result(1)], [result(2), observed], [], [high], [low], []):
        if not said.complete:
            token, context = said.token, {"at": len(calls)}
            said = pull.advance(said, artifacts=sent, context=context)
            calls.append((token, sent, context, said))
    assert "end" in [each.address for _, _, _, each in calls]
    size = pull.size()
    other = pull.again()
    for ctx in (pull, other):
        for token, sent, context, answer in calls:
            assert same(ctx.advance(token, artifacts=sent, context=context), answer)
            if answer.data["kind"] == "ok":
                assert repeats(ctx.advance(token, "other notes"), answer)
    other.close()
    assert pull.size() == size
    pull.assert_sound()


def levelled(level: str) -> Json:
    return {"level": level, "rationale": "seen"}


def result(number: int) -> Json:
    return {"kind": "wr.delegation_result", "delegation": number, "status": "done", "summary": "looked at it"}


def test_a_token_gives_the_same_answer_after_a_restart_and_from_another_server(pull: Pull) -> None:
    first = pull.start(chain(3))
    second = pull.advance(first)
    other = pull.again()
    assert same(other.advance(first), second)
    third = other.advance(second)
    assert same(pull.advance(second), third)
    assert repeats(pull.advance(second, "mine"), third)
    pull.close()
    pull.__post_init__()
    assert same(pull.advance(second), third)
    assert pull.advance(third).complete
    assert same(other.advance(first), second)
    other.close()


def test_looking_again_records_nothing_and_changes_nothing(pull: Pull) -> None:
    said = pull.advance(pull.start(chain(3)))
    size = pull.size()
    assert same(pull.rehydrate(said), pull.rehydrate(said))
    assert pull.rehydrate(said).token == said.token
    assert pull.size() == size


@pytest.mark.parametrize("kind", ["continue", "checkpoint", "resume"])
def test_a_token_is_good_for_its_own_kind_of_call_only(pull: Pull, kind: str) -> None:
    first = pull.start(chain(2))
    tokens = {"continue": first.token, "checkpoint": first.data["checkpointToken"]}
    tokens["resume"] = pull.checkpoint(first).data["resumeToken"]
    size = pull.size()
    advanced, kept = pull.advance(tokens[kind]), pull.checkpoint(tokens[kind])
    assert advanced.code == ("" if kind == "continue" else "TOKEN_SCOPE_MISMATCH")
    assert kept.code == ("" if kind == "checkpoint" else "TOKEN_SCOPE_MISMATCH")
    assert kind == "continue" or pull.size() == size


def test_a_token_with_any_character_changed_or_cut_off_is_refused(pull: Pull) -> None:
    token = pull.start(chain(2)).token
    size = pull.size()
    for at, letter in enumerate(token):
        other = LETTERS[(LETTERS.find(letter) + 1) % len(LETTERS)]
        assert pull.advance(token[:at] + other + token[at + 1 :]).code.startswith("TOKEN_")
        assert pull.advance(token[: at + 1] + token[at:]).code.startswith("TOKEN_")
    codes = {pull.advance(token[:length]).code for length in range(1, len(token))}
    assert codes <= {"TOKEN_INVALID_FORMAT", "TOKEN_BAD_SIGNATURE"}
    assert pull.advance("").code == "VALIDATION_ERROR"
    assert pull.size() == size


def test_a_token_that_was_copied_with_blanks_around_it_is_good(pull: Pull) -> None:
    assert pull.advance(f"  {pull.start(chain(2)).token}\n").address == "step-2"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pull]:
    made = Pull(tmp_path_factory.mktemp("tokens"))
    yield made
    made.close()


@settings(max_examples=60, deadline=None)
@given(text=st.text(max_size=80), prefix=st.sampled_from(["", "ct_", "st_", "ck_"]))
def test_no_text_that_was_made_up_is_a_token(text: str, prefix: str, shared: Pull) -> None:
    said = shared.call_once("continue_workflow", {"continueToken": prefix + text, "intent": "advance"})
    assert said.is_error
    assert said.code in ("TOKEN_INVALID_FORMAT", "TOKEN_BAD_SIGNATURE", "TOKEN_UNKNOWN_KEY", "VALIDATION_ERROR")


def test_a_token_of_another_home_is_refused(pull: Pull, tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    other = Pull(foreign)
    token = other.start(chain(2)).token
    other.close()
    pull.start(chain(2))
    said = pull.advance(token)
    assert said.code in ("TOKEN_UNKNOWN_KEY", "TOKEN_BAD_SIGNATURE")
    assert "resume_session" in said.text


def test_after_a_new_key_the_tokens_of_the_one_before_stay_good_and_older_ones_do_not(pull: Pull) -> None:
    first = pull.start(chain(4))
    rotate(pull.data)
    server = pull.again()
    second = server.advance(first)
    assert second.address == "step-2"
    rotate(pull.data)
    newest = pull.again()
    assert newest.advance(first).code == "TOKEN_UNKNOWN_KEY"
    third = newest.advance(second)
    assert third.address == "step-3"
    for each in (server, newest):
        each.close()


def test_a_server_that_runs_since_before_a_new_key_knows_the_tokens_of_the_new_one(pull: Pull) -> None:
    first = pull.start(chain(3))
    rotate(pull.data)
    newer = pull.again()
    second = newer.advance(first)
    assert pull.advance(second).address == "step-3"
    newer.close()


def test_who_does_not_hold_the_run_any_more_is_told_who_does(pull: Pull) -> None:
    first = pull.start(chain(3))
    second = pull.advance(first)
    runs.release(pull.writer, first.run, "ann")
    pull.drive()
    for said in (pull.advance(second), pull.advance(first), pull.rehydrate(second), pull.checkpoint(second)):
        assert said.code == "HELD_BY_ANOTHER"
        assert f"handrail take {first.run}" in said.text
    holder = new_name()
    runs.take(pull.writer, first.run, holder_name(holder))
    pull.drive()
    assert pull.advance(second).code == "HELD_BY_ANOTHER"
    state = pull.state(first.run)
    assert state.pending is not None
    taken = pull.calls.ctx.mint("continue", first.run, state.pending.seq, holder)
    third = pull.advance(taken)
    assert third.address == "step-3"
    assert pull.advance(third).complete
    pull.assert_sound()


def test_after_a_rewind_the_token_of_the_step_that_is_gone_says_so_and_the_new_one_goes_on(pull: Pull) -> None:
    first = pull.start(chain(3))
    second = pull.advance(first)
    third = pull.advance(second)
    runs.rewind(pull.writer, first.run, "step-1", "ann")
    pull.drive()
    size = pull.size()
    stale = pull.advance(third)
    assert stale.code == "TOKEN_STALE"
    assert "resume_session" in stale.text
    assert same(pull.advance(first), second)
    assert pull.size() == size
    state = pull.state(first.run)
    assert state.pending is not None
    token = pull.calls.ctx.mint("continue", first.run, state.pending.seq, state.held_by[-8:])
    assert pull.rehydrate(token).address == "step-1"
    said = pull.advance(token)
    for _ in range(2):
        said = pull.advance(said)
    assert said.complete
    pull.assert_sound()
