"""Every module that removes files, folders, branches or refs is known, and says what it removes.

Worktrees, branches and refs are removed in `workspace/worktrees/remove.py` alone, by the rule that stands there. A new
removal anywhere fails here: send it through that module, or say below why what it removes is nobody's work.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import handrail

pytestmark = pytest.mark.system  # takes long: many processes of its own

ROOT = Path(handrail.__file__).parent
RULE = "workspace.worktrees.remove"
CALLS = frozenset({"rmtree", "unlink", "rmdir", "removedirs"})
GIT_FLAGS = frozenset({"-D", "-d", "--delete"})
"""Options that make `branch` and `update-ref` delete."""
GIT_COMMANDS = frozenset({"gc", "prune", "repack", "reflog", "clean", "stash", "filter-branch", "remove"})
"""Commands of git, and of `git worktree`, that throw things away."""
OURS = {
    "agents.played.scripted_program": "what an author's script tells the played agent to delete, in its work tree",
    "cli.demo.place": "the throw-away project of a demo, in a temporary folder that it made",
    "cli.demo.story": "a file of the demo by which it tells its agent to go on",
    "cli.issues.dep": "nothing: `unlink` ends a dependency between issues",
    "operations.atomic_files": "drafts of files",
    "operations.connect.connection": "a file or folder that `connect` itself made, where nothing else was put into it",
    "operations.init.sweep": "what the commands of a trial of `init` printed",
    "operations.pull.catalogue_cache": "files of a cache",
    "operations.scenarios.scenario_environment": "the temporary folder of a workflow's test",
    "operations.workflows.import_": "files of an import that it had just written and cannot complete",
    "processes.environment_server": "sockets of background drivers that are gone",
    "processes.keeper_files": "files of a process that is over",
    "processes.launch": "folders made ahead for commands that were never started",
    "runtime.handlers.agents.account_limits": "the note of a usage limit",
    "runtime.handlers.agents.project_files": "notes of ours about an agent's project files",
    "runtime.handlers.proofs.file_checks": "the report of an earlier check, before it is run again",
    "sources.trust.file": "drafts, and copies of content whose trust was withdrawn",
    "store.doorbells": "pipes of ours, to which nobody listens any more",
    "store.kernel_locks": "locks",
    "store.private_files": "drafts of files",
    "store.sqlite.rebuild": "the draft of a database that is repaired",
    "trackers.github.attachments": "a download that is too big or cut off, in the folder of its run",
    "wiring.conversations": "a marker file that says when to look for comments",
    "workspace.commits.commit": "an index of ours",
    "workspace.commits.merge": "the journal of a merge",
    "workspace.delivery.apply_journal": "drafts and the journal of an apply",
    "workspace.delivery.checkout_files": "files that a person asked to apply or take back, by the rule of the journal",
    "workspace.delivery.fast_forward": "the note of a merge, and files that a merge which was cut off had added",
    "workspace.delivery.janitor": "locks that nobody holds",
    "workspace.delivery.push": "the note of a push that is over",
    "workspace.delivery.remote_process": "the note of a git command that is over",
    "workspace.delivery.retention": "the note of a removal",
    "workspace.delivery.staged_files": "contents that were made ready for an apply, and an index of ours",
    "workspace.git.data_places": "locks",
    "workspace.git.folder_users": "locks of git in a worktree of ours",
    "workspace.git.repository_view": "files and links of our own view of a repository",
    "workspace.snapshots.heads": "notes of a merge in progress and an unborn branch, both kept in a snapshot before",
    "workspace.snapshots.index_memo": "what we remember of an index of ours",
    "workspace.snapshots.private_index": "an index of ours",
    "workspace.snapshots.recorded_files": "old records of ours",
    "workspace.snapshots.restore": "journals and an index of ours",
    "workspace.worktrees.make": "records of ours of files in a worktree that is gone",
    "workspace.worktrees.settings_record": "notes of ours about settings of git",
    RULE: "worktrees, branches and refs, by the rule",
    "workspace.worktrees.start_point": "drafts of files",
}


def test_every_module_that_removes_something_is_known() -> None:
    assert sorted(_removing()) == sorted(OURS)


def test_only_one_module_deletes_branches_and_refs_or_removes_worktrees() -> None:
    asked = {module for module, tree in _modules() if _speaks_git(module) and any(_git_words(tree))}
    assert asked == {RULE, "workspace.snapshots.heads"}
    # That one deletes a branch which a snapshot says was unborn, where only the restored worktree ever had it.
    source = (ROOT / "workspace/snapshots/heads.py").read_text("utf-8")
    assert source.count('"-d"') == 1


def test_whoever_removes_a_worktree_asks_for_its_record_first() -> None:
    tree = ast.parse((ROOT / "workspace/worktrees/remove.py").read_text("utf-8"))
    functions = {each.name: each for each in tree.body if isinstance(each, ast.FunctionDef)}
    removing = {name for name, each in functions.items() if "_remove_folder" in _called(each)}
    assert removing == {"remove_worktree", "remove_files", "remove_entries"}
    assert _called(functions["remove_worktree"])[0] == "remove_files"
    assert _called(functions["remove_files"])[:2] == ["Path", "require_own"]


def _modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(ROOT.rglob("*.py")):
        yield ".".join(path.relative_to(ROOT).with_suffix("").parts), ast.parse(path.read_text("utf-8"))


def _removing() -> set[str]:
    found: set[str] = set()
    for module, tree in _modules():
        asks_git = _speaks_git(module) and any(_git_words(tree))
        if asks_git or any(_removes(each) for each in ast.walk(tree) if isinstance(each, ast.Call)):
            found.add(module)
    return found


def _speaks_git(module: str) -> bool:
    return module.startswith("workspace.") and module != "workspace.tmux"


def _removes(call: ast.Call) -> bool:
    match call.func:
        case ast.Attribute(value=ast.Name(id="os"), attr="remove"):
            return True
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name in CALLS
        case _:
            return False


def _git_words(tree: ast.AST) -> Iterator[str]:
    """Words of git commands that delete, wherever they stand: commands are put together in many ways."""
    for each in ast.walk(tree):
        if isinstance(each, ast.Constant) and each.value in GIT_FLAGS:
            yield str(each.value)
        elif isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in _RUNNERS:
            words = [word.value for word in each.args if isinstance(word, ast.Constant)]
            yield from (str(word) for word in words[:2] if word in GIT_COMMANDS)


_RUNNERS = frozenset({"out", "run", "line", "asks", "started"})


def _called(function: ast.FunctionDef) -> list[str]:
    """The functions that a function calls, in their order."""
    calls = [each.func for each in ast.walk(function) if isinstance(each, ast.Call)]
    return [each.id if isinstance(each, ast.Name) else getattr(each, "attr", "") for each in calls]
