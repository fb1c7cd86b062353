"""What a comment asks for: only explicit commands at the beginning of an own line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.engine.issues.comment_commands import CommentCommand, read_command


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("/approve", CommentCommand("approve")),
        ("Looks fine.\n\n/approve\n", CommentCommand("approve")),
        ("/approve work-12-a2", CommentCommand("approve", "work-12-a2")),
        ("/revise use a set\ninstead of a list", CommentCommand("revise", "", "use a set\ninstead of a list")),
        ("/revise work-12-a2: use a set", CommentCommand("revise", "work-12-a2", "use a set")),
        ("/revise\nuse a set", CommentCommand("revise", "", "use a set")),
        ("/answer 42", CommentCommand("answer", "", "42")),
        ("/reject\r\n", CommentCommand("reject")),
        ("/stop", CommentCommand("stop")),
    ],
)
def test_an_explicit_command_is_read(body: str, wanted: CommentCommand) -> None:
    assert read_command(body) == wanted


def test_the_name_of_a_copy_counts_only_where_there_is_such_a_run() -> None:
    assert read_command("/revise fix-bug-3 use a set", ["fix-bug-3"]) == CommentCommand(
        "revise", "fix-bug-3", "use a set"
    )
    assert read_command("/approve fix-bug-3", ["fix-bug-3"]) == CommentCommand("approve", "fix-bug-3")
    assert read_command("/revise fix-bug-3 use a set") == CommentCommand("revise", "", "fix-bug-3 use a set")


@pytest.mark.parametrize(
    "body",
    [
        "approve",
        "I approve",
        "please /approve",
        " /approve",
        "/Approve",
        "/approved",
        "/approve-it",
        "\\/approve",
        "\u200b/approve",
        "\u202e/approve",
        "\uff0fapprove",
        "> /approve",
        "> quoted\n/approve",
        ">quoted\nlazily\n/approve",
        "```\n/approve\n```",
        "````\n```\n/approve\n```\n````",
        "~~~\n/approve\n~~~",
        "```\n/approve",
        "    /approve",
        "\t/approve",
        "<!-- \n/approve\n-->",
        "<!--\n/approve",
        "",
    ],
)
def test_everything_else_is_no_command(body: str) -> None:
    assert read_command(body) is None


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("/approve\n/reject", "more than one command"),
        ("/approve yes please", "takes nothing but the name of a run"),
        ("/revise", "needs a text"),
        ("/answer   ", "needs a text"),
    ],
)
def test_a_command_that_cannot_be_followed_says_why(body: str, problem: str) -> None:
    found = read_command(body)
    assert found is not None
    assert problem in found.problem


@given(st.text(alphabet=st.characters(exclude_characters="/")))
def test_a_text_without_a_slash_never_asks_for_anything(body: str) -> None:
    assert read_command(body) is None


@given(st.text(alphabet=st.characters(exclude_characters="/<`~>")).filter(lambda body: "work-" not in body))
def test_everything_after_revise_is_its_text_whatever_it_is(body: str) -> None:
    text = body.replace("\r\n", "\n").replace("\r", "\n").strip()
    found = read_command(f"/revise {body}")
    assert found is not None
    assert (found.verb, found.run, found.text) == ("revise", "", text)
    assert bool(found.problem) == (not text)


@given(st.lists(st.one_of(st.sampled_from(["/approve", "```", "<!--", "-->", ""]), st.text(max_size=20))))
def test_a_quotation_never_asks_for_anything_whatever_it_contains(lines: list[str]) -> None:
    quoted = "\n".join(f"> {line}" for each in lines for line in each.replace("\r", "\n").split("\n"))
    assert read_command(quoted) is None


def test_a_long_comment_is_read_like_any_other() -> None:
    for part in ("<!--", "```\n", "> \n", "/", "<!-- -->", "\t", "work-"):
        assert read_command(part * 20_000) is None
    found = read_command("/answer " + "x" * 1_000_000)
    assert found is not None
    assert len(found.text) == 1_000_000
