"""Which tracker a place has, with whose token it is called, and what doctor says about it."""

import asyncio
from pathlib import Path

import pytest

from handrail.errors import NoToken, TrackerFault
from handrail.model.issues import IssueDraft, IssueRef, Marker, RepositoryRef
from handrail.operations.issue_runs.issue_reference import find_issue
from handrail.processes.environment import build_run_environment, filter_environment
from handrail.processes.run_environment import HandedEnvironments, SharedEnvironments
from handrail.runtime.work_stream import read_work
from handrail.sources.folders import Folders
from handrail.store.memory.log import MemoryWorld
from handrail.trackers.github.api.variables import NAMES
from handrail.wiring.trackers import Trackers, examine_github
from support.beads.install import add_beads, ask_double
from support.github.double import GitHubDouble
from support.github.fixtures import github, github_server
from support.github.logins import put_gh, put_keyring
from support.issues.desk import make_room

__all__ = ["github", "github_server"]
SHOP = "github.com/acme/shop"


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    return Folders(tmp_path, tmp_path / "data")


def make(folders: Folders) -> tuple[Trackers, HandedEnvironments]:
    environments = HandedEnvironments(SharedEnvironments(lambda _agent, _variables: ""), lambda run: run)
    return Trackers(folders, environments, MemoryWorld().open()), environments


def test_a_place_has_its_tracker(folders: Folders) -> None:
    trackers, _ = make(folders)
    assert trackers.tracker("local").kind == "local"
    assert trackers.tracker(SHOP).kind == "github"
    for place in ("acme/shop", "unheard.org/acme/shop"):
        with pytest.raises(TrackerFault):
            trackers.tracker(place)


def test_the_configured_host_is_known(folders: Folders) -> None:
    remote = "git@git.acme.org:acme/shop.git"
    assert make(folders)[0].repository_of(remote) is None
    (folders.config / "config.toml").write_text('[github]\napi_url = "https://git.acme.org/api/v3"\n', "utf-8")
    assert make(folders)[0].repository_of(remote) == RepositoryRef("git.acme.org", "acme", "shop")
    assert make(folders)[0].repository_of("git@github.com:acme/shop.git") == RepositoryRef("github.com", "acme", "shop")


def test_a_setting_that_cannot_be_understood_is_refused(folders: Folders) -> None:
    (folders.config / "config.toml").write_text("[github]\napi_url = 5\n", "utf-8")
    with pytest.raises(TrackerFault, match="'api_url' must be a text"):
        make(folders)
    assert "must be a text" in examine_github(folders).problem


def test_a_run_uses_the_token_of_whoever_started_it(
    github: GitHubDouble, folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = github.person("ann", "write")
    place = f"{github.host}/{github.repository.full_name}"
    for name, value in github.environment().items():
        monkeypatch.setenv(name, value)
    trackers, environments = make(folders)
    environments.hold("hers", {"GITHUB_API_URL": github.api_url, "GH_TOKEN": ann.token.value})
    assert asyncio.run(trackers.tracker(place).me()) == "handrail-user"
    assert asyncio.run(trackers.tracker(place, "hers").me()) == "ann"
    ref = IssueRef(place, str(ann.open_issue("Hers")))
    asyncio.run(trackers.tracker(place, "hers").put_comment(ref, "Step 1", Marker(what="progress", key="hers")))
    assert github.comments(int(ref.id))[0]["user"]["login"] == "ann"
    repository = trackers.repository_of(github.clone_url())
    assert repository is not None
    assert asyncio.run(trackers.pull_requests(repository, "hers").me()) == "ann"


def test_a_host_that_only_the_environment_of_a_run_names_is_known_to_that_run(
    github: GitHubDouble, folders: Folders
) -> None:
    trackers, environments = make(folders)
    environments.hold("hers", {"GITHUB_API_URL": github.api_url})
    assert trackers.repository_of(github.clone_url()) is None
    found = trackers.repository_of(github.clone_url(), "hers")
    assert str(found) == f"{github.host}/{github.repository.full_name}"


def test_the_background_driver_gets_the_token_and_commands_do_not() -> None:
    parent = {"GH_TOKEN": "ghp_x", "GITHUB_API_URL": "https://git.acme.org/api/v3", "PATH": "/bin", "OTHER_TOKEN": "y"}
    handed = build_run_environment(parent, NAMES)
    assert handed == {name: value for name, value in parent.items() if name != "OTHER_TOKEN"}
    assert filter_environment(handed) == {"PATH": "/bin"}


def test_without_a_token_the_two_ways_to_get_one_are_named(
    folders: Folders, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoToken) as missing:
        asyncio.run(make(folders)[0].tracker(SHOP).me())
    assert missing.value.next_step == "gh auth login, or set GH_TOKEN"
    found = examine_github(folders)
    assert (found.host, found.source, found.problem) == ("github.com", "", "no token")


def test_gh_is_asked_for_a_token(folders: Folders, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "gh"
    program.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/asked\necho gho_from_gh\n', "utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    found = examine_github(folders)
    assert (found.source, "cannot be reached" in found.problem) == ("gh auth token", True)
    assert (tmp_path / "asked").read_text("utf-8") == "auth token --hostname github.com\n"


def test_doctor_says_whose_token_it_is_and_what_it_may_do(
    github: GitHubDouble, folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in github.environment(github.new_token(scopes=("repo", "workflow"))).items():
        monkeypatch.setenv(name, value)
    found = examine_github(folders)
    assert (found.login, found.source, found.scopes) == ("handrail-user", "GH_TOKEN", ("repo", "workflow"))
    assert found.remaining is not None
    assert not found.starts_no_checks
    job = github.new_token(prefix="ghs_", login="github-actions[bot]")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    for name, value in github.environment(job).items():
        monkeypatch.setenv(name, value)
    assert examine_github(folders).starts_no_checks


def test_doctor_names_a_token_that_is_not_accepted(
    github: GitHubDouble, folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_API_URL", github.api_url)
    monkeypatch.setenv("GH_TOKEN", "ghp_revoked")
    found = examine_github(folders)
    assert "does not accept the token from GH_TOKEN" in found.problem
    assert "ghp_revoked" not in found.problem + found.next_step


@pytest.mark.parametrize("source", ["gh auth token", "the keyring"])
def test_a_token_that_is_in_no_variable_is_used_and_removed_from_what_the_run_records(
    github: GitHubDouble, folders: Folders, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, source: str
) -> None:
    if source == "the keyring":
        put_keyring(monkeypatch, tmp_path, github.host, github.token)
    else:
        put_gh(tmp_path, github.token)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    trackers, environments = make(folders)
    environments.hold("hers", {"GITHUB_API_URL": github.api_url})
    repository = trackers.repository_of(github.clone_url(), "hers")
    assert repository is not None
    assert trackers.token_for(repository, "hers") == github.token
    assert asyncio.run(trackers.pull_requests(repository, "hers").me()) == "handrail-user"
    assert github.token not in environments.environment_of("hers").redactor.text(f"it is {github.token}.")
    assert f"secret:{source}" in environments.environment_of("hers").redactor.text(f"x{github.token}")


def test_equal_ids_of_two_repositories_with_beads_are_two_issues(
    folders: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("handrail.wiring.trackers.ask_program", ask_double)
    monkeypatch.delenv("BD_JSON_ENVELOPE", raising=False)
    environments = make(folders)[1]
    room = make_room(tmp_path)
    refs: list[IssueRef] = []
    runs: list[str] = []
    for folder in (tmp_path / "ann" / "shop", tmp_path / "bob" / "shop"):
        folder.mkdir(parents=True)
        trackers = Trackers(folders, environments, room.room.log, add_beads(folder))
        room.trackers = trackers
        place = trackers.own_place()
        refs.append(room.do(trackers.tracker(place).create(IssueDraft(title="Same"), Marker(what="issue", key="1"))))
        runs.append(room.start(room.do(trackers.tracker(place).read(refs[-1]))))
        assert room.do(trackers.tracker("beads").read(IssueRef("beads", refs[-1].id))).title == "Same"
        assert find_issue(f"beads#{refs[-1].id}", "", trackers) == refs[-1]
        assert find_issue(str(refs[-1]), "", trackers) == refs[-1]
        assert find_issue(refs[-1].id, "", trackers) == refs[-1]
    assert refs[0].id == refs[1].id
    assert refs[0].place != refs[1].place
    assert not any(ref.is_hosted or ref.is_local or ref.knows_authors for ref in refs)
    assert [read_work(room.room.log, ref).runs for ref in refs] == [(run,) for run in runs]
    assert len(set(runs)) == 2
    with pytest.raises(TrackerFault, match="belong to another repository"):
        Trackers(folders, environments, room.room.log, tmp_path / "ann" / "shop").tracker(refs[1].place)
