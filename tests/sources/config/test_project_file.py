"""`[project]` and `[checks.NAME]`: where the code is, how one file is checked, and what is wrong with what they say."""

from dataclasses import replace

import pytest

from handrail.model.diagnostics import Report
from handrail.model.workflow.settings import NO_PROJECT, FileCheck, Project
from handrail.sources.config.config import RepositoryConfig, read_repository_config
from support.sources.workplace import Workplace

WHOLE = """\
[project]
sources = ["src/**", "!src/**/*.test.ts"]
default_branch = "trunk"
outdated = "./outdated"
update = "./update"

[checks]
test = "npm test"

[checks.test_one]
command = "npx vitest run"
failed = [1, 2]
failed_when = "Tests +[0-9]+ failed"
report = "out/report.xml"
"""


def read(work: Workplace, text: str) -> tuple[RepositoryConfig, list[str]]:
    work.repository(".handrail/config.toml", text)
    report = Report()
    config = read_repository_config(work.repo, report, ".handrail/config.toml")
    return config, [f"{each.line}: {each.message}" for each in report]


def test_all_of_it_is_read(work: Workplace) -> None:
    config, found = read(work, WHOLE)
    one = FileCheck("test_one", "npx vitest run", (1, 2), "out/report.xml", "Tests +[0-9]+ failed")
    sources = ("src/**", "!src/**/*.test.ts")
    assert config.project == Project(sources, "trunk", "./outdated", "./update", (one,))
    assert config.checks == (("test", "npm test"),)
    assert found == []


def test_a_check_of_files_alone_makes_a_project(work: Workplace) -> None:
    config, found = read(work, '[checks]\ntest_one = {command = "pytest -q"}\n')
    assert config.project == replace(NO_PROJECT, file_checks=(FileCheck("test_one", "pytest -q"),))
    assert (config.checks, found) == ((), [])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[project]\nsources = 3\n", "2: 'sources' must be a list of globs inside the repository"),
        ('[project]\nsources = ["../x"]\n', "2: 'sources' must be a list of globs inside the repository"),
        ('[project]\nsources = ["!x"]\n', "2: 'sources' contains only exclusions, so it matches nothing"),
        ("[project]\nbranch = 1\n", "2: unknown key 'branch' in [project]"),
        ("[project]\noutdated = []\n", "2: 'outdated' must be a text"),
        ("[checks.test_one]\nfailed = [1]\n", "1: [checks.test_one] has no command"),
        ('[checks.one]\ncommand = "x"\nfailed = 1.5\n', "3: 'failed' must be a list of exit codes from 1 to 255"),
        ('[checks.one]\ncommand = "x"\nfailed = [0]\n', "3: 'failed' must be a list of exit codes from 1 to 255"),
        ('[checks.one]\ncommand = "x"\nfailed = [true]\n', "3: 'failed' must be a list of exit codes from 1 to 255"),
        ('[checks.one]\ncommand = "x"\nreport = "/tmp/r"\n', "3: 'report' must be a path inside the repository"),
        (
            '[checks.one]\ncommand = "x"\nfaild = [1]\n',
            "3: unknown key 'faild' in [checks.one], did you mean 'failed'?",
        ),
    ],
)
def test_what_is_wrong_is_said_at_its_place(work: Workplace, text: str, message: str) -> None:
    _, found = read(work, text)
    assert found == [message]


@pytest.mark.parametrize("pattern", ["(", "*", "[a"])
def test_a_pattern_that_is_none_is_refused(work: Workplace, pattern: str) -> None:
    config, found = read(work, f'[checks.one]\ncommand = "x"\nfailed_when = "{pattern}"\n')
    assert len(found) == 1
    assert "'failed_when' is not a valid pattern" in found[0]
    assert config.project.file_checks == (FileCheck("one", "x"),)


def test_one_exit_code_may_stand_alone(work: Workplace) -> None:
    config, found = read(work, '[checks.one]\ncommand = "x"\nfailed = 7\n')
    assert (config.project.file_checks[0].failed, found) == ((7,), [])
