"""What a host shows of a pull request becomes facts, each once, and the facts add up to what it shows."""

from hypothesis import given
from hypothesis import strategies as st

from handrail.engine.fold.pull_requests import describe_fact, find_new_facts, fold_facts, summarize
from handrail.model.issues import IssueRef, RepositoryRef
from handrail.model.pull_request_facts import PullRequestOpened, PullRequestRecord
from handrail.model.pull_requests import Check, PullRequest, PullRequestRef, PullRequestState, Review

REF = PullRequestRef(RepositoryRef("github.com", "acme", "shop"), 7)
OPENED = PullRequestOpened(
    run="fix-1",
    root="fix-1",
    step="pr",
    key="fix-1/pr",
    url="https://github.com/acme/shop/pull/7",
    title="Mend it",
    head="work/fix-1",
    base="main",
    commit="a" * 40,
    draft=True,
    repository="/shop",
    at=1.0,
)
FIRST = fold_facts(PullRequestRecord(name=str(REF)), (OPENED,))
checks = st.builds(
    Check,
    name=st.sampled_from(("ci", "lint")),
    verdict=st.sampled_from(("passed", "failed", "pending", "needs_person")),
)
reviews = st.builds(
    Review,
    author=st.sampled_from(("ann", "ben")),
    verdict=st.sampled_from(("approved", "changes_requested", "commented", "dismissed")),
    id=st.sampled_from(("1", "2")),
)
shown = st.builds(
    PullRequestState,
    pull_request=st.builds(
        PullRequest,
        ref=st.just(REF),
        status=st.sampled_from(("open", "merged", "closed")),
        title=st.just("Mend it"),
        body=st.just(""),
        head=st.just("work/fix-1"),
        head_commit=st.sampled_from(("a" * 40, "b" * 40)),
        base=st.just("main"),
        url=st.just(""),
        draft=st.booleans(),
        closed_by=st.sampled_from(("", "ann")),
        merge_commit=st.just("c" * 40),
    ),
    checks=st.lists(checks, max_size=2, unique_by=lambda each: each.name).map(tuple),
    reviews=st.lists(reviews, max_size=2, unique_by=lambda each: each.author).map(tuple),
    closes=st.sampled_from(((), (IssueRef("github.com/acme/shop", "3"),))),
)


@given(st.lists(shown, max_size=5))
def test_a_second_look_at_the_same_finds_nothing(looks: list[PullRequestState]) -> None:
    record = FIRST
    for number, look in enumerate(looks):
        facts = find_new_facts(record, look, float(number))
        record = fold_facts(record, facts)
        assert record.status == look.pull_request.status
        assert find_new_facts(record, look, 99.0) == ()
        assert all(describe_fact(each) for each in facts)
        if look.pull_request.status == "open":
            assert (record.draft, record.commit) == (look.pull_request.draft, look.pull_request.head_commit)
            assert record.checks == look.check_verdict
        assert summarize(record)["status"] == record.status


def test_no_check_is_never_taken_for_a_passed_one() -> None:
    assert FIRST.checks == "unknown"
