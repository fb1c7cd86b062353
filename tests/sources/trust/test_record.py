"""Trust is a set of paths and digests, by repository; secrets stay out of it, and older records are carried over."""

import json
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest

from handrail.sources.trust.store import TrustStore, can_hold_secrets
from handrail.sources.workflow_snapshot import take
from support.sources.workplace import YAML, Workplace, difference, write


def record(work: Workplace) -> dict[str, dict[str, dict[str, list[str]]]]:
    return json.loads((work.folders.data / "trust.json").read_text())


def digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def test_files_are_recorded_by_their_path_in_the_repository(store: TrustStore, main: Path, work: Workplace) -> None:
    store.trust_snapshot(take(main))
    assert record(work)["repositories"] == {
        str(work.repo): {
            ".handrail/workflows/fix/prompts/10-a.md": [digest(b"first\n")],
            ".handrail/workflows/fix/workflow.py": [digest(main.read_bytes())],
        }
    }


def test_files_outside_any_repository_are_recorded_by_their_whole_path(
    store: TrustStore, work: Workplace, tmp_path: Path
) -> None:
    path = write(tmp_path / "x.yaml", YAML.format(name="x"))
    store.trust_snapshot(take(path))
    assert record(work)["files"] == {str(path): [digest(path.read_bytes())]}
    assert store.status_of(take(path).contents).is_granted


def test_a_path_may_have_several_trusted_contents(store: TrustStore, main: Path) -> None:
    texts = ["one\n", "two\n", "three\n"]
    for text in texts:
        main.write_text(text)
        store.trust_snapshot(take(main))
    for text in texts:
        main.write_text(text)
        assert store.status_of(take(main).contents).is_granted
    main.write_text("four\n")
    assert "-three\n+four" in difference(store, main)


def test_only_the_newest_contents_of_a_path_are_remembered(store: TrustStore, main: Path, work: Workplace) -> None:
    for number in range(20):
        main.write_text(f"{number}\n")
        store.trust_snapshot(take(main))
    assert len(record(work)["repositories"][str(work.repo)][".handrail/workflows/fix/workflow.py"]) == 16
    main.write_text("0\n")
    assert not store.status_of(take(main).contents).is_granted


def test_one_changed_file_is_shown_alone(store: TrustStore, main: Path) -> None:
    store.trust_snapshot(take(main))
    write(main.parent / "prompts" / "10-a.md", "second\n")
    missing = store.status_of(take(main).contents).missing
    assert [each.path.name for each in missing] == ["10-a.md"]
    assert difference(store, main).count("+++ now/") == 1


@pytest.mark.parametrize("name", [".env", "prod.env", ".env.local", "id_rsa", "key.pem", "my-secrets.yaml"])
def test_what_may_hold_secrets_is_neither_kept_nor_shown(store: TrustStore, work: Workplace, name: str) -> None:
    assert can_hold_secrets(Path(name))
    main = work.workflow("fix/workflow.yaml", YAML.format(name="fix"))
    secret = work.workflow(f"fix/lib/{name}", "TOKEN=abc\n")
    contents = (*take(main).contents, *take(secret).contents)
    assert "abc" not in store.difference_of(contents)
    store.trust(contents)
    assert store.status_of(take(secret).contents).is_granted
    assert all(b"abc" not in blob.read_bytes() for blob in (work.folders.data / "trust").iterdir())
    secret.write_text("TOKEN=other\n")
    shown = store.difference_of(store.status_of(take(secret).contents).missing)
    assert "not shown because it may contain secrets" in shown
    assert "other" not in shown


def test_a_file_that_became_unusable_is_another_content(store: TrustStore, work: Workplace) -> None:
    main = work.workflow("fix/workflow.yaml", YAML.format(name="fix"))
    tool = work.workflow("fix/tool.sh", "echo harmless\n")
    store.trust_snapshot(take(main))
    tool.write_text("#" * (1 << 20) + "\nevil\n")
    assert not store.status_of(take(main).contents).is_granted


def test_the_first_version_of_the_record_is_carried_over(store: TrustStore, main: Path, work: Workplace) -> None:
    files = {"workflow.py": digest(main.read_bytes()), "prompts/10-a.md": digest(b"first\n")}
    old = {"version": 1, "trusted": {str(main): {"fingerprint": "0" * 64, "files": files}}}
    away = {"/gone/x.yaml": {"fingerprint": "1" * 64, "files": {"x.yaml": "2" * 64}}}
    write(work.folders.data / "trust.json", json.dumps({**old, "trusted": {**old["trusted"], **away}}))  # type: ignore[dict-item]
    assert store.status_of(take(main).contents).is_granted
    other = work.workflow("other.yaml", YAML.format(name="other"))
    store.trust_snapshot(take(other))
    assert record(work)["version"] == 2
    assert store.status_of(take(main).contents).is_granted
    assert record(work)["files"] == {"/gone/x.yaml": ["2" * 64]}


def test_trust_in_a_repository_that_was_away_is_found_again(store: TrustStore, work: Workplace, tmp_path: Path) -> None:
    path = tmp_path / "disk" / "repo" / ".handrail" / "workflows" / "x.yaml"
    text = YAML.format(name="x")
    entry = {"fingerprint": "0" * 64, "files": {"x.yaml": digest(text.encode())}}
    write(work.folders.data / "trust.json", json.dumps({"version": 1, "trusted": {str(path): entry}}))
    store.trust_snapshot(take(work.workflow("other.yaml", YAML.format(name="other"))))
    write(path, text)
    (tmp_path / "disk" / "repo" / ".git").mkdir()
    assert store.status_of(take(path).contents).is_granted


def test_forgetting_a_folder_forgets_what_is_below_it_alone(store: TrustStore, work: Workplace) -> None:
    one = work.workflow("one/workflow.yaml", YAML.format(name="one"))
    two = work.workflow("one-more/workflow.yaml", YAML.format(name="one-more"))
    for main in (one, two):
        store.trust_snapshot(take(main))
    assert store.forget([one.parent])
    assert not store.status_of(take(one).contents).is_granted
    assert store.status_of(take(two).contents).is_granted
    assert store.forget([work.repo])
    assert record(work)["repositories"] == {}


def test_a_content_is_covered_at_its_path_of_its_repository_alone(
    store: TrustStore, main: Path, work: Workplace
) -> None:
    store.trust_snapshot(take(main))
    path, known = ".handrail/workflows/fix/prompts/10-a.md", digest(b"first\n")
    assert store.covers(str(work.repo), path, known)
    assert not store.covers(str(work.repo), path, digest(b"second\n"))
    assert not store.covers(str(work.repo), ".mcp.json", known)
    assert not store.covers(str(work.repo), f"x/../{path}", known)
    assert not store.covers(str(work.repo.parent / "other"), path, known)


def test_a_repository_that_the_configuration_trusts_is_covered(store: TrustStore, work: Workplace) -> None:
    write(work.home / "config.toml", f'[trust]\nrepositories = ["{work.repo}"]\n')
    assert store.covers(str(work.repo), ".mcp.json", digest(b"anything"))
    (work.repo / "vendor" / ".git").mkdir(parents=True)
    assert not store.covers(str(work.repo), "vendor/.mcp.json", digest(b"anything"))


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def linked(work: Workplace, tmp_path: Path) -> Path:
    """A linked worktree of the repository."""
    (work.repo / ".git").rmdir()
    work.workflow("x.yaml", YAML.format(name="x"))
    git(work.repo, "init", "-q")
    git(work.repo, "add", "-A")
    git(work.repo, "commit", "-q", "-m", "Start")
    git(work.repo, "worktree", "add", "-q", str(tmp_path / "linked"))
    return tmp_path / "linked"


def test_a_linked_worktree_shares_the_trust_of_its_repository(store: TrustStore, work: Workplace, linked: Path) -> None:
    store.trust_snapshot(take(work.repo / ".handrail" / "workflows" / "x.yaml"))
    there = linked / ".handrail" / "workflows" / "x.yaml"
    assert store.status_of(take(there).contents).is_granted
    there.write_text("name: x\nsteps: [{name: s, command: evil}]\n")
    assert not store.status_of(take(there).contents).is_granted


def test_a_linked_worktree_is_no_part_of_a_repository_trusted_as_a_whole(
    store: TrustStore, work: Workplace, linked: Path
) -> None:
    write(work.home / "config.toml", f'[trust]\nrepositories = ["{work.repo}"]\n')
    assert not store.status_of(take(linked / ".handrail" / "workflows" / "x.yaml").contents).is_granted


def test_a_folder_cannot_pretend_to_be_a_worktree(
    store: TrustStore, work: Workplace, linked: Path, tmp_path: Path
) -> None:
    store.trust_snapshot(take(work.repo / ".handrail" / "workflows" / "x.yaml"))
    forged = tmp_path / "forged"
    copy = write(forged / ".handrail" / "workflows" / "x.yaml", YAML.format(name="x"))
    write(forged / ".git", (linked / ".git").read_text())
    assert not store.status_of(take(copy).contents).is_granted
    write(forged / "meta" / "commondir", str(work.repo / ".git"))
    write(forged / "meta" / "gitdir", str(forged / ".git"))
    write(forged / ".git", "gitdir: meta")
    assert not store.status_of(take(copy).contents).is_granted
