"""`apply` and `apply --undo` are all or nothing, wherever a process that does them is killed."""

import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from handrail.errors import WorkspaceFault
from handrail.model.history.trees import Tree
from handrail.workspace.delivery.apply import apply_to_checkout, undo_apply
from support.workspace.git_room import GitRoom, everything, fill, git, listing

pytestmark = pytest.mark.system  # takes long: many processes of its own

WRITES = frozenset({"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.symlink", "shutil.copyfile"})
STRIDE = 1 if os.environ.get("HANDRAIL_SOAK") else 11
FILES = {
    "changed.txt": "old\n",
    "gone.txt": "gone\n",
    "mode.sh": "echo\n",
    "file": "becomes a folder\n",
    "folder/a.txt": "becomes\n",
    "folder/b/c.txt": "a file\n",
    "link-to-file": "becomes a link\n",
    ".gitattributes": "*.crlf text eol=crlf\n",
    "lines.crlf": "one\r\ntwo\r\n",
    ".gitignore": "*.log\n",
}


def world(shop: GitRoom) -> Tree:
    """A run that changes a file of every kind."""
    shop.make(FILES)
    tree, path = shop.prepare()
    (shop.repo / "link").symlink_to("changed.txt")
    fill(path, {"changed.txt": "new\n", "deep/er/new.txt": "n", "lines.crlf": "one\r\ntwo\r\nthree\r\n"})
    (path / "gone.txt").unlink()
    (path / "mode.sh").chmod(0o755)
    (path / "file").unlink()
    fill(path, {"file/inside.txt": "i"})
    shutil.rmtree(path / "folder")
    fill(path, {"folder": "a file now"})
    (path / "link-to-file").unlink()
    (path / "link-to-file").symlink_to("nowhere")
    return tree


def killed_at(work: Callable[[], object], at: int) -> bool:
    """Do something in a process that is killed before its n-th write; False where it came to its end."""
    child = os.fork()
    if child == 0:
        left = [at]

        def count(event: str, _: object) -> None:
            if event in WRITES:
                left[0] -= 1
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(count)
        try:
            work()
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def state(shop: GitRoom) -> tuple[object, ...]:
    drafts = [path.name for path in shop.repo.rglob(".handrail-apply-*")]
    left = sorted(path.name for path in (shop.data / "applying").glob("*"))
    return everything(shop.repo), git(shop.repo, "status", "--porcelain"), drafts, left


@pytest.mark.parametrize("begun", ["apply", "undo"])
def test_wherever_it_is_killed_the_next_call_finishes_it_or_takes_it_back(shop_root: GitRoom, begun: str) -> None:
    shop, tree = shop_root, world(shop_root)
    places = shop.spaces.places
    before = state(shop)
    apply_to_checkout(places, tree, "r1")
    after = state(shop)
    if begun == "apply":
        undo_apply(places, tree, "r1")
        assert state(shop) == before
    saved = shop.root.with_name("saved")
    shutil.copytree(shop.root, saved, symlinks=True)
    first = apply_to_checkout if begun == "apply" else undo_apply
    for at in range(1, 200, STRIDE):
        for orders in ((apply_to_checkout, undo_apply), (undo_apply, apply_to_checkout)):
            shutil.rmtree(shop.root)
            shutil.copytree(saved, shop.root, symlinks=True)
            killed = killed_at(lambda: first(places, tree, "r1"), at)
            for order in orders:
                if order is undo_apply and _nothing_applied(shop):
                    continue
                order(places, tree, "r1")
                assert state(shop) == (after if order is apply_to_checkout else before), f"{order.__name__}, write {at}"
        if not killed:
            assert at > 1
            return
    pytest.fail("it never came to its end")


def _nothing_applied(shop: GitRoom) -> bool:
    return not shop.refs("refs/handrail/applied/") and not list((shop.data / "applying").glob("*.json"))


@pytest.fixture
def shop_root(tmp_path: Path, git_home: Path) -> GitRoom:
    room = GitRoom(tmp_path / "world")
    room.root.mkdir()
    return room


def cut_off(shop: GitRoom, tree: Tree) -> dict[bytes, tuple[str, bytes]]:
    """Kill an apply in the middle of the files."""
    before = listing(shop.repo)
    for at in range(1, 100):
        if not killed_at(lambda: apply_to_checkout(shop.spaces.places, tree, "r1"), at):
            break
        if listing(shop.repo) != before and (shop.repo / "gone.txt").exists() is False:
            return before
        if not _nothing_applied(shop):
            undo_apply(shop.spaces.places, tree, "r1")
    pytest.fail("no kill came in the middle")


@pytest.mark.parametrize("then", [apply_to_checkout, undo_apply])
def test_edits_made_since_a_kill_are_named_and_never_overwritten(
    shop_root: GitRoom, then: Callable[..., object]
) -> None:
    shop, tree = shop_root, world(shop_root)
    cut_off(shop, tree)
    fill(shop.repo, {"changed.txt": "my own edit\n", "deep/er/new.txt": "mine too"})
    standing = listing(shop.repo)
    with pytest.raises(WorkspaceFault, match=r"files were edited since: changed\.txt, deep/er/new\.txt"):
        then(shop.spaces.places, tree, "r1")
    assert {name: each for name, each in listing(shop.repo).items() if b".handrail" not in name} == {
        name: each for name, each in standing.items() if b".handrail" not in name
    }
    git(shop.repo, "checkout", "-q", "HEAD", "changed.txt")
    (shop.repo / "deep/er/new.txt").unlink()
    then(shop.spaces.places, tree, "r1")
    assert ((shop.repo / "changed.txt").read_text() == "new\n") is (then is apply_to_checkout)


def test_another_run_is_not_applied_over_one_that_was_cut_off(shop_root: GitRoom) -> None:
    shop, tree = shop_root, world(shop_root)
    other, path = shop.prepare("r2")
    fill(path, {"second.txt": "2"})
    cut_off(shop, tree)
    for call in (apply_to_checkout, undo_apply):
        with pytest.raises(
            WorkspaceFault, match=r"an interrupted apply of r1 to .* must be finished or undone first"
        ) as caught:
            call(shop.spaces.places, other, "r2")
        assert caught.value.next_step == "handrail apply r1 finishes it, handrail apply r1 --undo reverts it"
    (unfinished,) = shop.spaces.list_unfinished_applies()
    assert (unfinished.run, unfinished.checkout, unfinished.undo) == ("r1", str(shop.repo), False)
    assert shop.spaces.find_last_applied(shop.repo, ["r1", "r2"]) == "r1"


def test_a_link_in_the_checkout_is_not_written_through(shop_root: GitRoom) -> None:
    shop = shop_root.make(FILES)
    outside = shop.root / "outside"
    outside.mkdir()
    (shop.repo / "out.log").symlink_to(outside)
    tree, path = shop.prepare()
    fill(path, {"out.log/file.txt": "written"})
    git(path, "add", "-f", "out.log/file.txt")
    with pytest.raises(WorkspaceFault, match=r"are in the way of files of the run: out\.log/file\.txt"):
        apply_to_checkout(shop.spaces.places, tree, "r1")
    assert list(outside.iterdir()) == []
    assert shop.spaces.list_unfinished_applies() == ()


def test_a_folder_with_ignored_files_is_not_replaced_by_a_file(shop_root: GitRoom) -> None:
    shop = shop_root.make(FILES)
    fill(shop.repo, {"folder/mine.log": "mine"})
    tree, path = shop.prepare()
    shutil.rmtree(path / "folder")
    fill(path, {"folder": "a file now"})
    before = listing(shop.repo)
    with pytest.raises(WorkspaceFault, match="are in the way of files of the run: folder"):
        apply_to_checkout(shop.spaces.places, tree, "r1")
    assert listing(shop.repo) == before
