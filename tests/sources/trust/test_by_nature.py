"""Who is trusted without a record: the user's own, Handrail's, and repositories that the user's configuration names."""

from pathlib import Path

import pytest

from handrail.sources.trust.store import TrustStore
from handrail.sources.workflow_snapshot import take
from support.sources.workplace import YAML, Workplace, write


def test_the_users_own_and_the_built_in_workflows_are_trusted_by_nature(store: TrustStore, work: Workplace) -> None:
    own = work.user("mine/workflow.py", work.python("mine"))
    assert store.status_of(take(own).contents).state == "trusted"
    assert store.status_of(take(own).contents).reason == "it is one of your own"
    assert store.status_of(take(work.find("fix-bug").main).contents).reason == "it is part of Handrail"


def test_a_link_in_the_users_folder_does_not_vouch_for_a_repository(
    store: TrustStore, main: Path, work: Workplace
) -> None:
    work.folders.workflows.mkdir(parents=True)
    (work.folders.workflows / "fix").symlink_to(main.parent)
    assert store.status_of(take(work.folders.workflows / "fix" / "workflow.py").contents).state == "never"


def test_the_users_configuration_can_trust_a_repository_as_a_whole(
    store: TrustStore, main: Path, work: Workplace
) -> None:
    write(work.home / "config.toml", f'[trust]\nrepositories = ["{work.repo}"]\n')
    assert store.status_of(take(main).contents).state == "repository"
    assert store.status_of(take(main).contents).is_granted
    main.write_text("changed")
    assert store.status_of(take(main).contents).is_granted


def test_a_repository_inside_a_trusted_one_is_another(store: TrustStore, work: Workplace) -> None:
    write(work.home / "config.toml", f'[trust]\nrepositories = ["{work.repo}"]\n')
    inner = work.repository("vendor/x/.handrail/workflows/y.yaml", YAML.format(name="y"))
    assert store.status_of(take(inner).contents).is_granted
    (work.repo / "vendor" / "x" / ".git").mkdir()
    assert not store.status_of(take(inner).contents).is_granted


@pytest.mark.parametrize(
    "text", ['[trust]\nrepositories = ["{repo}/.."]', '[trust]\nrepositories = ["{repo}x"]', "[[[", "trust = 1"]
)
def test_other_words_in_the_configuration_trust_nothing(
    store: TrustStore, main: Path, work: Workplace, text: str
) -> None:
    write(work.home / "config.toml", text.replace("{repo}", str(work.repo)))
    assert store.status_of(take(main).contents).state == "never"


def test_a_workflow_outside_every_repository_is_in_no_trusted_one(
    store: TrustStore, work: Workplace, tmp_path: Path
) -> None:
    write(work.home / "config.toml", f'[trust]\nrepositories = ["{work.repo}"]\n')
    assert not store.status_of(take(write(tmp_path / "x.yaml", YAML.format(name="x"))).contents).is_granted


def test_a_repositorys_own_configuration_trusts_nothing(store: TrustStore, main: Path, work: Workplace) -> None:
    work.repository(".handrail/config.toml", f'[trust]\nrepositories = ["{work.repo}"]\n')
    assert not store.status_of(take(main).contents).is_granted
