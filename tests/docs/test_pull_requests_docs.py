"""The page docs/pull-requests.md is tried out as it stands, on the double of GitHub."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.docs.commands import Shown, commands, fits
from support.docs.examples import problems
from support.docs.pages import blocks
from support.docs.repository import begin, shown
from support.github.double import GitHubDouble
from support.github.fixtures import github, github_server

__all__ = ["github", "github_server", "shown"]
PAGE = "docs/pull-requests.md"


def run(shown: Shown, github: GitHubDouble, line: str) -> str:
    """Run a command line of the page where the double takes the place of GitHub."""
    names = ("GITHUB_API_URL", "GH_TOKEN")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    own = {"PATH": path, "HANDRAIL_HOME": str(shown.home), "HOME": str(shown.home), "NO_COLOR": "1"}
    env = {**own, "GIT_CONFIG_NOSYSTEM": "1", **{name: github.environment()[name] for name in names}}
    done = subprocess.run(
        ["sh", "-c", f"{line} 2>&1"], cwd=shown.root, env=env, capture_output=True, text=True, check=False
    )
    address = re.sub(rf"{re.escape(github.url)}/acme/[\w-]+", "https://github.com/acme/shop", done.stdout)
    return re.sub(r"\d+(\.\d)?s\b", "0.0s", address)


def test_every_command_of_the_page_prints_what_it_shows(shown: Shown, github: GitHubDouble) -> None:
    begin(shown, PAGE)
    bare = str(github.repository.git.path)
    for words in (("remote", "add", "origin", github.clone_url()), ("push", "-qf", bare, "main")):
        subprocess.run(["git", *words], cwd=shown.root, check=True, capture_output=True)
    console = [block for block in blocks(PAGE) if block.language == "console"]
    ran = [(each, run(shown, github, each.line)) for block in console for each in commands(block)]
    untrue = [f"$ {each.line}\n{printed}" for each, printed in ran if not fits(each.expected, printed)]
    assert untrue == []
    assert {each["title"] for each in github.pulls()} == {"Paint the fence blue", "Say hello"}


@pytest.mark.parametrize("name", ["greet", "paint"])
def test_the_workflows_of_the_page_compile(name: str) -> None:
    (workflow,) = [block for block in blocks(PAGE) if f"/{name}/" in block.notes.get("file", "")]
    assert problems(workflow) == ""
