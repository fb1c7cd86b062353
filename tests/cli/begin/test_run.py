"""`handrail run`: what it shows, what it prints as JSON, and each of its exit codes."""

import pytest
from inline_snapshot import snapshot

from handrail.operations.views.run_document import exit_code
from support.cli.running import ASKING, Runs

EVERY_KIND = """\
name: NAME
input: {base: string, n: int = 2}
steps:
  - {name: hi, command: 'echo "hi ${base}"', output: said}
  - {name: big, command: 'true', when: n > 3}
  - name: rounds
    type: loop
    for: 2
    max_iterations: 5
    steps:
      - {name: t, command: 'echo round ${round}'}
  - {name: kid, type: workflow, workflow: child, input: {who: world}, output: kid}
  - {name: g, type: gate, checks: {a: 'true', b: 'test -n "${said}"'}}
  - {name: soft, command: 'exit 3', on_fail: continue}
"""
CHILD = "name: NAME\ninput: {who: string}\nsteps:\n  - {name: c, command: 'echo hello ${who}', output: said}\n"
FAILING = "name: NAME\nsteps:\n  - {name: a, command: 'echo oops >&2; exit 7', on_fail: fail}\n"
BLOCKING = "name: NAME\nsteps:\n  - {name: g, type: gate, checks: {lint: 'exit 2', test: 'test -e go'}}\n"
PROJECT = "name: NAME\nsteps:\n  - {name: g, type: gate, checks: project}\n"
ECHO = "name: NAME\ninput: {task: string, b: string = x}\nsteps:\n  - {name: a, command: 'echo ${task}', output: o}\n"
ISSUE = "name: NAME\ninput: {issue: issue}\nsteps:\n  - {name: a, command: 'echo ${issue.title}', output: o}\n"
RUN_TASK = "name: NAME\nsteps:\n  - {name: a, command: 'echo ${run.task}', output: o}\n"


def test_each_step_is_a_line_as_it_happens(runs: Runs) -> None:
    runs.add("child", CHILD)
    runs.add("demo", EVERY_KIND)
    assert runs.text("run", "demo", "main") == snapshot("""\
run demo-1 · pinned 0000 · 0 agent calls
✓ hi  0.0s
– big  skipped: n > 3 is false (n = 2)
✓ rounds@1/t  0.0s
✓ rounds@2/t  0.0s
✓ rounds  0.0s  loop ended: done
▸ kid  child as demo-1.15
✓ kid: c  0.0s
✓ kid  0.0s
✓ g  0.0s  checks passed
✗ soft  0.0s  command: exit 3
– soft  failed, and the run continues without it
demo-1 succeeded
""")


def test_a_run_in_json_is_one_document_and_its_lines_go_to_stderr(runs: Runs) -> None:
    runs.add("child", CHILD)
    runs.add("demo", EVERY_KIND)
    document = runs.json("run", "demo", "main")
    assert document.pop("hash").startswith("sha256:")
    assert document.pop("started_at") < document["completed_at"]
    assert document.pop("last_activity") == document.pop("completed_at")
    assert document.pop("workspace") == str(runs.shop.root)
    assert document == snapshot(
        {
            "run": "demo-1",
            "root": "demo-1",
            "parent": None,
            "repository": None,
            "branch": None,
            "worktree": None,
            "workflow": "demo",
            "status": "succeeded",
            "reason": None,
            "input": {"base": "main", "n": 2},
            "current_step": None,
            "error": None,
            "outputs": {"kid": {"said": "hello world"}, "said": "hi main"},
            "cost": 0.0,
            "unpriced": 0,
            "steps": [
                {"address": "hi", "status": "succeeded", "attempts": 1, "output": "hi main"},
                {"address": "big", "status": "skipped", "attempts": 0, "output": None},
                {
                    "address": "rounds",
                    "status": "succeeded",
                    "attempts": 1,
                    "output": {"rounds": 2, "done": [1, 2], "undone": [], "failed": [], "left": []},
                },
                {"address": "rounds@1/t", "status": "succeeded", "attempts": 1, "output": "round 1"},
                {"address": "rounds@2/t", "status": "succeeded", "attempts": 1, "output": "round 2"},
                {
                    "address": "kid",
                    "status": "succeeded",
                    "attempts": 1,
                    "output": {"said": "hello world"},
                },
                {
                    "address": "g",
                    "status": "succeeded",
                    "attempts": 1,
                    "output": {"passed": True, "failed": [], "exit_code": 0, "output": "\n"},
                },
                {"address": "soft", "status": "failed", "attempts": 1, "output": None},
            ],
        }
    )
    assert runs.call("run", "demo", "main", "--json").stderr.startswith("run demo-2 · pinned")


def test_a_failed_run_is_1_and_says_why(runs: Runs) -> None:
    runs.add("bad", FAILING)
    assert runs.text("run", "bad", code=1) == snapshot("""\
run bad-1 · pinned 0000 · 0 agent calls
✗ a  0.0s  command: exit 7 · oops
bad-1 failed: step 'a' failed: command: exit 7
next: handrail why bad-1, or handrail resume bad-1
""")
    assert runs.json("run", "bad", code=1)["error"] == "step 'a' failed: command: exit 7"


def test_a_blocked_run_is_3_and_resume_begins_its_step_anew(runs: Runs) -> None:
    runs.add("gate", BLOCKING.replace("exit 2", "true"))
    assert runs.text("run", "gate", code=3) == snapshot("""\
run gate-1 · pinned 0000 · 0 agent calls
✗ g  0.0s  test: exit 1
gate-1 needs you: step 'g' failed: test: exit 1
  fix what failed, then resume the run: the step starts over
next: handrail resume gate-1
""")
    (runs.shop.root / "go").touch()
    assert runs.text("resume") == snapshot("""\
gate-1: starts over
✓ g  0.0s  checks passed
gate-1 succeeded
""")


def test_without_a_terminal_an_approval_is_3_and_says_how_to_answer(runs: Runs) -> None:
    runs.add("ask", ASKING)
    assert runs.text("run", "ask", code=3) == snapshot("""\
run ask-1 · pinned 0000 · 0 agent calls
✓ draft  0.0s
? ok  needs you: Is "draft" good?
ask-1 needs you: Is "draft" good?
next: handrail approve ask-1, or revise, or reject
""")
    document = runs.json("run", "ask", code=3)
    assert (document["status"], document["reason"], document["current_step"]) == ("waiting", "approval", "ok")


@pytest.mark.parametrize(
    ("status", "reason", "code"),
    [
        ("succeeded", None, 0),
        ("failed", None, 1),
        ("cancelled", None, 1),
        ("waiting", "approval", 3),
        ("waiting", "timer", 3),
        ("waiting", "quota", 5),
        ("waiting", "pause", 130),
        ("blocked", "budget", 5),
        ("blocked", "fault", 3),
        ("running", None, 3),
    ],
)
def test_each_status_has_its_exit_code(status: str, reason: str | None, code: int) -> None:
    assert exit_code({"status": status, "reason": reason}) == code


@pytest.mark.parametrize(("name", "text"), [("text", ECHO), ("issue", ISSUE), ("bare", RUN_TASK)])
def test_the_task_goes_to_the_issue_or_the_only_text_or_the_run(runs: Runs, name: str, text: str) -> None:
    runs.add(name, text)
    assert runs.json("run", name, "login times out")["outputs"] == {"o": "login times out"}


def test_commands_run_in_the_folder_that_is_given(runs: Runs) -> None:
    runs.add("where", "name: NAME\nsteps:\n  - {name: a, command: pwd, output: o}\n")
    (runs.shop.root / "sub").mkdir()
    document = runs.json("run", "where", "--in", "sub")
    assert document["outputs"] == {"o": str(runs.shop.root / "sub")}
    assert "the folder does not exist" in runs.text("run", "where", "--in", "nowhere", code=2)


def test_a_workflow_is_run_by_its_path(runs: Runs) -> None:
    runs.add("bare", RUN_TASK)
    assert runs.json("run", ".handrail/workflows/bare/workflow.yaml", "x")["run"] == "bare-1"


def test_an_untrusted_workflow_does_not_run(runs: Runs) -> None:
    runs.shop.workflow("new", "name: NAME\nsteps:\n  - {name: a, command: touch ran}\n")
    assert runs.text("run", "new", code=3) == snapshot("""\
error: the workflow .handrail/workflows/new/workflow.yaml needs your trust before it runs: it has not been trusted
next: read it, then: handrail trust .handrail/workflows/new/workflow.yaml
""")
    assert not (runs.shop.root / "ran").exists()
    assert runs.json("run", "new", code=3)["error"]["code"] == "untrusted"
    assert runs.json("status") == {"runs": [], "cut": False, "older": None, "driver": None}


def test_a_workflow_that_calls_one_that_changed_does_not_begin(runs: Runs) -> None:
    runs.shop.workflow("child", CHILD)
    runs.add("demo", EVERY_KIND)
    runs.shop.workflow("child", CHILD + "# changed\n")
    said = runs.text("run", "demo", "main", code=3)
    assert "of what it uses, .handrail/workflows/child/workflow.yaml is not trusted" in said


def test_a_users_own_workflow_needs_no_trust(runs: Runs) -> None:
    runs.shop.user_workflow("mine", RUN_TASK)
    assert runs.json("run", "mine", "x")["status"] == "succeeded"


def test_the_projects_checks_are_pinned_and_need_trust(runs: Runs) -> None:
    runs.add("proj", PROJECT)
    config = runs.shop.write(".handrail/config.toml", '[checks]\ntest = "test -e go"\nlint = "true"\n')
    assert runs.text("run", "proj", code=3) == snapshot("""\
error: the checks in .handrail/config.toml need your trust: it has not been trusted
next: handrail trust .handrail/config.toml
""")
    assert runs.call("trust", ".handrail/config.toml", "--yes").exit_code == 0
    assert runs.json("run", "proj", code=3)["reason"] == "checks"
    config.write_text('[checks]\ntest = "touch hacked"\n')
    (runs.shop.root / "go").touch()
    assert runs.json("resume", "proj-1")["status"] == "succeeded"
    assert not (runs.shop.root / "hacked").exists()
    assert "it has changed since you trusted it" in runs.text("run", "proj", code=3)


def test_checks_that_no_step_asks_for_need_no_trust(runs: Runs) -> None:
    runs.shop.write(".handrail/config.toml", '[checks]\ntest = "touch hacked"\n')
    runs.add("bare", RUN_TASK)
    assert runs.json("run", "bare")["status"] == "succeeded"


def test_a_task_without_a_workflow_lists_the_workflows(runs: Runs) -> None:
    runs.add("bare", RUN_TASK)
    said = runs.text("run", "login times out", code=2)
    assert said.startswith("error: 'login times out' is not a workflow; which one should do it? Known here: bare, ")
    assert said.endswith("next: for example: handrail run fix-bug 'login times out'\n")
    assert runs.text("run", code=2).startswith("error: which workflow? Known here: bare, ")


def test_an_invalid_workflow_is_4(runs: Runs) -> None:
    runs.shop.workflow("oops", "name: NAME\nsteps:\n  - {name: a, comand: x}\n")
    assert runs.call("run", "oops").exit_code == 4


def test_a_value_that_is_not_there_blocks_the_run_before_anything_starts(runs: Runs) -> None:
    runs.add("undef", "name: NAME\ninput: {data: json}\nsteps:\n  - {name: a, command: 'echo ${data.x}'}\n")
    document = runs.json("run", "undef", "--input", "data={}", code=3)
    assert (document["status"], document["reason"], document["steps"]) == ("blocked", "fault", [])


def test_a_retry_is_waited_for(runs: Runs) -> None:
    text = "name: NAME\nsteps:\n  - {name: a, command: 'echo x >> trace; test $(wc -l < trace) -ge 2', retry: RETRY}\n"
    runs.add("again", text.replace("RETRY", "{max: 2, backoff: 1s}"))
    assert runs.json("run", "again")["steps"] == [{"address": "a", "status": "succeeded", "attempts": 2, "output": ""}]


def test_an_undecided_child_is_where_the_run_stands(runs: Runs) -> None:
    runs.add("child", ASKING)
    runs.add("parent", "name: NAME\nsteps:\n  - {name: kid, type: workflow, workflow: child}\n")
    document = runs.json("run", "parent", code=3)
    assert (document["status"], document["reason"], document["current_step"]) == ("waiting", "approval", "kid")
    assert runs.text("approve", "parent-1") == snapshot("""\
✓ kid: ok  approved by ann
✓ kid: ship  0.0s
✓ kid  0.0s
parent-1 succeeded
""")
