"""The sandbox of an agent: what can be written in it, what cannot, and what is said where none can be made."""

import sys
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from handrail.ports.processes import ProcessSpec
from handrail.ports.sandboxes import SandboxPolicy
from handrail.workspace.sandbox import remedy, unusable, wrap_command
from support.workspace.git_room import GitRoom, git
from support.workspace.process_room import Room


def confined(room: Room, where: Path, script: str, *, network: bool = True) -> ProcessSpec:
    """Give a shell script in a sandbox around a folder."""
    argv = wrap_command(("/bin/sh", "-c", script), SandboxPolicy(where, network, readable=(Path(sys.prefix),)))
    return room.spec(*argv, cwd=str(where))


def said(room: Room, where: Path, script: str, *, network: bool = True) -> tuple[int, str]:
    """Run a script in a sandbox; give its exit code and its output."""
    spec = confined(room, where, script, network=network)
    return room.run(spec).code, room.out(spec).decode().strip()


def bindings(argv: tuple[str, ...], how: str) -> list[str]:
    return [argv[at + 1] for at, word in enumerate(argv) if word == how]


def test_everything_is_read_only_but_the_work_tree_and_what_is_named(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    argv = wrap_command(("claude", "-p"), SandboxPolicy(tmp_path, writable=(own, tmp_path / "missing")))
    assert argv[4:8] == ("bwrap", "--ro-bind", "/", "/")
    assert bindings(argv, "--bind") == [str(tmp_path), str(own)]
    assert argv[-2:] == ("claude", "-p")
    assert "--unshare-net" not in argv
    assert "--unshare-net" in wrap_command(("claude",), SandboxPolicy(tmp_path, network=False))


def test_of_a_work_tree_only_what_a_commit_writes_is_writable(shop: GitRoom) -> None:
    common = shop.repo / ".git"
    tree = shop.repo.parent / "tree"
    git(shop.repo, "worktree", "add", "-q", str(tree), "-b", "work/x")
    git(shop.repo, "update-ref", "refs/handrail/x", "HEAD")
    argv = wrap_command(("true",), SandboxPolicy(tree))
    own = common / "worktrees" / "tree"
    written = [own, common / "objects", common / "refs", common / "logs"]
    assert bindings(argv, "--bind") == [str(path) for path in (tree, *written)]
    settings = (own / "commondir", own / "gitdir", own / "config.worktree")
    kept = [common, tree / ".git", *settings, common / "refs" / "handrail"]
    assert bindings(argv, "--ro-bind")[-6:] == [str(path) for path in kept]


def test_of_a_checkout_hooks_and_settings_are_kept(shop: GitRoom) -> None:
    assert not (shop.repo / ".git" / "hooks").exists()
    git(shop.repo, "worktree", "add", "-q", str(shop.repo.parent / "tree"), "-b", "work/x")
    git(shop.repo, "init", "-q", "--bare", ".git/modules/sub")
    argv = wrap_command(("true",), SandboxPolicy(shop.repo))
    names = ("hooks", "config", "config.worktree", "modules", "info", "worktrees")
    kept = [str(shop.repo / ".git" / name) for name in names]
    assert [path for path in bindings(argv, "--ro-bind") if ".git" in path] == kept


@pytest.mark.system("bwrap")
def test_an_agent_commits_in_its_work_tree_and_changes_nothing_that_git_obeys(room: Room, shop: GitRoom) -> None:
    tree = shop.repo.parent / "tree"
    git(shop.repo, "worktree", "add", "-q", str(tree), "-b", "work/x")
    commit = "git -c user.name=Ada -c user.email=ada@example.org commit -qm inside"
    assert said(room, tree, f"echo new > new.txt && git add -A && {commit}")[0] == 0
    assert git(shop.repo, "log", "-1", "--format=%s", "work/x") == "inside"
    common = shop.repo / ".git"
    tries = {
        "a hook": f"echo x > {common}/hooks/post-commit",
        "a setting": "git config core.fsmonitor x",
        "the file of settings": f"echo x >> {common}/config",
        "another git folder": "echo gitdir: /elsewhere > .git",
        "a moved git folder": "mv .git old",
        "another common folder": f"echo /elsewhere > {common}/worktrees/tree/commondir",
        "settings of the work tree": f"echo x > {common}/worktrees/tree/config.worktree",
        "other settings in their place": f"echo x > y; mv y {common}/worktrees/tree/config.worktree",
        "no settings of the work tree": f"rm {common}/worktrees/tree/config.worktree",
        "settings of the checkout alone": f"echo x > {common}/config.worktree",
        "the checkout": f"rm {shop.repo}/README.md",
        "the home": "touch ~/x /root/x",
    }
    assert {
        name: said(room, tree, script)[0] for name, script in tries.items() if not said(room, tree, script)[0]
    } == {}
    assert not list((common / "hooks").glob("post-commit"))
    assert not (common / "config.worktree").exists()
    git(shop.repo, "worktree", "remove", "--force", str(tree))
    assert not (common / "worktrees").exists()


@pytest.mark.system("bwrap")
def test_a_checkout_takes_commits_but_no_hook_and_no_setting(room: Room, shop: GitRoom) -> None:
    commit = "git -c user.name=Ada -c user.email=ada@example.org commit -qm inside"
    assert said(room, shop.repo, f"echo new > new.txt && git add -A && {commit}")[0] == 0
    git(shop.repo, "init", "-q", "--bare", ".git/modules/sub")
    git(shop.repo, "worktree", "add", "-q", str(shop.repo.parent / "tree"), "-b", "work/x")
    tries = (
        *("echo x > .git/hooks/post-commit", "git config a.b c", "mv .git/hooks .git/h", "mv .git old"),
        *("echo x > .git/config.worktree", "echo x > y; mv y .git/config.worktree", "rm .git/config.worktree"),
        *("echo x > .git/info/attributes", "mv .git/info .git/i", "rm -r .git/modules"),
        *("echo x >> .git/modules/sub/config", "mkdir .git/modules/other", "echo x > .git/modules/sub/config.worktree"),
        *("echo x > .git/worktrees/tree/config.worktree", "echo / > .git/worktrees/tree/commondir"),
    )
    for script in tries:
        assert said(room, shop.repo, script)[0] != 0, script
    assert (shop.repo / ".git/config.worktree").read_bytes() == b""


@pytest.mark.system("bwrap")
def test_nothing_below_git_can_be_changed_where_git_is_led_elsewhere(room: Room, shop: GitRoom) -> None:
    assert said(room, shop.repo, "mkdir o; echo ../o > .git/commondir")[0] == 0
    assert said(room, shop.repo, "echo x > .git/x")[0] != 0


@pytest.mark.system("bwrap")
def test_the_temporary_folder_processes_and_if_asked_the_network_are_its_own(room: Room) -> None:
    script = (
        "touch /tmp/inside && echo $TMPDIR $(ls /tmp | wc -l) $(ls -d /proc/[0-9]* | wc -l) $(wc -l < /proc/net/dev)"
    )
    code, out = said(room, room.root, script, network=False)
    temporary, files, processes, lines = out.split()
    assert (code, temporary) == (0, "/tmp")
    # Beside the file of its own only the folders through which the way to the work leads.
    assert int(files) <= 4
    assert int(processes) < 10
    assert int(lines) == 3
    assert not Path("/tmp/inside").exists()


@pytest.mark.system("bwrap")
def test_an_interrupt_reaches_the_agent_which_may_tidy_up(room: Room) -> None:
    script = "trap 'echo tidied; exit 3' INT; touch ready; while :; do sleep 0.05; done"
    spec = confined(room, room.root, script)
    room.processes.start(spec)
    room.until("ready")
    ended = room.finished(room.end(spec))
    assert (ended.exit_code, room.out(spec)) == (3, b"tidied\n")


@pytest.mark.system("bwrap")
def test_what_escapes_its_shell_dies_with_the_sandbox(room: Room) -> None:
    code, _ = said(room, room.root, "setsid sleep 300 >/dev/null 2>&1 & exit 4")
    assert code == 4


def test_a_machine_without_it_and_one_that_forbids_it_say_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert (unusable(), remedy()) == snapshot(
        (
            "bubblewrap is not installed: there is no `bwrap` on the PATH",
            "install it (Linux: apt install bubblewrap, dnf install bubblewrap), or write `sandbox: none`",
        )
    )
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    program.chmod(0o755)
    assert (unusable(), remedy()) == snapshot(
        (
            "bubblewrap does not work here: No permissions to create new namespace",
            "allow user namespaces on this machine (`bwrap --ro-bind / / true` must work), or write `sandbox: none`",
        )
    )
