"""A repository cannot configure an agent before it is trusted: an agent of the person's own, at each of its starts.

The agent is a program that does what agents do: it runs the hook of the repository that it works in, unless it is
told to leave that out. What the real agents do is tried in test_agent_files_real.py.
"""

import json

import pytest

from support.security.black_box import Answer, BlackBox

pytestmark = pytest.mark.system  # takes long: many processes of its own

AGENT = """\
#!/bin/sh
[ "$1" = --bare ] || for hook in .own/*.sh; do [ -e "$hook" ] && sh "$hook"; done
cat >/dev/null
{work}
echo "started $*"
"""
TABLE = """\
[agents.own]
command = ["{program}", "{{options}}"]
access = {{read = [], edit = [], full = []}}
project_files = [".own/**", ".own.env"]
"""
BARE = 'without_project_files = ["--bare"]\n'
ONE = "name: mine\ndescription: mine\nsteps:\n  - {name: one, agent: own, access: ACCESS, prompt: Do the work.}\n"
LEVELS = ("read", "edit", "full")


def install(box: BlackBox, words: str = BARE, work: str = "true") -> None:
    """Give the person an agent, and a workflow that calls it."""
    program = box.base / "own-agent"
    program.write_text(AGENT.format(work=work))
    program.chmod(0o755)
    box.write_own("agents.toml", TABLE.format(program=program) + words)
    workflow(box, ONE.replace("ACCESS", "edit"))


def workflow(box: BlackBox, text: str) -> None:
    box.write_own("workflows/mine/workflow.yaml", text)


def plant(box: BlackBox, name: str = "hook-ran") -> None:
    box.write(".own/hook.sh", box.mark(name) + "\n")
    box.commit("Plant")


def trust_whole(box: BlackBox) -> None:
    box.write_own("config.toml", f"[trust]\nrepositories = [{json.dumps(str(box.repository))}]\n")


def outcome(box: BlackBox, run: str = "mine-1") -> dict[str, object]:
    return box.call("show", run, "one", "--json").document["step"]


def succeeded(answer: Answer) -> bool:
    assert answer.exit_code == 0, answer.text
    return True


@pytest.mark.parametrize("access", LEVELS)
def test_before_trust_an_agent_is_started_without_the_repositorys_files(box: BlackBox, access: str) -> None:
    install(box)
    workflow(box, ONE.replace("ACCESS", access))
    plant(box)
    assert succeeded(box.call("run", "mine"))
    assert box.traces() == []
    assert "started --bare" in box.call("show", "mine-1", "one").out


def test_the_person_is_told_once_what_was_left_out_and_why(box: BlackBox) -> None:
    install(box)
    plant(box)
    answer = box.call("run", "mine")
    assert answer.text.count(".own/hook.sh") == 1
    assert "started without .own/hook.sh (one): you have not trusted them" in answer.text
    assert "left out   .own/hook.sh, which you have not trusted" in box.call("show", "mine-1", "one").out
    assert "its agent started without .own/hook.sh" in box.call("why", "mine-1", "one").out


def test_a_repository_that_the_users_configuration_trusts_configures_its_agents(box: BlackBox) -> None:
    install(box)
    plant(box)
    trust_whole(box)
    answer = box.call("run", "mine")
    assert succeeded(answer)
    assert box.traces() == ["hook-ran"]
    assert "started without" not in answer.text


def test_trusted_files_count_until_one_of_them_changes(box: BlackBox) -> None:
    install(box)
    plant(box)
    assert succeeded(box.call("trust", ".", "--yes"))
    assert succeeded(box.call("run", "mine"))
    assert box.traces() == ["hook-ran"]
    plant(box, "changed-hook-ran")
    assert succeeded(box.call("run", "mine"))
    assert box.traces() == ["hook-ran"]


def test_an_agent_that_cannot_be_started_so_is_refused_before_a_try_and_goes_on_after_trust(box: BlackBox) -> None:
    install(box, words="")
    plant(box)
    answer = box.call("run", "mine")
    assert answer.exit_code == 3, answer.text
    assert "own always reads its files in the repository" in answer.text
    assert f"handrail trust {box.repository}" in answer.text
    assert box.traces() == []
    assert succeeded(box.call("trust", ".", "--yes"))
    assert succeeded(box.call("resume", "mine-1"))
    assert box.traces() == ["hook-ran"]
    assert "try 1" in box.call("show", "mine-1", "one").out
    plant(box, "changed-hook-ran")
    assert box.call("run", "mine").exit_code == 3
    assert box.traces() == ["hook-ran"]


def test_files_that_an_earlier_step_wrote_do_not_count(box: BlackBox) -> None:
    install(box)
    steps = f"  - {{name: writes, command: 'mkdir -p .own && echo \"{box.mark('planted-by-a-step')}\" > .own/x.sh'}}\n"
    workflow(box, ONE.replace("ACCESS", "edit").replace("  - {name: one", steps + "  - {name: one"))
    assert succeeded(box.call("run", "mine"))
    assert box.traces() == []


def test_files_that_the_agent_itself_wrote_do_not_count_in_its_next_start(box: BlackBox) -> None:
    mark = box.mark("planted-by-the-agent")
    install(box, work=f"mkdir -p .own; echo '{mark}' > .own/x.sh")
    second = "  - {name: two, agent: own, access: edit, prompt: Do it again.}\n"
    workflow(box, ONE.replace("ACCESS", "edit") + second)
    assert succeeded(box.call("run", "mine"))
    assert box.traces() == []
    assert "its agent started without .own/x.sh" in box.call("why", "mine-1", "two").out


def test_a_folder_that_is_worked_in_as_it_is_counts_with_its_own_files(box: BlackBox) -> None:
    install(box)
    box.write("deep/er/here.txt", "x")
    plant(box)
    box.write("deep/.own/hook.sh", box.mark("hook-between") + "\n")
    assert succeeded(box.call("run", "mine", "--in", str(box.repository / "deep" / "er")))
    assert succeeded(box.call("run", "mine", "--in", str(box.repository)))
    assert box.traces() == []


def test_a_run_in_the_background_keeps_to_the_same(box: BlackBox) -> None:
    install(box, words="")
    plant(box)
    assert succeeded(box.call("run", "mine", "--detach"))
    box.call("resume", "mine-1")
    assert box.traces() == []
    assert "always reads its files" in box.call("status", "mine-1").text


def test_of_a_file_with_secrets_nothing_but_its_name_is_kept(box: BlackBox) -> None:
    install(box)
    box.write(".own.env", "KEY=very-secret-value\n")
    box.commit("Plant")
    assert succeeded(box.call("run", "mine"))
    assert ".own.env" in box.call("show", "mine-1", "one").out
    kept = [path for path in box.home.rglob("*") if path.is_file() and b"very-secret-value" in path.read_bytes()]
    assert {path.name for path in kept} <= {".own.env"}, kept
