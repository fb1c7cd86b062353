"""GitHub on this machine: see the docstring of the package for how tests use it."""

import base64
import itertools
import shutil
import uuid
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from support.github.api import Request, RestApi
from support.github.calls import Answer
from support.github.exchange import Service
from support.github.faults import Fault, Faults, How
from support.github.git_repository import FileContent, GitRepository, Identity, make_template
from support.github.graphql.api import GraphqlApi
from support.github.journal import Journal
from support.github.json_values import Json
from support.github.people import Person
from support.github.routes.checks import add_check, add_status, finish_check
from support.github.routes.pulls import merge_when_ready
from support.github.server import Server
from support.github.state import Permission, Repository, Token, World

USER = "handrail-user"
"""Under which account the program under test acts."""
_FILES: dict[str, FileContent] = {"README.md": "# Shop\n"}


class GitHubDouble:
    """A server with repositories, issues and pull requests, and the people who act there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.world = World(self.folder)
        self._template = GitRepository(self.folder / "template.git")
        make_template(self._template.path)
        owner = Identity("Owner", "owner@example.com")
        self._template.commit_files("main", _FILES, "Begin", owner)
        self._service = Service(self.world, RestApi(self.world), GraphqlApi(self.world))
        self._service.graphql.problems = self._service.rest.problems
        self._server = Server(self._service)
        self._names = itertools.count(1)
        self._tokens: dict[str, Token] = {}
        self._repository: Repository | None = None
        self.reset()

    def reset(self) -> None:
        """Forget repositories, people, faults and calls: every test begins with a fresh repository."""
        self._server.end_connections()
        with self.world.lock:
            for repository in self.world.repositories.values():
                shutil.rmtree(repository.git.path, ignore_errors=True)
            self.world.repositories.clear()
            self.world.accounts.clear()
            self.world.tokens.clear()
            self.world.attachments.clear()
            self.world.moved.clear()
            self._tokens.clear()
            self._names = itertools.count(1)
            self.world.search_lag, self.world.time_offset, self.world.lazy_mergeability = 0, 0.0, False
            self._repository = None
        with self._service.lock:
            self._service.faults, self._service.journal = Faults(), Journal()
        self._service.rest.problems.clear()

    def close(self) -> None:
        """Stop serving and leave nothing behind."""
        self._server.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def url(self) -> str:
        """The address of the web pages and of git."""
        return self.world.base

    @property
    def api_url(self) -> str:
        """What belongs into `GITHUB_API_URL`."""
        return f"{self.world.base}/api/v3"

    @property
    def host(self) -> str:
        """The host as it stands in the names of repositories."""
        return self.world.base.removeprefix("http://")

    @property
    def journal(self) -> Journal:
        """All calls that came over the network."""
        return self._service.journal

    @property
    def problems(self) -> list[str]:
        """What was wrong with calls; the fixture fails the test if anything is left here."""
        return self._service.rest.problems

    def take_problems(self) -> list[str]:
        """Return the problems and forget them, for tests that want some."""
        found = list(self.problems)
        self.problems.clear()
        return found

    def new_repository(
        self, files: Mapping[str, FileContent] | None = None, name: str = "", owner: str = "acme"
    ) -> Repository:
        """Make a repository whose `main` has these files; it becomes the one that people act in."""
        with self.world.lock:
            name = name or f"shop-{next(self._names)}"
            git = self._template.copy(self.folder / f"{uuid.uuid4().hex}.git")
            account = self.world.account(owner, "Organization")
            repository = Repository(account, name, self.world.new_id(), git)
            repository.permissions[self.world.account(USER).login] = "write"
            if files:
                repository.git.commit_files("main", {"README.md": None, **files}, "Begin", account.identity)
            self.world.repositories[repository.full_name.lower()] = self._repository = repository
            return repository

    def rename_repository(self, name: str) -> None:
        """Rename the newest repository; its old name leads to the new one from now on."""
        with self.world.lock:
            repository, old = self.repository, self.repository.full_name.lower()
            del self.world.repositories[old]
            repository.name = name
            self.world.repositories[repository.full_name.lower()] = repository
            self.world.moved[old] = repository

    @property
    def repository(self) -> Repository:
        """The newest repository; the first look makes one."""
        return self._repository or self.new_repository()

    def clone_url(self, repository: Repository | None = None) -> str:
        """The address for git, without credentials."""
        return f"{self.url}/{(repository or self.repository).full_name}.git"

    @property
    def me(self) -> Person:
        """The account under which the program under test acts, for tests that act in its name."""
        return self.person(USER)

    def person(self, login: str, permission: Permission | None = None, repository: Repository | None = None) -> Person:
        """Return somebody with an account; a login that ends in `[bot]` is a bot."""
        with self.world.lock:
            place = repository or self.repository
            account = self.world.account(login, "Bot" if login.endswith("[bot]") else "User")
            if permission is not None:
                place.permissions[account.login] = permission
            if account.login not in self._tokens:
                self._tokens[account.login] = self.new_token(login)
            return Person(self, account, self._tokens[account.login], place)

    def new_token(self, login: str = USER, prefix: str = "ghp_", **rights: Any) -> Token:
        """Make a token: `ghp_` is a classic one with scopes, `github_pat_` and `ghs_` say nothing about themselves.

        Rights are the fields of `Token`. Without the scope `workflow` a classic token may not push workflows; pushes
        with a `ghs_` token, as Actions has it, start no checks.
        """
        with self.world.lock:
            value = f"{prefix}{uuid.uuid4().hex}Aa00"
            kind = "Bot" if prefix == "ghs_" or login.endswith("[bot]") else "User"
            token = Token(value, self.world.account(login, kind))
            if prefix != "ghp_":
                token.scopes = None
            if prefix == "ghs_":
                token.starts_checks = token.may_change_workflows = False
            token = replace(token, **rights)
            if token.scopes is not None and "workflow" not in token.scopes:
                token.may_change_workflows = False
            self.world.tokens[value] = token
            return token

    @property
    def token(self) -> str:
        """The token of the program under test."""
        return self.me.token.value

    def environment(self, token: Token | None = None) -> dict[str, str]:
        """Return what a process needs to find the double: the API, a token, and credentials for git."""
        value = token.value if token else self.token
        basic = base64.b64encode(f"x-access-token:{value}".encode()).decode()
        return {
            "GITHUB_API_URL": self.api_url, "GITHUB_TOKEN": value, "GH_TOKEN": value, "GIT_TERMINAL_PROMPT": "0",
            "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": f"http.{self.url}/.extraHeader",
            "GIT_CONFIG_VALUE_0": f"Authorization: Basic {basic}",
        }  # fmt: skip

    def fail(self, call: str, how: How, nth: int = 1, times: int = 1, retry_after: int = 1) -> Fault:
        """Let the n-th call that matches fail; `*` stands for anything: `POST */pulls`, `GIT push *`."""
        return self._service.faults.plan(Fault(call, how, nth, times, retry_after))

    def advance(self, seconds: float) -> None:
        """Move the time of the double."""
        self.world.time_offset += seconds

    def attach(self, name: str, content: bytes, kind: str = "application/octet-stream") -> str:
        """Store an attachment and return the address that stands in the text of an issue."""
        number = self.world.new_id()
        place = f"assets/{uuid.uuid4()}" if kind.startswith("image/") else f"files/{number}/{name}"
        self.world.attachments[f"/user-attachments/{place}"] = (kind, content)
        return f"{self.url}/user-attachments/{place}"

    def report_check(
        self, sha: str, name: str, conclusion: str | None = None, *, log: str = "", summary: str = ""
    ) -> int:
        """Report a check run of a commit: a conclusion, `in_progress`, or queued; the newest of a name counts."""
        output = {key: value for key, value in (("log", log), ("summary", summary)) if value}
        with self.world.lock:
            running = [each for each in self.repository.checks if each["status"] != "completed"]
            check = next((each for each in running if (each["head_sha"], each["name"]) == (sha, name)), None)
            if check is None:
                check = add_check(self.world, self.repository, sha, name, conclusion, **output)
            else:
                finish_check(self.world, self.repository, check, conclusion, **output)
            merge_when_ready(self.world, self.repository)
            return check["id"]

    def report_status(self, sha: str, context: str, state: str, description: str = "") -> None:
        """Report a commit status: `error`, `failure`, `pending` or `success`."""
        with self.world.lock:
            fields = {"state": state, "context": context, "description": description}
            add_status(self.world, self.repository, self.repository.owner, sha, fields)
            merge_when_ready(self.world, self.repository)

    def answer(self, method: str, path: str, body: Any, token: Token | None) -> Answer:
        """Answer a call inside this process, without the network, faults and the journal."""
        address = urlsplit(path)
        query = dict(parse_qsl(address.query))
        return self._service.rest.answer(Request(method, address.path, query, body, token, self.api_url))

    def read(self, path: str) -> Any:
        """Read something of the newest repository as its owner sees it: `/issues/1`."""
        token = self.person(self.repository.owner.login).token
        answer = self.answer("GET", f"/repos/{self.repository.full_name}{path}", None, token)
        assert answer.status == 200, (path, answer.status, answer.body)
        return answer.body

    def pulls(self) -> list[Json]:
        """Return all pull requests, whatever their state, the oldest first."""
        return self.read("/pulls?state=all&direction=asc&per_page=100")

    def issues(self) -> list[Json]:
        """Return all issues that are not pull requests, the oldest first."""
        found = self.read("/issues?state=all&direction=asc&per_page=100")
        return [each for each in found if "pull_request" not in each]

    def comments(self, number: int) -> list[Json]:
        """Return the comments of an issue or a pull request."""
        return self.read(f"/issues/{number}/comments?per_page=100")
