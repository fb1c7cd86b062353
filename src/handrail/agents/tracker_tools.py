"""The tools with which agents write to trackers, by the names of the usual MCP servers: `no_comment` denies them."""

from collections.abc import Mapping

TOOLS: Mapping[str, tuple[str, ...]] = {
    "linear": (
        *("create_comment", "update_comment", "delete_comment", "save_comment"),
        *("create_issue", "update_issue", "save_issue", "create_attachment", "delete_attachment"),
    ),
    "github": (
        *("add_issue_comment", "create_issue", "update_issue", "issue_write", "sub_issue_write", "add_sub_issue"),
        *("add_comment_to_pending_review", "add_pull_request_review_comment", "create_pull_request_review"),
        *("pull_request_review_write", "add_reply_to_pull_request_comment"),
    ),
    "gitlab": ("create_issue", "update_issue", "create_note", "create_issue_note", "create_merge_request_note"),
    "atlassian": ("addCommentToJiraIssue", "createJiraIssue", "editJiraIssue", "transitionJiraIssue"),
    "jira": ("add_comment", "jira_add_comment", "jira_create_issue", "jira_update_issue", "jira_transition_issue"),
}
"""By server; the server may have another name in a configuration, so a tool counts by its own name where it can."""
NAMES = frozenset(name for names in TOOLS.values() for name in names)
COMMANDS = (
    *("gh issue comment", "gh issue create", "gh issue edit", "gh issue close", "gh issue reopen"),
    *("gh pr comment", "gh pr review", "glab issue note", "glab issue create", "glab mr note"),
    *("bd comment", "bd comments add", "bd create", "bd update", "bd close"),
    *("handrail issues comment", "handrail issues create"),
)
"""Programs that do the same in a shell."""


def denied_tools(form: str) -> tuple[str, ...]:
    """List these tools as an agent names them, such as `mcp__{server}__{tool}`."""
    return tuple(form.format(server=server, tool=tool) for server, tools in TOOLS.items() for tool in tools)
