"""Describes what only a person can decide about a pull request, with the way out."""

import shlex

from handrail.errors import GitSettingsChanged
from handrail.model.history.trees import Tree
from handrail.model.pull_requests import PullRequest
from handrail.ports.delivery import PushConflict
from handrail.runtime.handlers.trackers.pull_request_outcome import LeftToPerson, NeedsPerson, PullRequestWish
from handrail.runtime.handlers.trackers.pull_request_place import Place

WORKFLOWS = ".github/workflows/"
_SHOWN = 5


def describe_closed(found: PullRequest, wish: PullRequestWish) -> NeedsPerson:
    """Describe a pull request that somebody closed: neither is it opened again, nor another one opened."""
    by = f" by {found.closed_by}" if found.closed_by else ""
    return NeedsPerson(
        message=f"pull request #{found.ref.number} was closed{by} without being merged: {found.url}",
        next_step=f"reopen it there if it is wanted, then: {wish.again}",
    )


def describe_workflow_changes(files: list[str], tree: Tree, place: Place, wish: PullRequestWish) -> NeedsPerson:
    """Describe changes of the host's workflows that the host would refuse."""
    listed = ", ".join(files[:_SHOWN]) + (f" and {len(files) - _SHOWN} more" if len(files) > _SHOWN else "")
    push = f"git -C {shlex.quote(tree.repository)} push {place.remote} {tree.branch}:{place.branch}"
    return NeedsPerson(
        message=f"{tree.branch} changes {listed}, and the token may not push changes of {WORKFLOWS}",
        next_step=f"give it the permission (gh auth refresh --scopes workflow), or push it yourself: {push}; "
        f"then: {wish.again}",
    )


def describe_conflict(found: PushConflict, tree: Tree, place: Place, wish: PullRequestWish) -> NeedsPerson:
    """Describe a conflict between the run's work and what somebody pushed."""
    files = ", ".join(found.files[:_SHOWN]) or found.message
    where = shlex.quote(tree.path if tree.owned else tree.repository)
    return NeedsPerson(
        message=f"somebody pushed {found.commit[:12]} to {place.branch}, and it conflicts with the run in {files}",
        next_step=f"resolve it: git -C {where} merge {found.commit[:12]}, commit it, then: {wish.again}",
        reason="merge",
    )


def describe_changed_settings(run: str, tree: Tree, changes: tuple[str, ...], again: str) -> GitSettingsChanged:
    """Describe settings that make git start programs and that changed since the run was set up."""
    message = (
        "settings of the repository that make git start programs have changed since the run was set up: "
        + "; ".join(changes[:_SHOWN])
    )
    accept = f"handrail pr {run} --accept-git-changes"
    step = f"check them in {tree.repository} and undo them, or accept them: {accept}; then: {again}"
    return GitSettingsChanged(message, next_step=step, changes=changes)


def describe_unpushed(run: str, tree: Tree, base: str, remote: str, where: str) -> LeftToPerson:
    """Describe a branch that Handrail does not push, with the command that does, or that merges it."""
    if tree.branch == base:
        summary = f"the work is on {base} itself, so there is nothing to open a pull request from"
        return LeftToPerson(branch=tree.branch, commit="", command="", summary=summary)
    if not remote:
        command = f"handrail merge {run}"
        why = f"there is no remote to push it to; to merge it into {base}: {command}"
    else:
        command = shlex.join(["git", "-C", where, "push", "-u", remote, tree.branch])
        why = f"push it, then open a pull request into {base}: {command}"
    summary = f"branch {tree.branch} is ready, not pushed; {why}"
    return LeftToPerson(branch=tree.branch, commit="", command=command, summary=summary)
