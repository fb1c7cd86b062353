"""What Handrail's hook lets Claude Code do: hostile paths, hostile commands, and how the hook itself fails."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.agents.claude import guard as claude_guard
from handrail.agents.claude.adapter import ClaudeAgent
from handrail.agents.claude.guard import explain_not_read_only, explain_outside, verdict
from handrail.ports.agents import AgentCall

LONG = 60


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A work tree with links that lead out of it, and into git."""
    root = tmp_path / "tree"
    (root / ".git").mkdir(parents=True)
    (root / "src").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (root / "out").symlink_to(tmp_path / "elsewhere")
    (root / "src" / "history").symlink_to("../.git")
    (root / "dangling").symlink_to(tmp_path / "elsewhere" / "new.txt")
    (root / "inner").symlink_to("src")
    (tmp_path / "alias").symlink_to(root)
    return root


def rules(access: str, **more: Any) -> dict[str, Any]:
    return {"access": access, "workspace": "/w", "allowed": None, "partly": [], "disallowed": [], **more}


def asked(tool: str, **given: Any) -> dict[str, Any]:
    return {"tool_name": tool, "tool_input": given}


@pytest.mark.parametrize(
    "path",
    [
        "a.py",
        "src/new/deep.py",
        "inner/a.py",
        ".gitignore",
        ".github/x.yml",
        "src/../a.py",
        "a\nb.py",
        "a/.gitx",
        "~.py",
    ],
)
def test_a_file_in_the_work_tree_may_be_written(tree: Path, path: str) -> None:
    assert explain_outside(path, str(tree), str(tree)) == ""
    assert explain_outside(str(tree / path), "/", str(tree)) == ""
    assert explain_outside(str(tree.parent / "alias" / path), "/", str(tree)) == ""


@pytest.mark.parametrize(
    "path",
    [
        *("../a.py", "out/a.py", "dangling", "src/../../a.py", "/etc/passwd", "", ".", "..", "a\0b", "~/a.py"),
        *("out/../a.py", "../tree-2/a.py", "../tree\n/a.py", "//etc/passwd", "inner/../../../a.py"),
    ],
)
def test_a_file_outside_the_work_tree_may_not_be_written(tree: Path, path: str) -> None:
    assert explain_outside(path, str(tree), str(tree)) != ""


@pytest.mark.parametrize(
    "path",
    [
        *(".git", ".git/config", ".GIT/config", ".Git/hooks/x", "src/history/config", "sub/.git/config"),
        *("src/../.git/x", ".g\u200cit/config", ".git./config", ".git /config", "src/history"),
    ],
)
def test_a_file_of_git_may_not_be_written(tree: Path, path: str) -> None:
    assert "belongs to git itself" in explain_outside(path, str(tree), str(tree))


def test_a_work_tree_may_itself_lie_in_a_folder_of_git(tmp_path: Path) -> None:
    root = tmp_path / ".git" / "tree"
    root.mkdir(parents=True)
    assert explain_outside("a.py", str(root), str(root)) == ""


READS = (
    *("ls", "ls -la src", "cat a.py b.py", "head -n 5 a", "wc -l a", "grep -rn 'a;b|c' src", 'rg "def x" src', "pwd"),
    *("git diff", "git log --oneline -5 HEAD~3..HEAD", "git show HEAD:a.py", "git status --short", "git blame a.py"),
    *("find . -name '*.py' -type f", "git log --format='%h %s' -- a.py", "git diff --stat main...HEAD", "tail -n +3 a"),
)
WRITES = (
    *(
        "",
        " ",
        "rm a",
        "touch a",
        "echo x",
        "cat a > b",
        "cat a >b",
        "cat a | tee b",
        "ls; rm a",
        "ls && rm a",
        "ls & rm a",
    ),
    *(
        "ls\nrm a",
        "ls\rrm a",
        "cat $(rm a)",
        "cat `rm a`",
        'cat "$(rm a)"',
        'cat "`rm a`"',
        "cat <(rm a)",
        "cat ${x:=y}",
    ),
    *(
        "find . -delete",
        "find . -exec rm {} +",
        "find . -execdir rm x",
        "find . -ok rm",
        "find . -fprint x",
        "find . -fls x",
    ),
    *("find . '-delete'", "find . -de'lete'", 'find . "-exec" rm x', "find . -fprintf x y"),
    *("git commit -m x", "git diff --output=x", "git diff --output x", "git log --outp=x", "git show --ext-diff"),
    *("git diff --textconv", "git -c core.pager=x log", "git -C .. diff", "git --no-pager log", "git", "git branch x"),
    *(
        "git diff '--output=x'",
        'git diff --out"put"=x',
        "git  checkout x",
        "git config a b",
        "git stash",
        "git log --ext",
    ),
    *("rg --pre sh x", "rg --pre=sh x", "rg -z x", "rg -uz x", "rg --search-zip x", "rg --hostname-bin=sh x"),
    *(
        "A=b ls",
        "/bin/ls",
        "./ls",
        "'ls' > a",
        "command ls",
        "sudo ls",
        "ls *",
        "cat ?",
        "cat [a]",
        "cat {a,b}",
        "cat ~/a",
    ),
    *(
        "cat 'a",
        'cat "a',
        "cat a\\\nb",
        "ls \\; rm a",
        "cat !x",
        "cat #x",
        "(ls)",
        "ls\0",
        "lsx",
        "Ls",
        "time ls",
        "xargs rm",
    ),
)


@pytest.mark.parametrize("command", READS)
def test_a_command_that_only_reads_is_known(command: str) -> None:
    assert explain_not_read_only(command) == ""


@pytest.mark.parametrize("command", WRITES)
def test_any_other_command_is_refused(command: str) -> None:
    assert "may only read" in explain_not_read_only(command)


@given(
    st.sampled_from(READS), st.sampled_from([";", "&", "|", ">", "<", "\n", "$(", "`", "(", "\\"]), st.text(max_size=9)
)
def test_nothing_the_shell_understands_can_be_added(command: str, sign: str, more: str) -> None:
    assert explain_not_read_only(f"{command} {sign}{more}") != ""
    assert explain_not_read_only(f"{command}{sign}{more}") != ""


@pytest.mark.parametrize(
    "tool", ["Write", "Edit", "NotebookEdit", "Skill", "Workflow", "mcp__db__query", "Unheard", ""]
)
def test_who_may_only_read_gets_no_tool_that_can_do_more(tool: str) -> None:
    assert verdict(rules("read"), asked(tool, file_path="/w/a"))[0] == "deny"


@pytest.mark.parametrize("tool", ["Read", "Grep", "Glob", "Task", "StructuredOutput", "WebFetch"])
def test_who_may_only_read_gets_every_tool_that_reads(tool: str) -> None:
    assert verdict(rules("read"), asked(tool, file_path="/etc/hosts")) == ("allow", "")


def test_a_tool_of_a_server_that_the_step_names_is_the_authors_decision() -> None:
    named = rules("read", allowed=["mcp__db__query"])
    assert verdict(named, asked("mcp__db__query"))[0] == "allow"
    assert verdict(named, asked("mcp__db__drop")) == ("deny", "this step allows only the tools mcp__db__query")


def test_a_step_that_may_not_comment_is_denied_the_tools_of_trackers_whatever_the_server_is_called() -> None:
    quiet = rules("full", quiet=["create_comment"])
    assert verdict(quiet, asked("mcp__our_tickets__create_comment")) == (
        "deny",
        "this step writes nothing to the tracker (`no_comment`), but mcp__our_tickets__create_comment does",
    )
    assert verdict(quiet, asked("mcp__our_tickets__list_comments"))[0] == "allow"
    assert verdict(rules("full"), asked("mcp__our_tickets__create_comment"))[0] == "allow"


def test_lists_of_tools_count_at_every_access() -> None:
    assert verdict(rules("full", disallowed=["Bash"]), asked("Bash", command="ls"))[0] == "deny"
    assert verdict(rules("full", allowed=["Read"]), asked("Bash", command="ls"))[0] == "deny"
    assert verdict(rules("full", allowed=[]), asked("StructuredOutput"))[0] == "allow"
    assert verdict(rules("full", allowed=["Read"], partly=["Bash"]), asked("Bash", command="ls")) == ("pass", "")
    assert verdict(rules("read", allowed=[], partly=["Bash"]), asked("Bash", command="rm a"))[0] == "deny"


def skill(root: Path, folder: str, text: str = "x") -> None:
    path = root / folder / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(text)


@pytest.mark.parametrize("access", ["read", "edit", "full"])
@pytest.mark.parametrize("name", ["tidy", "sub:tidy", "/tidy now", "TIDY"])
def test_a_skill_in_a_folder_below_is_denied_at_every_access(tree: Path, access: str, name: str) -> None:
    skill(tree, "src/.claude/skills/tidy")
    decision, why = verdict(rules(access, workspace=str(tree)), asked("Skill", skill=name))
    assert decision == "deny"
    assert "src/.claude/skills/tidy/SKILL.md" in why or access == "read"


@pytest.mark.parametrize(
    "text", ["---\nname: tidy\n---\n", '---\nname: "\\u0074idy"\n---\n', "---\nname: >-\n  tidy\n---\n"]
)
def test_a_skill_below_that_is_called_otherwise_than_its_folder_is_denied_too(tree: Path, text: str) -> None:
    skill(tree, "src/.claude/skills/other", text)
    assert verdict(rules("full", workspace=str(tree)), asked("Skill", skill="tidy"))[0] == "deny"


def test_a_folder_of_skills_that_is_a_link_is_denied(tree: Path) -> None:
    (tree / "src" / ".claude").mkdir()
    (tree / "src" / ".claude" / "skills").symlink_to(tree.parent / "elsewhere")
    assert verdict(rules("full", workspace=str(tree)), asked("Skill", skill="tidy"))[0] == "deny"


def test_a_command_below_is_denied_and_a_skill_of_another_name_is_not(tree: Path) -> None:
    (tree / "src" / ".claude" / "commands").mkdir(parents=True)
    (tree / "src" / ".claude" / "commands" / "tidy.md").write_text("x")
    skill(tree, ".claude/skills/mine")
    full = rules("full", workspace=str(tree))
    assert verdict(full, asked("SlashCommand", command="/tidy all of it"))[0] == "deny"
    assert verdict(full, asked("Skill", skill="mine")) == ("allow", "")


def test_who_may_edit_runs_commands_and_writes_inside(tree: Path) -> None:
    edit = rules("edit", workspace=str(tree))
    assert verdict(edit, asked("Bash", command="rm -rf x; make"))[0] == "allow"
    assert verdict(edit, asked("Edit", file_path=str(tree / "a.py")))[0] == "allow"
    assert verdict(edit, asked("Edit", file_path="/etc/passwd"))[0] == "deny"
    assert verdict(edit, asked("NotebookEdit", notebook_path=str(tree.parent / "a.ipynb")))[0] == "deny"
    assert verdict(edit, asked("NewTool", file_path="/etc/passwd"))[0] == "deny"
    assert verdict(edit, asked("Read", file_path="/etc/hosts"))[0] == "allow"
    assert verdict(edit, asked("Task", prompt="x", isolation="worktree"))[0] == "deny"
    assert verdict(edit, asked("Write", file_path="out/x") | {"cwd": str(tree)})[0] == "deny"


def hook(tree: Path, access: Any, folder: Path) -> list[str]:
    """Give the command by which Claude Code asks, as it stands in the settings."""
    call = AgentCall(run="r-1", address="a", turn=1, prompt="", workspace=str(tree), access=access)
    (folder / "bin").mkdir()
    (folder / "bin" / "claude").symlink_to("/bin/true")
    words = ClaudeAgent().launch(call, str(folder / "it's a call")).argv
    settings = json.loads(
        Path(next(each for each in words if each.startswith("--settings=")).split("=", 1)[1]).read_text()
    )
    assert settings["disableAllHooks"] is False
    [[only]] = [each["hooks"] for each in settings["hooks"]["PreToolUse"]]
    assert only["timeout"] > claude_guard.DEADLINE
    return ["/bin/sh", "-c", only["command"]]


@pytest.fixture
def ask(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    return hook(tree, "read", tmp_path)


def test_the_hook_answers_a_question_and_does_not_wait_for_the_end_of_its_input(ask: list[str], tree: Path) -> None:
    process = subprocess.Popen(ask, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tree)
    assert process.stdin is not None
    assert process.stdout is not None
    question = json.dumps(asked("Bash", command="ls", note="}" * 300_000)).encode()
    process.stdin.write(question)
    process.stdin.flush()
    answer = json.loads(process.stdout.readline())
    assert process.wait(LONG) == 0
    process.stdin.close()
    process.stdout.close()
    assert answer["hookSpecificOutput"]["permissionDecision"] == "allow"


@pytest.mark.parametrize(
    "question", [b"", b"{", b"[]", b"null", b"\xff", b"{}", b'{"tool_name": "Read"}', b"{" * 99_999]
)
def test_a_question_that_is_none_is_denied(ask: list[str], tree: Path, question: bytes) -> None:
    done = subprocess.run(ask, input=question, capture_output=True, cwd=tree, timeout=LONG, check=False)
    assert done.returncode == 0
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_a_hook_without_its_rules_or_its_program_denies(ask: list[str], tree: Path, tmp_path: Path) -> None:
    question = json.dumps(asked("Read", file_path="a")).encode()
    (tmp_path / "it's a call" / "guard.json").unlink()
    done = subprocess.run(ask, input=question, capture_output=True, cwd=tree, timeout=LONG, check=False)
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
    broken = [*ask[:2], ask[2].replace(sys.executable, "/no/such/python")]
    assert subprocess.run(broken, input=question, capture_output=True, timeout=LONG, check=False).returncode == 2


def test_a_hook_that_is_killed_denies(ask: list[str], tree: Path) -> None:
    process = subprocess.Popen(ask, stdin=subprocess.PIPE, cwd=tree)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while not (child := children.read_text().split()):
        assert process.poll() is None
    # What its own deadline does to it.
    os.kill(int(child[0]), signal.SIGALRM)
    assert process.wait(LONG) == 2
    assert process.stdin is not None
    process.stdin.close()
