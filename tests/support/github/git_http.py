"""Serves bare repositories with `git http-backend`, and lets the double follow each push."""

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

from support.github.changes import receive_push
from support.github.git_repository import plain_environment
from support.github.state import Repository, Token, World

PATH = re.compile(r"/(?P<owner>[^/]+)/(?P<name>[^/]+?)\.git/(?P<rest>info/refs|git-upload-pack|git-receive-pack|HEAD)")
_COMMAND = re.compile(rb"([0-9a-f]{40}) ([0-9a-f]{40}) (refs/[^\0\n]+)")
_TOKEN_REFUSAL = "Personal Access Token to create or update workflow @ without `workflow` scope"
_APP_REFUSAL = "GitHub App to create or update workflow @ without `workflows` permission"


@dataclass(slots=True)
class GitRequest:
    """A request of git."""

    method: str
    rest: str
    query: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_push(self) -> bool:
        """Whether it belongs to a push."""
        return self.rest == "git-receive-pack" or "service=git-receive-pack" in self.query

    @property
    def kind(self) -> str:
        """`refs`, `probe`, `push`, `fetch`, or `plain`: without the protocol of git, which GitHub does not serve."""
        if self.rest in ("info/refs", "HEAD"):
            return "refs" if self.rest == "info/refs" else "plain"
        if self.rest == "git-upload-pack":
            return "fetch"
        return "push" if self.commands else "probe"

    @property
    def commands(self) -> list[dict[str, str]]:
        """The refs that a push is to move."""
        if self.rest != "git-receive-pack":
            return []
        head = self.body.split(b"PACK", 1)[0]
        return [
            {"old": old.decode(), "new": new.decode(), "ref": ref.decode()} for old, new, ref in _COMMAND.findall(head)
        ]


@dataclass(slots=True)
class GitAnswer:
    """What git is sent."""

    status: int
    headers: dict[str, str]
    body: bytes


def serve_git(world: World, repository: Repository | None, request: GitRequest, token: Token | None) -> GitAnswer:
    """Answer a request of git."""
    refusal = _refuse(repository, request, token)
    if refusal is not None or repository is None:
        return refusal or GitAnswer(404, {}, b"Repository not found.\n")
    if request.kind == "plain":
        return GitAnswer(404, {}, b"Please upgrade your git client.\n")
    if request.kind != "push" or token is None:
        return _run_backend(repository, request, token)
    with world.lock:
        before = repository.git.branches
        answer = _run_backend(repository, request, token)
        receive_push(world, repository, before, token)
        return answer


def _refuse(repository: Repository | None, request: GitRequest, token: Token | None) -> GitAnswer | None:
    account = token.account if token else None
    least = "write" if request.is_push else "read"
    if repository is not None and repository.may(account, least) and (token or not request.is_push):
        return None if token is None or token.may_write or not request.is_push else _denied(repository, token)
    if token is None:
        return GitAnswer(401, {"WWW-Authenticate": 'Basic realm="GitHub"'}, b"No anonymous write access.\n")
    if repository is None or not repository.may(account, "read"):
        return GitAnswer(404, {}, b"Repository not found.\n")
    return _denied(repository, token)


def _denied(repository: Repository, token: Token) -> GitAnswer:
    text = f"Permission to {repository.full_name}.git denied to {token.account.login}.\n"
    return GitAnswer(403, {"Content-Type": "text/plain"}, text.encode())


def _run_backend(repository: Repository, request: GitRequest, token: Token | None) -> GitAnswer:
    environment = {
        **plain_environment(),
        "GIT_PROJECT_ROOT": str(repository.git.path), "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": f"/{request.rest}",
        "REQUEST_METHOD": request.method, "QUERY_STRING": request.query, "REMOTE_ADDR": "127.0.0.1",
        "CONTENT_TYPE": request.headers.get("content-type", ""), "CONTENT_LENGTH": str(len(request.body)),
        "HTTP_CONTENT_ENCODING": request.headers.get("content-encoding", ""),
        "GIT_PROTOCOL": request.headers.get("git-protocol", ""), "REMOTE_USER": token.account.login if token else "",
        "DOUBLE_PROTECTED": " ".join(repository.protected),
    }  # fmt: skip
    if token is not None and not token.may_change_workflows:
        environment["DOUBLE_WORKFLOWS_REFUSAL"] = _TOKEN_REFUSAL if token.scopes is not None else _APP_REFUSAL
    done = subprocess.run(
        ["git", "http-backend"], input=request.body, capture_output=True, env=environment, check=False
    )
    head, _, body = done.stdout.partition(b"\r\n\r\n")
    headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
    status = int(headers.pop("Status", "200").split()[0])
    return GitAnswer(status, headers, body)
