"""A git folder in which everything starts a program: no command of ours does, from the first look to the last."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from support.security.black_box import Answer, BlackBox, make_black_box
from support.security.hostile_git import add_nested, make_hostile

pytestmark = pytest.mark.system  # takes long: many processes of its own

WORK = "name: work\nsteps:\n  - {name: work, prompt: 'Do the work, please'}\n"
KEEP = "  - {name: keep, type: commit, message: kept}\n  - {name: more, prompt: 'Do more, please'}\n"


def run(box: BlackBox, name: str, script: str, *words: str) -> Answer:
    """Let an agent run shell commands in each of its steps."""
    given = box.base / "script.json"
    given.write_text(json.dumps({"default": {"run": script, "repeat": True}}))
    return box.call("run", name, "--agent", "scripted", "--script", str(given), *words)


@pytest.mark.parametrize(("more", "rewound"), [("", "work"), (KEEP, "keep")])
def test_no_command_starts_what_a_repository_configures(box: BlackBox, more: str, rewound: str) -> None:
    box.write_own("workflows/work/workflow.yaml", WORK + more)
    box.write(".gitattributes", "* filter=evil diff=evil merge=evil\n")
    box.commit()
    make_hostile(box.repository / ".git", box.loot)
    done = run(box, "work", "date +%N >> app.txt", "--with-changes")
    # A filter that is not run must not be needed either: what it would convert is not committed as it stands.
    assert done.exit_code == (3 if more else 0), done.text
    assert "filter" in done.text
    calls = (
        "status",
        "list",
        "doctor",
        "diff work-1",
        "show work-1 work",
        "apply work-1",
        "apply --undo",
        "clean --dry-run",
    )
    for call in calls:
        box.call(*call.split())
    assert box.call("rewind", "work-1", rewound).exit_code == done.exit_code
    assert box.call("discard", "work-1").exit_code == 0
    assert box.traces() == []


def test_a_nested_repository_of_an_agent_starts_nothing(box: BlackBox) -> None:
    box.write_own("workflows/work/workflow.yaml", WORK)
    done = run(box, "work", add_nested(Path("sub"), box.loot) + f"; rm -f {box.loot}/*")
    assert done.exit_code == 0, done.text
    assert "sub" in box.call("diff", "work-1").text
    assert box.call("discard", "work-1").exit_code != 0
    assert box.traces() == []


@pytest.mark.system("bwrap")
def test_what_an_agent_leaves_in_its_sandbox_starts_nothing_outside() -> None:
    # The temporary folder of a sandbox is its own, so the box lies elsewhere.
    with TemporaryDirectory(dir="/var/tmp") as folder:
        box = make_black_box(Path(folder))
        box.write_own("workflows/work/workflow.yaml", WORK.replace("please'", "please', sandbox: bwrap"))
        plant = f"touch {box.loot}/inside; {add_nested(Path('sub'), box.loot)}"
        settings = "echo '[core]' > $(git rev-parse --git-dir)/config.worktree && echo written > settings; true"
        done = run(box, "work", f"{plant}; {settings}")
        assert done.exit_code == 0, done.text
        tree = Path(box.call("show", "work-1", "--json").document["workspace"])
        assert (tree / "sub/f").read_text() == "two\n"
        assert not (tree / "settings").exists(), "settings of the work tree can be written"
        for words in ("diff work-1", "rewind work-1 work", "apply work-1", "discard work-1"):
            box.call(*words.split())
        assert box.traces() == []


@pytest.mark.parametrize("base", ["missing", "main"])
def test_what_a_partial_clone_lacks_is_not_fetched(box: BlackBox, base: str) -> None:
    box.write_own("workflows/work/workflow.yaml", WORK)
    box.git("config", "uploadpack.allowFilter", "true")
    box.git("switch", "-qc", "missing")
    box.write("only-there.txt", "only there\n")
    box.commit()
    box.git("switch", "-q", "main")
    clone = box.base / "clone"
    box.git("clone", "-q", "--filter=blob:none", f"file://{box.repository}", str(clone))
    box.git("branch", "-q", "missing", "origin/missing", cwd=clone)
    make_hostile(clone / ".git", box.loot, promisor=True)
    given = box.base / "script.json"
    given.write_text(json.dumps({"default": {"files": {"app.txt": "changed\n"}}}))
    words = ("run", "work", "--agent", "scripted", "--script", str(given), "--base", base)
    done = box.call(*words, cwd=clone)
    assert (done.exit_code == 0) == (base == "main"), done.text
    if base == "main":
        assert box.call("apply", "work-1", cwd=clone).exit_code == 0
    assert box.traces() == []
