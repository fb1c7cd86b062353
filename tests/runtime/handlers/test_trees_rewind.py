"""Going back and copying, with the files: byte for byte, and nothing that stood there is lost."""

from typing import Any

import pytest

from handrail.errors import UsageError
from handrail.model.history.events import RunRewound
from handrail.operations.runs import lifecycle as runs
from support.runtime.room import of_kind
from support.runtime.steps_room import StepsRoom, git
from support.runtime.tree_states import all_refs, everything, outcome, restorations, tracked

DATES = "export GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z'; "
LOOK = (
    "{ git status --porcelain=v2 -uall; git ls-files -s; git rev-parse HEAD; git branch --show-current; "
    "find . -name .git -prune -o ! -name '*.log' -type f -exec stat -c '%a %n' {} + | sort; "
    "find . -name .git -prune -o ! -name '*.log' -type f -exec sha256sum {} + | sort; "
    "find . -type l -printf '%p %l\\n' | sort; } > seen.$(ls seen.* 2>/dev/null | wc -l).log"
)
SCRIPT: dict[str, Any] = {
    "s1": {"files": {"a.txt": "one\n", "README.md": "changed\n"}, "output": 1},
    "s2": {"files": {"bin/tool": {"text": "#!/bin/sh\n", "executable": True}}, "output": 2},
    "s3": {"files": {"link": {"link": "bin/tool"}, "dangling": {"link": "no/where"}}, "output": 3},
    "s4": {"run": "git add a.txt bin", "files": {"data.bin": {"base64": "AP8AAQ0KDQo="}}, "output": 4},
    "s5": {"run": [DATES + "git commit -qm five", "git switch -qc side-$(basename $PWD)"], "output": 5},
    "s6": {
        "files": {"a.txt": "two\n", "build.log": "ignored\n", "späte datei\n.txt": "x"},
        "run": ["git add a.txt", "echo three >> a.txt", "git rm -q --cached README.md", "chmod -x bin/tool"],
        "output": 6,
    },
    "s8": {"run": [DATES + "git commit -qam eight", "rm -rf bin link a.txt"], "files": {"later.txt": "later\n"}},
    "s9": {"files": {"README.md": None, "link": "no link any more\n", "a.txt/below": "a folder now\n"}},
    "s10": {"run": ["git checkout -q --detach", "git add -A", DATES + "git commit -qm ten"]},
    "s11": {"files": {"späte datei\n.txt": None, "data.bin": "text\n"}, "run": "git reset -q --soft HEAD~1"},
    "s12": {"run": [DATES + "git commit -qm twelve", "git switch -q work/$(basename $PWD)", "git reset -q --hard"]},
    "default": {"run": "echo $HANDRAIL_STEP >> many.txt", "say": "done", "repeat": True},
    "s7": {"run": LOOK, "output": 7},
}
NAMES = [f"s{number}" for number in range(1, 21)]
STEPS = "".join(f"  - {{name: {name}, prompt: Do {name} please, output: o_{name}}}\n" for name in NAMES)
TWENTY = f"name: twenty\nsteps:\n{STEPS}"
ASKED = TWENTY.replace("  - {name: s7, prompt: Do s7 please, output: o_s7}\n", "  - {name: s7, type: approval}\n")


def test_going_back_to_step_7_of_20_gives_the_same_tree_and_the_same_values(shop: StepsRoom) -> None:
    first = shop.run(ASKED, SCRIPT)
    run, tree = first.run, shop.tree(first.run)
    stood, values = everything(tree), dict(first.names)
    assert git(tree, "branch", "--show-current") == f"side-{run}"
    assert shop.answer(run, "approve").status == "succeeded"
    ended = outcome(tree)
    assert everything(tree) != stood
    (tree / "build.log").write_text("still here\n")
    runs.rewind(shop.writer, run, "s7", "ann")
    shop.drive()
    assert (shop.state(run).status, shop.state(run).reason) == ("waiting", "approval")
    assert everything(tree) == stood
    assert dict(shop.state(run).names) == values
    assert (tree / "build.log").read_text() == "still here\n"
    assert shop.answer(run, "approve").status == "succeeded"
    assert outcome(tree) == ended


def test_an_agent_that_is_called_again_finds_what_it_found_the_first_time(shop: StepsRoom) -> None:
    first = shop.run(TWENTY, SCRIPT)
    tree, ended = shop.tree(first.run), outcome(shop.tree(first.run))
    assert first.status == "succeeded", first.message
    runs.rewind(shop.writer, first.run, "s7", "ann")
    shop.drive()
    assert shop.state(first.run).status == "succeeded"
    assert (tree / "seen.0.log").read_bytes() == (tree / "seen.1.log").read_bytes() != b""
    assert outcome(tree) == ended
    assert dict(shop.state(first.run).names) == dict(first.names)


def test_what_stood_there_before_is_kept_under_a_ref_that_is_told(shop: StepsRoom) -> None:
    first = shop.run(TWENTY, SCRIPT)
    tree = shop.tree(first.run)
    (tree / "by-hand.txt").write_text("mine\n")
    runs.rewind(shop.writer, first.run, "s20", "ann")
    shop.drive()
    (told,) = [each.kept for each in restorations(shop, first.run)]
    assert told.startswith("refs/handrail/kept/twenty-1/")
    assert git(shop.repo, "show", f"{told}:by-hand.txt") == "mine"
    assert not (tree / "by-hand.txt").exists()


def test_a_copy_at_step_7_goes_its_own_way_and_the_original_is_untouched(shop: StepsRoom) -> None:
    first = shop.run(ASKED, SCRIPT)
    run, tree = first.run, shop.tree(first.run)
    stood = everything(tree)
    shop.answer(run, "approve")
    before, refs, events = everything(tree), all_refs(shop.repo), shop.state(run).seq
    copy = runs.fork(shop.writer, run, "s7", "ann")
    shop.drive()
    other = shop.tree(copy)
    assert other != tree
    assert tracked(other) == stood[0]
    assert git(other, "ls-files", "-s") == stood[1]
    assert git(other, "rev-parse", "HEAD") == stood[2]
    assert git(other, "branch", "--show-current") == f"work/{copy}"
    shop.answer(copy, "approve")
    assert everything(tree) == before
    assert (shop.state(run).seq, shop.state(run).status) == (events, "succeeded")
    assert {ref: commit for ref, commit in all_refs(shop.repo).items() if ref in refs} == refs


def test_a_copy_of_a_copy_begins_where_its_source_stood(shop: StepsRoom) -> None:
    text = "name: n\nsteps:\n" + "".join(f"  - {{name: s{n}, prompt: Do it please}}\n" for n in (1, 2, 3))
    script = {f"s{n}": {"files": {f"{n}.txt": f"{n}\n"}} for n in (1, 2, 3)}
    first = shop.run(text, script).run
    second = runs.fork(shop.writer, first, "s3", "ann")
    shop.drive()
    third = runs.fork(shop.writer, second, "s3", "ann")
    (shop.tree(second) / "3.txt").write_text("of the second\n")
    shop.drive()
    assert [shop.state(run).status for run in (first, second, third)] == ["succeeded"] * 3
    trees = [shop.tree(run) for run in (first, second, third)]
    assert len(set(trees)) == 3
    assert [(tree / "3.txt").read_text() for tree in trees] == ["3\n", "of the second\n", "3\n"]
    assert [git(tree, "branch", "--show-current") for tree in trees] == ["work/n-1", "work/n-2", "work/n-3"]
    assert shop.state(third).forked_from is not None


LOOP = """
name: looping
steps:
  - name: each
    type: loop
    for: 3
    max_iterations: 3
    steps:
      - {name: add, prompt: Add a line please}
      - {name: count, command: 'wc -l < lines.txt', output: lines}
"""


def test_going_back_into_a_round_of_a_loop_takes_back_the_later_rounds(shop: StepsRoom) -> None:
    first = shop.run(LOOP, {"each/add": {"run": "echo line >> lines.txt", "repeat": True}})
    tree, ended = shop.tree(first.run), outcome(shop.tree(first.run))
    assert (tree / "lines.txt").read_text().count("line") == 3
    runs.rewind(shop.writer, first.run, "each@2/count", "ann")
    shop.drive()
    again = shop.state(first.run)
    assert [event.output for event in shop.endings(first.run, "each@2/count")] == ["2", "2"]
    assert again.status == "succeeded"
    assert outcome(tree) == ended


REVIEW = """
name: reviewed
steps:
  - {name: make, prompt: Make it please}
  - name: review
    type: agent-loop
    reviewer: {prompt: Review it please, access: read}
    arbiter: {prompt: Is it worth it?, access: read}
    fixer: {prompt: Fix it please}
    max_iterations: 4
    output: review
"""
FINDING = {"file": "a.txt", "line": 1, "rule": "style", "severity": "high", "message": "no greeting"}
REVIEWERS: dict[str, Any] = {
    "make": {"files": {"a.txt": "made\n"}},
    "review/reviewer": [{"output": {"findings": [FINDING]}}, {"output": {"findings": []}}],
    "review/arbiter": {"output": {"actionable": True}, "repeat": True},
    "review/fixer": {"run": "cat a.txt >> before.log; echo fixed > a.txt", "repeat": True},
}


def test_going_back_into_a_review_loop_gives_the_fixer_the_file_that_it_had_to_fix(shop: StepsRoom) -> None:
    first = shop.run(REVIEW, REVIEWERS)
    assert first.status == "succeeded", first.message
    address = next(each for each in shop.path(first.run) if each.endswith("/fixer"))
    runs.rewind(shop.writer, first.run, address, "ann")
    shop.drive()
    again = shop.state(first.run)
    assert again.names["review"] == first.names["review"]
    assert (shop.tree(first.run) / "before.log").read_text() == "made\nmade\n"


FAN = """
name: fan
steps:
  - {name: plan, prompt: Plan it please}
  - name: build
    type: parallel-agents
    for_each: [a, b]
    key: item
    max_concurrent: 2
    prompt: Build it please
    output: built
  - name: combine
    type: merge
    from: ${built}
  - {name: after, prompt: Say that it is done please}
"""


def _fan(**more: Any) -> dict[str, Any]:
    """Let each item write one file, by whatever address its only step has."""
    turns = {key: {"files": {f"{key}.txt": f"{key}\n"}} for key in "ab"}
    built = {f"build[{key}]{end}": turn for key, turn in turns.items() for end in ("", "/build")}
    return {"plan": {"files": {"plan.txt": "p\n"}}, "after": {"files": {"done.txt": "d\n"}}, **built, **more}


def test_going_back_to_before_a_fan_out_takes_back_its_merge_and_builds_anew(shop: StepsRoom) -> None:
    first = shop.run(FAN, _fan())
    assert first.status == "succeeded", first.message
    tree, ended = shop.tree(first.run), tracked(shop.tree(first.run))
    runs.rewind(shop.writer, first.run, "build", "ann")
    shop.drive()
    again = shop.state(first.run)
    assert again.status == "succeeded", again.message
    assert tracked(tree) == ended
    assert {"plan.txt", "a.txt", "b.txt", "done.txt"} <= {path.decode() for path in ended}


def test_going_back_to_a_merge_merges_the_same_branches_again(shop: StepsRoom) -> None:
    first = shop.run(FAN, _fan())
    ended = tracked(shop.tree(first.run))
    built = first.names["built"]
    runs.rewind(shop.writer, first.run, "combine", "ann")
    shop.drive()
    again = shop.state(first.run)
    assert (again.status, again.names["built"]) == ("succeeded", built)
    assert tracked(shop.tree(first.run)) == ended
    assert git(shop.tree(first.run), "log", "--format=%s").count("Merge a") == 1


def test_going_back_while_items_run_cancels_them_first(shop: StepsRoom) -> None:
    slow = {
        key: {"run": "touch begun.log; while ! test -e go.log; do sleep 0.05; done"}
        for key in ("build[a]", "build[a]/build")
    }
    run = shop.start(FAN, _fan(**slow))

    def begun() -> bool:
        return any(shop.folder.glob("data/worktrees/*/*/begun.log"))

    def back() -> None:
        for found in shop.folder.glob("data/worktrees/*/*/begun.log"):
            found.unlink()
        runs.rewind(shop.writer, run, "plan", "ann")
        runs.stop(shop.writer, run, "ann")

    shop.during(back, begun)
    assert shop.state(run).status == "cancelled"
    children = [each for each in shop.log.streams() if each.startswith(f"{run}.")]
    assert [
        shop.state(child).status for child in children if shop.state(child).status not in ("succeeded", "cancelled")
    ] == []
    assert "cancelled" in [shop.state(child).status for child in children]
    assert of_kind(shop.log, run, RunRewound)


def test_what_was_spent_stays_spent(shop: StepsRoom) -> None:
    text = "name: n\nsteps:\n  - {name: s1, prompt: Do it please}\n  - {name: s2, prompt: Do it please}\n"
    cost = {"usage": {"input_tokens": 10, "output_tokens": 5, "cost": 0.5}}
    first = shop.run(text, {"default": {**cost, "repeat": True}})
    assert (first.spent.usd, first.spent.agent_calls) == (1.0, 2)
    runs.rewind(shop.writer, first.run, "s1", "ann")
    shop.drive()
    again = shop.state(first.run).spent
    assert (again.usd, again.tokens, again.agent_calls) == (2.0, 60, 4)


def test_going_back_names_what_cannot_be_taken_back(shop: StepsRoom) -> None:
    text = "name: n\nsteps:\n  - {name: s1, command: 'true'}\n  - {name: mail, command: 'true', repeatable: false}\n"
    first = shop.run(text, {"default": {}})
    runs.rewind(shop.writer, first.run, "s1", "ann")
    shop.drive()
    assert [event.crossed for event in of_kind(shop.log, first.run, RunRewound)] == [
        ("'mail', which must not run twice",)
    ]


def test_a_run_that_was_stopped_is_copied_and_not_brought_back(shop: StepsRoom) -> None:
    first = shop.run(ASKED, SCRIPT)
    runs.stop(shop.writer, first.run, "ann")
    shop.drive()
    with pytest.raises(UsageError, match="stopped for good"):
        runs.rewind(shop.writer, first.run, "s2", "ann")
    copy = runs.fork(shop.writer, first.run, "s2", "ann")
    shop.drive()
    assert shop.state(copy).reason == "approval"
