"""The GraphQL API of the double: graphql-core validates and executes on an extract of GitHub's schema."""

import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from support.github.calls import Answer, Call, Refusal
from support.github.descriptions import GRAPHQL
from support.github.graphql.mutations import Mutations
from support.github.graphql.views import GraphqlRefusal, View
from support.github.json_values import Json, is_object
from support.github.state import Token, World

if TYPE_CHECKING:
    from graphql import ExecutionResult, GraphQLError, GraphQLSchema

_FIRST_FIELD = re.compile(r"\{\s*(?:\w+\s*:\s*)?(\w+)")


@dataclass(slots=True)
class GraphqlApi:
    """Answers queries, and notes what is wrong with them."""

    world: World
    problems: list[str] = field(default_factory=list[str])

    def name_of(self, payload: Any) -> str:
        """Name a query by its first field, as the journal does."""
        found = _FIRST_FIELD.search(_query_of(payload))
        return found[1] if found else ""

    def answer(self, payload: Any, token: Token | None) -> Answer:
        """Execute a query; what the schema does not have fails the test."""
        if token is None:
            return Answer({"message": "This endpoint requires you to be authenticated.", "documentation_url": ""}, 401)
        from graphql import execute_sync, parse, validate  # pyright: ignore[reportUnknownVariableType]

        try:
            document = parse(_query_of(payload))
        except Exception as error:  # noqa: BLE001 (whatever is wrong with the text is the caller's problem)
            return self._refuse(f"GraphQL: {error}")
        invalid = validate(load_schema(), document)
        if invalid:
            return self._refuse(*(f"GraphQL {self.name_of(payload)}: {each.message}" for each in invalid))
        with self.world.lock:
            call = Call(self.world, token, f"{self.world.base}/api/v3", {}, {}, None)
            view = View(call)
            result = execute_sync(
                load_schema(),
                document,
                {**view.root(), **Mutations(view).root()},
                variable_values=payload.get("variables"),
                operation_name=payload.get("operationName"),
            )
        return Answer(self._show(result))

    def _refuse(self, *problems: str) -> Answer:
        self.problems += problems
        return Answer({"errors": [{"message": each} for each in problems]})

    def _show(self, result: "ExecutionResult") -> Json:
        shown: Json = {"data": result.data}
        if result.errors:
            shown["errors"] = [self._show_error(each) for each in result.errors]
        return shown

    def _show_error(self, error: "GraphQLError") -> Json:
        shown: Json = {"message": error.message, "path": error.path, "type": "UNPROCESSABLE"}
        cause = error.original_error
        if isinstance(cause, GraphqlRefusal):
            shown["type"] = cause.kind
        elif isinstance(cause, Refusal):
            shown["message"] = str(cause)
        elif error.path is None:
            self.problems.append(f"GraphQL: {error.message}")
        else:
            self.problems.append(f"the double failed at {error.path}: {cause!r}")
        return shown


@cache
def load_schema() -> "GraphQLSchema":
    """Read the extract that is checked in."""
    from graphql import build_schema

    return build_schema(GRAPHQL.read_text(encoding="utf-8"), assume_valid=True)


def _query_of(payload: Any) -> str:
    return str(payload.get("query", "")) if is_object(payload) else ""
