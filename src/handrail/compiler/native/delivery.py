"""Lowers the steps that deliver work: commit, merge, pull-request and create-issues."""

from handrail.compiler.native.agent_tasks import REPEATED, RoleSettings, lower_task
from handrail.compiler.native.context import Lowering, int_of, texts_of
from handrail.compiler.native.proofs import lower_checks
from handrail.compiler.native.texts import lower_optional, lower_value
from handrail.compiler.record_types import record
from handrail.model.source import Mapping, Node
from handrail.model.workflow.actions import CommitAction, CreateIssuesAction, Follow, MergeAction, PullRequestAction
from handrail.model.workflow.settings import AgentTask
from handrail.model.workflow.types import ANY, INT, STRING, ListType, ScalarType, Type
from handrail.model.workflow.values import Constant, Value

WRITES = RoleSettings(access="read", single_turn=True)
CONFLICT: dict[str, Type] = {
    "conflict": record(branch=STRING, files=ListType(ScalarType("path")), message=STRING),
    "round": INT,
}
"""The names in the prompt of an agent that resolves a merge conflict."""
PULL_REQUEST: dict[str, Type] = {
    "pull_request": record(number=INT, url=STRING, title=STRING, branch=STRING),
    "event": record(
        kind=STRING, summary=STRING, checks=ListType(ANY), comments=ListType(ANY), reviewer=STRING, body=STRING
    ),
    "round": INT,
}
"""The names in the prompt of an agent that reacts to events of a pull request."""


def lower_commit(work: Lowering, node: Mapping, _: Type | None) -> CommitAction:
    """Lower a commit."""
    return CommitAction(lower_value(work, node.entries["message"].value), lower_optional(work, node.get("paths")))


def lower_merge(work: Lowering, node: Mapping, _: Type | None) -> MergeAction:
    """Lower a merge."""
    branches = lower_value(work, node.entries["from"].value)
    conflict = node.get("on_conflict")
    with work.scope.enter_body(CONFLICT):
        task = None if conflict is None else lower_task(work, conflict, None, REPEATED)
    return MergeAction(branches, lower_checks(work, node.get("checks")), task)


def lower_pull_request(work: Lowering, node: Mapping, _: Type | None) -> PullRequestAction:
    """Lower a pull request."""
    return PullRequestAction(
        title=lower_value(work, node.entries["title"].value),
        body=_body(work, node.get("body")),
        base=lower_optional(work, node.get("base")),
        draft=lower_optional(work, node.get("draft")),
        labels=lower_optional(work, node.get("labels")),
        reviewers=lower_optional(work, node.get("reviewers")),
        key=lower_optional(work, node.get("key")),
        follow=_follow(work, node.get("follow")),
    )


def _body(work: Lowering, node: Node | None) -> Value | AgentTask | None:
    if isinstance(node, Mapping):
        return lower_task(work, node, None, WRITES)
    return lower_optional(work, node)


def _follow(work: Lowering, node: Node | None) -> Follow | None:
    if not isinstance(node, Mapping):
        return None
    fix = node.entries["fix"].value
    role_settings = RoleSettings(max=int_of(node.get("max"), 3))
    with work.scope.enter_body(PULL_REQUEST):
        return Follow(tuple(sorted(texts_of(node.get("on")))), lower_task(work, fix, None, role_settings))


def lower_create_issues(work: Lowering, node: Mapping, _: Type | None) -> CreateIssuesAction:
    """Lower the creation of issues."""
    items = lower_value(work, node.entries["from"].value)
    if isinstance(items, Constant):
        hint = "for example `from: ${tasks}`"
        work.report.error("bad-value", "'from' must name a list of issues", node.entries["from"].value, hint)
    return CreateIssuesAction(items, tuple(sorted(texts_of(node.get("labels")))))


LOWER = {
    "commit": lower_commit,
    "merge": lower_merge,
    "pull-request": lower_pull_request,
    "create-issues": lower_create_issues,
}
