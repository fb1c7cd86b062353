"""A bare repository behind a repository of the double: everything about commits is git's own answer."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

FileContent = str | bytes | None
"""None removes a file."""
_HOOK = """#!/bin/sh
# Refuses what GitHub refuses; the double passes what the pusher may not do.
[ -n "$DOUBLE_PROTECTED$DOUBLE_WORKFLOWS_REFUSAL" ] || exit 0
zero=$(git hash-object --stdin </dev/null | tr '0-9a-f' '0')
while read -r old new ref; do
  for name in $DOUBLE_PROTECTED; do
    if [ "$ref" = "refs/heads/$name" ]; then
      echo "error: GH006: Protected branch update failed for $ref." >&2
      exit 1
    fi
  done
  if [ -n "$DOUBLE_WORKFLOWS_REFUSAL" ] && [ "$new" != "$zero" ]; then
    found=$(git log --format= --name-only "$new" --not --all -- .github/workflows | sort -u | head -n 1)
    if [ -n "$found" ]; then
      echo "refusing to allow a $(echo "$DOUBLE_WORKFLOWS_REFUSAL" | sed "s|@|\\`$found\\`|")" >&2
      exit 1
    fi
  fi
done
exit 0
"""
_CONFIG = """[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = true
[http]
\treceivepack = true
[receive]
\tdenyDeleteCurrent = refuse
[transfer]
\thideRefs = refs/double
[gc]
\tauto = 0
[maintenance]
\tauto = false
[uploadpack]
\tallowAnySHA1InWant = true
"""


class GitFailure(Exception):
    """git refused what the double asked for."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who writes a commit."""

    name: str
    email: str

    def environment(self, committer: "Identity | None" = None) -> dict[str, str]:
        """Return what git reads."""
        by = committer or self
        return {
            "GIT_AUTHOR_NAME": self.name, "GIT_AUTHOR_EMAIL": self.email,
            "GIT_COMMITTER_NAME": by.name, "GIT_COMMITTER_EMAIL": by.email,
        }  # fmt: skip


WEB = Identity("GitHub", "noreply@github.com")


def plain_environment() -> dict[str, str]:
    """Return an environment in which git reads no configuration of the machine or the person."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    return {**kept, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_TERMINAL_PROMPT": "0"}


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to a file."""

    name: str
    letter: str
    """`A`, `M`, `D` or `T`, as git writes it."""
    blob: str
    additions: int
    deletions: int


@dataclass(slots=True)
class GitRepository:
    """A bare repository, with a cache of its refs: whatever moves one goes through here or calls `forget`."""

    path: Path
    _refs: dict[str, str] | None = None
    _asked: dict[tuple[str, ...], str] = field(default_factory=dict[tuple[str, ...], str])
    _cleanly: dict[tuple[str, str], str | None] = field(default_factory=dict[tuple[str, str], str | None])

    def run(self, *arguments: str, give: bytes = b"", who: Identity | None = None, check: bool = True) -> str:
        """Run git in the repository and return what it prints."""
        environment = {**plain_environment(), **(who.environment() if who else {})}
        done = subprocess.run(
            ["git", "-C", str(self.path), *arguments], input=give, capture_output=True, env=environment, check=False
        )
        if check and done.returncode:
            raise GitFailure(f"git {' '.join(arguments)}: {done.stderr.decode(errors='replace')}")
        return done.stdout.decode(errors="replace").removesuffix("\n")

    def copy(self, path: Path) -> "GitRepository":
        """Copy the repository; git never writes into a file in place, so links are enough."""
        shutil.copytree(self.path, path, copy_function=os.link)
        return GitRepository(path, dict(self.refs))

    def ask(self, *arguments: str) -> str:
        """Return what git says about commits, which never changes, so that it is asked once."""
        found = self._asked.get(arguments) or self.run(*arguments, check=False)
        if found:
            # Nothing is also what git says about a commit that is pushed later.
            self._asked[arguments] = found
        return found

    @property
    def branches(self) -> dict[str, str]:
        """The commits of the branches."""
        start = "refs/heads/"
        return {ref.removeprefix(start): commit for ref, commit in self.refs.items() if ref.startswith(start)}

    @property
    def refs(self) -> dict[str, str]:
        """The commits of all refs."""
        if self._refs is None:
            lines = self.run("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
            self._refs = dict(line.split(" ", 1) for line in lines)
        return self._refs

    def forget(self) -> None:
        """Read the refs again at the next look."""
        self._refs = None

    def resolve(self, name: str) -> str | None:
        """Return the commit of a branch, a tag or a sha."""
        for ref in (f"refs/heads/{name}", f"refs/tags/{name}", name):
            if ref in self.refs:
                return self.refs[ref]
        found = self.run("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", check=False)
        return found or None

    def set_ref(self, ref: str, commit: str | None) -> None:
        """Move, create or delete a ref."""
        self.run(*(("update-ref", ref, commit) if commit else ("update-ref", "-d", ref)))
        self.forget()

    def commit_files(
        self, branch: str, files: Mapping[str, FileContent], message: str, who: Identity, start: str = ""
    ) -> str:
        """Commit files onto a branch without a worktree, and return the commit."""
        parent = self.branches.get(branch) or start
        lines = [f"commit refs/heads/{branch}\n".encode(), f"committer {who.name} <{who.email}> now\n".encode()]
        lines += [_data(message.encode()), f"from {parent}\n".encode() if parent else b""]
        for name, content in files.items():
            if content is None:
                lines.append(f"D {name}\n".encode())
            else:
                lines += [f"M 100644 inline {name}\n".encode(), _data(_encode(content))]
        self.run("fast-import", "--quiet", "--date-format=now", "--force", give=b"".join(lines))
        commit = (self.path / "refs/heads" / branch).read_text().strip()
        self.refs[f"refs/heads/{branch}"] = commit
        return commit

    def is_ancestor(self, one: str, other: str) -> bool:
        """Whether a commit is contained in another."""
        return one == other or self.ask("merge-base", one, other) == one

    def merge_base(self, one: str, other: str) -> str:
        """Return the commit from which both grew; empty if there is none."""
        return self.ask("merge-base", one, other)

    def count(self, base: str, head: str) -> int:
        """Count the commits of a head that its base does not have."""
        return int(self.ask("rev-list", "--count", f"{base}..{head}"))

    def messages(self, base: str, head: str) -> list[str]:
        """Return the messages of the commits between two, oldest first."""
        found = self.ask("log", "--reverse", "--format=%B%x00", head, *([f"^{base}"] if base else []))
        return [each.strip() for each in found.split("\0") if each.strip()]

    def commits(self, base: str, head: str) -> list[str]:
        """Return the commits of a head that its base does not have, oldest first."""
        return self.ask("rev-list", "--reverse", f"{base}..{head}").splitlines()

    def changes(self, base: str, head: str) -> list[Change]:
        """Return what changed between the common ancestor of two commits and the second."""
        fields = self.ask("diff", "--raw", "--numstat", "--no-abbrev", "--no-renames", "-z", f"{base}...{head}").split(
            "\0"
        )
        split = next((place for place, each in enumerate(fields) if not place % 2 and not each.startswith(":")), 0)
        raw = {name: about.split(" ") for about, name in zip(fields[:split:2], fields[1:split:2], strict=True)}
        found: list[Change] = []
        for line in filter(None, fields[split:]):
            added, deleted, name = line.split("\t", 2)
            numbers = [int(each) if each.isdecimal() else 0 for each in (added, deleted)]
            found.append(Change(name, raw[name][4], raw[name][3], numbers[0], numbers[1]))
        return found

    def merge_tree(self, base: str, head: str) -> str | None:
        """Return the tree of a merge, or None if it has conflicts."""
        if (base, head) not in self._cleanly:
            found = self.run("merge-tree", "--write-tree", "--name-only", base, head, check=False).splitlines()
            self._cleanly[base, head] = found[0] if len(found) == 1 else None
        return self._cleanly[base, head]

    def merge(self, method: str, base: str, head: str, message: str, who: Identity) -> str:
        """Make the commit of a merge, a squash or a rebase, and return it."""
        if method == "rebase":
            return self._rebase(base, head)
        parents = (base,) if method == "squash" else (base, head)
        tree = self.merge_tree(base, head) or ""
        environment_of = [argument for parent in parents for argument in ("-p", parent)]
        return self.run("commit-tree", tree, *environment_of, give=message.encode(), who=who)

    def _rebase(self, base: str, head: str) -> str:
        folder = str(self.path.with_suffix(".rebase"))
        try:
            self.run("worktree", "add", "--quiet", "--detach", folder, head)
            self.run("-C", folder, "rebase", "--quiet", base, who=WEB)
            return self.run("-C", folder, "rev-parse", "HEAD")
        finally:
            self.run("worktree", "remove", "--force", folder, check=False)


def make_template(path: Path) -> None:
    """Make the bare repository that all others are copied from: no commit, the hook, and how it is served."""
    for folder in ("objects/info", "objects/pack", "refs/heads", "refs/tags", "hooks", "info"):
        (path / folder).mkdir(parents=True)
    (path / "HEAD").write_text("ref: refs/heads/main\n")
    (path / "config").write_text(_CONFIG)
    hook = path / "hooks/pre-receive"
    hook.write_text(_HOOK)
    hook.chmod(0o755)


def _encode(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content


def _data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)
