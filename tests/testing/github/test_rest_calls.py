"""The REST side of the double of GitHub: what it refuses, and what follows from what."""

import base64
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest

from support.github.description import load_description
from support.github.double import GitHubDouble
from support.github.routes import ROUTES


def errors(answer: httpx2.Response) -> str:
    """Return the text of a refusal."""
    body = answer.json()
    return f"{answer.status_code} {body['message']} {[each.get('message', each) for each in body.get('errors', ())]}"


MALFORMED: dict[str, tuple[str, str, Any, str]] = {
    "an unknown field": ("POST", "/issues", {"title": "x", "prio": 1}, "prio: unknown field"),
    "PATCH draft": ("PATCH", "/pulls/1", {"draft": False}, "draft: unknown field"),
    "a wrong type": ("POST", "/issues", {"title": ["x"]}, "title: "),
    "a missing field": ("POST", "/pulls", {"title": "x", "head": "b"}, "'base' is a required property"),
    "an unknown event": ("POST", "/pulls/1/reviews", {"event": "CHANGES"}, "event: 'CHANGES' is not one of"),
    "an unknown field of a comment": (
        "POST",
        "/pulls/1/reviews",
        {"event": "COMMENT", "comments": [{"path": "a", "body": "b", "row": 1}]},
        "comments/row: unknown field",
    ),
    "an unknown parameter": ("GET", "/issues?author=ann", None, "author: unknown query parameter"),
    "a call that GitHub does not have": ("POST", "/pulls/1/ready_for_review", {}, "GitHub has no POST"),
    "a body for a call without one": ("DELETE", "/issues/1/lock", {"reason": "x"}, "takes no body"),
}


@pytest.mark.parametrize(("method", "path", "body", "problem"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_call_is_refused_and_fails_the_test(
    github: GitHubDouble, api: httpx2.Client, method: str, path: str, body: Any, problem: str
) -> None:
    assert api.request(method, path, json=body).status_code in (404, 422)
    [found] = github.take_problems()
    assert problem in found


def test_a_wrong_token_is_refused(github: GitHubDouble, api: httpx2.Client) -> None:
    assert api.get("/issues", headers={"Authorization": "token nope"}).status_code == 401


def test_a_private_repository_does_not_exist_for_strangers(github: GitHubDouble, api: httpx2.Client) -> None:
    github.repository.private = True
    stranger = github.new_token("stranger")
    assert api.get("/issues", headers={"Authorization": f"token {stranger.value}"}).status_code == 404


def test_the_api_is_also_at_the_root(github: GitHubDouble, api: httpx2.Client) -> None:
    answer = httpx2.get(f"{github.url}/user", headers={"Authorization": f"token {github.token}"})
    assert answer.json()["login"] == "handrail-user"
    assert answer.headers["x-oauth-scopes"] == "repo, workflow"


def test_an_unchanged_list_is_answered_with_304(github: GitHubDouble, api: httpx2.Client) -> None:
    github.me.open_issue("one")
    tag = api.get("/issues").headers["etag"]
    assert api.get("/issues", headers={"If-None-Match": tag}).status_code == 304
    github.me.open_issue("two")
    assert api.get("/issues", headers={"If-None-Match": tag}).status_code == 200


def test_a_list_has_pages_and_says_where_the_next_is(github: GitHubDouble, api: httpx2.Client) -> None:
    for number in range(5):
        github.me.open_issue(f"issue {number}")
    first = api.get("/issues", params={"per_page": 2, "direction": "asc"})
    assert [each["number"] for each in first.json()] == [1, 2]
    last = api.get(first.links["last"]["url"])
    assert [each["number"] for each in last.json()] == [5]
    assert "next" not in last.links


def test_issues_are_listed_by_label_assignee_state_and_time(github: GitHubDouble, api: httpx2.Client) -> None:
    ann = github.person("ann", "write")
    ann.open_issue("old", labels=["Bug"])
    api.post("/issues/1/assignees", json={"assignees": ["ann", "nobody"]})
    github.advance(100)
    ann.open_issue("new")
    ann.open_issue("done")
    ann.close(3, "not_planned")

    def numbers(**query: str) -> list[int]:
        return [each["number"] for each in api.get("/issues", params=query).json()]

    assert numbers() == [2, 1]
    assert numbers(labels="bug") == [1]
    assert numbers(assignee="ann") == [1]
    assert numbers(assignee="none") == [2]
    assert numbers(state="closed") == [3]
    since = api.get("/issues/2").json()["updated_at"]
    assert numbers(state="all", since=since) == [3, 2]
    assert api.get("/issues/3").json()["state_reason"] == "not_planned"


def test_a_reader_cannot_change_the_issues_of_others(github: GitHubDouble, api: httpx2.Client) -> None:
    github.me.open_issue("mine")
    reader = {"Authorization": f"token {github.new_token('reader').value}"}
    assert api.patch("/issues/1", json={"state": "closed"}, headers=reader).status_code == 403
    assert api.post("/issues/1/comments", json={"body": "hello"}, headers=reader).status_code == 201
    api.put("/issues/1/lock")
    assert api.post("/issues/1/comments", json={"body": "hello"}, headers=reader).status_code == 403
    created = api.post("/issues", json={"title": "x", "labels": ["bug"]}, headers=reader)
    assert created.json()["labels"] == []


def test_a_text_that_is_too_long_is_refused(github: GitHubDouble, api: httpx2.Client) -> None:
    github.me.open_issue("one")
    answer = api.post("/issues/1/comments", json={"body": "x" * 65_537})
    assert errors(answer) == "422 Validation Failed ['body is too long (maximum is 65536 characters)']"


def test_comments_are_listed_since_a_time_edited_and_deleted(github: GitHubDouble, api: httpx2.Client) -> None:
    ann = github.person("ann", "write")
    ann.open_issue("one")
    first = ann.comment(1, "first")
    github.advance(60)
    second = ann.comment(1, "second")
    since = api.get(f"/issues/comments/{second}").json()["created_at"]
    assert [each["id"] for each in api.get("/issues/1/comments", params={"since": since}).json()] == [second]
    api.patch(f"/issues/comments/{first}", json={"body": "edited"})
    assert [each["id"] for each in api.get("/issues/comments", params={"since": since}).json()] == [first, second]
    assert api.delete(f"/issues/comments/{second}").status_code == 204
    assert [each["body"] for each in github.comments(1)] == ["edited"]


def test_labels_are_created_when_they_are_used_and_removed_once(github: GitHubDouble, api: httpx2.Client) -> None:
    github.me.open_issue("one")
    assert [each["name"] for each in api.post("/issues/1/labels", json={"labels": ["a", "b"]}).json()] == ["a", "b"]
    assert api.delete("/issues/1/labels/a").status_code == 200
    assert api.delete("/issues/1/labels/a").status_code == 404
    assert api.post("/labels", json={"name": "A"}).status_code == 422
    assert [each["name"] for each in api.put("/issues/1/labels", json={"labels": ["c"]}).json()] == ["c"]


def test_relations_are_named_by_database_id(github: GitHubDouble, api: httpx2.Client) -> None:
    for title in ("whole", "part", "blocker"):
        github.me.open_issue(title)
    part, blocker = (github.read(f"/issues/{number}")["id"] for number in (2, 3))
    assert api.post("/issues/1/sub_issues", json={"sub_issue_id": 2}).status_code == 404
    assert api.post("/issues/1/sub_issues", json={"sub_issue_id": part}).status_code == 201
    assert api.post("/issues/1/sub_issues", json={"sub_issue_id": part}).status_code == 422
    assert api.get("/issues/2/parent").json()["number"] == 1
    assert api.get("/issues/1/parent").status_code == 404
    assert api.post("/issues/2/dependencies/blocked_by", json={"issue_id": 3}).status_code == 404
    assert api.post("/issues/2/dependencies/blocked_by", json={"issue_id": blocker}).status_code == 201
    assert [each["number"] for each in api.get("/issues/2/dependencies/blocked_by").json()] == [3]
    assert [each["number"] for each in api.get("/issues/3/dependencies/blocking").json()] == [2]
    assert api.delete(f"/issues/2/dependencies/blocked_by/{blocker}").status_code == 200
    events = [each["event"] for each in api.get("/issues/2/timeline").json()]
    assert events == ["blocked_by_added", "blocked_by_removed"]


def test_a_reaction_is_counted_once_per_person(github: GitHubDouble, api: httpx2.Client) -> None:
    comment = github.me.comment(github.me.open_issue("one"), "hello")
    statuses = [api.post(f"/issues/comments/{comment}/reactions", json={"content": "eyes"}).status_code for _ in "12"]
    assert statuses == [201, 200]
    assert github.comments(1)[0]["reactions"]["eyes"] == 1


def test_search_lags_behind(github: GitHubDouble, api: httpx2.Client) -> None:
    github.world.search_lag = 2
    github.me.open_issue("A needle")
    query = {"q": f"repo:{github.repository.full_name} is:issue needle"}
    counts = [api.get(f"{github.api_url}/search/issues", params=query).json()["total_count"] for _ in range(3)]
    assert counts == [0, 0, 1]


def test_permissions_are_only_shown_to_people_with_write_permission(github: GitHubDouble, api: httpx2.Client) -> None:
    github.person("ann", "maintain")
    github.person("bob")
    roles = {name: api.get(f"/collaborators/{name}/permission").json() for name in ("ann", "bob")}
    assert [(each["permission"], each["role_name"]) for each in roles.values()] == [
        ("write", "maintain"),
        ("read", "read"),
    ]
    reader = {"Authorization": f"token {github.new_token('bob').value}"}
    assert api.get("/collaborators/ann/permission", headers=reader).status_code == 403


def test_a_file_is_read_as_it_is(github: GitHubDouble, api: httpx2.Client) -> None:
    github.me.push("main", {".github/pull_request_template.md": "## What\n"})
    found = api.get("/contents/.github/pull_request_template.md").json()
    assert base64.b64decode(found["content"]) == b"## What\n"
    assert [each["name"] for each in api.get("/contents/.github").json()] == ["pull_request_template.md"]
    assert api.get("/contents/nothing.md").status_code == 404


def test_an_attachment_is_reached_through_a_redirect(github: GitHubDouble, api: httpx2.Client) -> None:
    address = github.attach("log.txt", b"boom", "text/plain")
    assert api.get(address).status_code == 302
    assert api.get(address, follow_redirects=True).content == b"boom"


def test_a_repository_that_moved_is_found_by_its_old_name(github: GitHubDouble, api: httpx2.Client) -> None:
    github.me.open_issue("one")
    github.rename_repository("market")
    assert (api.get("/issues").status_code, api.post("/issues", json={"title": "two"}).status_code) == (301, 307)
    assert api.get("/issues/1", follow_redirects=True).json()["title"] == "one"


def test_every_test_begins_with_the_same_names(github: GitHubDouble) -> None:
    assert github.repository.full_name == "acme/shop-1"
    assert github.me.open_issue("one") == 1


def test_a_limited_token_is_not_taken_for_the_usual_one(github: GitHubDouble) -> None:
    limited = github.new_token(scopes=("repo",))
    assert github.token != limited.value
    assert github.environment(limited)["GITHUB_TOKEN"] == limited.value


def test_comments_that_come_at_once_get_ids_in_one_order(github: GitHubDouble, api: httpx2.Client) -> None:
    github.me.open_issue("one")

    def comment(number: int) -> int:
        return api.post("/issues/1/comments", json={"body": str(number)}).json()["id"]

    with ThreadPoolExecutor(20) as pool:
        made = list(pool.map(comment, range(20)))
    listed = [each["id"] for each in github.comments(1)]
    assert listed == sorted(made)
    assert len(set(made)) == github.journal.count("POST */comments") == 20


def test_every_route_is_a_call_of_the_description() -> None:
    paths = load_description().paths
    assert [each for each in ROUTES if each.split(" ")[0].lower() not in paths[each.split(" ")[1]]] == []
