"""What a first run of somebody's own workflow meets: how it ends, what is proven, who is told, and where it works.

`HANDRAIL_UNDER_TEST=/path/to/handrail pytest tests/first_use` tries another installation.
"""

import re
from pathlib import Path

import pytest

from support.first_use.shells import Shells
from support.security.black_box import BlackBox

pytestmark = pytest.mark.system  # takes long: many processes of its own

OPENS = """\
name: opens
steps:
  - {name: edit, command: echo three >> app.txt}
  - {name: pr, type: pull-request, title: Add three}
"""
PROVES = """\
name: proves
steps:
  - {name: work, prompt: Do the work., done_when: [{KIND: 'no-such-program x_test'}], retry: 2}
"""
REVIEWS = """\
name: reviews
steps:
  - {name: edit, command: echo three >> app.txt}
  - name: review
    type: agent-loop
    reviewer: review-changes
    arbiter: is-actionable
    fixer: apply-findings
    max_iterations: 3
    on_max: block
  - {name: ship, command: touch MARK}
"""
ENDS = """\
name: ends
steps:
  - {name: over, type: end, message: Nothing to do today.}
"""
ESCALATES = """\
name: escalates
steps:
  - {name: work, command: 'false', on_fail: escalate, escalate_to: '#dev'}
"""
TOUCHES = """\
name: touches
steps:
  - {name: touch, command: touch here.txt}
"""


def write(box: BlackBox, name: str, text: str) -> None:
    box.write_own(f"workflows/{name}/workflow.yaml", text.replace("MARK", str(box.loot / "shipped")))


def test_a_workflow_that_ends_in_a_pull_request_comes_to_its_end(box: BlackBox) -> None:
    write(box, "opens", OPENS)
    done = box.call("run", "opens")
    assert "not perform" not in done.text
    assert (done.exit_code, box.call("status", "opens-1", "--json").document["runs"][0]["status"]) == (0, "succeeded")
    (merge,) = re.findall(r"handrail (merge opens-1)", done.text)
    box.git("checkout", "-q", "-b", "elsewhere")
    assert box.call(*merge.split()).exit_code == 0
    assert box.git("show", "main:app.txt").endswith("three")


@pytest.mark.parametrize("kind", ["fails", "passes"])
def test_a_program_that_is_not_there_proves_nothing_and_costs_no_further_try(shells: Shells, kind: str) -> None:
    shells.box.write_own("workflows/proves/workflow.yaml", PROVES.replace("KIND", kind))
    done = shells.call("ann", "run", "proves")
    assert "step 'work' needs the program no-such-program, which was not found" in done.text
    assert "not proven" not in done.text
    assert (done.exit_code, shells.calls) == (3, 0)


@pytest.mark.parametrize(
    "last",
    [
        "{name: last, type: gate, checks: {lint: lint-it app.txt}}",
        "{name: last, command: lint-it app.txt}",
        "{name: last, command: lint-it app.txt && echo fine}",
    ],
)
def test_a_missing_program_of_a_later_step_is_named_before_an_agent_is_paid(shells: Shells, last: str) -> None:
    shells.add("later", f"  - {{name: work, prompt: Do the work.}}\n  - {last}\n")
    done = shells.call("ann", "run", "later")
    assert "step 'last' needs the program lint-it" in done.text
    assert (done.exit_code, shells.calls) == (3, 0)
    assert "lint-it" in shells.call("ann", "resume", "later-1").text
    program = shells.box.base / "bin" / "lint-it"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert "later-1 succeeded" in shells.call("ann", *done.text.rpartition("next: handrail ")[2].split()).text
    assert shells.calls == 1


def test_what_the_set_up_of_a_worktree_installs_is_there(shells: Shells) -> None:
    program = shells.box.base / "bin" / "lint-it"
    setup = f"printf '#!/bin/sh\\n' > {program} && chmod +x {program}"
    shells.add("later", "  - {name: work, prompt: Do the work., done_when: [{passes: lint-it}]}\n")
    shells.box.write(".handrail/config.toml", f'[worktrees]\nsetup = ["""{setup}"""]\n')
    shells.box.commit()
    assert shells.call("ann", "trust", ".", "--yes").exit_code == 0
    done = shells.call("ann", "run", "later")
    assert (done.exit_code, shells.calls) == (0, 1), done.text


@pytest.mark.parametrize("answer", ["ok", "Looks good to me."])
def test_a_review_that_says_ok_is_no_finding_and_never_goes_on_to_ship(box: BlackBox, answer: str) -> None:
    write(box, "reviews", REVIEWS)
    script = box.write_own("play.yaml", f"default: {{say: {answer}, repeat: true}}\n")
    done = box.call("run", "reviews", "--agent", "scripted", "--script", str(script))
    assert '"message": "' + answer not in box.call("show", "reviews-1", "--json").out
    assert (done.exit_code, box.traces()) == (3, []), done.text
    assert "no answer" in done.text or "form" in done.text


def test_the_message_of_an_end_is_told(box: BlackBox) -> None:
    write(box, "ends", ENDS)
    assert "Nothing to do today." in box.call("run", "ends").text
    assert "Nothing to do today." in box.call("show", "ends-1").out


def test_an_escalation_to_a_channel_that_nobody_set_up_is_refused_before_the_run(box: BlackBox) -> None:
    write(box, "escalates", ESCALATES)
    checked = box.call("validate", "escalates")
    assert (checked.exit_code, "'#dev'" in checked.text) == (4, True)
    assert box.call("run", "escalates").exit_code == 2


def test_an_escalation_tells_the_channel(box: BlackBox) -> None:
    write(box, "escalates", ESCALATES)
    tell = f"command = 'echo \"$HANDRAIL_NOTIFY_RUN\" > {box.loot}/told'"
    box.write_own("config.toml", f'[notify.channels."#dev"]\n{tell}\n')
    assert box.call("run", "escalates").exit_code == 3
    assert box.traces() == ["told"]
    assert "escalates-1" in (box.loot / "told").read_text()


def test_a_nightly_job_for_another_ecosystem_is_not_green(shells: Shells) -> None:
    shells.box.write("pyproject.toml", '[project]\nname = "shop"\nversion = "1"\ndependencies = ["requests==2.0"]\n')
    shells.box.commit()
    done = shells.call("ann", "run", "deps-nightly")
    assert "succeeded" not in done.text
    assert done.exit_code == 2
    assert "[project]" in done.text or "[checks]" in done.text


def test_outside_a_repository_nothing_is_changed_unless_the_folder_is_named(box: BlackBox) -> None:
    write(box, "touches", TOUCHES)
    folder = box.base / "plain"
    folder.mkdir()
    refused = box.call("run", "touches", cwd=folder)
    assert (refused.exit_code, [path.name for path in folder.iterdir()]) == (2, [])
    (named,) = re.findall(r"(--in \.)$", refused.err, re.M)
    done = box.call("run", "touches", *named.split(), cwd=folder)
    assert (done.exit_code, [path.name for path in folder.iterdir()]) == (0, ["here.txt"])
    assert str(folder) in done.text


@pytest.mark.parametrize(
    ("files", "one", "sources"),
    [
        ({"go.mod": "module example.org/flags\n\ngo 1.21\n", "flag.go": "package flags\n"}, "go test", "*.go"),
        (
            {
                "package.json": '{"scripts": {"test": "vitest run"}, "devDependencies": {"vitest": "1"}}\n',
                "source/index.js": "export const a = 1\n",
            },
            "vitest",
            "source/",
        ),
        (
            {"Cargo.toml": '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n', "src/lib.rs": "\n"},
            "cargo test",
            "src/",
        ),
    ],
    ids=["go", "node", "rust"],
)
def test_the_first_workflow_is_that_of_the_repository_it_is_written_for(
    box: BlackBox, files: dict[str, str], one: str, sources: str
) -> None:
    box.git("branch", "-m", "master")
    for name, text in files.items():
        box.write(name, text)
    box.commit()
    box.call("init", "--yes")
    texts = [path.read_text() for path in sorted((box.repository / ".handrail").rglob("*")) if path.is_file()]
    written = "\n".join(texts)
    assert "pytest" not in "\n".join(line.partition("#")[0] for line in written.splitlines())
    assert one in written
    assert sources in written
    assert "master" in written
    assert "= main" not in written
    assert not [path for path in Path(box.repository / ".handrail").rglob("*.md") if "pytest" in path.read_text()]
