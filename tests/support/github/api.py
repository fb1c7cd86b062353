"""The REST API of the double: every request is checked against the description, every answer is filled from it."""

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from support.github.calls import Answer, Call, Refusal
from support.github.description import Description, Operation, load_description
from support.github.pages import cut_page
from support.github.routes import ROUTES
from support.github.state import Repository, Token, World


@dataclass(slots=True)
class Request:
    """A request below the prefix of the API."""

    method: str
    path: str
    query: dict[str, str]
    body: Any
    token: Token | None
    api: str


@dataclass(slots=True)
class RestApi:
    """Answers requests, and notes what is wrong with them."""

    world: World
    description: Description = field(default_factory=load_description)
    problems: list[str] = field(default_factory=list[str])

    def answer(self, request: Request) -> Answer:
        """Answer a request."""
        operation = self.description.find(request.method, request.path)
        name = f"{request.method} {request.path}"
        if operation is None:
            self.problems.append(f"GitHub has no {name}, or the extract of its description does not have it")
            return Answer({"message": "Not Found", "documentation_url": "", "status": "404"}, 404)
        found = self.description.check_request(operation, request.query, request.body)
        if found:
            self.problems += [f"{name}: {each}" for each in found]
            return Answer(
                {"message": f"Invalid request.\n\n{'; '.join(found)}", "documentation_url": "", "status": "422"}, 422
            )
        if operation.template not in ROUTES:
            self.problems.append(f"the double does not implement {operation.template}")
            return Answer({"message": "Not Implemented", "documentation_url": "", "status": "501"}, 501)
        with self.world.lock:
            return self._perform(operation, request, name)

    def _perform(self, operation: Operation, request: Request, name: str) -> Answer:
        moved = self.world.moved.get(f"{operation.params.get('owner')}/{operation.params.get('repo')}".lower())
        if moved is not None:
            return _redirect(request, operation, moved)
        call = Call(self.world, request.token, request.api, operation.params, request.query, request.body)
        try:
            answer = ROUTES[operation.template](call)
        except Refusal as refusal:
            return Answer(refusal.body, refusal.status)
        if answer.is_list:
            cut_page(answer, call, request.path)
        answer.body = self.description.fill_answer(operation, answer.status, answer.body)
        found = self.description.check_answer(operation, answer.status, answer.body)
        self.problems += [f"answer to {name}: {each}" for each in found]
        return answer


def _redirect(request: Request, operation: Operation, moved: Repository) -> Answer:
    rest = request.path.removeprefix(f"/repos/{operation.params['owner']}/{operation.params['repo']}")
    query = f"?{urlencode(request.query)}" if request.query else ""
    url = f"{request.api}/repos/{moved.full_name}{rest}{query}"
    # GitHub keeps the method of a write with 307.
    status = 301 if request.method == "GET" else 307
    return Answer({"message": "Moved Permanently", "url": url, "documentation_url": ""}, status, {"Location": url})
