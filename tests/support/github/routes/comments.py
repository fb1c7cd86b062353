"""Comments on issues and pull requests, and reactions."""

from support.github.calls import Answer, Call, Refusal, Routes, check_text, paged
from support.github.changes import note, record_event
from support.github.represent import show_account, show_comment
from support.github.routes.issues import note_update
from support.github.state import Comment, Issue, parse_stamp, stamp

REPOSITORY = "/repos/{owner}/{repo}"
ISSUE = f"{REPOSITORY}/issues/{{issue_number}}"
COMMENT = f"{REPOSITORY}/issues/comments/{{comment_id}}"


def list_comments(call: Call) -> Answer:
    """List the comments of an issue, by id."""
    return paged([show_comment(call, call.repository, call.issue, each) for each in _since(call, call.issue.comments)])


def list_all_comments(call: Call) -> Answer:
    """List the comments of a repository."""
    issues = call.repository.issues.values()
    found = [(issue, comment) for issue in issues for comment in _since(call, issue.comments)]
    by_update = call.query.get("sort") == "updated"
    found.sort(key=lambda each: (each[1].updated_at if by_update else each[1].created_at, each[1].id))
    if call.query.get("direction") == "desc":
        found.reverse()
    return paged([show_comment(call, call.repository, issue, comment) for issue, comment in found])


def _since(call: Call, comments: list[Comment]) -> list[Comment]:
    since = call.query.get("since")
    return comments if since is None else [each for each in comments if each.updated_at >= parse_stamp(since)]


def create_comment(call: Call) -> Answer:
    """Comment on an issue; on a locked one only people with write permission may."""
    by, issue, world = call.require("read"), call.issue, call.world
    if issue.locked and not call.repository.may(by, "write"):
        raise Refusal(403, "Unable to create comment because issue is locked.")
    check_text("IssueComment", call.fields["body"], required=True)
    comment = Comment(world.new_id(), by, call.fields["body"], world.now(), world.now())
    issue.comments.append(comment)
    note(world, issue, "commented", by)
    shown = show_comment(call, call.repository, issue, comment)
    issue.timeline[-1] = {**shown, "event": "commented", "actor": show_account(by)}
    record_event(world, call.repository, "IssueCommentEvent", by, {"action": "created", "number": issue.number})
    return Answer(shown, 201)


def find_comment(call: Call) -> tuple[Issue, Comment]:
    """Find the comment that the path names, with its issue."""
    for issue in call.repository.issues.values():
        for comment in issue.comments:
            if str(comment.id) == call.params["comment_id"]:
                return issue, comment
    raise Refusal(404, "Not Found")


def get_comment(call: Call) -> Answer:
    """Read one."""
    return Answer(show_comment(call, call.repository, *find_comment(call)))


def update_comment(call: Call) -> Answer:
    """Edit one: one's own, or any with write permission."""
    issue, comment = _writable(call)
    check_text("IssueComment", call.fields["body"], required=True)
    comment.body, comment.updated_at = call.fields["body"], call.world.now()
    note_update(call.world, issue)
    return Answer(show_comment(call, call.repository, issue, comment))


def delete_comment(call: Call) -> Answer:
    """Delete one."""
    issue, comment = _writable(call)
    issue.comments.remove(comment)
    issue.timeline = [each for each in issue.timeline if each.get("id") != comment.id]
    note_update(call.world, issue)
    return Answer(status=204)


def _writable(call: Call) -> tuple[Issue, Comment]:
    by = call.require("read")
    issue, comment = find_comment(call)
    if comment.author is not by and not call.repository.may(by, "write"):
        raise Refusal(403, "Must have admin rights to Repository.")
    return issue, comment


def list_reactions(target: Issue | Comment) -> Answer:
    """List the reactions to an issue or a comment."""
    return paged(list(target.reactions))


def react(call: Call, target: Issue | Comment) -> Answer:
    """React, once for each kind."""
    by, content = call.require("read"), call.fields["content"]
    for each in target.reactions:
        if each["content"] == content and each["user"]["login"] == by.login:
            return Answer(each, 200)
    number = call.world.new_id()
    target.reactions.append(
        {
            "id": number,
            "node_id": f"REA_{number}",
            "user": show_account(by),
            "content": content,
            "created_at": stamp(call.world.now()),
        }
    )
    return Answer(target.reactions[-1], 201)


def remove_reaction(call: Call, target: Issue | Comment) -> Answer:
    """Take a reaction of one's own back."""
    by = call.require("read")
    for each in target.reactions:
        if str(each["id"]) == call.params["reaction_id"] and each["user"]["login"] == by.login:
            target.reactions.remove(each)
            return Answer(status=204)
    raise Refusal(404, "Not Found")


ROUTES: Routes = {
    f"GET {ISSUE}/comments": list_comments,
    f"POST {ISSUE}/comments": create_comment,
    f"GET {REPOSITORY}/issues/comments": list_all_comments,
    f"GET {COMMENT}": get_comment,
    f"PATCH {COMMENT}": update_comment,
    f"DELETE {COMMENT}": delete_comment,
    f"GET {ISSUE}/reactions": lambda call: list_reactions(call.issue),
    f"POST {ISSUE}/reactions": lambda call: react(call, call.issue),
    f"DELETE {ISSUE}/reactions/{{reaction_id}}": lambda call: remove_reaction(call, call.issue),
    f"GET {COMMENT}/reactions": lambda call: list_reactions(find_comment(call)[1]),
    f"POST {COMMENT}/reactions": lambda call: react(call, find_comment(call)[1]),
    f"DELETE {COMMENT}/reactions/{{reaction_id}}": lambda call: remove_reaction(call, find_comment(call)[1]),
}
