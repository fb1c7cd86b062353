"""Branches, refs, commits, comparisons and files: what git says, as GitHub words it."""

import base64

from support.github.calls import Answer, Call, Refusal, Routes, paged
from support.github.changes import receive_push
from support.github.json_values import Json
from support.github.state import Repository

REPOSITORY = "/repos/{owner}/{repo}"
_STATUSES = {"A": "added", "M": "modified", "D": "removed", "R": "renamed", "C": "copied", "T": "changed"}


def show_files(call: Call, repository: Repository, base: str, head: str) -> list[Json]:
    """Show what changed between the common ancestor of two commits and the second."""
    shown: list[Json] = []
    for each in repository.git.changes(base, head):
        url = f"{call.world.base}/{repository.full_name}/blob/{head}/{each.name}"
        text = repository.git.ask("diff", "--no-renames", f"{base}...{head}", "--", each.name)
        shown.append({
            "sha": each.blob, "filename": each.name, "status": _STATUSES[each.letter], "additions": each.additions,
            "deletions": each.deletions, "changes": each.additions + each.deletions, "blob_url": url, "raw_url": url,
            "contents_url": f"{call.api}/repos/{repository.full_name}/contents/{each.name}?ref={head}",
            "patch": text[text.find("@@") :] if "@@" in text else "",
        })  # fmt: skip
    return shown


def show_commit(call: Call, repository: Repository, sha: str) -> Json:
    """Show a commit."""
    form = "%T%x00%P%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%B"
    fields = repository.git.ask("show", "-s", f"--format={form}", sha).split("\0")
    tree, parents, name, email, date, committer, committer_email, committer_date, message = fields
    url = f"{call.api}/repos/{repository.full_name}"
    return {
        "sha": sha, "node_id": f"C_{sha}", "url": f"{url}/commits/{sha}",
        "html_url": f"{call.world.base}/{repository.full_name}/commit/{sha}",
        "comments_url": f"{url}/commits/{sha}/comments",
        "commit": {
            "url": f"{url}/git/commits/{sha}", "message": message.strip(), "comment_count": 0,
            "author": {"name": name, "email": email, "date": date},
            "committer": {"name": committer, "email": committer_email, "date": committer_date},
            "tree": {"sha": tree, "url": f"{url}/git/trees/{tree}"},
        },
        "author": None, "committer": None,
        "parents": [{"sha": each, "url": f"{url}/commits/{each}"} for each in parents.split()],
    }  # fmt: skip


def find_commit(call: Call, name: str) -> str:
    """Find the commit of a branch, tag or sha."""
    found = call.repository.git.resolve(name)
    if found is None:
        raise Refusal(422, f"No commit found for SHA: {name}")
    return found


def list_branches(call: Call) -> Answer:
    """List the branches."""
    url = f"{call.api}/repos/{call.repository.full_name}/commits"
    return paged([
        {"name": name, "commit": {"sha": sha, "url": f"{url}/{sha}"}, "protected": name in call.repository.protected}
        for name, sha in call.repository.git.branches.items()
    ])  # fmt: skip


def get_branch(call: Call) -> Answer:
    """Read one."""
    name, repository = call.params["branch"], call.repository
    if name not in repository.git.branches:
        raise Refusal(404, "Branch not found")
    return Answer({"name": name, "commit": show_commit(call, repository, repository.git.branches[name]),
                   "protected": name in repository.protected})  # fmt: skip


def _show_ref(call: Call, ref: str) -> Json:
    sha = call.repository.git.refs[ref]
    url = f"{call.api}/repos/{call.repository.full_name}/git"
    return {"ref": ref, "node_id": f"REF_{sha}", "url": f"{url}/{ref}",
            "object": {"type": "commit", "sha": sha, "url": f"{url}/commits/{sha}"}}  # fmt: skip


def _find_ref(call: Call) -> str:
    ref = f"refs/{call.params['ref']}"
    if ref not in call.repository.git.refs:
        raise Refusal(404, "Not Found")
    return ref


def get_ref(call: Call) -> Answer:
    """Read a ref."""
    return Answer(_show_ref(call, _find_ref(call)))


def list_matching_refs(call: Call) -> Answer:
    """List the refs that begin with a text."""
    start = f"refs/{call.params['ref']}"
    return Answer([_show_ref(call, ref) for ref in call.repository.git.refs if ref.startswith(start)])


def create_ref(call: Call) -> Answer:
    """Create a ref; one that exists is refused."""
    call.require("write")
    ref, sha = call.fields["ref"], call.fields["sha"]
    if ref in call.repository.git.refs:
        raise Refusal(422, "Reference already exists")
    if call.repository.git.resolve(sha) is None:
        raise Refusal(422, "Object does not exist")
    _move(call, ref, sha)
    return Answer(_show_ref(call, ref), 201)


def update_ref(call: Call) -> Answer:
    """Move a ref, forward only unless forced."""
    call.require("write")
    ref, sha = _find_ref(call), call.fields["sha"]
    if call.repository.git.resolve(sha) is None:
        raise Refusal(422, "Object does not exist")
    if not call.fields.get("force") and not call.repository.git.is_ancestor(call.repository.git.refs[ref], sha):
        raise Refusal(422, "Update is not a fast forward")
    _move(call, ref, sha)
    return Answer(_show_ref(call, ref))


def delete_ref(call: Call) -> Answer:
    """Delete a ref."""
    call.require("write")
    ref = f"refs/{call.params['ref']}"
    if ref not in call.repository.git.refs:
        raise Refusal(422, "Reference does not exist")
    _move(call, ref, None)
    return Answer(status=204)


def _move(call: Call, ref: str, sha: str | None) -> None:
    before = call.repository.git.branches
    call.repository.git.set_ref(ref, sha)
    if call.token is not None:
        receive_push(call.world, call.repository, before, call.token)


def list_commits(call: Call) -> Answer:
    """List the commits of a branch."""
    start = find_commit(call, call.query.get("sha", call.repository.default_branch))
    shas = call.repository.git.run("rev-list", "--max-count=300", start).splitlines()
    return paged([show_commit(call, call.repository, sha) for sha in shas])


def get_commit(call: Call) -> Answer:
    """Read a commit."""
    sha = find_commit(call, call.params["ref"])
    return Answer(show_commit(call, call.repository, sha))


def compare(call: Call) -> Answer:
    """Compare two commits."""
    base_name, _, head_name = call.params["basehead"].partition("...")
    git, repository = call.repository.git, call.repository
    found = [git.resolve(name.rpartition(":")[2]) for name in (base_name, head_name)]
    if found[0] is None or found[1] is None:
        raise Refusal(404, "Not Found")
    base, head = found[0], found[1]
    ahead, behind = git.count(base, head), git.count(head, base)
    names = {(False, False): "identical", (True, False): "ahead", (False, True): "behind", (True, True): "diverged"}
    shas = git.commits(base, head)
    page = f"{call.world.base}/{repository.full_name}/compare/{base_name}...{head_name}"
    start = git.merge_base(base, head)
    return Answer({
        "url": f"{call.api}/repos/{repository.full_name}/compare/{base_name}...{head_name}", "html_url": page,
        "permalink_url": page, "diff_url": f"{page}.diff", "patch_url": f"{page}.patch",
        "base_commit": show_commit(call, repository, base), "merge_base_commit": show_commit(call, repository, start),
        "status": names[bool(ahead), bool(behind)], "ahead_by": ahead, "behind_by": behind, "total_commits": ahead,
        "commits": [show_commit(call, repository, sha) for sha in shas],
        "files": show_files(call, repository, base, head),
    })  # fmt: skip


def get_content(call: Call) -> Answer:
    """Read a file or list a folder."""
    path, repository = call.params["path"].strip("/"), call.repository
    commit = repository.git.resolve(call.query.get("ref", repository.default_branch))
    kind = commit and repository.git.run("cat-file", "-t", f"{commit}:{path}", check=False)
    if not commit or not kind:
        raise Refusal(404, "Not Found")
    if kind == "blob":
        return Answer(_show_file(call, commit, path, whole=True))
    names = repository.git.run("ls-tree", "-z", "--name-only", f"{commit}:{path}").split("\0")
    return Answer([_show_file(call, commit, f"{path}/{name}".strip("/"), whole=False) for name in filter(None, names)])


def _show_file(call: Call, commit: str, path: str, *, whole: bool) -> Json:
    git, place = call.repository.git, call.repository.full_name
    kind = git.run("cat-file", "-t", f"{commit}:{path}")
    sha = git.run("rev-parse", f"{commit}:{path}")
    url, page = (
        f"{call.api}/repos/{place}/contents/{path}?ref={commit}",
        f"{call.world.base}/{place}/blob/{commit}/{path}",
    )
    shown: Json = {
        "type": "file" if kind == "blob" else "dir", "name": path.rsplit("/", 1)[-1], "path": path, "sha": sha,
        "size": int(git.run("cat-file", "-s", sha)) if kind == "blob" else 0, "url": url, "html_url": page,
        "git_url": f"{call.api}/repos/{place}/git/blobs/{sha}", "download_url": page if kind == "blob" else None,
        "_links": {"self": url, "git": url, "html": page},
    }  # fmt: skip
    if whole:
        content = git.run("cat-file", "blob", sha) + "\n"
        size = shown["size"]
        shown |= {"encoding": "base64", "content": base64.encodebytes(content.encode()[:size]).decode()}
    return shown


ROUTES: Routes = {
    f"GET {REPOSITORY}/branches": list_branches,
    f"GET {REPOSITORY}/branches/{{branch}}": get_branch,
    f"GET {REPOSITORY}/git/ref/{{ref}}": get_ref,
    f"GET {REPOSITORY}/git/matching-refs/{{ref}}": list_matching_refs,
    f"POST {REPOSITORY}/git/refs": create_ref,
    f"PATCH {REPOSITORY}/git/refs/{{ref}}": update_ref,
    f"DELETE {REPOSITORY}/git/refs/{{ref}}": delete_ref,
    f"GET {REPOSITORY}/commits": list_commits,
    f"GET {REPOSITORY}/commits/{{ref}}": get_commit,
    f"GET {REPOSITORY}/compare/{{basehead}}": compare,
    f"GET {REPOSITORY}/contents/{{path}}": get_content,
}
