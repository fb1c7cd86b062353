"""Reviews of pull requests, and comments on lines."""

from typing import Any

from support.github.calls import Answer, Call, Refusal, Routes, check_text, invalid, paged
from support.github.changes import note, record_event
from support.github.represent import pull_of, show_line_comment, show_review
from support.github.routes.comments import list_reactions, react
from support.github.state import Comment, Issue, Repository, Review, Thread, parse_stamp

REPOSITORY = "/repos/{owner}/{repo}"
PULL = f"{REPOSITORY}/pulls/{{pull_number}}"
_STATES = {"APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "COMMENT": "COMMENTED"}


def list_reviews(call: Call) -> Answer:
    """List the reviews, oldest first."""
    return paged([show_review(call, call.repository, call.pull, each) for each in pull_of(call.pull).reviews])


def create_review(call: Call) -> Answer:
    """Review a pull request; nobody approves their own."""
    by, issue, fields = call.require("read"), call.pull, call.fields
    pull, event = pull_of(issue), fields.get("event", "PENDING")
    if issue.author is by and event in ("APPROVE", "REQUEST_CHANGES"):
        what = "approve" if event == "APPROVE" else "request changes on"
        raise Refusal(422, "Unprocessable Entity", f"Can not {what} your own pull request")
    if event not in ("APPROVE", "PENDING") and not fields.get("body") and not fields.get("comments"):
        raise Refusal(422, "Unprocessable Entity", "Body can't be blank")
    check_text("PullRequestReview", fields.get("body"))
    anchors = [read_anchor(call.repository, issue, each) for each in fields.get("comments", ())]
    state = _STATES.get(event, "PENDING")
    commit = fields.get("commit_id") or pull.head_sha
    review = Review(call.world.new_id(), by, state, fields.get("body") or "", commit, call.world.now())
    pull.reviews.append(review)
    for each, anchor in zip(fields.get("comments", ()), anchors, strict=True):
        _start_thread(call, issue, each, anchor, review.id)
    pull.reviewers = [each for each in pull.reviewers if each is not by]
    note(call.world, issue, "reviewed", by)
    shown = show_review(call, call.repository, issue, review)
    issue.timeline[-1] |= {**shown, "state": state.lower()}
    record_event(
        call.world, call.repository, "PullRequestReviewEvent", by, {"action": "created", "number": issue.number}
    )
    return Answer(shown)


def read_anchor(repository: Repository, issue: Issue, fields: dict[str, Any]) -> str:
    """Return the text of the line that a comment is about; a line that is not there is refused."""
    text = repository.git.ask("show", f"{pull_of(issue).head_sha}:{fields['path']}").split("\n")
    line: int | None = fields.get("line") or fields.get("position")
    if fields.get("subject_type") == "file":
        return ""
    if line is None or not 0 < line <= len(text):
        raise invalid("PullRequestReviewComment", "pull_request_review_thread.line", "custom",
                      "pull_request_review_thread.line must be part of the diff")  # fmt: skip
    return text[line - 1]


def _start_thread(call: Call, issue: Issue, fields: dict[str, Any], anchor: str, review: int | None) -> Comment:
    comment = _new_comment(call, issue, fields["body"])
    comment.path, comment.line, comment.anchor = fields["path"], fields.get("line") or fields.get("position"), anchor
    comment.review = review
    pull_of(issue).threads.append(Thread(f"PRRT_kwDO{comment.id}", [comment]))
    return comment


def _new_comment(call: Call, issue: Issue, body: str) -> Comment:
    check_text("PullRequestReviewComment", body, required=True)
    now = call.world.now()
    comment = Comment(call.world.new_id(), call.account, body, now, now, commit=pull_of(issue).head_sha)
    issue.updated_at = max(issue.updated_at, now)
    return comment


def _find_review(call: Call) -> Review:
    for review in pull_of(call.pull).reviews:
        if str(review.id) == call.params["review_id"]:
            return review
    raise Refusal(404, "Not Found")


def dismiss_review(call: Call) -> Answer:
    """Dismiss a review."""
    by, review = call.require("write"), _find_review(call)
    if review.state not in ("APPROVED", "CHANGES_REQUESTED"):
        raise Refusal(422, "Unprocessable Entity", "Can not dismiss a commented pull request review")
    review.state = "DISMISSED"
    note(call.world, call.pull, "review_dismissed", by)
    return Answer(show_review(call, call.repository, call.pull, review))


def submit_review(call: Call) -> Answer:
    """Submit a pending review."""
    review = _find_review(call)
    if review.author is not call.require("read") or review.state != "PENDING":
        raise Refusal(422, "Unprocessable Entity", "Can not submit this review")
    review.state, review.submitted_at = _STATES[call.fields["event"]], call.world.now()
    review.body = call.fields.get("body") or review.body
    return Answer(show_review(call, call.repository, call.pull, review))


def list_line_comments(call: Call) -> Answer:
    """List the comments on lines of a pull request."""
    comments = [comment for thread in pull_of(call.pull).threads for comment in thread.comments]
    return paged(_show_comments(call, [(call.pull, each) for each in comments]))


def list_all_line_comments(call: Call) -> Answer:
    """List the comments on lines of a repository."""
    return paged(_show_comments(call, [(issue, comment) for issue, _, comment in _all_comments(call)]))


def list_review_comments(call: Call) -> Answer:
    """List the comments of a review."""
    number = _find_review(call).id
    found = [each for issue, _, each in _all_comments(call) if issue is call.pull and each.review == number]
    return paged(_show_comments(call, [(call.pull, each) for each in found]))


def _show_comments(call: Call, found: list[tuple[Issue, Comment]]) -> list[Any]:
    since = parse_stamp(call.query["since"]) if "since" in call.query else 0.0
    found = sorted(((issue, each) for issue, each in found if each.updated_at >= since), key=lambda each: each[1].id)
    return [show_line_comment(call, call.repository, issue, each) for issue, each in found]


def _all_comments(call: Call) -> list[tuple[Issue, Thread, Comment]]:
    pulls = [issue for issue in call.repository.issues.values() if issue.pull]
    return [
        (issue, thread, comment) for issue in pulls for thread in pull_of(issue).threads for comment in thread.comments
    ]


def find_line_comment(call: Call) -> tuple[Issue, Thread, Comment]:
    """Find the comment that the path names."""
    for found in _all_comments(call):
        if str(found[2].id) == call.params["comment_id"]:
            return found
    raise Refusal(404, "Not Found")


def create_line_comment(call: Call) -> Answer:
    """Comment on a line, or reply."""
    call.require("read")
    if "in_reply_to" in call.fields:
        call.params["comment_id"] = str(call.fields["in_reply_to"])
        return reply(call)
    anchor = read_anchor(call.repository, call.pull, call.fields)
    comment = _start_thread(call, call.pull, call.fields, anchor, None)
    return Answer(show_line_comment(call, call.repository, call.pull, comment), 201)


def reply(call: Call) -> Answer:
    """Reply in a thread."""
    call.require("read")
    issue, thread, _ = find_line_comment(call)
    comment = add_reply(call, issue, thread, call.fields["body"])
    return Answer(show_line_comment(call, call.repository, issue, comment), 201)


def add_reply(call: Call, issue: Issue, thread: Thread, body: str) -> Comment:
    """Add a comment to a thread."""
    comment, first = _new_comment(call, issue, body), thread.comments[0]
    comment.path, comment.line, comment.anchor, comment.in_reply_to = first.path, first.line, first.anchor, first.id
    thread.comments.append(comment)
    return comment


def is_outdated(repository: Repository, issue: Issue, comment: Comment) -> bool:
    """Whether the line that a comment is about is no longer there."""
    if comment.commit == pull_of(issue).head_sha or not comment.anchor:
        return False
    text = repository.git.ask("show", f"{pull_of(issue).head_sha}:{comment.path}")
    return comment.anchor not in text.split("\n")


def get_line_comment(call: Call) -> Answer:
    """Read one."""
    issue, _, comment = find_line_comment(call)
    return Answer(show_line_comment(call, call.repository, issue, comment))


def update_line_comment(call: Call) -> Answer:
    """Edit one."""
    by = call.require("read")
    issue, _, comment = find_line_comment(call)
    if comment.author is not by and not call.repository.may(by, "write"):
        raise Refusal(403, "Must have admin rights to Repository.")
    check_text("PullRequestReviewComment", call.fields["body"], required=True)
    comment.body, comment.updated_at = call.fields["body"], call.world.now()
    return Answer(show_line_comment(call, call.repository, issue, comment))


def delete_line_comment(call: Call) -> Answer:
    """Delete one; a thread without comments is gone."""
    by = call.require("read")
    issue, thread, comment = find_line_comment(call)
    if comment.author is not by and not call.repository.may(by, "write"):
        raise Refusal(403, "Must have admin rights to Repository.")
    thread.comments.remove(comment)
    if not thread.comments:
        pull_of(issue).threads.remove(thread)
    return Answer(status=204)


ROUTES: Routes = {
    f"GET {PULL}/reviews": list_reviews,
    f"POST {PULL}/reviews": create_review,
    f"GET {PULL}/reviews/{{review_id}}": lambda call: Answer(
        show_review(call, call.repository, call.pull, _find_review(call))
    ),
    f"GET {PULL}/reviews/{{review_id}}/comments": list_review_comments,
    f"PUT {PULL}/reviews/{{review_id}}/dismissals": dismiss_review,
    f"POST {PULL}/reviews/{{review_id}}/events": submit_review,
    f"GET {PULL}/comments": list_line_comments,
    f"POST {PULL}/comments": create_line_comment,
    f"POST {PULL}/comments/{{comment_id}}/replies": reply,
    f"GET {REPOSITORY}/pulls/comments": list_all_line_comments,
    f"GET {REPOSITORY}/pulls/comments/{{comment_id}}": get_line_comment,
    f"PATCH {REPOSITORY}/pulls/comments/{{comment_id}}": update_line_comment,
    f"DELETE {REPOSITORY}/pulls/comments/{{comment_id}}": delete_line_comment,
    f"GET {REPOSITORY}/pulls/comments/{{comment_id}}/reactions": lambda call: list_reactions(
        find_line_comment(call)[2]
    ),
    f"POST {REPOSITORY}/pulls/comments/{{comment_id}}/reactions": lambda call: react(call, find_line_comment(call)[2]),
}
