"""Laws of the order in which runs are found again."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from handrail.engine.text.byte_limits import DOTS, cut
from handrail.operations.pull.rank_sessions import (
    EXACT_ID,
    Match,
    SessionHints,
    SessionRecord,
    query_words,
    rank_runs,
    words_in,
)
from handrail.runtime.run_summary import MAX_RECAP

WORDS = st.sampled_from(["login", "page", "mend", "report", "clock", "cookie"])
KEPT = st.builds(
    SessionRecord,
    run=st.uuids().map(str),
    workflow=st.sampled_from(["first-flow", "second-flow"]),
    words=st.frozensets(WORDS, max_size=4),
    branch=st.sampled_from(["", "main", "work/login"]),
    head=st.sampled_from(["", "a" * 40, "b" * 40]),
    repository=st.sampled_from(["", "/one", "/two"]),
    complete=st.booleans(),
    position=st.integers(1, 1000),
)
REMEMBERED = st.builds(
    SessionHints,
    words=st.lists(WORDS, max_size=3, unique=True).map(tuple),
    branch=st.sampled_from(["", "main"]),
    head=st.sampled_from(["", "aaaaaaa"]),
    repository=st.sampled_from(["", "/one"]),
)


def order(matches: list[Match]) -> list[str]:
    return [match.kept.run for match in matches]


@given(REMEMBERED, st.lists(KEPT, max_size=12, unique_by=lambda each: each.run), st.randoms(use_true_random=False))
def test_the_order_does_not_depend_on_the_order_in_which_runs_are_read(
    remembered: SessionHints, kept: list[SessionRecord], chance: Any
) -> None:
    mixed = list(kept)
    chance.shuffle(mixed)
    assert order(rank_runs(remembered, mixed)) == order(rank_runs(remembered, kept))


@given(REMEMBERED, st.lists(KEPT, max_size=12, unique_by=lambda each: each.run))
def test_a_surer_way_always_comes_first_and_nothing_gets_lost(
    remembered: SessionHints, kept: list[SessionRecord]
) -> None:
    matches = rank_runs(remembered, kept)
    tiers = [match.tier for match in matches]
    assert tiers == sorted(tiers)
    assert set(order(matches)) == {each.run for each in kept}
    assert all(match.why for match in matches)


@given(REMEMBERED, st.lists(KEPT, min_size=1, max_size=8, unique_by=lambda each: each.run), st.data())
def test_an_exact_id_always_wins(remembered: SessionHints, kept: list[SessionRecord], data: st.DataObject) -> None:
    run = data.draw(st.sampled_from(kept)).run
    named = SessionHints(run=run, words=remembered.words, branch=remembered.branch, head=remembered.head)
    first = rank_runs(named, kept)[0]
    assert (first.kept.run, first.tier) == (run, EXACT_ID)


@given(REMEMBERED, st.lists(KEPT, max_size=8, unique_by=lambda each: each.run), KEPT)
def test_another_run_never_changes_the_order_of_the_rest(
    remembered: SessionHints, kept: list[SessionRecord], more: SessionRecord
) -> None:
    without = order(rank_runs(remembered, kept))
    assert [run for run in order(rank_runs(remembered, [*kept, more])) if run != more.run] == without


@given(st.text(max_size=60), st.integers(3, 80))
def test_a_cut_text_fits_and_begins_as_the_whole_one(text: str, most: int) -> None:
    short = cut(text, most, DOTS)
    assert len(short.encode("utf-8", "replace")) <= most
    assert short == text or text.startswith(short[:-1])


@given(st.text(max_size=200))
def test_any_query_is_words_at_most(text: str) -> None:
    words = query_words(text)
    assert len(words) == len(set(words)) <= 32
    assert set(words) <= set(words_in(text))


def test_a_recap_has_a_bound_in_bytes() -> None:
    assert len(cut("𝄞" * 2000, MAX_RECAP, DOTS).encode()) <= MAX_RECAP
