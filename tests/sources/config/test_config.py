from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.model.diagnostics import Diagnostic, Report, Severity
from handrail.model.workflow.settings import Budget
from handrail.sources.config.config import RepositoryConfig, read_repository_config, read_user_config
from support.sources.workplace import Workplace, write


def read(work: Workplace, text: str) -> tuple[RepositoryConfig, list[Diagnostic]]:
    work.repository(".handrail/config.toml", text)
    report = Report()
    return read_repository_config(work.repo, report, ".handrail/config.toml"), list(report)


def told(found: list[Diagnostic]) -> list[tuple[str, str, int, int]]:
    return [(each.code, each.message, each.line, each.column) for each in found]


def test_no_configuration_is_an_empty_one(work: Workplace) -> None:
    report = Report()
    assert read_repository_config(work.repo, report) == RepositoryConfig(work.repo)
    assert list(report) == []


def test_folders_and_checks_are_read_in_order(work: Workplace) -> None:
    (work.repo / "tools" / "flows").mkdir(parents=True)
    text = '[workflows]\nfolders = ["tools/flows"]\n[checks]\ntest = "pytest -q"\nlint = "ruff check"\n'
    config, found = read(work, text)
    assert config.workflow_folders == (work.repo / "tools" / "flows",)
    assert config.checks == (("test", "pytest -q"), ("lint", "ruff check"))
    assert found == []


def test_routing_is_refused_since_nothing_chooses_workflows(work: Workplace) -> None:
    _, found = read(work, '[agent]\ndefault = "claude"\n[routing]\nbug = "fix-bug"\n')
    message = "[routing] is not supported: Handrail does not choose workflows automatically"
    assert told(found) == [("config-key", message, 3, 2)]
    assert found[0].is_error


def test_a_budget_is_read_and_a_limit_that_cannot_be_understood_allows_nothing(work: Workplace) -> None:
    config, found = read(work, '[budget]\nusd = 3\nagent_calls = 2\nat_limit = "finish"\n')
    assert (config.budget, found) == (Budget(usd=3, agent_calls=2, at_limit="finish"), [])
    config, found = read(work, '[budget]\nusd = "3"\ntokens = 1.5\nat_limit = "never"\ncost = 3\n')
    assert config.budget == Budget(usd=0, tokens=0)
    assert [each.message for each in found] == [
        "'usd' of [budget] must be a number, at least 0",
        "'tokens' of [budget] must be a number, at least 0",
        '\'at_limit\' of [budget] must be "ask" or "finish" or "stop"',
        "unknown key 'cost' in [budget]",
    ]


def test_an_unknown_table_is_a_warning_with_the_nearest_name(work: Workplace) -> None:
    config, found = read(work, '[checks]\ntest = "make"\n\n[workflow]\nfolders = []\n')
    assert told(found) == [("config-key", "unknown table 'workflow', did you mean 'workflows'?", 4, 2)]
    assert found[0].severity is Severity.WARNING
    assert config.checks == (("test", "make"),)


def test_a_syntax_error_stands_at_its_line_and_column(work: Workplace) -> None:
    config, found = read(work, '[checks]\ntest = "make\n')
    assert [(each.code, each.file, each.line) for each in found] == [("config-syntax", ".handrail/config.toml", 2)]
    assert found[0].message.startswith("the configuration is not valid TOML: ")
    assert config == RepositoryConfig(work.repo)


def test_a_file_that_ends_too_early_is_a_syntax_error_at_its_end(work: Workplace) -> None:
    _, found = read(work, "[checks]\ntest =")
    assert told(found) == [("config-syntax", "the configuration is not valid TOML: invalid value", 2, 7)]


@pytest.mark.parametrize("folder", ["../other", "/etc", "a/../../b", "", "link"])
def test_a_folder_outside_the_repository_is_refused(work: Workplace, folder: str) -> None:
    (work.repo / "link").symlink_to("/etc")
    config, found = read(work, f'[workflows]\nfolders = ["{folder}"]\n')
    assert config.workflow_folders == ()
    assert told(found) == [("config-value", f"the folder '{folder}' leads outside the repository", 2, 1)]


def test_a_missing_folder_is_a_warning(work: Workplace) -> None:
    config, found = read(work, '[workflows]\nfolders = ["none"]\n')
    assert config.workflow_folders == ()
    assert told(found) == [("config-value", "there is no folder 'none'", 2, 1)]


@pytest.mark.parametrize("value", ['"one"', "3", '["a", 3]', "{a = 1}"])
def test_folders_must_be_a_list_of_texts(work: Workplace, value: str) -> None:
    _, found = read(work, f"[workflows]\nfolders = {value}\n")
    assert ("config-value", "'folders' must be a list of texts", 2, 1) in told(found)


def test_a_check_must_be_a_command(work: Workplace) -> None:
    config, found = read(work, '[checks]\na = "make a"\nb = 3\n"c d" = " "\n')
    assert config.checks == (("a", "make a"),)
    assert told(found) == [
        ("config-value", "the check 'b' is not a command", 3, 1),
        ("config-value", "the check 'c d' is not a command", 4, 1),
    ]


def test_a_value_in_the_place_of_a_table_is_reported(work: Workplace) -> None:
    _, found = read(work, 'checks = "make"\n')
    assert told(found) == [("config-value", "'checks' must be a table", 1, 1)]


def test_an_unknown_key_is_a_warning_at_its_place(work: Workplace) -> None:
    _, found = read(work, "[checks]\n[workflows]\nfolder = []\n")
    assert told(found) == [("config-key", "unknown key 'folder' in [workflows], did you mean 'folders'?", 3, 1)]


def test_a_table_that_is_written_oddly_is_reported_at_the_beginning(work: Workplace) -> None:
    _, found = read(work, '\n"wor\\u006bflow".x = 1\n')
    assert told(found) == [("config-key", "unknown table 'workflow', did you mean 'workflows'?", 1, 1)]


def test_values_nested_without_end_are_refused(work: Workplace) -> None:
    _, found = read(work, "x = " + "[" * 50_000)
    assert [each.code for each in found] == ["config-syntax"]


def test_a_repository_cannot_trust_itself(work: Workplace) -> None:
    _, found = read(work, f'[trust]\nrepositories = ["{work.repo}"]\n')
    assert told(found) == [("config-key", "[trust] in a repository's configuration has no effect", 1, 2)]


def test_a_configuration_behind_an_escaping_link_is_not_read(work: Workplace, tmp_path: Path) -> None:
    write(tmp_path / "elsewhere.toml", '[checks]\ntest = "make"\n')
    (work.repo / ".handrail").mkdir()
    (work.repo / ".handrail" / "config.toml").symlink_to(tmp_path / "elsewhere.toml")
    report = Report()
    assert read_repository_config(work.repo, report).checks == ()
    assert [each.message for each in report] == ["the configuration is not used: it leads outside the repository"]


def test_own_bindings_come_before_workrails(work: Workplace) -> None:
    assert read(work, "")[0].bindings is None
    old = work.repository(".workrail/bindings.json", "{}")
    assert read(work, "")[0].bindings == old
    own = work.repository(".handrail/bindings.json", "{}")
    assert read(work, "")[0].bindings == own


def test_bindings_outside_the_repository_are_not_used(work: Workplace, tmp_path: Path) -> None:
    write(tmp_path / "b.json", "{}")
    (work.repo / ".workrail").mkdir()
    (work.repo / ".workrail" / "bindings.json").symlink_to(tmp_path / "b.json")
    assert read(work, "")[0].bindings is None


def test_the_users_configuration_names_trusted_repositories(work: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    write(work.home / "config.toml", '[trust]\nrepositories = ["/src/one", "~/two", "three", "~no-such-user/x"]\n')
    report = Report()
    config = read_user_config(work.folders, report)
    assert config.trusted_repositories == (Path("/src/one"), Path("/home/someone/two"))
    assert told(list(report)) == [
        ("config-value", "the repository 'three' is not an absolute path", 2, 1),
        ("config-value", "the repository '~no-such-user/x' is not an absolute path", 2, 1),
    ]


@given(st.text(max_size=200))
def test_no_text_crashes_the_reading(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    root = tmp_path_factory.getbasetemp() / "config-fuzz"
    path = write(root / ".handrail" / "config.toml", "")
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    report = Report()
    config = read_repository_config(root, report)
    # Nothing that a text of this kind sets is known: what is not the same as nothing is told.
    assert config == RepositoryConfig(root) or list(report)


def test_the_silence_of_agents_is_a_number_of_seconds(work: Workplace) -> None:
    config, found = read(work, "[agent]\nidle_timeout = 900\n")
    assert (config.idle_timeout, found) == (900, [])
    config, found = read(work, '[agent]\nidle_timeout = "15m"\n')
    assert config.idle_timeout == 600
    assert told(found) == [("config-value", "'idle_timeout' must be a number of seconds", 2, 1)]


def test_how_many_runs_may_run_at_once_is_read_from_both_files(work: Workplace) -> None:
    config, found = read(work, "[resources]\nmax_concurrent_instances = 2\n")
    assert (config.max_instances, found) == (2, [])
    write(work.folders.config / "config.toml", "[resources]\nmax_concurrent_instances = 5\n")
    report = Report()
    assert read_user_config(work.folders, report).max_instances == 5
    assert list(report) == []


@pytest.mark.parametrize("value", ["0", "-1", '"many"', "true", "1.5"])
def test_a_number_of_runs_that_cannot_be_meant_is_reported_and_lets_one_run(work: Workplace, value: str) -> None:
    config, found = read(work, f"[resources]\nmax_concurrent_instances = {value}\n")
    assert config.max_instances == 1
    assert told(found) == [("config-value", "'max_concurrent_instances' must be a number of runs, at least 1", 2, 1)]


def test_a_misspelt_resource_is_reported(work: Workplace) -> None:
    _, found = read(work, "[resources]\nmax_concurent_instances = 2\n")
    assert [each.code for each in found] == ["config-key"]
