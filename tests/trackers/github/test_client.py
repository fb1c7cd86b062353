"""What each answer of GitHub comes to; the answers are recorded ones."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import httpx2
import pytest

from handrail.errors import TrackerBusy, TrackerFault
from handrail.trackers.github.api.client import API_VERSION, GitHubClient, Page
from handrail.trackers.github.api.endpoint import endpoint_at
from handrail.trackers.github.api.gate import Gate, Pacing
from handrail.trackers.github.api.refusals import Refused, Unanswered
from handrail.trackers.github.api.token import Token

T = TypeVar("T")
API = "https://api.github.com"
RENAMED = {"message": "Moved Permanently", "url": f"{API}/repositories/1/pulls"}
SECONDARY = {"message": "You have exceeded a secondary rate limit. Please wait a few minutes."}


class Recorded:
    """Answers with what was recorded, and notes the calls."""

    def __init__(self, folder: Path, *answers: httpx2.Response | Exception) -> None:
        self.answers = list(answers)
        self.calls: list[httpx2.Request] = []
        self.waits: list[float] = []
        self.now = 1_000.0
        self.gate = Gate(folder, "account", Pacing(lambda: self.now, self._sleep, 0.0))

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        self.calls.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def run(self, use: Callable[[GitHubClient], Awaitable[T]]) -> T:
        async def call() -> T:
            async with httpx2.AsyncClient(transport=httpx2.MockTransport(self._answer)) as http:
                token = Token("ghp_secret", "GH_TOKEN")
                return await use(GitHubClient(http, endpoint_at(API), token, self.gate, {}))

        return asyncio.run(_whole(call()))


async def _whole(call: Coroutine[Any, Any, T]) -> T:
    return await call


def reply(status: int, body: Any = None, **headers: str) -> httpx2.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx2.Response(status, headers=named, json=body if body is not None else {"message": "no"})


def post(client: GitHubClient) -> Awaitable[Any]:
    return client.write("POST", "/repos/acme/shop/pulls", {"title": "x"})


def get(client: GitHubClient) -> Awaitable[Any]:
    return client.get("/repos/acme/shop")


def test_every_call_says_who_calls_and_which_version_is_meant(tmp_path: Path) -> None:
    world = Recorded(tmp_path, reply(200, {"id": 1}))
    assert world.run(get) == {"id": 1}
    headers = world.calls[0].headers
    assert (headers["x-github-api-version"], headers["user-agent"]) == (API_VERSION, "handrail")
    assert headers["authorization"] == "token ghp_secret"


@pytest.mark.parametrize(
    "limited",
    [
        reply(403, {"message": "API rate limit exceeded"}, x_ratelimit_remaining="0", x_ratelimit_reset="5000"),
        reply(429, {"message": "API rate limit exceeded"}, x_ratelimit_remaining="0", x_ratelimit_reset="5000"),
        reply(403, SECONDARY, retry_after="60", x_ratelimit_remaining="4998"),
        reply(429, SECONDARY, x_ratelimit_remaining="4998"),
    ],
)
@pytest.mark.parametrize("use", [get, post])
def test_a_limit_closes_the_gate_and_no_further_call_is_made(
    tmp_path: Path, limited: httpx2.Response, use: Callable[[GitHubClient], Awaitable[Any]]
) -> None:
    world = Recorded(tmp_path, limited)
    for _ in range(2):
        with pytest.raises(TrackerBusy) as busy:
            world.run(use)
        assert busy.value.until > world.now
    assert len(world.calls) == 1


def test_a_short_limit_is_waited_out_and_the_refused_write_is_made_once_more(tmp_path: Path) -> None:
    world = Recorded(tmp_path, reply(403, SECONDARY, retry_after="2"), reply(201, {"number": 1}))
    assert world.run(post) == {"number": 1}
    assert world.waits == [2]


@pytest.mark.parametrize("fault", [reply(502), httpx2.ReadTimeout("slow"), httpx2.RemoteProtocolError("cut")])
def test_a_read_is_repeated_and_a_write_is_not(tmp_path: Path, fault: httpx2.Response | Exception) -> None:
    world = Recorded(tmp_path, fault, reply(200, {"id": 1}))
    assert world.run(get) == {"id": 1}
    world = Recorded(tmp_path, fault)
    with pytest.raises(Unanswered):
        world.run(post)
    assert len(world.calls) == 1


def test_a_read_follows_a_moved_repository_and_a_write_does_not(tmp_path: Path) -> None:
    moved = reply(301, RENAMED, location=f"{API}/repositories/1")
    world = Recorded(tmp_path, moved, reply(200, {"id": 1}))
    assert world.run(get) == {"id": 1}
    assert str(world.calls[1].url) == f"{API}/repositories/1"
    world = Recorded(tmp_path, moved)
    with pytest.raises(Refused, match="has moved"):
        world.run(post)


def test_the_token_is_not_sent_to_another_host(tmp_path: Path) -> None:
    world = Recorded(tmp_path, reply(302, {}, location="https://evil.org/x"))
    with pytest.raises(Refused):
        world.run(get)
    link = '<https://evil.org/x?page=2>; rel="next"'
    other = Recorded(tmp_path, reply(200, [{"id": 1}], link=link))
    with pytest.raises(TrackerFault, match="not its own"):
        other.run(lambda client: client.list("/repos/acme/shop/issues"))
    assert (len(world.calls), len(other.calls)) == (1, 1)


def test_all_pages_are_read(tmp_path: Path) -> None:
    link = f'<{API}/repositories/1/issues?page=2>; rel="next"'
    world = Recorded(tmp_path, reply(200, [{"id": 1}], link=link), reply(200, [{"id": 2}]))
    assert world.run(lambda client: client.list("/repos/acme/shop/issues")) == [{"id": 1}, {"id": 2}]


def test_an_etag_saves_the_answer(tmp_path: Path) -> None:
    world = Recorded(tmp_path, reply(200, [{"id": 1}], etag='"a"'), reply(304, {}))

    async def look(client: GitHubClient) -> tuple[Page, Page]:
        first = await client.list_unless("/repos/acme/shop/pulls", "")
        return first, await client.list_unless("/repos/acme/shop/pulls", first.etag)

    first, second = world.run(look)
    assert (first.entries, first.etag, second.unchanged) == (({"id": 1},), '"a"', True)
    assert world.calls[1].headers["if-none-match"] == '"a"'


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (reply(401, {"message": "Bad credentials"}), "does not accept the token from GH_TOKEN.*gh auth login"),
        (
            reply(403, {"message": "Resource not accessible"}, x_accepted_github_permissions="issues=write"),
            "needs the permission issues=write; the token comes from GH_TOKEN",
        ),
        (
            reply(404, {"message": "Not Found"}, x_accepted_oauth_scopes="repo", x_oauth_scopes="gist"),
            "needs the scope repo; it has gist",
        ),
        (
            reply(404, {"message": "Not Found"}, x_accepted_oauth_scopes="repo", x_oauth_scopes="repo"),
            "Not Found.*None",
        ),
        (
            reply(403, {"message": "SSO"}, x_github_sso="required; url=https://github.com/orgs/acme/sso?x=1"),
            "authorize the token for the organization: https://github.com/orgs/acme/sso",
        ),
        (
            reply(422, {"message": "Validation Failed", "errors": [{"message": "A pull request already exists"}]}),
            r"\(422\).*already exists",
        ),
    ],
)
def test_a_refusal_says_what_is_missing(tmp_path: Path, answer: httpx2.Response, said: str) -> None:
    with pytest.raises(Refused) as refused:
        Recorded(tmp_path, answer).run(post)
    text = f"{refused.value.message} {refused.value.next_step}"
    assert re.search(said, text), text
    assert "ghp_secret" not in text
