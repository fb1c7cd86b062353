"""Pull requests on the double of GitHub: opened by a step or on a person's word, updated, and shown afterwards."""

import os
from pathlib import Path

import pytest

from support.cli.team import Team
from support.github.double import GitHubDouble
from support.github.fixtures import github, github_server
from support.github.logins import put_gh, put_keyring
from support.next_steps.follow import follow, in_process
from support.workspace.git_room import git

__all__ = ["github", "github_server"]
WORKFLOW = """\
name: NAME
description: Change something and open a pull request.
input:
  task: string
steps:
  - name: change
    command: echo "$TASK" > new.txt
    env: {TASK: "${task}"}
    done_when:
      - passes: test -s new.txt
  - {name: pr, type: pull-request, title: "fix: ${task}", body: It was broken., draft: true}
"""
PLAIN = """\
name: NAME
description: Change something.
input:
  task: string
steps:
  - {name: change, command: "echo new > new.txt"}
"""


@pytest.fixture
def host(team: Team, github: GitHubDouble, monkeypatch: pytest.MonkeyPatch) -> GitHubDouble:
    """The double, with the team's repository as its repository, and a token for the user."""
    for name in ("GITHUB_API_URL", "GH_TOKEN"):
        monkeypatch.setenv(name, github.environment()[name])
    team.add("hand-on", WORKFLOW)
    team.add("plain", PLAIN)
    team.git("remote", "add", "origin", github.clone_url())
    push(team, github)
    return github


def push(team: Team, github: GitHubDouble) -> None:
    """Let the person put the history of the team at the remote."""
    git(team.root, "push", "-q", "-f", str(github.repository.git.path), "HEAD:main")


def test_a_step_opens_a_draft_with_proof_and_the_commands_show_it(team: Team, host: GitHubDouble) -> None:
    said = team.text("run", "hand-on", "it breaks")
    (pull,) = host.pulls()
    assert pull["draft"] is True
    assert pull["title"] == "fix: it breaks"
    assert "### Proof\n\n- \u2705 " in pull["body"]
    url = pull["html_url"]
    assert f"opened draft pull request #{pull['number']}: {url}" in said
    assert git(host.repository.git.path, "show", "work/hand-on-1:new.txt") == "it breaks"
    assert f"PR #{pull['number']}" in team.text("status")
    shown = team.text("show", "hand-on-1")
    assert f"PR         #{pull['number']} draft, checks none reported: {url}" in shown
    assert "opened as a draft by hand-on-1" in team.text("logs", "hand-on-1")
    assert f"pr      pull request #{pull['number']}: opened as a draft by hand-on-1" in team.text("why", "hand-on-1")
    told = team.json("why", "hand-on-1", "pr")["reasons"][-1]
    assert (told["pull_request"], told["seq"]) == (f"{host.host}/acme/{host.repository.name}#{pull['number']}", 1)
    for words in ((), ("hand-on-1",)):
        (listed,) = team.json("status", *words)["runs"][0]["pull_requests"]
        assert (listed["number"], listed["status"], listed["draft"], listed["url"]) == (
            *(pull["number"], "open", True),
            url,
        )
    host.report_check(pull["head"]["sha"], "ci", "failure")
    refreshed = team.text("status", "--refresh", "hand-on-1")
    assert "of hand-on-1: checks of" in refreshed
    assert "checks failed" in refreshed


def test_a_person_opens_the_pull_request_of_a_run_without_such_a_step(team: Team, host: GitHubDouble) -> None:
    team.text("run", "plain", "it breaks")
    assert host.pulls() == []
    said = team.text("pr", "plain-1")
    (pull,) = host.pulls()
    assert said.strip() == f"opened draft pull request #{pull['number']}: {pull['html_url']}"
    assert (pull["draft"], pull["title"]) == (True, "it breaks")
    text = team.root.parent / "text.md"
    text.write_text("Please look. Fixes #1.")
    again = team.json("pr", "plain-1", "--ready", "--title", "Mend it", "--body-file", str(text))
    assert (again["number"], again["draft"], again["state"]) == (pull["number"], False, "open")
    (pull,) = host.pulls()
    assert (pull["draft"], pull["title"]) == (False, "Mend it")
    assert "Please look. Fixes, see #1." in pull["body"]
    assert team.json("pr", "plain-1")["draft"] is False, "what is ready stays ready"
    said = team.text("pr", "plain-1", "--draft")
    assert "updated draft pull request" in said
    (pull,) = host.pulls()
    assert (pull["draft"], pull["title"]) == (True, "Mend it")
    assert "Please look. Fixes, see #1." in pull["body"], "what a person wrote stays until another text is given"
    assert "turned into a draft" in team.text("logs", "plain-1")
    assert host.journal.count("POST */pulls") == 1
    assert host.journal.count("GIT push *") == 1


def test_a_pull_request_is_merged_automatically_once_its_checks_have_passed(team: Team, host: GitHubDouble) -> None:
    team.text("run", "plain", "it breaks")
    said = team.text("pr", "plain-1", "--ready", "--auto-merge")
    assert "it is not merged automatically: " in said
    host.repository.required_checks = ["ci"]
    assert "automatically" not in team.text("pr", "plain-1", "--auto-merge")
    (pull,) = host.pulls()
    host.report_check(pull["head"]["sha"], "ci", "success")
    assert host.read(f"/pulls/{pull['number']}")["merged"]
    assert "merged" in team.text("status", "--refresh")


def test_without_a_token_the_branch_is_left_with_the_next_command(
    team: Team, host: GitHubDouble, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("GH_TOKEN")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    said = team.text("run", "hand-on", "it breaks")
    assert "step 'pr' opens no pull request: there is no token for 127.0.0.1" in said
    assert "is ready, not pushed; push it, then open a pull request into main" in said
    assert host.pulls() == []


@pytest.mark.parametrize(
    ("call", "how"),
    [
        ("POST */pulls", "502 after effect"),
        ("POST */pulls", "cut after effect"),
        ("POST */pulls", "502 before"),
        ("GIT push *", "cut after effect"),
        ("GIT push *", "cut before"),
    ],
)
def test_a_fault_of_the_host_leaves_exactly_one_pull_request_and_one_push(
    team: Team, host: GitHubDouble, call: str, how: str
) -> None:
    host.fail(call, how)  # pyright: ignore[reportArgumentType]
    done = team.runs.call("run", "hand-on", "it breaks")
    if done.exit_code == 3:
        team.text("resume", "hand-on-1")
    else:
        assert done.exit_code == 0, done.output
    (pull,) = host.pulls()
    assert pull["head"]["sha"] == git(host.repository.git.path, "rev-parse", "work/hand-on-1")
    assert team.json("show", "hand-on-1")["status"] == "succeeded"
    moved = [each for each in host.journal.calls("GIT push *") if each.body and "before" not in each.fault]
    assert len(moved) == 1


def test_a_pull_request_that_was_closed_is_updated_once_it_is_open_again(team: Team, host: GitHubDouble) -> None:
    team.text("run", "plain", "it breaks")
    team.text("pr", "plain-1")
    (pull,) = host.pulls()
    ann = host.person("ann", "write")
    ann.close(pull["number"])
    said = team.text("pr", "plain-1", code=3)
    assert f"pull request #{pull['number']} was closed by ann without being merged" in said
    ann.reopen(pull["number"])
    follow(in_process(team.runs), said, "handrail pr {}", shows="updated draft pull request")
    assert len(host.pulls()) == 1


def test_changed_settings_of_git_are_accepted_by_the_command_that_is_shown(team: Team, host: GitHubDouble) -> None:
    team.add("changes", WORKFLOW.replace('echo "$TASK" > new.txt', 'echo "$TASK" > new.txt; git config core.pager x'))
    said = team.text("run", "changes", "it breaks", code=3)
    assert "settings of the repository that make git start programs have changed" in said
    assert host.pulls() == []
    follow(in_process(team.runs), said, "handrail pr {} --accept-git-changes", shows="opened draft pull request")
    team.text("resume", "changes-1")
    assert len(host.pulls()) == 1
    assert team.json("show", "changes-1")["status"] == "succeeded"


@pytest.mark.system
def test_a_pull_request_with_a_key_belongs_to_every_run_that_updated_it(team: Team, host: GitHubDouble) -> None:
    team.add("nightly", WORKFLOW.replace("draft: true", "draft: true, key: nightly"))
    push(team, host)
    for task in ("one", "two"):
        team.text("run", "nightly", task)
    (pull,) = host.pulls()
    for run in ("nightly-1", "nightly-2"):
        assert [each["number"] for each in team.json("show", run)["pull_requests"]] == [pull["number"]]
        (listed,) = team.json("status", run)["runs"]
        assert [each["number"] for each in listed["pull_requests"]] == [pull["number"]]
        assert f"PR #{pull['number']}" in team.text("status", run).splitlines()[0]


@pytest.mark.system
@pytest.mark.parametrize("source", ["gh", "keyring"])
def test_a_token_that_is_in_no_variable_pushes_and_is_shown_nowhere(
    team: Team, host: GitHubDouble, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, source: str
) -> None:
    token, tools = host.new_token(prefix="own_").value, tmp_path / "tools"
    tools.mkdir()
    monkeypatch.delenv("GH_TOKEN")
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    if source == "gh":
        put_gh(tools, token)
    else:
        put_keyring(monkeypatch, tools, host.host, token)
    team.add("leaks", WORKFLOW.replace('echo "$TASK" > new.txt', f'echo "$TASK" > new.txt; echo "it is {token}"'))
    push(team, host)
    team.text("run", "leaks", "it breaks")
    (pull,) = host.pulls()
    assert pull["head"]["sha"] == git(host.repository.git.path, "rev-parse", "work/leaks-1")
    shown = team.runs.call("show", "leaks-1", "change").output
    assert "it is " in shown
    assert token not in shown


@pytest.mark.system
def test_an_enterprise_server_is_named_by_the_users_configuration(
    team: Team, host: GitHubDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_API_URL")
    monkeypatch.setenv("GH_ENTERPRISE_TOKEN", os.environ["GH_TOKEN"])
    monkeypatch.delenv("GH_TOKEN")
    said = team.text("run", "hand-on", "it breaks")
    assert "the remote is not on GitHub" in said
    path = team.runs.shop.home / "config.toml"
    path.write_text(f'[github]\napi_url = "{host.api_url}"\n')
    assert "opened draft pull request #1" in team.text("run", "hand-on", "it breaks")


@pytest.mark.system
def test_a_login_that_the_host_refuses_is_named_with_the_command_that_helps(
    team: Team, host: GitHubDouble, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    config = tmp_path / "gitconfig"
    config.write_text('[credential]\n\thelper = "!f() { echo username=ann; echo password=wrong; }; f"\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    said = team.text("run", "hand-on", "it breaks", code=3)
    assert "does not accept the login of your credential helper" in said
    assert "gh auth setup-git --hostname 127.0.0.1" in said
    assert host.pulls() == []
    config.write_text("")
    assert "opened draft pull request #1" in team.text("resume", "hand-on-1")
