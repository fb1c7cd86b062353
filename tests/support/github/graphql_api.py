"""The GraphQL API of the double (a few calls, executed by graphql-core on an extract of GitHub's schema)."""

from dataclasses import dataclass, field
from typing import Any

from support.github.calls import Answer
from support.github.state import Token, World


@dataclass(slots=True)
class GraphqlApi:
    """Answers queries, and notes what is wrong with them."""

    world: World
    problems: list[str] = field(default_factory=list[str])

    def name_of(self, payload: Any) -> str:
        return "unknown"

    def answer(self, payload: Any, token: Token | None) -> Answer:
        return Answer({"message": "Not Found"}, 404)
