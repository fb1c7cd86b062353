"""One call as a route sees it, and what a route answers or refuses."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from support.github.json_values import Json, is_object
from support.github.state import Account, Issue, Permission, Repository, Token, World

MAX_BODY = 65_536
"""Characters in the text of an issue or a comment."""


@dataclass(slots=True)
class Call:
    """An authenticated call of the REST API."""

    world: World
    token: Token | None
    api: str
    """The address under which the caller reaches the API."""
    params: dict[str, str]
    query: dict[str, str]
    body: Any

    @property
    def account(self) -> Account:
        """Who calls; whoever is nobody is refused."""
        if self.token is None:
            raise Refusal(401, "Requires authentication")
        return self.token.account

    @property
    def viewer(self) -> Account | None:
        """Who calls, if anybody."""
        return self.token.account if self.token else None

    @property
    def repository(self) -> Repository:
        """The repository that the path names; one that the caller may not see does not exist."""
        found = self.world.repository(self.params["owner"], self.params["repo"])
        if found is None or not found.may(self.viewer, "read"):
            raise Refusal(404, "Not Found")
        return found

    @property
    def issue(self) -> Issue:
        """The issue that the path names."""
        return find_issue(self.repository, self.params.get("issue_number") or self.params["pull_number"])

    @property
    def pull(self) -> Issue:
        """The pull request that the path names."""
        found = self.issue
        if found.pull is None:
            raise Refusal(404, "Not Found")
        return found

    @property
    def fields(self) -> Json:
        """The body as an object."""
        return self.body if is_object(self.body) else {}

    def require(self, least: Permission) -> Account:
        """Refuse callers without a permission, and return the caller."""
        account = self.account
        if self.token is not None and not self.token.may_write:
            raise Refusal(403, "Resource not accessible by personal access token")
        if not self.repository.may(account, least):
            raise Refusal(403, "Must have admin rights to Repository.")
        return account


@dataclass(slots=True)
class Answer:
    """What is sent back."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])
    is_list: bool = False
    """Whether it is a list that is to be cut into pages."""
    list_key: str = ""
    """Under which key the list is, if the answer also counts it."""


class Refusal(Exception):
    """A call is refused, as GitHub words it."""

    def __init__(self, status: int, message: str, *errors: Json | str) -> None:
        super().__init__(message)
        self.status = status
        self.body: Json = {
            "message": message,
            "documentation_url": "https://docs.github.com/rest",
            "status": str(status),
        }
        if errors:
            self.body["errors"] = list(errors)


Route: TypeAlias = Callable[[Call], Answer]
Routes: TypeAlias = dict[str, Route]


def invalid(resource: str, field_name: str, code: str = "invalid", message: str = "") -> Refusal:
    """Refuse a value."""
    error: Json = {"resource": resource, "code": code, "field": field_name}
    if message:
        error["message"] = message
    return Refusal(422, "Validation Failed", error)


def find_issue(repository: Repository, number: str | int) -> Issue:
    """Find an issue or pull request by its number."""
    text = str(number)
    if not text.isdecimal() or int(text) not in repository.issues:
        raise Refusal(404, "Not Found")
    return repository.issues[int(text)]


def check_text(resource: str, text: str | None, *, required: bool = False) -> None:
    """Refuse a text that GitHub refuses for its length."""
    if required and not (text or "").strip():
        raise Refusal(422, "Validation Failed", {"resource": resource, "code": "missing_field", "field": "body"})
    if len(text or "") > MAX_BODY:
        raise invalid(resource, "body", "custom", f"body is too long (maximum is {MAX_BODY} characters)")


def paged(items: list[Any], key: str = "") -> Answer:
    """Answer with a list, of which the caller gets a page."""
    return Answer(items, is_list=True, list_key=key)
