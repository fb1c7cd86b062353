"""Agents that are described by data: what is read, and what is wrong with what is written."""

from pathlib import Path

import pytest
from inline_snapshot import snapshot

from handrail.agents.registry import BuiltInCatalog
from handrail.model.diagnostics import Diagnostic, Report
from handrail.ports.agent_definitions import AgentDefinition, BrokenDefinition, LoadedDefinition, ValueMapping
from handrail.sources.config.agents_file import read_agents_file, read_user_agents
from handrail.sources.folders import Folders


def read(tmp_path: Path, text: str) -> tuple[tuple[LoadedDefinition, ...], list[Diagnostic]]:
    path = tmp_path / "agents.toml"
    path.write_text(text)
    report = Report()
    return read_agents_file(path, report), list(report)


def wrong(tmp_path: Path, text: str) -> tuple[str, int, str]:
    """The one problem of a table of an agent: message, line, hint."""
    after = "[agents.last]\ncommand = ['x']\naccess = ['full']"
    (_, found, _), (problem,) = read(tmp_path, f"[agents.other]\ncommand = ['x']\n[agents.mine]\n{text}\n{after}\n")
    assert isinstance(found, BrokenDefinition), found
    assert found.message == f"{tmp_path / 'agents.toml'}:{problem.line}: {problem.message}"
    return problem.message, problem.line, problem.hint or ""


def test_no_file_is_no_agents(tmp_path: Path) -> None:
    report = Report()
    assert read_user_agents(Folders(tmp_path, tmp_path / "data"), report) == ()
    assert list(report) == []


def test_agents_of_the_users_config_come_before_those_of_the_file_for_agents(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[agents.one]\ncommand = ['one']\n")
    (tmp_path / "agents.toml").write_text("[agents.two]\ncommand = ['two']\n")
    found = read_user_agents(Folders(tmp_path, tmp_path / "data"), Report())
    assert [each.name for each in found] == ["one", "two"]


def test_a_whole_definition_is_read(tmp_path: Path) -> None:
    text = """
[agents.mine]
command = ["mine", "run", "{options}", "--", "{prompt}"]
env = {QUIET = "1"}
variables = ["MINE_*"]
output = "jsonl"
final = {"$.type" = "end"}
resume = ["--resume", "{session}"]
model = ["--model={model}"]
access = {read = ["--read-only"], full = []}
exit_codes = {3 = "rate_limited"}
install = "pip install mine"
[agents.mine.answer]
text = {path = "$.parts[0].text", where = {"$.type" = "say"}, add = true}
session = "$.session"
"""
    found, problems = read(tmp_path, text)
    assert problems == []
    assert found == (
        AgentDefinition(
            name="mine",
            command=("mine", "run", "{options}", "--", "{prompt}"),
            env=(("QUIET", "1"),),
            variables=("MINE_*",),
            output="jsonl",
            mapped=(
                ValueMapping("text", ("parts", 0, "text"), ((("type",), "say"),), add=True),
                ValueMapping("session", ("session",)),
            ),
            final=((("type",), "end"),),
            resume=("--resume", "{session}"),
            model=("--model={model}",),
            access=(("read", ("--read-only",)), ("full", ())),
            exit_codes=((3, "rate_limited"),),
            install="pip install mine",
        ),
    )


def test_without_a_word_about_access_only_full_is_claimed(tmp_path: Path) -> None:
    (found,), _ = read(tmp_path, "[agents.mine]\ncommand = ['mine']\n[agents.mine.env]\nA = 'b'\n")
    assert isinstance(found, AgentDefinition)
    assert (found.access, found.env, found.on_stdin) == ((("full", ()),), (("A", "b"),), True)


def test_a_renamed_program_and_an_agent_of_the_protocol_are_read(tmp_path: Path) -> None:
    text = "[agents.claude]\nprogram = '/opt/claude'\n[agents.zed]\nprotocol = 'acp'\ncommand = ['zed', '--acp']\n"
    (renamed, spoken), problems = read(tmp_path, text)
    assert problems == []
    assert renamed == AgentDefinition(name="claude", program="/opt/claude")
    assert isinstance(spoken, AgentDefinition)
    assert (spoken.protocol, spoken.command) == ("acp", ("zed", "--acp"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "command = 'mine --message {prompt}'",
            snapshot(
                (
                    "agent 'mine': `command` must be a list of texts, one for each word: no shell splits it",
                    4,
                    'write command = ["my-agent", "--message={prompt}"]',
                )
            ),
        ),
        (
            "install = 'x'",
            snapshot(("agent 'mine': it has no command", 3, 'write command = ["my-agent", "--message={prompt}"]')),
        ),
        (
            "command = ['mine', '{promt}']",
            snapshot(
                (
                    "agent 'mine': `command` does not support {promt}, did you mean 'prompt'?",
                    4,
                    "supported here: {prompt}, {prompt_file}, {workspace}, {folder}, {options}",
                )
            ),
        ),
        (
            "command = ['mine', '--x={options}']",
            snapshot(
                ("agent 'mine': `{options}` must be a separate word", 4, 'write command = ["my-agent", "{options}"]')
            ),
        ),
        (
            "command = ['{prompt}']",
            snapshot(("agent 'mine': the program cannot contain `{...}`", 4, "name the program in the first word")),
        ),
        (
            "command = ['mine']\noutput = 'jsonlines'",
            snapshot(
                (
                    "agent 'mine': `output` cannot be 'jsonlines', did you mean 'jsonl'?",
                    5,
                    'write output = "text" or "json" or "jsonl"',
                )
            ),
        ),
        (
            "command = ['mine']\noutput = 'json'",
            snapshot(
                (
                    "agent 'mine': `answer` does not say where the text is",
                    3,
                    'write text = "$.result", or text = {path = "$.part.text", where = {"$.type" = "text"}}',
                )
            ),
        ),
        (
            "command = ['mine']\noutput = 'json'\nanswer = {text = 'result'}",
            snapshot(
                (
                    "agent 'mine': `text` must be a path that begins with $",
                    6,
                    'write text = "$.result", or text = {path = "$.part.text", where = {"$.type" = "text"}}',
                )
            ),
        ),
        (
            "command = ['mine']\noutput = 'json'\nanswer = {text = '$.a', texts = '$.b'}",
            snapshot(
                (
                    "agent 'mine': `answer` has no key 'texts', did you mean 'text'?",
                    6,
                    "known keys: text, output, session, cost, input_tokens, output_tokens, cached_tokens, error",
                )
            ),
        ),
        (
            "command = ['mine']\nanswer = {text = '$.a'}",
            snapshot(
                (
                    "agent 'mine': `answer` needs JSON output",
                    5,
                    'write output = "json" or output = "jsonl"',
                )
            ),
        ),
        (
            "command = ['mine']\nresume = ['--resume']",
            snapshot(
                ("agent 'mine': `resume` has no place for the session", 5, 'write resume = ["--resume", "{session}"]')
            ),
        ),
        (
            "command = ['mine']\naccess = ['write']",
            snapshot(
                (
                    "agent 'mine': there is no access level 'write'",
                    5,
                    'write access = ["full"], or access = {read = ["--read-only"], full = []}',
                )
            ),
        ),
        (
            "command = ['mine']\naccess = []",
            snapshot(
                (
                    "agent 'mine': it has no level of access, so no step could use it",
                    5,
                    'write access = ["full"], or access = {read = ["--read-only"], full = []}',
                )
            ),
        ),
        (
            "command = ['mine']\nexit_codes = {3 = 'ratelimited'}",
            snapshot(
                (
                    (
                        "agent 'mine': `exit_codes` must map exit codes to one of api_error, auth, cancelled, crashed, "
                        "denied, limit, network, no_output, ok, overloaded, quota, rate_limited, timeout, "
                        "did you mean 'rate_limited'?"
                    ),
                    5,
                    'write exit_codes = {3 = "rate_limited"}',
                )
            ),
        ),
        (
            "command = ['mine']\nenv = {A = 1}",
            snapshot(("agent 'mine': `env` must be a table of texts", 5, 'write env = {MY_AGENT_QUIET = "1"}')),
        ),
        (
            "command = ['mine']\nprotocol = 'acpp'",
            snapshot(
                (
                    "agent 'mine': `protocol` cannot be 'acpp', did you mean 'acp'?",
                    5,
                    'write protocol = "command" or "acp"',
                )
            ),
        ),
        (
            "command = ['mine']\nprogram = '/opt/mine'",
            snapshot(
                (
                    "agent 'mine': `program` and `command` cannot be used together",
                    4,
                    "write `program` and `env` for an agent that Handrail knows, or `command` for one of your own",
                )
            ),
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_place_and_the_way_out(
    tmp_path: Path, text: str, told: tuple[str, int, str]
) -> None:
    assert wrong(tmp_path, text) == told


def test_an_unknown_key_is_a_warning_and_the_rest_is_used(tmp_path: Path) -> None:
    (found,), problems = read(tmp_path, "[agents.mine]\ncommand = ['mine']\nvariable = ['A']\n[agent]\n")
    assert isinstance(found, AgentDefinition)
    assert [(each.message, each.line, each.is_error) for each in problems] == [
        ("unknown table 'agent', did you mean 'agents'?", 4, False),
        ("agent 'mine': unknown key 'variable', did you mean 'variables'?", 3, False),
    ]


@pytest.mark.parametrize(
    "text", ["agents = 3", "[agents]\nmine = 3", "[agents.mine", "[agents.'My Agent']\ncommand=['x']"]
)
def test_whatever_stands_there_is_a_diagnostic_and_never_an_exception(tmp_path: Path, text: str) -> None:
    found, problems = read(tmp_path, text)
    assert not any(isinstance(each, AgentDefinition) for each in found)
    assert any(each.is_error for each in problems)


def test_the_definitions_that_come_with_handrail_are_sound() -> None:
    report = Report()
    found = read_agents_file(BuiltInCatalog().definitions, report)
    assert list(report) == []
    assert [each.name for each in found] == ["goose", "aider"]
