"""What `init` says of a trial."""

from dataclasses import replace
from pathlib import Path

import pytest

from handrail.cli.render.init import Report, trial_lines
from handrail.operations.init.config_text import Settings
from handrail.operations.init.find_out import ProjectSurvey
from handrail.operations.init.trial import TrialResult
from handrail.ports.repositories import Head
from handrail.sources.config.config import RepositoryConfig
from handrail.sources.projects.detect import Project

SURVEY = ProjectSurvey(
    Path("/r"), "main", Head("main", "c" * 40), (), (), (), Project(), (), (), RepositoryConfig(Path("/r"))
)


@pytest.mark.parametrize(
    ("command", "seconds", "said"),
    [
        ("npm ci", 14.0, "every run repeats set-up in its own worktree: 14 s; add --prefer-offline"),
        ("uv sync", 7.0, "every run repeats set-up in its own worktree: 7 s"),
        ("uv sync", 0.5, ""),
    ],
)
def test_a_set_up_that_takes_long_is_said_to_be_repeated_by_every_run(command: str, seconds: float, said: str) -> None:
    tried = (TrialResult("worktree", "", 0.1, "green"), TrialResult("setup", command, seconds, "green"))
    text = " ".join(" ".join(trial_lines(Report(SURVEY, Settings(), Settings(), tried))).split())
    assert (said in text) if said else ("every run repeats" not in text)


@pytest.mark.parametrize(
    ("installed", "command", "offered"),
    [
        (("node_modules",), "npm ci", 'setup = [] and copy = ["node_modules"]'),
        (("vendor",), "composer install", 'setup = [] and copy = ["vendor"]'),
        (("vendor",), "npm ci", ""),
        ((), "npm ci", ""),
    ],
)
def test_packages_that_the_checkout_has_are_offered_to_be_copied(
    installed: tuple[str, ...], command: str, offered: str
) -> None:
    tried = (TrialResult("worktree", "", 0.1, "green"), TrialResult("setup", command, 14.0, "green"))
    report = Report(replace(SURVEY, installed=installed), Settings(), Settings(), tried)
    text = " ".join(" ".join(trial_lines(report)).split())
    assert (offered in text) if offered else ("from your checkout" not in text)
