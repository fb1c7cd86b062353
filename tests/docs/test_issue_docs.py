"""docs/issues/runs.md shows the comment, the keys and the commands as they are."""

from typing import get_args

from handrail.cli.begin.run import command
from handrail.engine.issues.progress_text import OpenQuestion, RunProgress, StepLine, write_progress
from handrail.model.history.issue_work import CommentVerb
from handrail.operations.issue_runs.comment_answers import MAX_REPLIES, REPLY_WINDOW
from handrail.operations.issue_runs.conversation import FIRST_POLL, MAX_POLL
from handrail.sources.config.issues import KEYS
from support.docs.pages import ROOT, tables, text_of

PAGE = "docs/issues/runs.md"
SHOWN = RunProgress(
    run="work-12-a1",
    workflow="fix-bug",
    status="waiting",
    steps=(
        StepLine(address="reproduce", status="succeeded", said="The price is rounded twice."),
        StepLine(address="confirm", status="waiting"),
    ),
    question=OpenQuestion(
        kind="approval",
        step="confirm",
        text="Cause: the price is rounded twice (medium)",
        answers=("/approve", "/revise WHAT TO CHANGE", "/reject"),
        command="handrail approve work-12-a1",
    ),
    cost="$0.42",
    branch="work/work-12-a1",
)


def test_the_comment_is_shown_as_it_is_written() -> None:
    assert f"````text\n{write_progress(SHOWN)}````\n" in text_of(PAGE)


def test_every_key_and_every_command_is_on_the_page() -> None:
    (keys,) = [table for table in tables(PAGE) if table.notes.get("table") == "issues"]
    assert keys.firsts == list(KEYS)
    assert all(f"| `/{verb}" in text_of(PAGE) for verb in get_args(CommentVerb))
    own = [
        name for each in command.params if each.name in ("issue", "ready", "labels", "at_once") for name in each.opts
    ]
    assert all(f"{name}" in text_of(PAGE) for name in own)


def test_the_times_and_numbers_are_those_of_the_code() -> None:
    assert (MAX_REPLIES, REPLY_WINDOW, FIRST_POLL, MAX_POLL) == (5, 3600.0, 60.0, 900.0)
    assert (ROOT / PAGE).is_file()
