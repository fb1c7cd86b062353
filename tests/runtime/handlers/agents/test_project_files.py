"""Which files of a repository count as the configuration of an agent, and whether the user has trusted them."""

import os
import subprocess
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import pytest

from handrail.agents.profiles import load_profiles
from handrail.ports.agent_profiles import AgentProfile, ProjectFiles
from handrail.runtime.handlers.agents import project_files
from handrail.runtime.handlers.agents.project_files import Verdict, examine, find_project, refusal, write_note

FILES = ProjectFiles(("settings.json", ".agent/**"), above=("settings.json",))
GLOBS = ProjectFiles(("settings.json", ".agent/**/*"), above=("settings.json",))


@dataclass
class Trusted:
    """The `TrustedFiles` of a table."""

    files: set[tuple[str, str, str]] = field(default_factory=set[tuple[str, str, str]])
    asked: list[str] = field(default_factory=list[str])
    everything: bool = False

    def covers(self, repository: str, path: str, digest: str) -> bool:
        self.asked.append(path)
        return self.everything or (repository, path, digest) in self.files

    def trust(self, repository: Path, *paths: str) -> None:
        for path in paths:
            digest = sha256((repository / path).read_bytes()).hexdigest()
            self.files.add((str(repository), path, digest))


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    folder = tmp_path / "repo"
    (folder / ".git").mkdir(parents=True)
    return folder


def put(folder: Path, *paths: str, text: str = "x") -> None:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def look(repository: Path, trusted: Trusted | None = None, inside: str = "", files: ProjectFiles = FILES) -> Verdict:
    return examine(files, str(repository / inside), str(repository), trusted or Trusted(), os.environ["HOME"])


def test_a_repository_without_such_files_has_nothing_to_trust(repository: Path) -> None:
    put(repository, "AGENTS.md", "src/main.py")
    trusted = Trusted()
    found = look(repository, trusted)
    assert (found.project.files, found.found, found.untrusted, trusted.asked) == ("absent", (), (), [])


def test_every_file_must_be_trusted_with_these_very_bytes(repository: Path) -> None:
    put(repository, "settings.json", ".agent/hooks/a.sh", ".agent/deep/er/b.md")
    trusted = Trusted()
    trusted.trust(repository, "settings.json", ".agent/deep/er/b.md")
    assert look(repository, trusted).untrusted == (".agent/hooks/a.sh",)
    trusted.trust(repository, ".agent/hooks/a.sh")
    assert (look(repository, trusted).project.files, look(repository, trusted).untrusted) == ("trusted", ())
    put(repository, "settings.json", text="y")
    assert look(repository, trusted).untrusted == ("settings.json",)
    assert look(repository, trusted).project.files == "untrusted"


def test_a_glob_means_the_files_that_python_finds_by_it(repository: Path) -> None:
    put(repository, "settings.json", ".agent/a", ".agent/.b", ".agent/c/d/e")
    found = look(repository, files=GLOBS).found
    globbed = (path for name in GLOBS.names for path in repository.glob(name) if path.is_file())
    assert set(found) == {path.relative_to(repository).as_posix() for path in globbed}
    assert found == look(repository).found


def test_a_new_file_beside_trusted_ones_is_not_trusted(repository: Path) -> None:
    put(repository, ".agent/a")
    trusted = Trusted()
    trusted.trust(repository, ".agent/a")
    put(repository, ".agent/.hidden", ".agent/n\new")
    assert set(look(repository, trusted).untrusted) == {".agent/.hidden", ".agent/n\new"}


def test_without_anybody_to_ask_nothing_is_trusted(repository: Path) -> None:
    put(repository, "settings.json")
    assert examine(FILES, str(repository), str(repository), None, os.environ["HOME"]).untrusted == ("settings.json",)


def test_the_paths_of_a_worktree_are_those_of_the_checkout(repository: Path, tmp_path: Path) -> None:
    worktree = tmp_path / "data" / "worktree"
    put(worktree, "settings.json")
    (worktree / ".git").write_text(f"gitdir: {repository}/.git/worktrees/one\n")
    put(repository, "settings.json")
    trusted = Trusted()
    trusted.trust(repository, "settings.json")
    found = examine(FILES, str(worktree), str(repository), trusted, os.environ["HOME"])
    assert (found.project.checkout, found.project.files) == (str(repository), "trusted")
    put(repository, "settings.json", text="another content than that of the worktree")
    assert examine(FILES, str(worktree), str(repository), trusted, os.environ["HOME"]).project.files == "trusted"


def test_the_main_checkout_counts_for_agents_that_read_it(repository: Path, tmp_path: Path) -> None:
    worktree = tmp_path / "worktree"
    worktree.mkdir()
    (worktree / ".git").write_text(f"gitdir: {repository}/.git/worktrees/one\n")
    put(repository, "settings.json")
    files = ProjectFiles(("settings.json",), checkout=True)
    assert look(worktree, files=ProjectFiles(("settings.json",))).project.files == "absent"
    assert look(worktree, files=files).untrusted == ("settings.json",)
    put(worktree, "settings.json", text="trusted here, and not there")
    trusted = Trusted()
    trusted.trust(worktree, "settings.json")
    assert look(worktree, trusted, files=files).untrusted == ("settings.json",)


def test_git_itself_makes_the_worktree_that_is_recognised(tmp_path: Path) -> None:
    for words in ("init -q a", "-C a -c user.name=a -c user.email=a@b commit -q --allow-empty -m s"):
        subprocess.run(["git", *words.split()], cwd=tmp_path, check=True)
    subprocess.run(["git", "worktree", "add", "-q", "../b"], cwd=tmp_path / "a", check=True)
    project = find_project(str(tmp_path / "b"))
    assert (project.folders, project.checkout) == ((str(tmp_path / "b"),), str(tmp_path / "a"))


@pytest.mark.parametrize("text", ["", "gitdir:", "nonsense", "gitdir: ../nowhere", "gitdir: /x/worktrees/y"])
def test_a_file_that_only_looks_like_a_worktree_has_no_checkout(tmp_path: Path, text: str) -> None:
    (tmp_path / ".git").write_text(text)
    assert find_project(str(tmp_path)).checkout == ""


def test_folders_between_the_working_folder_and_the_root_count(repository: Path) -> None:
    put(repository, "settings.json", "a/.agent/x", "a/b/settings.json", "c/settings.json")
    found = look(repository, inside="a/b")
    assert set(found.untrusted) == {"settings.json", "a/.agent/x", "a/b/settings.json"}
    assert found.project.folders == tuple(map(str, (repository / "a/b", repository / "a", repository)))


def test_a_linked_way_to_the_working_folder_changes_nothing(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(repository)
    put(repository, "settings.json")
    trusted = Trusted()
    trusted.trust(repository, "settings.json")
    found = examine(FILES, str(tmp_path / "link"), str(repository), trusted, os.environ["HOME"])
    assert (found.project.root, found.project.files) == (str(repository), "trusted")


def test_files_above_the_repository_are_named_in_full_and_never_hidden(repository: Path, tmp_path: Path) -> None:
    put(tmp_path, "settings.json", ".agent/x")
    assert look(repository).untrusted == (str(tmp_path / "settings.json"),)


def test_what_lies_in_the_users_own_folder_is_the_users_own(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "settings.json")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert look(repository).project.files == "absent"


def test_without_a_repository_every_folder_above_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    put(tmp_path, "a/.agent/x", "a/b/settings.json")
    assert set(look(tmp_path / "a/b").untrusted) == {"settings.json", str(tmp_path / "a/.agent/x")}


def test_a_linked_file_counts_with_what_it_leads_to_inside_of_the_repository(repository: Path) -> None:
    put(repository, "shared/real.json")
    (repository / "settings.json").symlink_to("shared/real.json")
    trusted = Trusted()
    trusted.trust(repository, "settings.json")
    assert look(repository, trusted).project.files == "trusted"
    put(repository, "shared/real.json", text="y")
    assert look(repository, trusted).untrusted == ("settings.json",)


def test_a_linked_folder_inside_of_the_repository_is_looked_into(repository: Path) -> None:
    put(repository, "skills/one/text.md")
    (repository / ".agent").mkdir()
    (repository / ".agent/skills").symlink_to("../skills")
    (repository / ".agent/loop").symlink_to("../.agent")
    trusted = Trusted()
    trusted.trust(repository, ".agent/skills/one/text.md")
    assert look(repository, trusted).found == (".agent/skills/one/text.md",)
    assert look(repository, trusted).project.files == "trusted"


@pytest.mark.parametrize("link", ["settings.json", ".agent", ".agent/inner"])
def test_what_leads_out_of_the_repository_is_not_trusted(repository: Path, tmp_path: Path, link: str) -> None:
    put(tmp_path, "outside/settings.json", "outside/x")
    (repository / link).parent.mkdir(exist_ok=True)
    (repository / link).symlink_to(tmp_path / "outside" / (link if link.endswith("json") else ""))

    assert look(repository, Trusted(everything=True)).untrusted == (link,)


def test_what_is_no_plain_file_is_not_trusted_and_holds_nothing_up(repository: Path) -> None:
    os.mkfifo(repository / "settings.json")
    (repository / ".agent").mkdir()
    (repository / ".agent/gone").symlink_to("nowhere")
    (repository / ".agent/self").symlink_to("self")
    assert set(look(repository).untrusted) == {"settings.json", ".agent/gone", ".agent/self"}


def test_a_folder_in_the_place_of_a_file_is_nothing_that_an_agent_reads(repository: Path) -> None:
    put(repository, "settings.json/x")
    assert look(repository).project.files == "absent"


def test_a_file_in_the_place_of_a_folder_counts(repository: Path) -> None:
    put(repository, ".agent")
    assert look(repository).untrusted == (".agent",)


def test_what_is_too_large_or_too_much_to_be_read_at_each_start_is_not_trusted(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(repository, "settings.json", text="12345")
    monkeypatch.setattr(project_files, "MAX_BYTES", 4)
    assert look(repository, Trusted(everything=True)).untrusted == ("settings.json",)
    monkeypatch.setattr(project_files, "MAX_BYTES", 5)
    monkeypatch.setattr(project_files, "MAX_FILES", 3)
    assert look(repository, Trusted(everything=True)).project.files == "trusted"
    for number in range(9):
        put(repository, f".agent/{number}/x")
    assert look(repository, Trusted(everything=True)).project.files == "untrusted"


def test_only_a_digest_of_a_file_with_secrets_is_kept(repository: Path, tmp_path: Path) -> None:
    put(repository, "settings.json", text="KEY=very-secret")
    write_note(tmp_path / "note", look(repository))
    assert "very-secret" not in (tmp_path / "note").read_text()
    assert (tmp_path / "note").read_text() == '{"used": false, "files": ["settings.json"], "count": 1}'
    (repository / "settings.json").unlink()
    write_note(tmp_path / "note", look(repository))
    assert not (tmp_path / "note").exists()


def test_a_refusal_says_what_to_trust_and_where(repository: Path, tmp_path: Path) -> None:
    put(repository, "settings.json", ".agent/a", ".agent/b", ".agent/c")
    told = refusal("gemini", look(repository), str(repository))
    assert told.why == (
        "gemini always reads its files in the repository, "
        "and you have not trusted settings.json, .agent/a, .agent/b and 1 more"
    )
    assert (told.hint, told.missing) == (f"review them, then: handrail trust {repository}", False)
    put(tmp_path, "settings.json")
    other = tmp_path / "other"
    (other / ".git").mkdir(parents=True)
    assert refusal("gemini", look(other), str(other)).hint == "move it elsewhere, or leave out `--in`"


@pytest.mark.parametrize("profile", load_profiles(), ids=lambda each: each.name)
def test_every_agent_of_a_vendor_names_its_files_as_paths_of_a_repository(profile: AgentProfile) -> None:
    assert profile.project_files
    for name in profile.project_files:
        plain = name.removesuffix("/**/*")
        assert not set("*?[") & set(plain)
        assert ".." not in Path(plain).parts
