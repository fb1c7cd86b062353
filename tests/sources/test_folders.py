from pathlib import Path

import pytest

from handrail.sources.folders import folder_variables, repository_root, user_folders


def test_handrail_home_holds_everything(tmp_path: Path) -> None:
    folders = user_folders({"HANDRAIL_HOME": str(tmp_path)})
    assert folders.config == tmp_path
    assert folders.workflows == tmp_path / "workflows"
    assert folders.data == tmp_path / "data"


def test_a_relative_handrail_home_becomes_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert user_folders({"HANDRAIL_HOME": "own"}).config == tmp_path / "own"


def test_a_tilde_in_handrail_home_is_the_users_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/somewhere")
    assert user_folders({"HANDRAIL_HOME": "~/hr"}).config == Path("/somewhere/hr")


@pytest.mark.parametrize("environ", [{}, {"HANDRAIL_HOME": ""}])
def test_without_handrail_home_the_systems_folders_are_used(
    environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    folders = user_folders(environ)
    assert folders.config.is_relative_to(tmp_path)
    assert folders.config.name == folders.data.name == "handrail"
    assert not folders.config.exists()


def test_another_process_finds_the_same_folders_by_the_variables_it_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = user_folders({"HANDRAIL_HOME": str(tmp_path)})
    assert folder_variables(named.data, {"HOME": "/elsewhere"}) == {"HANDRAIL_HOME": str(tmp_path)}
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "kept"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    usual = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "kept")}
    assert folder_variables(user_folders({}).data, {**usual, "LANG": "C"}) == usual


@pytest.mark.parametrize("mark", [".git", ".handrail"])
def test_the_nearest_marked_folder_above_is_the_repository(tmp_path: Path, mark: str) -> None:
    (tmp_path / ".git").mkdir()
    inner = tmp_path / "a" / "b"
    (inner / mark).mkdir(parents=True)
    deep = inner / "c" / "d"
    deep.mkdir(parents=True)
    assert repository_root(deep) == inner
    assert repository_root(tmp_path / "a") == tmp_path


def test_the_git_file_of_a_worktree_marks_a_repository(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: elsewhere")
    assert repository_root(tmp_path) == tmp_path


def test_a_root_folder_without_marks_is_no_repository() -> None:
    assert repository_root(Path("/dev")) is None
