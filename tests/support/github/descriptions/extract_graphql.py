"""Make the extract of GitHub's GraphQL schema that the double validates and executes queries with.

    python tests/support/github/descriptions/extract_graphql.py path/to/schema.graphql

The file is `schema.graphql` of the npm package that SOURCES.md names. Every type of it reaches all others, so the
fields that stay are named here; arguments, inputs and enums come with them.
"""

import sys
from pathlib import Path

from graphql import (
    EnumTypeDefinitionNode,
    FieldDefinitionNode,
    InputObjectTypeDefinitionNode,
    InputValueDefinitionNode,
    InterfaceTypeDefinitionNode,
    ListTypeNode,
    NonNullTypeNode,
    ObjectTypeDefinitionNode,
    TypeDefinitionNode,
    TypeNode,
    UnionTypeDefinitionNode,
    parse,
    print_ast,
)

EXTRACT = Path(__file__).with_name("schema.graphql")
_CONNECTION = "nodes pageInfo totalCount"
FIELDS = {
    "Query": "id node nodes rateLimit repository viewer",
    "Mutation": "addPullRequestReviewThreadReply convertPullRequestToDraft disablePullRequestAutoMerge "
    "enablePullRequestAutoMerge markPullRequestReadyForReview resolveReviewThread unresolveReviewThread",
    "AddPullRequestReviewThreadReplyPayload": "clientMutationId comment",
    "ConvertPullRequestToDraftPayload": "clientMutationId pullRequest",
    "DisablePullRequestAutoMergePayload": "actor clientMutationId pullRequest",
    "EnablePullRequestAutoMergePayload": "actor clientMutationId pullRequest",
    "MarkPullRequestReadyForReviewPayload": "clientMutationId pullRequest",
    "ResolveReviewThreadPayload": "clientMutationId thread",
    "UnresolveReviewThreadPayload": "clientMutationId thread",
    "Actor": "avatarUrl login resourcePath url",
    "AutoMergeRequest": "enabledAt enabledBy mergeMethod pullRequest",
    "Bot": "avatarUrl databaseId id login resourcePath url",
    "CheckRun": "completedAt conclusion databaseId detailsUrl id name startedAt status summary title url",
    "Commit": "id message messageHeadline oid statusCheckRollup url",
    "GitObject": "id oid",
    "Issue": "author body closed closedAt createdAt databaseId fullDatabaseId id number repository state stateReason "
    "title updatedAt url",
    "IssueComment": "author authorAssociation body createdAt databaseId fullDatabaseId id updatedAt url",
    "IssueCommentConnection": _CONNECTION,
    "IssueConnection": _CONNECTION,
    "Label": "color description id name",
    "LabelConnection": _CONNECTION,
    "Mannequin": "avatarUrl id login resourcePath url",
    "Node": "id",
    "Organization": "avatarUrl id login resourcePath url",
    "PageInfo": "endCursor hasNextPage hasPreviousPage startCursor",
    "PullRequest": "author autoMergeRequest baseRefName baseRefOid body closed closedAt closingIssuesReferences "
    "comments commits createdAt databaseId fullDatabaseId headRefName headRefOid id isCrossRepository isDraft labels "
    "latestReviews mergeCommit mergeStateStatus mergeable merged mergedAt mergedBy number repository reviewDecision "
    "reviewRequests reviewThreads reviews state statusCheckRollup title updatedAt url viewerCanEnableAutoMerge "
    "viewerCanUpdate viewerDidAuthor",
    "PullRequestCommit": "commit id",
    "PullRequestCommitConnection": _CONNECTION,
    "PullRequestConnection": _CONNECTION,
    "PullRequestReview": "author body commit createdAt databaseId fullDatabaseId id state submittedAt url",
    "PullRequestReviewComment": "author authorAssociation body commit createdAt databaseId diffHunk fullDatabaseId id "
    "line originalCommit originalLine outdated path replyTo updatedAt url",
    "PullRequestReviewCommentConnection": _CONNECTION,
    "PullRequestReviewConnection": _CONNECTION,
    "PullRequestReviewThread": "comments diffSide id isCollapsed isOutdated isResolved line originalLine path "
    "pullRequest resolvedBy startLine viewerCanReply viewerCanResolve viewerCanUnresolve",
    "PullRequestReviewThreadConnection": _CONNECTION,
    "RateLimit": "cost limit remaining resetAt used",
    "Ref": "id name target",
    "Repository": "autoMergeAllowed defaultBranchRef id isPrivate issue mergeCommitAllowed name nameWithOwner owner "
    "pullRequest pullRequests rebaseMergeAllowed squashMergeAllowed url viewerPermission",
    "RepositoryOwner": "avatarUrl id login resourcePath url",
    "ReviewRequest": "asCodeOwner id requestedReviewer",
    "ReviewRequestConnection": _CONNECTION,
    "StatusCheckRollup": "contexts id state",
    "StatusCheckRollupContextConnection": _CONNECTION,
    "StatusContext": "context createdAt description id state targetUrl",
    "Team": "id name slug",
    "User": "avatarUrl databaseId id login name resourcePath url",
}
_BUILT_IN = {"Boolean", "Float", "ID", "Int", "String"}


def extract(text: str) -> str:
    """Take the wanted types and fields out of the whole schema."""
    definitions = parse(text, no_location=True).definitions
    known = {each.name.value: each for each in definitions if isinstance(each, TypeDefinitionNode)}
    chosen: dict[str, str] = {}
    waiting = list(FIELDS)
    while waiting:
        name = waiting.pop()
        if name not in chosen and name not in _BUILT_IN:
            chosen[name], needed = _print(known[name])
            waiting += needed
    return "\n\n".join(chosen[name] for name in sorted(chosen)) + "\n"


def _print(node: TypeDefinitionNode) -> tuple[str, list[str]]:
    """Write what is wanted of a definition, and say which types that needs."""
    name = node.name.value
    if isinstance(node, UnionTypeDefinitionNode):
        return (
            f"union {name} = {' | '.join(each.name.value for each in node.types or () if each.name.value in FIELDS)}",
            [],
        )
    if isinstance(node, EnumTypeDefinitionNode):
        return _block(f"enum {name}", [each.name.value for each in node.values or ()]), []
    if isinstance(node, InputObjectTypeDefinitionNode):
        return _block(f"input {name}", [_argument(each) for each in node.fields or ()]), [
            _named(each.type) for each in node.fields or ()
        ]
    if isinstance(node, ObjectTypeDefinitionNode | InterfaceTypeDefinitionNode):
        return _print_fields(node)
    return f"scalar {name}", []


def _print_fields(node: ObjectTypeDefinitionNode | InterfaceTypeDefinitionNode) -> tuple[str, list[str]]:
    name = node.name.value
    if name not in FIELDS:
        raise SystemExit(f"say which fields of {name} are wanted")
    known = {each.name.value: each for each in node.fields or ()}
    fields = [known[each] for each in FIELDS[name].split()]
    above = [each.name.value for each in node.interfaces or () if each.name.value in FIELDS]
    kind = "type" if isinstance(node, ObjectTypeDefinitionNode) else "interface"
    head = f"{kind} {name} implements {' & '.join(above)}" if above else f"{kind} {name}"
    needed = [_named(each.type) for each in fields]
    needed += [_named(argument.type) for each in fields for argument in each.arguments or ()]
    return _block(head, [_field(each) for each in fields]), needed


def _field(node: FieldDefinitionNode) -> str:
    arguments = ", ".join(_argument(each) for each in node.arguments or ())
    return (
        f"{node.name.value}({arguments}): {print_ast(node.type)}"
        if arguments
        else f"{node.name.value}: {print_ast(node.type)}"
    )


def _argument(node: InputValueDefinitionNode) -> str:
    text = f"{node.name.value}: {print_ast(node.type)}"
    return text if node.default_value is None else f"{text} = {print_ast(node.default_value)}"


def _block(head: str, lines: list[str]) -> str:
    return "\n".join([f"{head} {{", *(f"  {each}" for each in lines), "}"])


def _named(node: TypeNode) -> str:
    while isinstance(node, NonNullTypeNode | ListTypeNode):
        node = node.type
    return print_ast(node)


def main() -> None:
    """Write the extract beside this file."""
    EXTRACT.write_text(extract(Path(sys.argv[1]).read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
