"""What is said about a script that is wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from handrail.authoring.scripts.parse import parse_script, require_script
from handrail.errors import InvalidWorkflow
from handrail.model.diagnostics import Report
from handrail.model.source import SourceText


def complaints(text: str) -> list[str | None]:
    report = Report()
    assert parse_script(SourceText("script.yaml", text), report) is None
    lines: list[str | None] = []
    for found in report:
        lines += [f"{found.line}:{found.column} {found.code}", found.message, found.hint]
    return lines


def test_an_unknown_key_of_a_turn_is_named_with_what_was_meant() -> None:
    assert complaints("fix:\n  - outptu: hello\n") == snapshot(
        [
            "2:5 unknown-key",
            "unknown key 'outptu' in a turn, did you mean 'output'?",
            None,
        ]
    )
    assert complaints("fix:\n  - cost: 1\n") == snapshot(
        ["2:5 unknown-key", "unknown key 'cost' in a turn", "it belongs to usage: `usage: {cost: 0.01}`"]
    )


@pytest.mark.parametrize("text", ["", "# nothing yet\n\n", "\ufeff"])
def test_an_empty_script_is_said_so(text: str) -> None:
    assert complaints(text) == snapshot(
        [
            "1:1 yaml-syntax",
            "the script is empty",
            "write step addresses with their turns, such as `reproduce: [{say: done}]`",
        ]
    )


def test_a_script_that_is_no_map_is_refused() -> None:
    assert complaints("- say: hello\n") == snapshot(
        [
            "1:1 wrong-type",
            "a script must be a map of step addresses",
            "write step addresses with their turns, such as `reproduce: [{say: done}]`",
        ]
    )


def test_a_step_without_turns_is_refused() -> None:
    assert complaints("fix: []\nreview:\n") == snapshot(
        [
            "1:6 bad-value",
            "the list needs at least 1 item",
            None,
            "2:8 wrong-type",
            "expected a list or a map for the turns of a step, got nothing",
            None,
        ]
    )


def test_a_turn_that_is_only_text_gets_its_key() -> None:
    assert complaints("fix:\n  - hello\n") == snapshot(
        ["2:5 bad-value", "'hello' is not a valid turn", "for example `- say: done`, or `- ...` at the end"]
    )


def test_a_key_that_is_no_address_is_refused() -> None:
    assert complaints("a b:\n  - say: x\n'build[]/x':\n  - say: x\n'a//b': {}\n") == snapshot(
        [
            "1:1 bad-value",
            "'a b' is not a valid step address",
            "for example reproduce, review@2/reviewer, build[auth]/implement or build[*]/implement",
            "3:1 bad-value",
            "'build[]/x' is not a valid step address",
            "for example reproduce, review@2/reviewer, build[auth]/implement or build[*]/implement",
            "5:1 bad-value",
            "'a//b' is not a valid step address",
            "for example reproduce, review@2/reviewer, build[auth]/implement or build[*]/implement",
        ]
    )


def test_repeating_belongs_to_the_end() -> None:
    assert complaints("a:\n  - ...\n  - say: x\nb:\n  - ...\nc:\n  - repeat: true\n  - say: x\n") == snapshot(
        [
            "2:5 bad-value",
            "'...' must be the last turn",
            "remove it, or what follows it",
            "5:5 bad-value",
            "'...' repeats the turn before it, but there is none",
            None,
            "7:5 bad-value",
            "only the last turn can repeat",
            "move it to the last turn",
        ]
    )


def test_a_path_that_leaves_the_workspace_is_refused() -> None:
    text = "a:\n  - files:\n      ../x: y\n      /etc/passwd: y\n      a//b: y\n      .git/config: y\n"
    assert complaints(text) == snapshot(
        [
            "3:7 bad-value",
            "'../x' is not a path inside the workspace",
            "write it relative to the workspace, such as src/app.py",
            "4:7 bad-value",
            "'/etc/passwd' is not a path inside the workspace",
            "write it relative to the workspace, such as src/app.py",
            "5:7 bad-value",
            "'a//b' is not a path inside the workspace",
            "write it relative to the workspace, such as src/app.py",
            "6:7 bad-value",
            "a turn cannot write to .git",
            'use git itself: `run: "git ..."`',
        ]
    )


def test_a_file_has_one_kind_of_content() -> None:
    text = "a:\n  - files:\n      x: {text: a, link: b}\n      y: {executable: true}\n      v: 5\n"
    assert complaints(text) == snapshot(
        [
            "3:20 conflicting-keys",
            "'text' and 'link' exclude each other",
            "keep one of them",
            "4:11 missing-key",
            "a file needs text, base64 or link",
            None,
            "5:10 wrong-type",
            "expected text, nothing or a map for a file, got a number",
            None,
        ]
    )


@pytest.mark.parametrize("text", ["'?'", "abc", "äöü"])
def test_bytes_that_are_no_base64_are_refused(text: str) -> None:
    found = complaints(f"a: {{files: {{x: {{base64: {text}}}}}}}")
    said_so = f"'{text.strip(chr(39))}' is not valid base64"
    assert found == ["1:25 bad-value", said_so, "for example aGVsbG8="]


def test_a_failure_that_nobody_knows_is_refused() -> None:
    assert complaints("a:\n  - fail: rate_limit\n")[:2] == snapshot(
        ["2:11 bad-value", "'rate_limit' is not allowed here, did you mean 'rate_limited'?"]
    )
    assert complaints("a:\n  - fail: {retry_after: 5}\n") == snapshot(
        ["2:12 missing-key", "fail needs 'status'", "how the call ends"]
    )


def test_a_turn_asks_or_fails_and_never_both() -> None:
    assert complaints("a:\n  - ask: who?\n    fail: auth\n") == snapshot(
        ["3:5 conflicting-keys", "'ask' and 'fail' exclude each other", "keep one of them"]
    )


def test_a_duplicate_address_is_refused_with_both_lines() -> None:
    assert complaints("a: {say: x}\na: {say: y}\n") == snapshot(
        ["2:1 duplicate-key", "duplicate key 'a', first at line 1", "remove one of them, or rename it"]
    )


def test_everything_that_is_wrong_is_raised_at_once_with_its_places() -> None:
    with pytest.raises(InvalidWorkflow, match=r"the script script\.yaml cannot be used") as caught:
        require_script("script.yaml", b"a:\n  - sya: x\nb:\n  - fail: never\n")
    assert [(each.file, each.line) for each in caught.value.diagnostics] == [("script.yaml", 2), ("script.yaml", 4)]


def test_a_script_that_is_no_text_is_said_so() -> None:
    with pytest.raises(InvalidWorkflow, match="not UTF-8 text"):
        require_script("bytes.yaml", b"\xff")


_WORDS = st.sampled_from(
    ["a", "say", "files", "...", "fail", "crashed", "x/../y", "\n  - ", ": ", "{", "}", "[", "]", "null", "run"]
)


@given(st.one_of(st.text(), st.lists(_WORDS).map("".join)))
def test_no_text_breaks_the_reader_of_scripts(text: str) -> None:
    report = Report()
    found = parse_script(SourceText("script.yaml", text), report)
    assert (found is None) == report.failed
