"""Kinds of repositories that git treats in a special way: runs in them are right, and nothing local executes."""

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from support.security.black_box import Answer, BlackBox
from support.security.hostile_git import make_hostile

pytestmark = pytest.mark.system  # takes long: many processes of its own

WORK = """
name: work
steps:
  - {{name: one, command: "sh {base}/one.sh"}}
  - {{name: two, command: "sh {base}/two.sh"}}
"""
RUN = "work-1"


def make_local_hostile(box: BlackBox, *, promisor: bool = False) -> None:
    """Let everything in the repository's own configuration start a program; the attributes stay those of the files."""
    folder = box.repository / ".git"
    (box.base / "plain-config").write_bytes((folder / "config").read_bytes())
    make_hostile(folder, box.loot, promisor=promisor)
    (folder / "info/attributes").unlink()


def git(box: BlackBox, *words: str) -> str:
    """Call git in the checkout as if its configuration were harmless."""
    return os.fsdecode(git_bytes(box, *words)).rstrip("\n")


def git_bytes(box: BlackBox, *words: str) -> bytes:
    """Do the same and give what it prints as it is."""
    config, plain = box.repository / ".git/config", box.base / "plain-config"
    hostile = config.read_bytes()
    config.write_bytes(plain.read_bytes())
    try:
        return subprocess.run(["git", *words], cwd=box.repository, env=box.env, capture_output=True, check=True).stdout
    finally:
        config.write_bytes(hostile)


def call(box: BlackBox, *words: str) -> Answer:
    """Call Handrail, which must not start anything that the repository names."""
    for trace in box.loot.iterdir():
        trace.unlink()
    answer = box.call(*words)
    assert box.traces() == [], words
    return answer


def done(answer: Answer) -> Answer:
    """Require that a call succeeded."""
    assert answer.exit_code == 0, answer.text
    return answer


def start(box: BlackBox, one: str, two: str) -> Answer:
    """Start a run of two steps, each of which is a shell script; the second one notes what it finds."""
    box.write_own("workflows/work/workflow.yaml", WORK.format(base=box.base))
    note = f"find . -name .git -prune -o -type f -print | sort | xargs tail -n +1 >> {box.base}/seen"
    for name, script in (("one", one), ("two", f"{note}\n{two}")):
        (box.base / f"{name}.sh").write_text(f"set -e\n{script}\n")
    return call(box, "run", "work")


def files_in(folder: Path) -> dict[str, bytes]:
    """Read the files of a checkout, without those of git folders."""
    paths = (path for path in folder.rglob("*") if path.is_file() and ".git" not in path.relative_to(folder).parts)
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def stored_in(box: BlackBox, ref: str, paths: Iterable[str]) -> dict[str, bytes]:
    """Read files of a commit as a checkout would give them; those that it does not have are left out."""
    there = set(git(box, "ls-tree", "-r", "--name-only", ref).splitlines())
    return {path: git_bytes(box, "cat-file", "--filters", f"{ref}:{path}") for path in paths if path in there}


def worktree_of(box: BlackBox) -> Path:
    """Name the worktree of the run."""
    return Path(call(box, "show", RUN, "--json").document["workspace"])


def changed(box: BlackBox, *words: str) -> dict[str, str]:
    """Give the files that `diff` names, each with how it changed."""
    return {each["path"]: each["change"] for each in done(call(box, "diff", RUN, *words, "--json")).document["files"]}


def walk(box: BlackBox, one: str, two: str, expected: dict[str, str], **left: str) -> None:
    """Run two steps, go back to the second, apply, take that back, and merge: each concerns the expected files.

    All bytes are compared: in the work tree, the checkout, the snapshot and the branch that was merged into.
    `left` are files that were outside a sparse checkout, and stay there as they are committed.
    """
    index, before = git(box, "ls-files", "-s"), files_in(box.repository)
    done(start(box, one, two))
    assert changed(box) == expected
    after = files_in(worktree_of(box))
    done(call(box, "rewind", RUN, "two"))
    seen = (box.base / "seen").read_text()
    assert seen[: len(seen) // 2] == seen[len(seen) // 2 :]
    assert (files_in(worktree_of(box)), changed(box)) == (after, expected)
    wanted = {path: after[path] for path in expected if path in after}
    assert stored_in(box, f"refs/handrail/{RUN}", expected) == wanted
    done(call(box, "apply", RUN))
    assert (files_in(box.repository), git(box, "ls-files", "-s")) == (after, index)
    done(call(box, "apply", RUN, "--undo"))
    before |= {path: text.encode() for path, text in left.items()}
    assert (files_in(box.repository), git(box, "status", "--porcelain")) == (before, "")
    git(box, "switch", "-qc", "elsewhere")
    done(call(box, "merge", RUN))
    names = git(box, "diff-tree", "-r", "--no-renames", "--name-only", "elsewhere", "main").splitlines()
    assert (sorted(names), files_in(box.repository)) == (sorted(expected), before)
    assert stored_in(box, "main", expected) == wanted


def clone(box: BlackBox, *words: str) -> None:
    """Make the checkout a clone of the repository."""
    upstream = box.base / "upstream"
    box.repository.rename(upstream)
    box.git("config", "uploadpack.allowFilter", "true", cwd=upstream)
    box.git("clone", "-q", *words, f"file://{upstream}", str(box.repository), cwd=box.base)


# partial clones ---------------------------------------------------------------------------------------------------


def lacking(box: BlackBox) -> list[str]:
    """Name the objects that a partial clone does not have."""
    listing = git(box, "rev-list", "--objects", "--all", "--missing=print")
    return sorted(line for line in listing.splitlines() if line.startswith("?"))


def test_a_partial_clone_works_with_what_it_has_and_fetches_nothing(box: BlackBox) -> None:
    box.write("deep/text.txt", "an older text that nobody checked out\n")
    box.commit()
    box.write("deep/text.txt", "a newer text\n")
    box.commit()
    clone(box, "--filter=blob:none")
    make_local_hostile(box, promisor=True)
    missing = lacking(box)
    assert missing
    two = "echo four >> deep/text.txt; echo new > deep/new.txt"
    walk(
        box,
        "echo three >> app.txt",
        two,
        {"app.txt": "modified", "deep/text.txt": "modified", "deep/new.txt": "added"},
    )
    assert lacking(box) == missing


# sparse checkouts -------------------------------------------------------------------------------------------------

SPARSE = {"cone": ("--cone", "in"), "patterns": ("--no-cone", "/*", "!/out/")}
KINDS = ("cone", pytest.param("patterns", marks=pytest.mark.system))


def sparse(box: BlackBox, kind: str, *words: str) -> None:
    """Make the checkout a sparse one, in which the folder `out` is left out."""
    for name in ("in/a.txt", "in/b.txt", "out/c.txt", "out/d.txt", "out/.gitattributes"):
        box.write(name, f"# {name}\n")
    box.commit()
    if words:
        clone(box, "--no-checkout", *words)
    box.git("sparse-checkout", "set", *SPARSE[kind])
    box.git("checkout", "-q", "main")
    make_local_hostile(box, promisor=bool(words))
    assert not (box.repository / "out").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_files_outside_a_sparse_checkout_are_not_deleted(box: BlackBox, kind: str) -> None:
    sparse(box, kind)
    one, two = "echo more >> in/a.txt; rm in/b.txt", "echo new > in/new.txt; echo three >> app.txt"
    expected = {"in/a.txt": "modified", "in/b.txt": "deleted", "in/new.txt": "added", "app.txt": "modified"}
    walk(box, one, two, expected)


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_run_writes_outside_a_sparse_checkout_is_its_work(box: BlackBox, kind: str) -> None:
    sparse(box, kind)
    one, two = "mkdir out; echo new > out/new.txt", "echo other > out/c.txt; echo three >> app.txt"
    expected = {"out/new.txt": "added", "out/c.txt": "modified", "app.txt": "modified"}
    walk(box, one, two, expected, **{"out/c.txt": "# out/c.txt\n"})


@pytest.mark.system
def test_a_sparse_partial_clone_lacks_what_is_left_out(box: BlackBox) -> None:
    sparse(box, "cone", "--filter=blob:none")
    missing = lacking(box)
    assert missing
    one, two = "echo more >> in/a.txt", "mkdir out; echo new > out/new.txt"
    walk(box, one, two, {"in/a.txt": "modified", "out/new.txt": "added"})
    assert lacking(box) == missing


@pytest.mark.system
def test_a_change_of_a_file_that_a_partial_clone_lacks_is_refused_clearly_or_works(box: BlackBox) -> None:
    sparse(box, "cone", "--filter=blob:none")
    missing = lacking(box)
    done(start(box, "echo more >> in/a.txt", "mkdir -p out; echo other > out/c.txt"))
    done(call(box, "rewind", RUN, "two"))
    assert (worktree_of(box) / "out/c.txt").read_text() == "other\n"
    for words in (("diff", RUN), ("apply", RUN), ("apply", RUN, "--undo")):
        answer = call(box, *words)
        assert answer.exit_code == 0 or "partial clone" in answer.text, answer.text
    assert lacking(box) == missing


@pytest.mark.system
def test_what_a_merge_changes_outside_a_sparse_checkout_is_not_taken_back(box: BlackBox) -> None:
    for name in ("in/a.txt", "out/c.txt", "out/gone.txt"):
        box.write(name, "old\n")
    box.commit()
    box.git("switch", "-qc", "other")
    box.write("out/c.txt", "merged\n")
    box.write("out/e.txt", "new\n")
    (box.repository / "out/gone.txt").unlink()
    box.commit()
    box.git("switch", "-q", "main")
    box.git("sparse-checkout", "set", "in")
    done(start(box, "git merge -q other", "echo three >> app.txt"))
    merged = {"out/c.txt": "modified", "out/e.txt": "added", "out/gone.txt": "deleted"}
    assert changed(box, "one") == merged
    done(call(box, "rewind", RUN, "two"))
    assert changed(box) == {**merged, "app.txt": "modified"}
    box.git("switch", "-qc", "elsewhere")
    done(call(box, "merge", RUN))
    assert box.git("diff", "--name-only", "other", "main") == "app.txt"
    assert not (worktree_of(box) / "out").exists()


# submodules -------------------------------------------------------------------------------------------------------


def add_submodule(box: BlackBox) -> Path:
    """Give the repository a submodule in which the user is at work; gives the library that it is a clone of."""
    library = box.base / "library"
    library.mkdir()
    box.git("init", "-q", "-b", "main", cwd=library)
    (library / "lib.txt").write_text("lib\n")
    box.git("add", "-A", cwd=library)
    box.git("commit", "-qm", "Library", cwd=library)
    box.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "sub")
    box.commit("Submodule")
    (box.repository / "sub/lib.txt").write_text("my own work\n")
    return library


def make_all_hostile(box: BlackBox) -> None:
    """Let everything in the repository's configuration, and in its submodule's, start a program."""
    make_local_hostile(box)
    make_hostile(box.repository / ".git/modules/sub", box.loot)


@pytest.mark.system
def test_another_commit_of_a_submodule_is_delivered_by_merging_and_named_by_the_rest(box: BlackBox) -> None:
    library = add_submodule(box)
    before, index = files_in(box.repository), box.git("ls-files", "-s")
    make = f"GIT_CONFIG_GLOBAL=/dev/null git clone -q {library} sub; cd sub; echo newer > lib.txt"
    commit = "git -c user.name=x -c user.email=x@y commit -qam newer; git push -q origin HEAD:refs/heads/newer; cd .."
    done(start(box, f"{make}; {commit}; git add sub; git commit -qm sub", "echo three >> app.txt"))
    make_all_hostile(box)
    newer = box.git("rev-parse", "newer", cwd=library)
    assert set(changed(box)) == {"app.txt", "sub"}
    assert newer in call(box, "diff", RUN).out
    done(call(box, "rewind", RUN, "two"))
    done(call(box, "apply", RUN, "--accept-git-changes"))
    assert (box.repository / "app.txt").read_bytes() == b"one\ntwo\nthree\n"
    assert {**files_in(box.repository), "app.txt": b""} == {**before, "app.txt": b""}
    done(call(box, "apply", RUN, "--undo"))
    assert (files_in(box.repository), git(box, "ls-files", "-s")) == (before, index)
    git(box, "switch", "-qc", "elsewhere")
    done(call(box, "merge", RUN, "--accept-git-changes"))
    assert git(box, "rev-parse", "main:sub") == newer
    assert git_bytes(box, "cat-file", "blob", "main:app.txt") == b"one\ntwo\nthree\n"
    assert files_in(box.repository) == before


def test_work_in_a_submodule_is_named_and_stays(box: BlackBox) -> None:
    library = add_submodule(box)
    make_all_hostile(box)
    before = files_in(box.repository)
    fill = f"GIT_CONFIG_GLOBAL=/dev/null git clone -q {library} sub 2>/dev/null; echo agent > sub/lib.txt"
    done(start(box, "echo three >> app.txt", f"test -e sub/lib.txt || {fill}; echo four >> app.txt"))
    assert changed(box) == {"app.txt": "modified", "sub": "repository"}
    done(call(box, "rewind", RUN, "two"))
    worktree = worktree_of(box)
    assert (worktree / "sub/lib.txt").read_text() == "agent\n"
    done(call(box, "apply", RUN))
    assert files_in(box.repository) == {**before, "app.txt": b"one\ntwo\nthree\nfour\n"}
    done(call(box, "apply", RUN, "--undo"))
    assert files_in(box.repository) == before
    refused = call(box, "discard", RUN)
    assert (refused.exit_code != 0, "sub" in refused.text) == (True, True), refused.text
    git(box, "switch", "-qc", "elsewhere")
    done(call(box, "merge", RUN))
    assert git(box, "diff-tree", "-r", "--name-only", "elsewhere", "main").splitlines() == ["app.txt"]
    assert git_bytes(box, "cat-file", "blob", "main:app.txt") == b"one\ntwo\nthree\nfour\n"
    assert (worktree / "sub/lib.txt").read_text() == "agent\n"
    assert files_in(box.repository) == before


# filters ----------------------------------------------------------------------------------------------------------


def configure(box: BlackBox, *pairs: tuple[str, str]) -> None:
    """Write the user's own configuration of git."""
    for key, value in pairs:
        box.git("config", "--global", key, value)


def test_filters_of_the_user_run(box: BlackBox) -> None:
    configure(box, ("filter.upper.clean", "tr a-z A-Z"), ("filter.upper.smudge", "tr A-Z a-z"))
    box.write(".gitattributes", "*.up filter=upper\n*.evil filter=evil\n")
    box.write("text.up", "text\n")
    box.write("text.evil", "text\n")
    box.commit()
    make_local_hostile(box)
    walk(box, "echo more >> text.up", "echo new > new.up", {"text.up": "modified", "new.up": "added"})
    assert git(box, "cat-file", "blob", "main:text.up") == "TEXT\nMORE"
    assert git(box, "cat-file", "blob", "main:new.up") == "NEW"


def test_a_filter_of_the_repository_does_not_run_and_what_needs_it_is_not_delivered(box: BlackBox) -> None:
    box.write(".gitattributes", "*.evil filter=evil\n")
    box.write("text.evil", "text\n")
    box.commit()
    make_local_hostile(box)
    done(start(box, "echo more >> text.evil", "echo new > new.evil"))
    assert changed(box) == {"text.evil": "modified", "new.evil": "added"}
    done(call(box, "rewind", RUN, "two"))
    assert (worktree_of(box) / "text.evil").read_text() == "text\nmore\n"
    git(box, "switch", "-qc", "elsewhere")
    for words in ("apply", "merge"):
        refused = call(box, words, RUN)
        assert refused.exit_code != 0
        assert "evil" in refused.text
    assert (box.repository / "text.evil").read_text() == "text\n"
    assert git(box, "cat-file", "blob", "main:text.evil") == "text"


def lfs_repository(box: BlackBox) -> None:
    """Make a repository with a file in Git LFS, by the user's own configuration."""
    box.git("lfs", "install", "--skip-repo")
    box.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
    box.write("data.bin", "data\n")
    box.commit()


@pytest.mark.system("git-lfs")
def test_files_of_git_lfs_are_stored_as_pointers_and_restored_with_their_content(box: BlackBox) -> None:
    lfs_repository(box)
    make_local_hostile(box)
    one, two = "echo more >> data.bin; echo three >> app.txt", "echo new > new.bin"
    walk(box, one, two, {"data.bin": "modified", "new.bin": "added", "app.txt": "modified"})
    for name, content in (("data.bin", "data\nmore\n"), ("new.bin", "new\n")):
        pointer = git(box, "cat-file", "blob", f"main:{name}")
        assert pointer.startswith("version https://git-lfs"), pointer
        digest = pointer.partition("sha256:")[2][:64]
        stored = box.repository / ".git/lfs/objects" / digest[:2] / digest[2:4] / digest
        assert stored.read_text() == content
    git(box, "switch", "-q", "main")
    assert (box.repository / "data.bin").read_text() == "data\nmore\n"


@pytest.mark.system("git-lfs")
def test_content_that_git_lfs_lacks_is_not_fetched(box: BlackBox) -> None:
    lfs_repository(box)
    box.write("data.bin", "newer\n")
    box.commit()
    clone(box, "--no-checkout")
    box.git("-c", "filter.lfs.process=git-lfs filter-process --skip", "checkout", "-q", "main")
    pointer = (box.repository / "data.bin").read_text()
    assert pointer.startswith("version https://git-lfs")
    make_local_hostile(box)
    done(start(box, "echo three >> app.txt", "echo four >> app.txt"))
    assert changed(box) == {"app.txt": "modified"}
    assert (worktree_of(box) / "data.bin").read_text() == pointer
    done(call(box, "rewind", RUN, "two"))
    done(call(box, "apply", RUN))
    assert (box.repository / "data.bin").read_text() == pointer
    assert (box.repository / "app.txt").read_text() == "one\ntwo\nthree\nfour\n"
