"""Pull requests: list, read, open, change, files, merge, reviewers."""

from support.github.calls import Answer, Call, Refusal, Routes, check_text, invalid, paged
from support.github.changes import close_by_messages, find_open_pull, finish_merge, note, start_checks
from support.github.json_values import Json
from support.github.represent import pull_of, show_account, show_pull
from support.github.routes.code import show_commit, show_files
from support.github.routes.issues import change_text_and_state, new_issue, note_update, sort_issues
from support.github.state import Account, Issue, Pull, Repository, World

REPOSITORY = "/repos/{owner}/{repo}"
PULL = f"{REPOSITORY}/pulls/{{pull_number}}"


def list_pulls(call: Call) -> Answer:
    """List pull requests; `head` only counts with its owner, `owner:branch`."""
    found = [each for each in call.repository.issues.values() if each.pull and _matches(call, each, each.pull)]
    return paged([show_pull(call, call.repository, each) for each in sort_issues(call, found)])


def _matches(call: Call, issue: Issue, pull: Pull) -> bool:
    head = call.query.get("head", "")
    label = f"{call.repository.owner.login}:{pull.head}"
    return (
        call.query.get("state", "open") in ("all", issue.state)
        and (":" not in head or head.lower() == label.lower())
        and call.query.get("base", pull.base) == pull.base
    )


def get_pull(call: Call) -> Answer:
    """Read one, with what git says about merging it."""
    return Answer(show_whole_pull(call, call.repository, call.pull))


def show_whole_pull(call: Call, repository: Repository, issue: Issue) -> Json:
    """Show a pull request with everything that lists leave out."""
    pull = pull_of(issue)
    files = repository.git.changes(pull.base_sha, pull.head_sha)
    mergeable = find_mergeable(call, repository, issue)
    return {
        **show_pull(call, repository, issue), "merged": pull.merged_at is not None,
        "mergeable": mergeable, "rebaseable": mergeable,
        "mergeable_state": find_merge_state(repository, issue, mergeable),
        "merged_by": show_account(pull.merged_by), "comments": len(issue.comments),
        "review_comments": sum(len(each.comments) for each in pull.threads), "maintainer_can_modify": False,
        "commits": repository.git.count(pull.base_sha, pull.head_sha),
        "additions": sum(each.additions for each in files), "deletions": sum(each.deletions for each in files),
        "changed_files": len(files),
    }  # fmt: skip


def find_mergeable(call: Call, repository: Repository, issue: Issue) -> bool | None:
    """Say whether a merge has no conflicts; GitHub computes it in the background and says null until then."""
    pull = pull_of(issue)
    if issue.state == "closed":
        return None
    ends = (pull.base_sha, pull.head_sha)
    if call.world.lazy_mergeability and pull.looked_at != ends:
        pull.looked_at = ends
        return None
    return repository.git.merge_tree(*ends) is not None


def find_merge_state(repository: Repository, issue: Issue, mergeable: bool | None) -> str:
    """Say what stands in the way of merging."""
    pull = pull_of(issue)
    if mergeable is None:
        return "unknown"
    if not mergeable:
        return "dirty"
    if pull.draft:
        return "draft"
    states = {each["name"]: each["conclusion"] for each in repository.checks if each["head_sha"] == pull.head_sha} | {
        each["context"]: each["state"] for each in repository.statuses if each["sha"] == pull.head_sha
    }
    if any(states.get(name) not in ("success", "neutral", "skipped") for name in repository.required_checks):
        return "blocked"
    passed = all(state in ("success", "neutral", "skipped") for state in states.values())
    return "clean" if passed else "unstable"


def create_pull(call: Call) -> Answer:
    """Open one: the head must exist, be ahead, and have no open pull request yet."""
    by, repository, fields = call.require("read"), call.repository, call.fields
    if not repository.may(by, "write"):
        raise Refusal(403, "Resource not accessible by personal access token")
    head, base = _find_ends(call)
    if not str(fields.get("title") or "").strip():
        raise Refusal(422, "Validation Failed", {"resource": "PullRequest", "code": "missing_field", "field": "title"})
    check_text("PullRequest", fields.get("body"))
    heads = repository.git.branches
    issue = new_issue(call.world, repository, fields["title"], fields.get("body"), by)
    issue.pull = Pull(call.world.new_id(), head, base, heads[head], heads[base], draft=bool(fields.get("draft")))
    repository.git.set_ref(f"refs/pull/{issue.number}/head", heads[head])
    if call.token and call.token.starts_checks:
        start_checks(call.world, repository, heads[head])
    return Answer(show_whole_pull(call, repository, issue), 201)


def _find_ends(call: Call) -> tuple[str, str]:
    repository, fields = call.repository, call.fields
    owner, _, head = fields["head"].rpartition(":")
    heads, base = repository.git.branches, fields["base"]
    if head not in heads or (owner or repository.owner.login).lower() != repository.owner.login.lower():
        raise invalid("PullRequest", "head")
    if base not in heads:
        raise invalid("PullRequest", "base")
    if find_open_pull(repository, head, base):
        raise Refusal(422, "Validation Failed", {
            "resource": "PullRequest", "code": "custom",
            "message": f"A pull request already exists for {repository.owner.login}:{head}.",
        })  # fmt: skip
    if repository.git.count(heads[base], heads[head]) == 0:
        raise Refusal(422, "Validation Failed", {
            "resource": "PullRequest", "code": "custom", "message": f"No commits between {base} and {head}",
        })  # fmt: skip
    return head, base


def update_pull(call: Call) -> Answer:
    """Change title, text, state or base; its author may, or somebody with write permission."""
    by, issue, repository = call.require("read"), call.pull, call.repository
    if issue.author is not by and not repository.may(by, "write"):
        raise Refusal(403, "Must have admin rights to Repository.")
    check_text("PullRequest", call.fields.get("body"))
    base = call.fields.get("base")
    if base is not None and base not in repository.git.branches:
        raise invalid("PullRequest", "base")
    change_text_and_state(call, issue)
    if base is not None:
        pull_of(issue).base, pull_of(issue).base_sha = base, repository.git.branches[base]
    note_update(call.world, issue)
    return Answer(show_whole_pull(call, repository, issue))


def list_files(call: Call) -> Answer:
    """List what a pull request changes."""
    pull = pull_of(call.pull)
    return paged(show_files(call, call.repository, pull.base_sha, pull.head_sha))


def list_commits(call: Call) -> Answer:
    """List the commits of a pull request, oldest first."""
    pull = pull_of(call.pull)
    shas = call.repository.git.commits(pull.base_sha, pull.head_sha)
    return paged([show_commit(call, call.repository, sha) for sha in shas])


def check_merged(call: Call) -> Answer:
    """Say whether it is merged."""
    if pull_of(call.pull).merged_at is None:
        raise Refusal(404, "Not Found")
    return Answer(status=204)


def merge_route(call: Call) -> Answer:
    """Merge a pull request; a head that moved is refused."""
    by, issue, repository, fields = call.require("write"), call.pull, call.repository, call.fields
    pull = pull_of(issue)
    method = fields.get("merge_method", "merge")
    if fields.get("sha") not in (None, pull.head_sha):
        raise Refusal(409, "Head branch was modified. Review and try the merge again.")
    _check_merge(repository, issue, method)
    how = (method, fields.get("commit_title"), fields.get("commit_message"))
    commit = merge(call.world, repository, issue, by, how)
    return Answer({"sha": commit, "merged": True, "message": "Pull Request successfully merged"})


def _check_merge(repository: Repository, issue: Issue, method: str) -> None:
    pull = pull_of(issue)
    if pull.draft:
        raise Refusal(405, "Pull Request is still a draft")
    if issue.state == "closed" or repository.git.merge_tree(pull.base_sha, pull.head_sha) is None:
        raise Refusal(405, "Pull Request is not mergeable")
    if method not in repository.methods:
        name = {"merge": "Merge commits", "squash": "Squash merges", "rebase": "Rebase merges"}[method]
        raise Refusal(405, f"{name} are not allowed on this repository.")
    if find_merge_state(repository, issue, mergeable=True) == "blocked":
        raise Refusal(405, f'Required status check "{repository.required_checks[0]}" is expected.')


def merge_when_ready(world: World, repository: Repository) -> None:
    """Merge the pull requests with auto-merge whose conditions hold now."""
    for issue in list(repository.issues.values()):
        pull = issue.pull
        if pull and issue.state == "open" and pull.auto_merge:
            mergeable = repository.git.merge_tree(pull.base_sha, pull.head_sha) is not None
            if find_merge_state(repository, issue, mergeable) in ("clean", "unstable"):
                by = world.account(pull.auto_merge["enabled_by"]["login"])
                merge(world, repository, issue, by, (pull.auto_merge["merge_method"], None, None))


def merge(
    world: World, repository: Repository, issue: Issue, by: Account, how: tuple[str, str | None, str | None]
) -> str:
    """Make the commit on the base branch and mark the pull request as merged."""
    method, title, text = how
    pull, git = pull_of(issue), repository.git
    subjects = [each.split("\n")[0] for each in git.messages(pull.base_sha, pull.head_sha)]
    if method == "squash":
        title = title or f"{issue.title} (#{issue.number})"
        text = "\n\n".join(f"* {each}" for each in subjects) if text is None else text
    else:
        title = title or f"Merge pull request #{issue.number} from {repository.owner.login}/{pull.head}"
        text = issue.title if text is None else text
    before = git.branches[pull.base]
    commit = git.merge(method, before, pull.head_sha, f"{title}\n\n{text}\n", by.identity)
    git.set_ref(f"refs/heads/{pull.base}", commit)
    finish_merge(world, repository, issue, by, commit)
    if pull.base == repository.default_branch:
        close_by_messages(world, repository, git.messages(before, commit), by)
    for other in repository.issues.values():
        if other.pull and other.state == "open" and other.pull.base == pull.base:
            other.pull.base_sha = commit
    return commit


def request_reviewers(call: Call) -> Answer:
    """Ask collaborators for a review."""
    by, issue, repository = call.require("triage"), call.pull, call.repository
    pull, found = pull_of(issue), [call.world.accounts.get(each.lower()) for each in call.fields.get("reviewers", ())]
    if issue.author in found:
        raise Refusal(422, "Review cannot be requested from pull request author.")
    known = [each for each in found if each and (each.login in repository.permissions or each is repository.owner)]
    if len(known) != len(found):
        raise Refusal(422, "Reviews may only be requested from collaborators. One or more of the users or teams you "
                      f"specified is not a collaborator of the {repository.full_name} repository.")  # fmt: skip
    for account in known:
        if account not in pull.reviewers:
            pull.reviewers.append(account)
            note(call.world, issue, "review_requested", by, requested_reviewer=show_account(account))
    pull.teams += [each for each in call.fields.get("team_reviewers", ()) if each not in pull.teams]
    return Answer(show_pull(call, repository, issue), 201)


def remove_reviewers(call: Call) -> Answer:
    """Ask no longer."""
    call.require("triage")
    pull = pull_of(call.pull)
    names = [each.lower() for each in call.fields.get("reviewers", ())]
    pull.reviewers = [each for each in pull.reviewers if each.login.lower() not in names]
    pull.teams = [each for each in pull.teams if each not in call.fields.get("team_reviewers", ())]
    return Answer(show_pull(call, call.repository, call.pull))


def list_reviewers(call: Call) -> Answer:
    """List who was asked for a review."""
    pull = pull_of(call.pull)
    teams = [{"slug": each, "name": each} for each in pull.teams]
    return Answer({"users": [show_account(each) for each in pull.reviewers], "teams": teams})


def list_pulls_of_commit(call: Call) -> Answer:
    """List the pull requests that have a commit."""
    sha, git = call.params["commit_sha"], call.repository.git
    found = [each for each in call.repository.issues.values() if each.pull and git.is_ancestor(sha, each.pull.head_sha)]
    return paged([show_pull(call, call.repository, each) for each in found])


ROUTES: Routes = {
    f"GET {REPOSITORY}/pulls": list_pulls,
    f"POST {REPOSITORY}/pulls": create_pull,
    f"GET {PULL}": get_pull,
    f"PATCH {PULL}": update_pull,
    f"GET {PULL}/files": list_files,
    f"GET {PULL}/commits": list_commits,
    f"GET {PULL}/merge": check_merged,
    f"PUT {PULL}/merge": merge_route,
    f"GET {PULL}/requested_reviewers": list_reviewers,
    f"POST {PULL}/requested_reviewers": request_reviewers,
    f"DELETE {PULL}/requested_reviewers": remove_reviewers,
    f"GET {REPOSITORY}/commits/{{commit_sha}}/pulls": list_pulls_of_commit,
}
