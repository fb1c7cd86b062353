"""Which turn of a script a call plays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from handrail.authoring.scripts.address_patterns import find_key, is_address
from handrail.authoring.scripts.parse import Script, parse_script
from handrail.model.diagnostics import Report
from handrail.model.source import SourceText


def script(text: str) -> Script:
    report = Report()
    found = parse_script(SourceText("script.yaml", text), report)
    assert found is not None, list(report)
    return found


def said(found: Script, address: str, number: int = 1, in_round: int = 1) -> str | None:
    turn = found.turn(address, number, in_round)
    return turn.get("say") or turn.get("fail", {"message": None}).get("message")


def test_the_calls_of_a_step_play_its_turns_in_order() -> None:
    found = script("fix: [{say: one}, {say: two}]\nonce: {say: only}\n")
    assert [said(found, "fix", number) for number in (1, 2)] == ["one", "two"]
    assert said(found, "once") == "only"


def test_a_call_after_the_last_turn_is_a_failure_that_says_so() -> None:
    found = script("fix: [{say: one}, {say: two}]\nonce: {say: only}\n")
    assert [said(found, "fix", 3), said(found, "once", 2)] == snapshot(
        [
            "the script has 2 turns for 'fix', and this is call 3; add a turn, or `- ...` to repeat the last one",
            "the script has 1 turn for 'once', and this is call 2; add a turn, or `- ...` to repeat the last one",
        ]
    )


@pytest.mark.parametrize("text", ["fix: [{say: one}, {say: two}, ...]", "fix: [{say: one}, {say: two, repeat: true}]"])
def test_the_last_turn_repeats_where_the_script_says_so(text: str) -> None:
    assert [said(script(text), "fix", number) for number in (1, 2, 3, 99)] == ["one", "two", "two", "two"]


def test_a_step_without_turns_of_its_own_is_a_failure_that_names_the_others() -> None:
    found = script("reproduce: {say: x}\n'build[*]/fix': {say: y}\n")
    assert [said(found, "reproduc"), said(found, "build/fix"), said(found, "other")] == snapshot(
        [
            "the script has no turns for 'reproduc', only for reproduce, build[*]/fix, did you mean 'reproduce'?",
            "the script has no turns for 'build/fix', only for reproduce, build[*]/fix, did you mean 'build[*]/fix'?",
            "the script has no turns for 'other', only for reproduce, build[*]/fix",
        ]
    )


def test_the_default_plays_for_every_other_step() -> None:
    found = script("fix: {say: mine}\ndefault: [{say: one}, {say: two}]\n")
    assert [said(found, "fix"), said(found, "other"), said(found, "other", 2)] == ["mine", "one", "two"]
    assert (
        said(found, "other", 3)
        == "the script has 2 turns for 'default', and this is call 3; add a turn, or `- ...` to repeat the last one"
    )


def test_a_key_without_rounds_counts_over_all_of_them() -> None:
    found = script("review/reviewer: [{say: one}, {say: two}]\n")
    assert [said(found, f"review@{number}/reviewer", number) for number in (1, 2)] == ["one", "two"]


def test_a_key_with_its_round_counts_within_the_round() -> None:
    found = script("review/reviewer: [{say: any}, ...]\nreview@2/reviewer: [{say: one}, {say: two}]\n")
    calls = [("review@1/reviewer", 1, 1), ("review@2/reviewer", 2, 1), ("review@2/reviewer", 3, 2)]
    assert [said(found, *call) for call in calls] == ["any", "one", "two"]


KEYS = ("a/b", "a@2/b", "w/x", "w[*]/x", "w[q]/x", "w[*]/x@2", "o[i]/p[*]", "o[*]/p[j]", "n@1/m/k")


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("a/b", "a/b"),
        ("a@1/b", "a/b"),
        ("a@2/b", "a@2/b"),
        ("a@22/b", "a/b"),
        ("w[q]/x", "w[q]/x"),
        ("w[z]/x", "w[*]/x"),
        ("w[z/y@3]/x", "w[*]/x"),
        ("w[z]]/x", "w[*]/x"),
        ("w[q]/x@2", "w[*]/x@2"),
        ("w[q]/x@3", "w[q]/x"),
        ("o[i]/p[j]", "o[i]/p[*]"),
        ("n@1/m@4/k", "n@1/m/k"),
        ("w[a]/y[b]/x", None),
        ("a", None),
        ("a/b/c", None),
        ("b", None),
    ],
)
def test_the_most_specific_key_plays(address: str, key: str | None) -> None:
    found = find_key(address, KEYS)
    assert (found and found.key) == key


def test_a_key_that_leaves_out_one_of_two_rounds_counts_over_all() -> None:
    found = find_key("n@1/m@4/k", KEYS)
    assert found is not None
    assert not found.of_round


@given(st.text(), st.lists(st.text(), max_size=4))
def test_no_address_and_no_key_is_too_strange_to_be_matched(address: str, keys: list[str]) -> None:
    found = find_key(address, keys)
    assert found is None or found.key in keys
    is_address(address)


@given(
    st.from_regex(r"[a-z]{1,3}(\[[^\]\[]{1,4}\])?(@[1-9])?(/[a-z]{1,3}(\[[^\]\[]{1,4}\])?(@[1-9])?)?", fullmatch=True)
)
def test_every_address_is_matched_by_itself(address: str) -> None:
    found = find_key(address, [address])
    assert found is not None
    assert is_address(address)
