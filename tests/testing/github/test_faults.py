"""Each fault of the double of GitHub does what it says."""

import httpx2
import pytest

from support.github.double import GitHubDouble
from support.github.faults import How


def create(api: httpx2.Client, patience: float = 60) -> str:
    """Create an issue and say how that ended."""
    try:
        return str(api.post("/issues", json={"title": "x"}, timeout=patience).status_code)
    except httpx2.TransportError as error:
        return type(error).__name__


@pytest.mark.parametrize(("how", "outcome", "issues"), [
    ("502 before", "502", 0),
    ("502 after effect", "502", 1),
    ("500 before", "500", 0),
    ("500 after effect", "500", 1),
    ("cut before", "RemoteProtocolError", 0),
    ("cut after effect", "RemoteProtocolError", 1),
    ("timeout", "ReadTimeout", 1),
    ("timeout before", "ReadTimeout", 0),
    ("401", "401", 0),
    ("403", "403", 0),
    ("404", "404", 0),
])  # fmt: skip
def test_a_fault_strikes_before_or_after_the_effect(
    github: GitHubDouble, api: httpx2.Client, how: How, outcome: str, issues: int
) -> None:
    fault = github.fail("POST */issues", how)
    assert create(api, 0.2 if how.startswith("timeout") else 60) == outcome
    assert fault.done.wait(60)
    assert (len(github.issues()), fault.struck) == (issues, 1)
    [call] = github.journal.calls("POST */issues")
    assert call.fault == how
    assert create(api) == "201"


@pytest.mark.parametrize(("how", "status"), [("secondary limit", 403), ("secondary limit 429", 429)])
def test_a_secondary_limit_says_when_to_try_again(
    github: GitHubDouble, api: httpx2.Client, how: How, status: int
) -> None:
    github.fail("POST */issues", how, retry_after=7)
    answer = api.post("/issues", json={"title": "x"})
    assert (answer.status_code, answer.headers["retry-after"]) == (status, "7")
    assert answer.headers["x-ratelimit-remaining"] == "4998"
    assert github.issues() == []


@pytest.mark.parametrize(("how", "status"), [("primary limit", 403), ("primary limit 429", 429)])
def test_a_primary_limit_says_when_it_is_over(github: GitHubDouble, api: httpx2.Client, how: How, status: int) -> None:
    github.fail("*", how, retry_after=60)
    answer = api.get("/issues")
    assert (answer.status_code, answer.headers["x-ratelimit-remaining"]) == (status, "0")
    assert int(answer.headers["x-ratelimit-reset"]) >= github.world.now()
    assert "retry-after" not in answer.headers


def test_lists_can_be_duplicated_and_reordered(github: GitHubDouble, api: httpx2.Client) -> None:
    for title in "ab":
        github.me.open_issue(title)
    github.fail("GET */issues", "duplicated")
    github.fail("GET */issues", "reordered", nth=2)
    answers = [[each["number"] for each in api.get("/issues").json()] for _ in range(3)]
    assert answers == [[2, 1, 2, 1], [1, 2], [2, 1]]


def test_a_fault_strikes_the_nth_call_and_as_often_as_it_is_told(github: GitHubDouble, api: httpx2.Client) -> None:
    github.fail("POST */issues", "502 before", nth=2, times=2)
    assert [create(api) for _ in range(4)] == ["201", "502", "502", "201"]
    assert github.journal.count("POST */issues") == 4


def test_an_unknown_fault_is_refused(github: GitHubDouble) -> None:
    with pytest.raises(ValueError, match="unknown fault"):
        github.fail("*", "503")  # pyright: ignore[reportArgumentType]


def test_the_journal_has_what_was_sent_by_whom(github: GitHubDouble, api: httpx2.Client) -> None:
    github.person("ann", "write").open_issue("not in the journal")
    create(api)
    api.get("/issues")
    [write] = github.journal.writes()
    assert (write.author, write.body, write.status) == ("handrail-user", {"title": "x"}, 201)
    assert write.answer["number"] == 2
