"""The laws of review loops, on random reviewers."""

from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.engine.review import convergence
from handrail.engine.review.answers import Finding
from support.engine.reviewing import MAX, accept_all, begun, ending, found, loop, records, script

POOL = [found(f"rule-{at}", severity) for at, severity in enumerate(["critical", "high", "medium", "low"] * 3)]
ROUNDS = st.lists(st.lists(st.sampled_from(POOL), max_size=6, unique=True), min_size=1, max_size=MAX)
REASONS = {"clean", "declined", "repeated", "oscillation", "plateau", "reseeded", "max"}


@settings(deadline=None)
@given(rounds=ROUNDS, judged=st.booleans(), severity=st.sampled_from(["low", "medium", "high"]))
def test_every_sequence_of_rounds_ends_by_max_at_the_latest(
    rounds: list[list[Finding]], judged: bool, severity: str
) -> None:
    stopped, ledger = loop(script(*rounds), accept_all if judged else None, begun(severity=severity))
    result = convergence.result(ledger, stopped, decides=True)
    assert stopped in REASONS
    listed = [each["id"] for key in ("fixed", "declined", "open_findings") for each in records(result[key])]
    reported = {each.id for number in range(MAX) for each in rounds[min(number, len(rounds) - 1)]}
    assert len(listed) == len(set(listed))
    assert set(listed) <= reported


@settings(deadline=None)
@given(ends=st.lists(st.integers(1, 6), min_size=1, max_size=len(POOL)), judged=st.booleans())
def test_a_reviewer_that_drops_findings_each_round_always_ends_clean(ends: list[int], judged: bool) -> None:
    """Each finding is reported up to its last round, and in each round at least one is the last."""
    steps = {end: at for at, end in enumerate(sorted(set(ends)), 1)}
    rounds = [[POOL[at] for at, end in enumerate(ends) if steps[end] >= number] for number in range(1, len(steps) + 1)]
    reviewer = script(*rounds, [])
    assert ending(reviewer, accept_all if judged else None) == ("clean", len(steps) + 1)


@settings(deadline=None)
@given(rounds=ROUNDS, data=st.data())
def test_the_order_of_findings_in_a_round_means_nothing(rounds: list[list[Finding]], data: st.DataObject) -> None:
    shuffled = [data.draw(st.permutations(each)) for each in rounds]
    assert loop(script(*rounds)) == loop(script(*shuffled))
