"""An index of our own for each worktree: it follows the current files and leaves the real index alone.

1. It is reused for its stat data, which is ours: the real index, which an agent may write, is copied once, when a
checkout is examined for the first time, and without its flags. So an existing file is always compared, whatever
the real index says about it, and a missing one counts as present only if it was outside the sparse patterns then.
2. What only the real index has (an ignored file that was added by force) is taken over when that index changes.
3. Files are examined by the rules of a basis, the snapshot on which a step began, where one is given: see `rules`.
"""

import os
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from handrail.frozen import frozen
from handrail.late_import import late_import
from handrail.workspace.git.command import Git, split
from handrail.workspace.git.data_places import KNOWN_PATTERNS, copy_file, replace_file
from handrail.workspace.git.repository_view import CONFIG
from handrail.workspace.snapshots import omitted
from handrail.workspace.snapshots.file_status import STATUS, FileStatus, read_status
from handrail.workspace.snapshots.index_memo import ComparisonBasis, IndexMemo, MemoFile, signature_of
from handrail.workspace.snapshots.rules import SnapshotRules

if TYPE_CHECKING:
    from handrail.workspace.snapshots import sparse_files
else:
    sparse_files = late_import("handrail.workspace.snapshots.sparse_files")

INDEX, _COPY, _PATTERNS = "index", "copy", "info/sparse-checkout"
_GONE = b"0 0000000000000000000000000000000000000000\t"


@frozen
class Files:
    """The current files of a worktree."""

    tree: str
    head: str
    """The commit of HEAD; empty before the first one."""
    omitted: tuple[str, ...]
    nested: tuple[str, ...] = ()
    """Nested repositories of which something is left out, each followed by a space and a stamp of its files."""
    rules: str = ""
    """The blob of the rules that the files themselves have."""
    pinned: str = ""
    """The blob of the rules by which they were examined."""


@frozen
class StagedIndex:
    """The real index: a tree of its merged entries, and the list of the others."""

    tree: str
    unmerged: bytes = b""
    """The unmerged entries, as `git ls-files --unmerged -z` prints them."""


class PrivateIndex:
    """The index of one worktree; hold the worktree's lock while using it."""

    def __init__(self, git: Git, folder: Path) -> None:
        self._git = git
        self._folder = folder
        self.view = git.active_view
        self.path = folder / INDEX
        self._memo = MemoFile(folder)
        # The next reboot makes this copy void, so it need not be synced to disk.
        settings = (*git.settings, "core.fsync=all,-index") if self._memo.boot else git.settings
        self.git = replace(git.with_index(self.path), settings=settings)
        self.own = self.view.own
        """The git folder of the worktree."""
        self.plain = git
        """Git with the real index."""
        self._real = self.own / "index"
        self._rules = SnapshotRules(self.git, folder)
        self.ignored: frozenset[bytes] = frozenset()
        """What git ignored at the last check; a folder has a trailing slash."""

    def follow(
        self, held: Callable[[], str] = lambda: "", basis: ComparisonBasis | None = None
    ) -> tuple[Files, StagedIndex]:
        """Update it to the current files, and return them together with the real index.

        `held` returns a tree that a ref preserves: where the files still match it, git need not write it. Without a
        basis the last one is used.
        """
        signature = signature_of(self._real)
        memo = self._start()
        chosen = basis or ComparisonBasis(**memo.basis or {})
        self._rules.pin(chosen.rules)
        staged, forced = self._take_staged(memo, signature)
        if chosen.work and (memo.hidden is None or memo.has_other_rules(chosen)):
            forced += self._take_missing(chosen.work)
        with self.git.start(*STATUS) as look:
            # While git examines the files: both walk all folders, and neither needs the other.
            empty = omitted.empty_folders(self.git)
            seen = read_status(look.wait().out, self._git.where)
        self.ignored = frozenset(seen.ignored)
        now = replace(memo, signature=signature, basis=asdict(chosen), hidden=self._rules.digest_hidden(seen.ignored))
        seen, rules, changed = self._look_by_rules(memo, now, replace(seen, forced=forced), staged)
        same = not changed and memo.tree and memo.tree == held()
        tree = memo.tree if same else self.write_tree()
        kept_tree = "" if staged.unmerged else staged.tree
        now = replace(now, staged=kept_tree, tree=tree, rules=rules)
        if now != memo:
            self._memo.write(now)
        left_out = omitted.describe_omitted(
            self.git, omitted.OmittedFolders(seen.nested, empty, seen.caches), self._folder
        )
        nested = omitted.stamps(self._git.where, left_out)
        return Files(tree, seen.head, left_out, nested, rules, chosen.rules or rules), staged

    def _look_by_rules(
        self, memo: IndexMemo, now: IndexMemo, seen: FileStatus, staged: StagedIndex
    ) -> tuple[FileStatus, str, bool]:
        """Update by the rules of the basis; return what was seen, the files' own rules, and whether it changed."""
        basis = ComparisonBasis(**now.basis or {})
        touched = seen.has_rules() or now.hidden != memo.hidden
        if basis.rules and (touched or basis.rules != memo.rules):
            seen = self._apply_rules(seen, basis)
        changed = self._take_up(seen) or bool(seen.forced)
        if memo.hidden is not None and (touched or now.signature != memo.signature or memo.has_other_rules(basis)):
            changed = self._drop_ignored(self._list_indexed_ignored(basis), basis, staged) or changed
        if seen.caches:
            changed = self._drop_ignored(self._list_files_in(seen.caches), basis, staged) or changed
        rules = self._rules.keep(now.hidden or {}) if touched or not memo.rules else memo.rules
        return seen, rules, changed

    def list_own_files(self) -> tuple[Path, ...]:
        """List our files on which the next check depends."""
        return (self.path, *self._memo.files(), *self._rules.files(), self.view.folder / CONFIG)

    def write_tree(self) -> str:
        """Write its content as a tree."""
        return self.git.line("write-tree", *(("--missing-ok",) if self.view.is_enabled("partial") else ()))

    def add(self, paths: list[bytes]) -> str:
        """Add files even if they are ignored; return the tree."""
        self.forget()
        self.git.out("update-index", "-z", "--add", "--replace", "--stdin", stdin=b"\0".join(paths))
        return self.write_tree()

    def forget(self) -> None:
        """Forget everything about the files except the index itself and the basis."""
        memo = self._memo.read()
        if memo is not None:
            self._memo.write(IndexMemo([], "", basis=memo.basis))

    def rebase(self, basis: ComparisonBasis) -> None:
        """Use another basis from now on."""
        self._memo.write(IndexMemo([], "", basis=asdict(basis)))

    def begin(self) -> None:
        """Start with an empty index, for files that are about to be written through it."""
        for name in (INDEX, f"{INDEX}.lock"):
            (self._folder / name).unlink(missing_ok=True)
        self._memo.remove()
        self._memo.trust()

    def copy_to_real_index(self) -> None:
        """Copy it to the real index, and remember which files the worktree leaves out."""
        copy_file(self.path, self._real)
        if (self.own / _PATTERNS).is_file():
            sparse_files.remember(self.git, self._folder, self.own / _PATTERNS)

    def restore_patterns(self) -> None:
        """Restore the sparse patterns with which the worktree was made."""
        known = self._folder / KNOWN_PATTERNS
        if known.exists():
            replace_file(self.own / _PATTERNS, known.read_bytes())

    def check_out(self, tree: str) -> None:
        """Check out a tree; outside the sparse patterns, only files that the run wrote itself."""
        self.git.out("read-tree", "--reset", "-u", tree)
        if (self._folder / KNOWN_PATTERNS).exists():
            sparse_files.write_own(self.git, self._folder)

    def _take_left_out(self) -> list[bytes]:
        """Take over from the real index what is outside the sparse patterns."""
        kept = self._folder / KNOWN_PATTERNS
        patterns = kept if kept.exists() else self.own / _PATTERNS
        if not self.view.is_enabled("sparsecheckout") or not patterns.is_file():
            return []
        self.forget()
        return sparse_files.follow(self.git, self._git.with_index(self._folder / _COPY), self._folder, patterns)

    def pin(self, rules: str) -> None:
        """Make git convert files by the rules of a snapshot, or by those on disk where none is named."""
        self._rules.pin(rules)

    def _start(self) -> IndexMemo:
        (self._folder / f"{INDEX}.lock").unlink(missing_ok=True)
        memo = self._memo.read()
        if self.path.exists() and self._memo.is_trusted():
            return memo or IndexMemo([], "")
        # The private index is missing or from before a reboot: it starts from the real one.
        self._memo.distrust()
        omitted.copy_index(self.git, self._real)
        self._memo.trust()
        return IndexMemo([], "", basis=memo.basis if memo else None)

    def _apply_rules(self, seen: FileStatus, basis: ComparisonBasis) -> FileStatus:
        """Replace the untracked files by those that are untracked by the rules of the basis."""
        found = split(self.git.out("ls-files", "-z", "--others", *self._rules.exclude_options(basis.rules)))
        files = [path for path in found if not path.endswith(b"/")]
        caches = omitted.cache_folders(self.git, files, basis.work)
        if caches:
            files = [path for path in files if not path.startswith(tuple(caches))]
        nested = [path for path in found if path.endswith(b"/")]
        return replace(seen, untracked=files, nested=nested, caches=caches)

    def _take_up(self, seen: FileStatus) -> bool:
        """Add what changed to the index; return whether anything did."""
        if not (seen.gone or seen.changed or seen.untracked):
            return False
        # Forget first: until the memo is written again, the private index has files that the memo does not know.
        self.forget()
        if seen.gone:
            self._drop(seen.gone)
        if seen.changed or seen.untracked:
            paths = b"\0".join((*seen.changed, *seen.untracked))
            self.git.out("update-index", "-z", "--add", "--remove", "--replace", "--stdin", stdin=paths)
        return True

    def _drop(self, paths: list[bytes]) -> None:
        self.git.out("update-index", "-z", "--index-info", stdin=b"".join(_GONE + path + b"\0" for path in paths))

    def _take_staged(self, memo: IndexMemo, signature: list[int]) -> tuple[StagedIndex, list[bytes]]:
        """Read the real index if it changed, and take over what only it has, such as ignored files."""
        if memo.staged and memo.signature == signature:
            return StagedIndex(memo.staged), []
        staged = self._read_staged()
        return staged, [*self._take_left_out(), *self._take_missing(staged.tree)]

    def _take_missing(self, tree: str) -> list[bytes]:
        """Add what a tree has and this index lacks; whether the file exists is seen afterwards."""
        words = ("diff-index", "--cached", "--raw", "--no-renames", "--abbrev=64", "--diff-filter=D", "-z", tree)
        raw = split(self.git.out(*words))
        rows = [(entry.split(b" "), path) for entry, path in zip(raw[::2], raw[1::2], strict=True)]
        lines = [b"%s %s\t%s\0" % (entry[0].lstrip(b":"), entry[2], path) for entry, path in rows]
        if lines:
            self.forget()
            self.git.out("update-index", "-z", "--index-info", stdin=b"".join(lines))
        return [path for _, path in rows]

    def _list_indexed_ignored(self, basis: ComparisonBasis) -> list[bytes]:
        """List the files of the index that the rules ignore."""
        return split(self.git.out("ls-files", "-z", "--cached", "--ignored", *self._rules.exclude_options(basis.rules)))

    def list_ignored(self, below: tuple[str, ...]) -> list[bytes]:
        """List the files below some paths that are ignored by the rules of the last check."""
        memo = self._start()
        rules = self._rules.exclude_options((memo.basis or {}).get("rules", ""))
        places = () if "" in below else (f":(literal){path}" for path in below)
        return split(self.git.out("ls-files", "-z", "--others", "--ignored", *rules, "--", *places))

    def _list_files_in(self, folders: list[bytes]) -> list[bytes]:
        """List the files of the index that are in some folders."""
        return split(
            self.git.out("ls-files", "-z", "--cached", "--", *(f":(literal){os.fsdecode(f)}" for f in folders))
        )

    def _drop_ignored(self, ignored: list[bytes], basis: ComparisonBasis, staged: StagedIndex) -> bool:
        """Drop ignored files from the index, unless the basis or the real index has them."""
        if not ignored:
            return False
        held = {path for tree in (basis.work, staged.tree) if tree for path in self._paths(tree)}
        unmerged = {entry.partition(b"\t")[2] for entry in split(staged.unmerged)}
        gone = [path for path in ignored if path not in held and path not in unmerged]
        if gone:
            self.forget()
            self._drop(gone)
        return bool(gone)

    def _paths(self, tree: str) -> list[bytes]:
        return split(self.git.out("ls-tree", "-r", "-z", "--name-only", tree))

    def _read_staged(self) -> StagedIndex:
        copy = self._folder / _COPY
        copy.with_name(f"{_COPY}.lock").unlink(missing_ok=True)
        copy_file(self._real, copy)
        git = self._git.with_index(copy)
        missing = ("--missing-ok",) if self.view.is_enabled("partial") else ()
        ran = git.run("write-tree", *missing, ok=(0, 128))
        if not ran.code:
            return StagedIndex(ran.out.decode().strip())
        unmerged = git.out("ls-files", "--unmerged", "-z")
        paths = {entry.partition(b"\t")[2] for entry in split(unmerged)}
        git.out("update-index", "-z", "--index-info", stdin=b"".join(_GONE + path + b"\0" for path in sorted(paths)))
        return StagedIndex(git.line("write-tree", *missing), unmerged)
