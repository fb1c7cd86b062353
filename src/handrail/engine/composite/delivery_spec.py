"""Builds the evaluated specs of steps that deliver work: pull requests and issues."""

from collections.abc import Mapping

from handrail.engine.state.scope import render_value, value_of
from handrail.model.history.run_state import RunState
from handrail.model.workflow.actions import CreateIssuesAction, PullRequestAction
from handrail.model.workflow.settings import AgentTask
from handrail.model.workflow.values import JsonValue, Value

Spec = dict[str, JsonValue]


def pull_request_spec(state: RunState, action: PullRequestAction, own: Mapping[str, JsonValue]) -> Spec:
    """Build the spec of the pull request that a step opens."""
    body = None if isinstance(action.body, AgentTask) else action.body

    def text(value: Value | None) -> str:
        return "" if value is None else render_value(value_of(value, state, own))

    return {
        "title": text(action.title),
        "body": text(body),
        "base": text(action.base),
        "key": text(action.key),
        "draft": action.draft is not None and value_of(action.draft, state, own) is True,
        "ready": action.draft is not None and value_of(action.draft, state, own) is False,
        "labels": _texts(state, action.labels, own),
        "reviewers": _texts(state, action.reviewers, own),
    }


def create_issues_spec(state: RunState, action: CreateIssuesAction, own: Mapping[str, JsonValue]) -> Spec:
    """Build the spec of the issues that a step creates."""
    found = value_of(action.items, state, own)
    items: list[JsonValue] = found if isinstance(found, list) else [found]
    return {"items": items, "labels": list(action.labels)}


def _texts(state: RunState, value: Value | None, own: Mapping[str, JsonValue]) -> list[JsonValue]:
    found = None if value is None else value_of(value, state, own)
    listed = found if isinstance(found, list) else [] if found is None else [found]
    return [render_value(each) for each in listed]
