"""What speaks for a person is refused to agents and to the commands of steps, recorded, and told to the person."""

import json
import os
import shlex
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from support.security.black_box import PROGRAM, BlackBox
from support.security.shell_agent import ShellAgent, make_shell_agent

pytestmark = pytest.mark.system  # takes long: many processes of its own

EVIL = "name: evil\nsteps:\n  - {name: one, command: MARK}\n"
PERSONS = (
    *(("approve", "deploy-1"), ("revise", "deploy-1", "-m", "x"), ("reject", "deploy-1"), ("answer", "deploy-1", "x")),
    *(("stop", "deploy-1"), ("resume", "deploy-1"), ("rewind", "deploy-1", "ok"), ("fork", "deploy-1")),
    *(("tell", "deploy-1", "ship it"), ("prefer", "deploy-1", "--risk", "aggressive"), ("take", "deploy-1")),
    *(("release", "deploy-1"), ("apply", "deploy-1"), ("merge", "deploy-1"), ("discard", "deploy-1"), ("clean",)),
    *(("trust", "evil", "--yes"), ("workflow", "trust", "evil", "--yes"), ("trust", "evil", "--forget")),
    *(
        ("init", "--yes", "--no-try"),
        ("doctor", "--repair"),
        ("mcp", "--rotate-key"),
        ("approve", "deploy-1", "--json"),
    ),
)
LOOKS = (
    ("status",),
    ("inbox",),
    ("diff", "deploy-1"),
    ("trust", "evil", "--show"),
    ("clean", "--dry-run"),
    ("doctor",),
)


@pytest.fixture
def agent(box: BlackBox) -> ShellAgent:
    box.write(".handrail/workflows/evil/workflow.yaml", EVIL.replace("MARK", box.mark("evil")))
    box.commit()
    return make_shell_agent(box)


def branches_of(box: BlackBox) -> list[str]:
    return box.git("branch", "--list", "--format=%(refname:short)").split()


def events(box: BlackBox, run: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in box.call("logs", run, "--json").out.splitlines()]


def test_no_command_of_a_person_is_an_agents(agent: ShellAgent) -> None:
    branches = branches_of(agent.box)
    script = "".join(agent.calls(*words) for words in PERSONS)
    ended = agent.act(f"cd {shlex.quote(str(agent.box.repository))}\n{script}")
    assert ended.exit_code == 0, ended.text
    assert {words: agent.code(*words) for words in PERSONS} == dict.fromkeys(PERSONS, 3)
    assert agent.still_waits()
    assert not agent.box.call("trust", "evil", "--show", "--json").document["trusted"]
    assert sorted(each["run"] for each in agent.box.call("status", "--json").document["runs"]) == ["deploy-1", "work-1"]
    assert branches_of(agent.box) == [*branches, "work/work-1"]


def test_an_agent_may_look(agent: ShellAgent) -> None:
    script = "".join(agent.calls(*words) for words in LOOKS)
    agent.act(f"cd {shlex.quote(str(agent.box.repository))}\n{script}")
    refused = {words for words in LOOKS if "is reserved for people" in agent.told(*words)}
    assert not refused


WAYS = {
    "plain": "CALL",
    "no environment": 'env -i PATH="$PATH" CALL',
    "no mark": "env -u HANDRAIL_MARK CALL",
    "another mark": "env HANDRAIL_MARK=x:1:y@/nowhere CALL",
    "own session": "setsid -w CALL",
    "closed files": "CALL </dev/null >/dev/null 2>&1",
    "by python": "PYTHON -c 'import subprocess,sys; subprocess.run(sys.argv[1:], env={})' CALL",
    "orphan": "PYTHON -c 'import os,sys; os.fork() and os._exit(os.wait()[1]); os.setsid(); os.fork() and os._exit(0);"
    " os.execvp(sys.argv[1], sys.argv[1:])' CALL",
    "linked home": 'ln -s FOLDER "$PWD/elsewhere"; LINKED',
}


def test_whatever_way_an_agent_calls_it(agent: ShellAgent) -> None:
    linked = agent.program.replace(str(agent.box.home), '"$PWD/elsewhere/handrail"')
    ways = "\n".join(WAYS.values()).replace("CALL", f"{agent.program} approve deploy-1")
    ways = ways.replace("LINKED", f"{linked} approve deploy-1").replace("PYTHON", shlex.quote(sys.executable))
    agent.act(ways.replace("FOLDER", str(agent.box.base)))
    assert agent.still_waits()


TYPES = """\
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.environ["HANDRAIL_HOME"], os.environ["TERM"] = sys.argv[1], "dumb"
    os.execv(sys.argv[2], sys.argv[2:])
shown = b""
while True:
    try:
        data = os.read(terminal, 4096)
    except OSError:
        break
    shown += data
    if shown.endswith(b"> ") or b"[y/N]:" in data:
        os.write(terminal, b"y\\n" if b"[y/N]:" in data else b"a\\n")
    if not data:
        break
os.waitpid(pid, 0)
"""


def test_an_agent_with_a_terminal_is_asked_nothing(agent: ShellAgent) -> None:
    types = agent.box.base / "types.py"
    types.write_text(TYPES)
    typing = shlex.join([sys.executable, str(types), str(agent.box.home), PROGRAM])
    agent.act(
        f"cd {shlex.quote(str(agent.box.repository))}\n{typing} run deploy\n{typing} run evil\n{typing} trust evil\n"
    )
    assert agent.box.traces() == []
    assert agent.box.call("status", "deploy-2", "--json").document["runs"][0]["reason"] == "approval"


def test_it_is_recorded_and_the_person_is_told(agent: ShellAgent) -> None:
    agent.act(agent.calls("approve", "deploy-1") * 3)
    told = agent.told("approve", "deploy-1")
    assert "`handrail approve` is reserved for people" in told
    assert "inside step 'a' of work-1" in told
    assert "next: ask the person to run it in their own terminal: handrail approve deploy-1" in told
    box, says = agent.box, "the agent of work-1, step a tried `handrail approve deploy-1`"
    assert says in box.call("why", "work-1").out
    assert says in box.call("logs", "work-1").out
    assert says in box.call("status").out
    assert says in box.call("inbox").out
    shown = box.call("show", "work-1", "--json").document
    assert [(each["by"], each["command"]) for each in shown["tried"]] == [("agent:work-1/a", "approve deploy-1")]
    assert [each["run"] for each in box.call("inbox", "--json").document["notices"]] == ["work-1"]


def test_the_command_of_a_step_is_no_person_either(agent: ShellAgent) -> None:
    box = agent.box
    checks = f"{agent.program} approve deploy-1; {agent.program} trust evil --yes; true"
    text = f"name: own\nsteps:\n  - {{name: s, command: {checks!r}}}\n"
    box.write_own("workflows/own/workflow.yaml", text)
    assert box.call("run", "own").exit_code == 0
    assert agent.still_waits()
    assert "step s tried `handrail approve deploy-1`" in box.call("why", "own-1").out
    assert not box.call("trust", "evil", "--show", "--json").document["trusted"]


def test_the_code_of_a_flow_is_no_person_either(agent: ShellAgent) -> None:
    box = agent.box
    words = [*shlex.split(agent.program), "approve", "deploy-1"]
    flow = f"import subprocess\n\n\nasync def run(ctx):\n    return subprocess.run({words!r}).returncode\n"
    box.write_own("workflows/flow/workflow.py", flow)
    assert box.call("run", "flow").exit_code == 0
    assert agent.still_waits()
    assert "tried `handrail approve deploy-1`" in box.call("why", "flow-1").out


def test_what_init_tries_is_no_person_either(agent: ShellAgent) -> None:
    box = agent.box
    box.write("Makefile", f"test:\n\t{agent.program} approve deploy-1\n\t{agent.program} trust evil --yes\n")
    box.commit()
    box.call("init", "--yes")
    assert agent.still_waits()
    assert not box.call("trust", "evil", "--show", "--json").document["trusted"]


def test_another_data_folder_is_nobodys_business(agent: ShellAgent) -> None:
    other = agent.box.base / "other"
    call = f"env HANDRAIL_HOME={other} {shlex.quote(PROGRAM)}"
    agent.act(f"cd {agent.box.repository}\n{call} trust evil --yes && {call} run evil && {call} discard evil-1\n")
    assert agent.box.traces() == ["evil"]


def test_a_run_that_an_agent_starts_is_recorded_as_the_agents(agent: ShellAgent) -> None:
    agent.act(f"cd {agent.box.repository}\n{agent.program} run deploy\n")
    began = {run: events(agent.box, run)[0]["by"] for run in ("deploy-1", "deploy-2")}
    assert began == {"deploy-1": "person:ann", "deploy-2": "agent:work-1/a"}


STARTS = [{"name": "create_child_run", "input": {"workflow": "deploy", "goal": "ship"}, "save": "child"}]


def test_an_agent_steers_the_runs_that_its_own_run_started(agent: ShellAgent) -> None:
    box, program = agent.box, agent.program
    script = "".join(
        f"{program} {words} > {agent.encode_message}/{name} 2>&1; echo $? > {agent.encode_message}/{name}.code\n"
        for name, words in {
            "approve": "approve work-1.4",
            "other": "stop deploy-1",
            "itself": "stop work-1",
            "stop": "stop work-1.4",
        }.items()
    )
    agent.act(script, more="handrail_tools: [create_child_run, list_runs]", calls=STARTS)
    assert {name: agent.code(name) for name in ("approve", "other", "itself", "stop")} == {
        "approve": 3,
        "other": 3,
        "itself": 3,
        "stop": 0,
    }
    assert [each["by"] for each in events(box, "work-1.4") if each["kind"] == "run_ended"] == ["agent:work-1/a"]
    assert agent.still_waits()


MARKS = ("CLAUDECODE", "CODEX_THREAD_ID", "CODEX_SANDBOX", "GEMINI_CLI", "OPENCODE", "AI_AGENT")


def test_the_shell_of_a_connected_agent_is_no_person(agent: ShellAgent) -> None:
    box = agent.box
    shells = {mark: replace(box, environ={mark: "1"}) for mark in MARKS}
    assert {mark: each.call("approve", "deploy-1").exit_code for mark, each in shells.items()} == dict.fromkeys(
        MARKS, 3
    )
    assert box.call("trust", "evil", "--yes", CLAUDECODE="1").exit_code == 3
    assert agent.still_waits()
    assert "connected agent claude tried `handrail approve deploy-1`" in box.call("why", "deploy-1").out
    assert "connected agent" in box.call("inbox").out
    assert box.call("approve", "deploy-1").exit_code == 0
    assert box.traces() == ["shipped"]


def test_the_shell_of_a_connected_agent_cannot_shed_its_marks(agent: ShellAgent) -> None:
    box = agent.box
    words = f"env -i PATH={shlex.quote(os.environ['PATH'])} {agent.program} approve deploy-1; true"
    env = {**box.env, "CLAUDECODE": "1"}
    subprocess.run(["sh", "-c", words], env=env, cwd=box.repository, capture_output=True, check=True)
    assert agent.still_waits()


@pytest.mark.parametrize(
    ("name", "typed"),
    [("ann", "person:ann"), ("agent:work-1/a", "person:agent_work-1_a"), ("x\x1b[2J\n", "person:x_[2J")],
)
def test_a_person_is_typed_whatever_the_name(agent: ShellAgent, name: str, typed: str) -> None:
    assert agent.box.call("approve", "deploy-1", LOGNAME=name).exit_code == 0
    assert [each["by"] for each in events(agent.box, "deploy-1") if each["kind"] == "approval_decided"] == [typed]
    shown = typed.removeprefix("person:")
    assert f"approved by {shown}" in agent.box.call("why", "deploy-1").out
