"""The ids of runs on issues."""

from handrail.engine.issues.run_names import candidate_names
from handrail.model.issues import IssueRef


def test_a_run_is_named_after_its_issue_and_only_then_after_the_repository() -> None:
    assert list(candidate_names(IssueRef("github.com/acme/shop", "12"), 1)) == [
        "work-12-a1",
        "work-shop-12-a1",
        "work-acme-shop-12-a1",
        "work-github.com-acme-shop-12-a1",
    ]


def test_a_local_issue_keeps_its_own_id() -> None:
    assert next(candidate_names(IssueRef("local", "shop-a3f.2"), 3)) == "work-shop-a3f.2-a3"


def test_no_id_can_look_like_another_kind_of_stream_or_leave_a_folder() -> None:
    for run in candidate_names(IssueRef("host:1/../x", "../a:b c\n"), 1):
        assert ":" not in run
        assert "/" not in run
        assert " " not in run
