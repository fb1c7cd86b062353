"""Prepares a pull request: commits what is left on the run's branch, and returns the commands that push and open it."""

import shlex
from pathlib import Path
from typing import Any

from handrail.frozen import frozen
from handrail.model.history.trees import Tree
from handrail.model.workflow.values import JsonValue
from handrail.ports.workspaces import Workspaces
from handrail.runtime.handlers.trees import add_run_trailer


@frozen
class PullRequestDraft:
    """A pull request that a person can open."""

    output: dict[str, JsonValue]
    commit: str
    summary: str


@frozen
class PullRequests:
    """Prepares pull requests."""

    workspaces: Workspaces
    has_github_cli: bool

    def prepare(self, run: str, tree: Tree, spec: dict[str, Any], folder: Path) -> PullRequestDraft:
        """Bring the branch to a state in which it can be pushed; doing it again changes nothing."""
        title, base = str(spec["title"]), str(spec["base"]) or tree.base
        commit = self.workspaces.commit(tree, add_run_trailer(title, run)) if tree.owned else ""
        command, said = self._command(run, tree, {**spec, "base": base}, folder)
        output: dict[str, JsonValue] = {"number": 0, "url": "", "branch": tree.branch, "command": command}
        return PullRequestDraft(output, commit, f"branch {tree.branch} is ready, not pushed; {said}")

    def _command(self, run: str, tree: Tree, spec: dict[str, Any], folder: Path) -> tuple[str, str]:
        """Return the command that continues, and the sentence around it."""
        remote, base = self.workspaces.remote(tree), str(spec["base"])
        if not remote:
            merge = f"handrail merge {run}"
            return merge, f"there is no remote to push it to; to merge it into {tree.base}: {merge}"
        where = tree.path if tree.owned else tree.repository
        if not self.has_github_cli:
            push = shlex.join(["git", "-C", where, "push", "-u", remote, tree.branch])
            return push, f"push it, then open a pull request into {base}: {push}"
        push = shlex.join(["git", "push", "-u", remote, tree.branch])
        create = shlex.join(
            ["gh", "pr", "create", "--base", base, "--head", tree.branch, "--title", str(spec["title"])]
            + ["--body-file", str(_body_file(folder, str(spec["body"])))]
            + (["--draft"] if spec["draft"] else [])
            + [word for label in spec["labels"] for word in ("--label", str(label))]
            + [word for name in spec["reviewers"] for word in ("--reviewer", str(name))]
        )
        opened = f"cd {shlex.quote(where)} && {push} && {create}"
        return opened, f"open the pull request: {opened}"


def _body_file(folder: Path, body: str) -> Path:
    """Write the text of the pull request to a file for its command."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / "pull-request.md"
    path.write_text(body, "utf-8")
    return path
